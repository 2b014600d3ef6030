"""Ranges of functions of data in the checker of certificates, against all values and moves of a grid.

A range that is too narrow lets a certificate with too small a bound pass. Each function has slopes of either sign and
ends that are finite or not; nothing that the grid reaches may lie outside.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from dpassay.spec.leaves.check_derived import FUNCTIONS, Derived, _Coordinate, _coordinate

F = Fraction
SLOPES = [{0: F(1)}, {0: F(-1)}, {0: F(2), 1: F(-1, 2)}, {0: F(-1), 1: F(1)}]
CONSTANTS = (F(0), F(1, 2))
ENDS: list[tuple[F | float, F | float]] = [(F(-1), F(1)), (-math.inf, F(1, 2)), (F(0), math.inf)]
ARGUMENTS = _Coordinate((F(-2), F(1)), (F(-1), F(1, 2)), is_whole=False), _Coordinate((F(0), F(3)), (F(0), F(2)), True)
GRIDS = [F(k, 2) for k in range(-4, 3)], [F(k) for k in range(4)]
MOVES = [F(-1), F(-1, 2), F(0), F(1, 2)], [F(0), F(1), F(2)]


VALUES: dict[str, Callable[[Derived, Fraction], Fraction | float]] = {
    "clip": lambda one, x: min(max(x, one.low), one.high),
    "abs": lambda _, x: abs(x),
    "square": lambda _, x: x * x,
    "above": lambda _, x: F(x > 0),
    "at least": lambda _, x: F(x >= 0),
    "floor": lambda _, x: F(math.floor(x)),
    "ceil": lambda _, x: F(math.ceil(x)),
    "rint": lambda _, x: F(round(x)),
}


def value(one: Derived, x: Fraction) -> Fraction:
    return F(VALUES[one.function](one, x))


def reached(one: Derived, before: tuple[_Coordinate, ...]) -> tuple[list[Fraction], list[Fraction]]:
    """Return the values and the moves of a function on the grid; every coordinate moves within its range."""
    places = list(one.slopes)

    def argument(numbers: tuple[Fraction, ...]) -> Fraction:
        return one.constant + sum((one.slopes[i] * x for i, x in zip(places, numbers, strict=True)), F(0))

    values, moves = [], []
    for here in itertools.product(*(GRIDS[i] for i in places)):
        values.append(value(one, argument(here)))
        for step in itertools.product(*(MOVES[i] for i in places)):
            there = tuple(x + m for x, m in zip(here, step, strict=True))
            if all(before[i].values[0] <= x <= before[i].values[1] for i, x in zip(places, there, strict=True)):
                moves.append(value(one, argument(there)) - values[-1])
    return values, moves


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@pytest.mark.parametrize("is_limited", [False, True])
def test_no_value_and_no_move_of_a_grid_is_outside(function: str, is_limited: bool) -> None:
    for slopes, constant, ends in itertools.product(SLOPES, CONSTANTS, ENDS if function == "clip" else ENDS[:1]):
        one = Derived(function, constant, slopes, *ends)
        found = _coordinate(one, ARGUMENTS, is_limited=is_limited)
        values, moves = reached(one, ARGUMENTS)
        assert found.values[0] <= min(values), one
        assert max(values) <= found.values[1], one
        assert found.moves[0] <= min(moves), one
        assert max(moves) <= found.moves[1], one


@pytest.mark.parametrize("slope", [F(1), F(-1)])
def test_an_attained_range_is_no_wider(slope: Fraction) -> None:
    found = _coordinate(Derived("clip", F(0), {0: slope}, F(-9), F(9)), ARGUMENTS, is_limited=False)
    assert found.values == ((F(-2), F(1)) if slope > 0 else (F(-1), F(2)))
    assert found.moves == ((F(-1), F(1, 2)) if slope > 0 else (F(-1, 2), F(1)))


@pytest.mark.parametrize(
    ("ends", "whole"),
    [((F(0), math.inf), True), ((-math.inf, F(3)), True), ((F(1, 2), math.inf), False), ((F(0), F(5, 2)), False)],
)
def test_whole_numbers_stay_whole_between_whole_or_no_ends(ends: tuple[F | float, F | float], whole: bool) -> None:
    assert _coordinate(Derived("clip", F(1), {1: F(1)}, *ends), ARGUMENTS, is_limited=False).is_whole is whole
