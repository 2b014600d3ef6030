"""What continuous noise never shows: coincidences with the inputs, repetitions, special values, lattices, kinds."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import (
    AllOf,
    AnyOf,
    Interval,
    NoneOf,
    Symbols,
    mirrored,
    parse_event,
)
from dpassay.properties.outcomes.telling_events import best_event

Array = NDArray[np.float64]
BIT = "vector:size=1,linf=1,low=0,high=1,integer"
"""A single pair of inputs, so that the hunt shows what the features can do."""

SHARE = 0.15


def counts(raw: Any, name: str, left: list[float], right: list[float]) -> list[float | None]:
    outcomes = Outcomes.of(raw).with_inputs(np.array(left), np.array(right))
    values = outcomes.feature(f"{name}(outcome)")
    return [] if values is None else [None if math.isnan(value) else value for value in values]


def test_values_of_the_inputs_are_counted() -> None:
    raw = [[1.5, 2.0], [2.0, 2.0], [0.1, 0.2], [1.5, 7.0]]
    for form in (np.array(raw), raw, [tuple(row) for row in raw], [[*row, "x"] for row in raw]):
        assert counts(form, "input_values", [1.5, 2.0], [7.0, 2.0]) == [2.0, 2.0, None, 2.0]
        assert counts(form, "left_values", [1.5, 2.0], [7.0, 2.0]) == [1.0, None, None, 1.0]
        assert counts(form, "right_values", [1.5, 2.0], [7.0, 2.0]) == [None, None, None, 1.0]
    assert counts(np.array([0.25, -0.0, 3]), "left_values", [0.25, 0.0], [3.0]) == [1.0, 1.0, None]
    assert counts([None, "x", 0.25], "input_values", [0.25], []) == [None, None, 1.0]
    assert counts(np.array([0.1, 0.2]), "input_values", [0.25], [0.75]) == []
    assert counts([10**400, 1], "input_values", [1.0], [2.0]) == [None, 1.0]


def test_repetitions_and_special_values_are_counted() -> None:
    raw = [[5.0, 5.0, 5.0], [1.0, 2.0, 2.0], [1.0, 0.0, 1.0], [math.nan, math.nan, -math.inf]]
    for form in (np.array(raw), [(*row, None) for row in raw]):
        assert counts(form, "repeated_values", [], []) == [2.0, 1.0, None, None]
        assert counts(form, "special_values", [], []) == [None, None, None, 3.0]
    assert counts(np.array([1.0, math.inf]), "special_values", [], []) == [None, 1.0]
    assert counts(np.array([1.0, 1.0]), "repeated_values", [], []) == []


@pytest.mark.parametrize(
    "raw",
    [
        np.array([[0.5, 0.5], [0.25, math.nan], [1.0, 0.3]]),
        np.array([0.5, math.inf, 0.25]),
        [0.5, None, (0.25, 0.25, "x"), "0.5", 1, True, 10**400],
    ],
)
def test_a_feature_depends_on_its_own_outcome_alone(raw: Any) -> None:
    left, right = np.array([0.5, 1.0]), np.array([0.25])
    together = Outcomes.of(raw).with_inputs(left, right).features
    for place, row in enumerate(raw):
        alone = Outcomes.of([row]).with_inputs(left, right).features
        for name in together.keys() | alone.keys():
            absent = np.full(1, math.nan)
            first = together[name][place : place + 1] if name in together else absent
            assert np.array_equal(first, alone.get(name, absent), equal_nan=True)


def test_events_speak_of_the_pair_in_its_new_order() -> None:
    one, other = Interval("left_values(outcome)", 0.0, math.inf), Interval("right_values(outcome)", 0.0, math.inf)
    rest = Symbols(("left_values(outcome)",))
    for event, image in ((one, other), (AllOf((one, rest)), AllOf((other, rest)))):
        assert mirrored(event) == image
        assert mirrored(mirrored(event)) == event
    assert mirrored(AnyOf((one, rest))) == AnyOf((other, rest))
    assert mirrored(NoneOf((other, rest))) == NoneOf((one, rest))


@pytest.mark.parametrize(
    "text",
    [
        "outcome in {\"it's (\", 'a or b and {c'} or outcome > 1.0",
        "outcome in {')', '\\\\'} and outcome[0] <= 1.0 or outcome in {None}",
        "not (outcome in (0.0, 1.0] or outcome in {(1, ' or ')})",
    ],
)
def test_words_inside_of_symbols_do_not_end_them(text: str) -> None:
    assert str(parse_event(text)) == text


def test_events_are_not_made_of_noise() -> None:
    """The symbols that look most telling among thousands of noisy ones are left out of the event."""
    rng = np.random.default_rng(0)
    sides = rng.random(4_000) < 0.5
    noise: list[object] = [round(float(x), 2) for x in rng.normal(0, 30, 4_000)]
    raw = [None if side and rng.random() < 0.05 else value for side, value in zip(sides, noise, strict=True)]
    assert str(best_event(Outcomes.of(raw), sides, 1.0, 0.0)) == "outcome in {None}"


# --- planted leaks ------------------------------------------------------------------------------------------


def releases_the_input(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(np.where(rng.random(size) < SHARE, data[0], data[0] + rng.laplace(0, 4, size)))


def releases_it_anywhere(data: Array, size: int, rng: np.random.Generator) -> Array:
    outcomes: Array = data[0] + rng.laplace(0, 50, (size, 12))
    told = np.flatnonzero(rng.random(size) < SHARE)
    outcomes[told, rng.integers(12, size=told.size)] = data[0]
    return outcomes


def releases_it_in_a_tuple(data: Array, size: int, rng: np.random.Generator) -> list[object]:
    return [("x", data[0] if rng.random() < SHARE else rng.random(), None) for _ in range(size)]


def planted(
    leak: Callable[[np.random.Generator], object],
) -> Callable[[Array, int, np.random.Generator], list[object]]:
    """Return a mechanism that ignores its input but for a leak on 1, now and then."""

    def mechanism(data: Array, size: int, rng: np.random.Generator) -> list[object]:
        return [leak(rng) if data[0] > 0 and rng.random() < SHARE else rng.random() for _ in range(size)]

    return mechanism


def repeats(data: Array, size: int, rng: np.random.Generator) -> Array:
    outcomes = rng.random((size, 3))
    outcomes[:, 2] = np.where((rng.random(size) < SHARE) & (data[0] > 0), outcomes[:, 0], outcomes[:, 2])
    return outcomes


@pytest.mark.parametrize(
    ("mechanism", "event", "at_least"),
    [
        (releases_the_input, "(left|right|input)_values|outcome in", 3.0),
        (releases_it_anywhere, "(left|right|input)_values", 3.0),
        (releases_it_in_a_tuple, "'x'|_values", 3.0),
        (repeats, "repeated_values", 2.0),
        (planted(lambda _: None), "None", 2.0),
        (planted(lambda _: math.nan), "special_values|<nan>", 2.0),
        (planted(lambda rng: str(rng.random())), r"len\(outcome\)|form\(outcome\)", 2.0),
        (planted(lambda rng: tuple(rng.random(2))), r"len\(outcome\)|outcome\[|type\(outcome\)", 2.0),
        (planted(lambda rng: round(rng.random() * 2**9) / 2**9), "lowest_bit", 1.7),
    ],
)
def test_a_structural_leak_reaches_large_losses(mechanism: Any, event: str, at_least: float) -> None:
    """4,000 calls on one pair: of 3,000 a bettor who knows the leak certifies about 2.4, 3.3 if both sides leak."""
    result = hunt(mechanism, "pure:1", BIT, calls=4_000, shrink=False, budget_seconds=1e6)
    found = result.float64 if "lowest" in event else result
    assert found is not None
    assert found.epsilon_lower > at_least
    assert found.witness is not None
    assert re.search(event, found.witness.event)
