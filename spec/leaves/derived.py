"""Derived coordinates: numbers that are computed from the data alone, such as clipped, rounded or compared data.

A mechanism that uses data x through y = g(x) is a mechanism of the longer data (x, y). Let neighbours move x by Delta,
and y by delta. What is proved for all moves (Delta, delta) of a larger set holds for those that occur. The set is a
box for each box of Delta: an interval that holds all g(x + Delta) - g(x),

=================  ===============================================================================================
function           change of y where its argument u changes by h, low <= h <= high
=================  ===============================================================================================
clip to [a, b]     between min(low, 0) and max(high, 0)
absolute value     at most max(-low, high) in both directions
floor, ceil        between floor(low) and ceil(high): h whole steps, and one more for a part of a step
rint               as floor, and one more step for an odd number of steps between two ties, which go to even numbers
u > 0, u >= 0      between -1 and 1, upwards only if u can rise
square             at most max(-low, high) |2u + h|
=================  ===============================================================================================

and never more than the difference of the largest and the least value of y. Rounding does nothing to an integer.

Comparisons of one coordinate x_i are constant between the places at which they jump. Where only one coordinate moves,
as one record, they move together, by a difference of two of their finitely many vectors of values: the numbers of
records in several bins change by 1 in two of them at most.

For a bound on the sum of the changes of x, boxes are enough whose convex hull holds the moves. That is so for (x, y)
if the change of every y is at most a multiple of that of its argument; otherwise the bound on the sum is not used.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.spec.leaves.model import Affine, Derived, Function, LeafModel
from dpassay.spec.leaves.moves import MOST_BOXES, Box, Moves, UndecidedMovesError, covers
from dpassay.spec.leaves.outcomes import released_numbers

__all__ = ["DerivedMoves", "corners", "covers_of", "move_of_data", "value_of", "with_derived"]

End = Fraction | float
"""A rational number, or an infinity."""
Interval = tuple[End, End]

INDICATORS = {Function.ABOVE, Function.AT_LEAST}
ROUNDINGS = {Function.FLOOR, Function.CEIL, Function.RINT}
LIPSCHITZ = {Function.CLIP, Function.ABS, Function.SQUARE}
"""Functions that change by at most a multiple of the change of their argument."""


def value_of(derived: Derived, argument: Fraction) -> Fraction:  # noqa: PLR0911 - a case for each function
    """Return the value of a derived coordinate for the value of its argument."""
    match derived.function:
        case Function.CLIP:
            above = argument if derived.low is None else max(argument, derived.low)
            return above if derived.high is None else min(above, derived.high)
        case Function.ABS:
            return abs(argument)
        case Function.FLOOR:
            return Fraction(math.floor(argument))
        case Function.CEIL:
            return Fraction(math.ceil(argument))
        case Function.RINT:
            return Fraction(round(argument))
        case Function.ABOVE:
            return Fraction(argument > 0)
        case Function.AT_LEAST:
            return Fraction(argument >= 0)
        case Function.SQUARE:
            return argument**2


def with_derived(derived: Sequence[Derived], values: Sequence[Fraction]) -> list[Fraction]:
    """Return the coordinates of the data and the derived ones.

    Parameters
    ----------
    derived : sequence of Derived
        Each of the coordinates before it.
    values : sequence of Fraction
        The data.
    """
    known = list(values)
    for one in derived:
        known.append(
            value_of(one, one.form.constant + sum((b * known[i] for i, b in one.form.data.items()), Fraction(0)))
        )
    return known


def corners(model: LeafModel) -> Iterator[tuple[int, float]]:
    """Yield coordinates of the data, and a value at which a function of this one alone jumps or changes its rule."""
    for one in model.derived:
        if len(one.form.data) == 1 and min(one.form.data) < model.size:
            [(index, weight)] = one.form.data.items()
            end = (
                Fraction(1, 2) if one.function is Function.RINT else one.low if one.low is not None else one.high or 0
            )
            yield index, float((end - one.form.constant) / weight)


def move_of_data(model: LeafModel, move: Sequence[Fraction]) -> list[Fraction]:
    """Return a move of the data that goes the way of a move of all coordinates, as far as increasing functions do."""
    found = list(move)
    for k in range(model.width - 1, model.size - 1, -1):
        for index, weight in model.derived[k - model.size].form.data.items() if found[k] else ():
            found[index] = abs(found[index]) if weight * found[k] > 0 else -abs(found[index])
    return found[: model.size]


# --- moves ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Range:
    """Range of the values of a coordinate, and of its moves.

    Parameters
    ----------
    values, moves : (End, End)
        Intervals that hold them.
    is_whole : bool
        Whether it is an integer.
    is_linear : bool
        Whether its move is at most a multiple of those of the data, for all moves of the data.
    """

    values: Interval
    moves: Interval
    is_whole: bool
    is_linear: bool = True


@dataclass(frozen=True)
class DerivedMoves(Moves):
    """Moves of data and of derived coordinates.

    Parameters
    ----------
    size, most, reach, total, monotone
        Those of the data, as for `Moves`.
    derived : tuple of Derived
        The further coordinates.
    used : frozenset of int
        Coordinates that occur in the model.
    domain : (End, End)
        Least and largest value of a coordinate of the data.
    integer : bool
        Whether the data are integers.
    """

    derived: tuple[Derived, ...] = ()
    used: frozenset[int] = frozenset()
    domain: Interval = (-math.inf, math.inf)
    integer: bool = False

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """Boxes of all coordinates whose convex hull holds all moves.

        Raises
        ------
        UndecidedMovesError
            If there are too many, or a coordinate that occurs moves without bound.
        """
        moved = Moves(self.size, self.most, self.reach, self.total, self.monotone).boxes
        boxes = (self._box(box, known) for box in moved for known in self._together(box))
        found = dict.fromkeys(box for box in boxes if box is not None)
        if len(found) > MOST_BOXES:
            raise UndecidedMovesError(f"{len(found)} boxes of moves, more than {MOST_BOXES}")
        return tuple(found)

    def _together(self, box: Box) -> Sequence[Mapping[int, Fraction]]:
        """Return the moves of comparisons of one coordinate if no other one moves; otherwise nothing is known."""
        moving = [i for i, (low, high) in enumerate(box) if low < high]
        if len(moving) != 1:
            return ({},)
        vectors = self._vectors(moving[0])
        if len(vectors) ** 2 > MOST_BOXES:
            return ({},)
        moves = dict.fromkeys(
            tuple((k, there[k] - here[k]) for k in here) for here, there in itertools.product(vectors, repeat=2)
        )
        return [dict(move) for move in moves]

    def _vectors(self, index: int) -> list[dict[int, Fraction]]:
        """Return all values of the comparisons of one coordinate, by the numbers of their coordinates."""
        jumps, steps = set[Fraction](), list[int]()
        for number, one in enumerate(self.derived, start=self.size):
            if one.function in INDICATORS and set(one.form.data) == {index}:
                jumps.add(-one.form.constant / one.form.data[index])
                steps.append(number)
            elif one.function in INDICATORS and set(one.form.data) <= set(steps):
                steps.append(number)
        places = sorted(jumps)
        between = [(low + high) / 2 for low, high in itertools.pairwise(places)]
        ends = [places[0] - 1, places[-1] + 1] if places else []
        known = (
            [Fraction(0)] * index + [x] + [Fraction(0)] * (self.size - index - 1) for x in (*places, *between, *ends)
        )
        found = (with_derived(self.derived, values) for values in known)
        return [dict(pairs) for pairs in dict.fromkeys(tuple((k, values[k]) for k in steps) for values in found)] or [
            {}
        ]

    @property
    def is_whole(self) -> bool:
        """Return whether all coordinates that occur are integers."""
        return all(self._widest[i].is_whole for i in self.used)

    def _box(self, box: Box, known: Mapping[int, Fraction]) -> Box | None:
        """Return a box of all coordinates, some of the moves being known; None if they cannot be."""
        ranges = self._ranges(box, known)
        if ranges is None:
            return None
        ends = [
            one.moves if i in self.used or i < self.size else (Fraction(0), Fraction(0))
            for i, one in enumerate(ranges)
        ]
        if any(math.isinf(low) or math.isinf(high) for i, (low, high) in enumerate(ends) if i in self.used):
            raise UndecidedMovesError("a coordinate may move without bound")
        return tuple(
            (Fraction(0), Fraction(0)) if math.isinf(low) or math.isinf(high) else (Fraction(low), Fraction(high))
            for low, high in ends
        )

    def _ranges(self, box: Sequence[Interval], known: Mapping[int, Fraction]) -> list[_Range] | None:
        """Return the range of every coordinate, some of the moves being known; None if they cannot be."""
        ranges = [_Range(self.domain, _within(self.domain, move), self.integer) for move in box]
        for one in self.derived:
            found, move = _derived(one, _argument(one.form, ranges)), known.get(len(ranges))
            if move is not None and not found.moves[0] <= move <= found.moves[1]:
                return None
            ranges.append(found if move is None else replace(found, moves=(move, move)))
        return ranges

    @property
    def is_linear(self) -> bool:
        """Return whether the move of every coordinate is at most a multiple of those of the data."""
        return all(one.is_linear for one in self._widest)

    @cached_property
    def _widest(self) -> list[_Range]:
        """The ranges of all coordinates over all moves."""
        return self._ranges([(-self.reach, self.reach)] * self.size, {}) or []


def _argument(form: Affine, ranges: Sequence[_Range]) -> _Range:
    """Return the range of an affine function of coordinates."""
    values: Interval = (Fraction(0), Fraction(0))
    moves = values
    for i, weight in form.data.items():
        values, moves = _plus(values, _times(ranges[i].values, weight)), _plus(moves, _times(ranges[i].moves, weight))
    parts = [ranges[i] for i in form.data]
    whole = all(one.is_whole for one in parts) and all(
        b.denominator == 1 for b in (form.constant, *form.data.values())
    )
    shifted = _plus(values, (form.constant, form.constant))
    return _Range(shifted, moves, whole, all(one.is_linear for one in parts))


def _derived(derived: Derived, argument: _Range) -> _Range:
    (least, most), (low, high) = argument.values, argument.moves
    values = _values(derived, argument)
    if derived.function in ROUNDINGS and argument.is_whole:
        return argument
    if derived.function in INDICATORS:
        moves: Interval = Fraction(-1 if low < 0 else 0), Fraction(1 if high > 0 else 0)
    elif derived.function in {Function.FLOOR, Function.CEIL}:
        moves = -_ceil(-low), _ceil(high)
    elif derived.function is Function.RINT:
        moves = -_with_ties(-low), _with_ties(high)
    elif derived.function is Function.CLIP:
        moves = min(low, Fraction(0)), max(high, Fraction(0))  # outside the interval nothing moves
    else:
        slope: End = Fraction(1) if derived.function is Function.ABS else 2 * max(-least, most, Fraction(0))
        reach = max(-low, high)
        moves = _times((-reach, reach), slope) if reach and slope else (Fraction(0), Fraction(0))
    inside = _within(values, moves)
    whole = derived.function in INDICATORS | ROUNDINGS or (argument.is_whole and _is_whole_at_whole(derived))
    return _Range(values, inside, whole, derived.function in LIPSCHITZ and inside == moves and argument.is_linear)


def _values(derived: Derived, argument: _Range) -> Interval:
    """Return an interval that holds all values."""
    least, most = argument.values
    match derived.function:
        case Function.CLIP:
            low = -math.inf if derived.low is None else derived.low
            high = math.inf if derived.high is None else derived.high
            return min(max(least, low), high), max(min(most, high), low)
        case Function.ABOVE | Function.AT_LEAST:
            return Fraction(0), Fraction(1)
        case Function.ABS:
            return max(least, -most, Fraction(0)), max(-least, most)
        case Function.SQUARE:
            least, most = max(least, -most, Fraction(0)), max(-least, most)
            return least * least, most * most
        case _:
            return least - 1, most + 1


def _is_whole_at_whole(derived: Derived) -> bool:
    return all(end is None or end.denominator == 1 for end in (derived.low, derived.high))


def _within(values: Interval, moves: Interval) -> Interval:
    span = values[1] - values[0]
    return max(moves[0], -span), min(moves[1], span)


def _plus(left: Interval, right: Interval) -> Interval:
    return left[0] + right[0], left[1] + right[1]


def _times(interval: Interval, factor: End) -> Interval:
    low, high = interval[0] * factor, interval[1] * factor
    return (low, high) if factor > 0 else (high, low)


def _ceil(value: End) -> End:
    return value if math.isinf(value) else Fraction(math.ceil(value))


def _with_ties(value: End) -> End:
    """Return the most steps of a rounding to the nearest integer, halves to even ones, that a rise of u can make."""
    whole = _ceil(value)
    return whole + 1 if whole == value and whole % 2 else whole


def covers_of(model: LeafModel, relation: NeighbourRelation) -> tuple[Moves, ...]:
    """Return covers of the moves of the data of a model and of its derived coordinates.

    Raises
    ------
    UndecidedMovesError
        As for `covers`, or if a coordinate that occurs in the model moves without bound, such as a square.
    """
    if not model.derived:
        return covers(relation)
    forms = [one.form for leaf in model.leaves for one in leaf.constraints]
    forms += [number for leaf in model.leaves for number in released_numbers(leaf.outcome)]
    used = frozenset(i for form in forms for i in form.data)
    integer = isinstance(relation, VectorNeighbours) and relation.integer
    low, high = (Fraction(end) if math.isfinite(end) else end for end in (relation.low, relation.high))
    found = (
        DerivedMoves(
            moves.size, moves.most, moves.reach, moves.total, moves.monotone, derived=model.derived,
            used=used, domain=(low, high), integer=integer,
        )
        for moves in covers(relation)
    )  # fmt: skip
    return tuple(one if one.is_linear else replace(one, total=None) for one in found)
