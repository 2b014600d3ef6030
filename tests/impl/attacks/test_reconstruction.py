"""Reconstruction of bits: the bound of the Hadamard attack, linear programming, bad input."""

from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.attacks.reconstruction import hadamard_bits, linear_programming_bits, random_queries
from dpassay.impl.hadamard import walsh_hadamard


@pytest.mark.parametrize("error", [0.49, 1.0, 2.0, 4.0])
def test_the_hadamard_attack_errs_on_no_more_bits_than_the_theorem_allows(error: float) -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (200, 64))
    answers = walsh_hadamard(bits) + error * rng.choice([-1.0, 1.0], bits.shape)
    wrong = (hadamard_bits(answers) != bits).sum(axis=1)
    assert int(wrong.max()) <= 4 * error**2


@pytest.mark.parametrize("residual", ["l1", "linf"])
def test_linear_programming_recovers_all_bits_from_small_errors(residual: Any) -> None:
    rng = np.random.default_rng(1)
    queries, bits = random_queries(160, 32, rng), rng.integers(0, 2, 32)
    answers = queries @ bits + rng.uniform(-0.5, 0.5, 160)
    assert linear_programming_bits(queries, answers, residual).tolist() == bits.tolist()


def test_the_sum_of_errors_forgives_wild_answers() -> None:
    rng = np.random.default_rng(2)
    queries, bits = random_queries(160, 32, rng), rng.integers(0, 2, 32)
    answers = queries @ bits
    answers[:20] += 1000.0
    assert linear_programming_bits(queries, answers).tolist() == bits.tolist()
    assert linear_programming_bits(queries, answers, "linf").tolist() != bits.tolist()


@pytest.mark.parametrize(
    ("queries", "answers", "residual"),
    [
        (np.zeros((0, 2)), np.zeros(0), "l1"),
        (np.eye(2), np.zeros(3), "l1"),
        (np.eye(2), np.array([0.0, np.nan]), "l1"),
        (np.array([[np.inf, 0.0], [0.0, 1.0]]), np.zeros(2), "l1"),
        ([[1], [1, 2]], np.zeros(2), "l1"),
        (np.eye(2), ["a", "b"], "l1"),
        (np.eye(2), np.zeros(2), "l2"),
    ],
)
def test_bad_input_is_refused(queries: Any, answers: Any, residual: Any) -> None:
    with pytest.raises(UsageError, match="must"):
        linear_programming_bits(queries, answers, residual)


@pytest.mark.parametrize("answers", [[np.nan, 0.0], [np.inf, 0.0], ["a", "b"], [0.0, 0.0, 0.0], []])
def test_answers_that_tell_nothing_are_refused(answers: Any) -> None:
    with pytest.raises(UsageError, match=r"answers|values"):
        hadamard_bits(answers)


def test_errors_below_one_are_not_for_free() -> None:
    """One question for each bit: an error of 1 in an answer would forgive a wrong bit."""
    bits = [1, 0, 1, 1, 0]
    for residual in ("l1", "linf"):
        assert linear_programming_bits(np.eye(5), bits, residual).tolist() == bits
