"""Outcomes of one normal form that differ in their types."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting.traced import decide
from dpassay.properties.tracing.outcome_types import Typed, may_tell, types_of_parts
from dpassay.properties.tracing.refusal import Refusal
from dpassay.spec.leaves.model import Affine, Image, Noise, NoiseKind

BIT = VectorNeighbours(size=1, linf=1, low=0, high=1)
NOISE = Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, 0): Fraction(1)})


def noisy(data: Any, rng: Any) -> Any:
    return data[0] + rng.laplace()


@pytest.mark.parametrize(
    "release",
    [
        lambda data, rng: [noisy(data, rng)] if data[0] > 0.5 else (noisy(data, rng),),
        lambda data, rng: [0] if data[0] > 0.5 else (0,),
        lambda data, rng: [1.0] if data[0] > 0.5 else np.array([1.0]),
        lambda data, rng: np.float32(1) if data[0] > 0.5 else np.float64(1),
        lambda data, rng: {1} if data[0] > 0.5 else frozenset({1}),
        lambda data, rng: (float if data[0] > 0.5 else abs)(round(abs(noisy(data, rng)))),
    ],
)
def test_types_that_tell_the_data_are_not_proved(release: Any) -> None:
    decision = decide(lambda data, size, rng: [release(data, rng)], PureDP(1.0), BIT, seed=0, seconds=20.0)
    assert decision.verdict is None
    assert decision.epsilon_upper is None
    assert "different types" in (decision.reason or "")


@pytest.mark.parametrize(
    "release",
    [
        lambda data, rng: [noisy(data, rng)],
        lambda data, rng: max(noisy(data, rng), 0),  # 0 and noise differ in their values as well
        lambda data, rng: [True, noisy(data, rng)] if noisy(data, rng) > 0 else (),
        lambda data, rng: int(data[0] > 0.5) if rng.random() < 0.25 else rng.integers(2),
    ],
)
def test_types_that_tell_nothing_are_proved(release: Any) -> None:
    decision = decide(lambda data, size, rng: [release(data, rng)], PureDP(2.0), BIT, seed=0, seconds=20.0)
    assert decision.reason is None


ROUNDED = Image((("rint",),), NOISE)
LISTED, TUPLED = ("list", "number", "int"), ("tuple", "number", "int")
NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("one", "other", "tells"),
    [
        (Typed(1.0, "float", NONE), Typed(1, "int", NONE), True),
        (Typed(1.0, "float", NONE), Typed(2, "int", NONE), False),
        (Typed(NOISE, "number", frozenset({"float"})), Typed(NOISE, "number", frozenset({"int"})), True),
        (Typed(NOISE, "number", frozenset({"float"})), Typed(NOISE, "number", NONE), False),
        (Typed(NOISE, "number", NONE), Typed(0, "int", NONE), False),
        (Typed(ROUNDED, "number", frozenset({"int"})), Typed(1, "float", frozenset({"float"})), True),
        (Typed(NOISE, "number", frozenset({"int", "float"})), Typed("", "str", NONE), True),
        (Typed((NOISE, 1), LISTED, NONE), Typed((NOISE, 1), TUPLED, NONE), True),
        (Typed((NOISE, 1), LISTED, NONE), Typed((NOISE, 2), TUPLED, NONE), False),
    ],
)
def test_only_outcomes_that_may_have_one_value_are_compared(one: Typed, other: Typed, tells: bool) -> None:
    assert may_tell([one, other]) is tells


def test_numbers_of_numpy_count_as_those_of_python() -> None:
    assert types_of_parts([np.float64(1), np.int64(1), np.bool_(1)]) == types_of_parts([1.0, 1, True])
    assert types_of_parts(np.float32(1)) != types_of_parts(1.0)


def test_a_container_in_itself_is_refused_and_one_that_comes_twice_is_not() -> None:
    once = [1]
    assert types_of_parts([once, once]) == ("list", ("list", "int"), ("list", "int"))
    once.append(once)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="an outcome with a list that contains itself"):
        types_of_parts({"part": once})
