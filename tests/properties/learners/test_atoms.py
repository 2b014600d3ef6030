import math

import numpy as np
import pytest

from dpassay.properties.learners.atoms import AtomLearner
from dpassay.properties.outcomes.batch import Outcomes


def observed(rows: object, sides: list[bool]) -> AtomLearner:
    learner = AtomLearner()
    learner.observe(Outcomes.of(rows), np.array(sides), {})
    return learner


def test_counts_decide_and_new_symbols_tell_nothing() -> None:
    learner = observed(["a"] * 40 + ["b"] * 40, [True] * 40 + [False] * 40)
    on_a, on_b, on_new = learner.opinions(Outcomes.of(["a", "b", "c"]))["atoms"]
    assert on_a == pytest.approx(-on_b)
    assert on_a > 3
    assert on_new == 0


def test_a_small_difference_is_not_taken_for_a_large_one() -> None:
    """Between 1/2 and the frequency, since the prior that expects next to nothing explains such counts."""
    learner = observed([0] * 200 + [1] * 200, ([True] * 105 + [False] * 95) + ([True] * 95 + [False] * 105))
    prediction = learner.opinions(Outcomes.of([0]))["atoms"][0]
    assert 0 < prediction < 0.5 * math.log(105 / 95)


def test_equal_symbols_are_one_whatever_the_batch_is_made_of() -> None:
    learner = observed([(1, 2.0), (0, math.nan), 0.0, 3] * 20, [True, False, True, False] * 20)
    in_array = learner.opinions(Outcomes(np.array([[1, 2]])))["atoms"]
    in_tuples = learner.opinions(Outcomes.of([(True, 2), None, (0.0, math.nan), -0.0, 3.0]))["atoms"]
    assert in_array[0] == in_tuples[0] > 2
    assert in_tuples[1] == 0
    assert in_tuples[2] < -2
    assert in_tuples[3] > 2
    assert in_tuples[4] < -2


def test_whole_numbers_beyond_float64_are_told_apart() -> None:
    learner = observed([2**53, 2**53 + 1] * 40, [True, False] * 40)
    small, large = learner.opinions(Outcomes.of([2**53, 2**53 + 1]))["atoms"]
    assert small > 3
    assert large < -3
    as_array = learner.opinions(Outcomes(np.array([2**53 + 1, 2**53])))["atoms"]
    assert as_array.tolist() == [large, small]


def test_it_retires_when_outcomes_are_continuous() -> None:
    learner, rng = AtomLearner(), np.random.default_rng(0)
    learner.observe(Outcomes.of(rng.random(100)), rng.random(100) < 0.5, {})
    assert not learner.names
    assert not learner.opinions(Outcomes.of(rng.random(3)))


def test_it_retires_when_most_symbols_come_once() -> None:
    learner, rng = AtomLearner(), np.random.default_rng(0)
    for _ in range(4):
        learner.observe(Outcomes.of([(x, None) for x in rng.random(1000).tolist()]), rng.random(1000) < 0.5, {})
    assert not learner.names


def test_nan_is_one_symbol_in_any_batch() -> None:
    learner = observed([0.0, math.nan, 1.0, math.nan] * 20, [True, False, True, False] * 20)
    among_numbers = learner.opinions(Outcomes.of([0.0, math.nan]))["atoms"]
    among_others = learner.opinions(Outcomes.of([0.0, math.nan, None, (1, None)]))["atoms"]
    assert among_others[:2].tolist() == among_numbers.tolist()
    assert among_numbers[1] < -2
