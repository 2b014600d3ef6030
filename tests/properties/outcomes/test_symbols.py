import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.properties.betting.intervals import clopper_pearson
from dpassay.properties.learners.mixture import Ensemble
from dpassay.properties.learners.side_tree import fit_side_tree, quantile_edges
from dpassay.properties.learners.structural import EventLearner
from dpassay.properties.outcomes.events import Interval, Symbols, best_event, parse_event
from dpassay.properties.outcomes.symbols import CallFailedError, Outcomes, WrongCountError, call

Array = NDArray[np.float64]


@pytest.mark.parametrize(
    "raw",
    [
        np.arange(4),
        np.array([1.5, math.nan, math.inf, -math.inf]),
        np.array([-1.7976931348623157e308, 5e-324, 1.7976931348623157e308, 0.0]),
        np.eye(4),
        [None, 1, "yes", (1, None)],
        [True, False, True, False],
        [10**30, 1, 2, 3],
        [b"x", "x", [1.0, 2.0], np.float64(3)],
        [(), (1,), (1, 2), None],
        [np.array([1, 2]), np.array([3, 4]), np.array([5, 6]), np.array([7, 8])],
    ],
)
def test_every_kind_of_outcome_is_counted_predicted_and_described(raw: Any) -> None:
    outcomes = Outcomes.of(raw)
    sides = np.array([True, False, True, False])
    assert len(outcomes) == 4
    assert len(set(map(str, outcomes.symbols()))) >= 2
    ensemble = Ensemble()
    ensemble.observe(outcomes, sides)
    assert np.isfinite(ensemble.logits(outcomes)).all()
    event = best_event(outcomes, sides, 0.0, 0.0)
    assert parse_event(str(event)).holds(outcomes).tolist() == event.holds(outcomes).tolist()


@pytest.mark.parametrize("returned", [3.0, [1.0], "ab", {"a": 1, "b": 2}, np.zeros((3, 2)), None])
def test_a_wrong_number_of_outcomes_is_named(returned: object) -> None:
    with pytest.raises(WrongCountError, match="2 outcomes"):
        call(lambda *_: returned, np.zeros(1), 2, np.random.default_rng(0))


def test_an_exception_is_a_symbol() -> None:
    def raising(data: Array, size: int, rng: np.random.Generator) -> Array:
        raise KeyError("secret")

    with pytest.raises(CallFailedError) as caught:
        call(raising, np.zeros(1), 2, np.random.default_rng(0))
    assert caught.value.symbol == "<raises KeyError: 'secret'>"


def test_a_target_that_edits_its_input_does_not_spoil_the_pair() -> None:
    data = np.zeros(2)

    def editing(data: Array, size: int, rng: np.random.Generator) -> Array:
        data += 1
        return np.zeros(size)

    call(editing, data, 2, np.random.default_rng(0))
    assert not data.any()


@pytest.mark.parametrize(
    "text",
    ["outcome <= 1.0", "outcome[3] > -inf", "max(outcome) in (0.5, 1e-05]", "outcome in {'a', (1.0, True), None}"],
)
def test_events_are_read_back_from_their_words(text: str) -> None:
    assert parse_event(str(parse_event(text))) == parse_event(text)


@pytest.mark.parametrize("text", ["", "x > 1", "outcome in {", "outcome in {__import__('os')}", "outcome >= one"])
def test_other_words_are_no_event(text: str) -> None:
    with pytest.raises(UsageError):
        parse_event(text)


def test_events_contain_what_they_say() -> None:
    outcomes = Outcomes.of(np.array([-math.inf, 0.0, 1.0, math.nan, math.inf]))
    assert Interval("outcome", -math.inf, 0.0).holds(outcomes).tolist() == [True, True, False, False, False]
    assert Interval("outcome", 0.0, math.inf).holds(outcomes).tolist() == [False, False, True, False, True]
    assert Symbols(("<nan>", math.inf)).holds(outcomes).tolist() == [False, False, False, True, True]
    assert parse_event(str(Symbols(((1.0, math.inf),)))) == Symbols(((1.0, math.inf),))


def test_the_tree_finds_a_narrow_region_among_many_cells() -> None:
    left, right = np.full(256, 100), np.full(256, 100)
    left[200], right[200] = 180, 2
    logits = fit_side_tree(left, right)
    assert logits[200] > 2
    assert np.abs(np.delete(logits, 200)).max() < 0.5


def test_cells_isolate_atoms_and_reach_into_the_tails() -> None:
    values = np.concatenate([np.random.default_rng(0).normal(size=10_000), np.full(5_000, 0.25)])
    edges = quantile_edges(values)
    assert 0.25 in edges
    assert math.nextafter(0.25, -math.inf) in edges
    assert np.count_nonzero(values > edges[-1]) < 40


def test_intervals_of_clopper_and_pearson_cover_at_their_ends() -> None:
    from scipy.stats import binom

    low, high = clopper_pearson(3, 20)
    assert binom.sf(2, 20, low) == pytest.approx(0.025)
    assert binom.cdf(3, 20, high) == pytest.approx(0.025)
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_structured_outcomes_are_told_apart_by_what_they_say_and_numbers_are_none() -> None:
    raw = ["a", 1.0, "b", "a", ("a", 0.0), ("a", -0.0), (1, 2), ("a", 0.0), math.nan, b"a"]
    outcomes = Outcomes.of(raw)
    different, kinds = outcomes.structured
    assert kinds.tolist() == [0, -1, 1, 0, 2, 3, -1, 2, -1, 4]
    assert [repr(symbol) for symbol in different] == ["'a'", "'b'", "('a', 0.0)", "('a', -0.0)", "b'a'"]
    # whatever is found once for all that are the same is what each outcome says by itself
    for place, symbol in enumerate(raw):
        alone, together = Outcomes.of([symbol, "another"]), outcomes.taken(np.array([place]))
        for name in together.features:
            own = alone.feature(name)
            assert own is not None
            np.testing.assert_array_equal(together.features[name], own[:1], name)
    events = {name: sorted(places.tolist()) for name, places in EventLearner()._events(outcomes)}
    assert events["word", "a"] == [0, 3]
    assert events["word", b"a"] == [9]
    assert events["word", "<nan>"] == [8]
    assert events["form", ("numbers", 2)] == [6]
    assert events["form", ("a", "<number>")] == [4, 5, 7]
