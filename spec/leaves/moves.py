"""Moves of the data that a neighbour relation allows, covered by boxes.

The least cost of an alignment is a convex function of the move, so that a set of moves may be replaced by any set
whose convex hull contains it. Boxes are such sets: the whole box for linf; for l1 one segment along each axis; one
box for each set of coordinates that may move for l0. The l2 ball is no hull of finitely many points: it lies in the
box of its radius r and in the l1 ball of radius r d^(1/2), and either gives an upper bound of epsilon. A move of such
an outer cover need not be a neighbour, hence refutes nothing.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours

__all__ = ["Box", "Moves", "UndecidedMovesError", "covers", "require_size"]

MOST_BOXES = 4096

Box = tuple[tuple[Fraction, Fraction], ...]
"""Lower and upper end of every coordinate of a move."""


class UndecidedMovesError(ValueError):
    """Raised when the moves of a relation are not differences of two data of one length, or too many to list."""


@dataclass(frozen=True)
class Moves:
    """Moves of at most `most` coordinates, each by at most `reach`, of l1 norm at most `total`, as boxes.

    Parameters
    ----------
    size, most : int
        Number of coordinates, and how many may move.
    reach : Fraction
        Largest change of one coordinate.
    total : Fraction, optional
        Largest sum of all changes.
    monotone : bool
        Whether all coordinates move the same way.
    """

    size: int
    most: int
    reach: Fraction
    total: Fraction | None = None
    monotone: bool = False

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """Boxes whose convex hull holds all moves: extreme moves use up `total` by as few coordinates as possible.

        Raises
        ------
        UndecidedMovesError
            If there are more than `MOST_BOXES`.
        """
        if self.reach == 0 or self.most == 0:
            return (((Fraction(0), Fraction(0)),) * self.size,)
        full = self.most if self.total is None else min(self.most, math.floor(self.total / self.reach))
        rest = Fraction(0) if self.total is None or full == self.most else self.total - full * self.reach
        count = math.comb(self.size, full) * (self.size - full if rest else 1)
        if count > MOST_BOXES:
            raise UndecidedMovesError(f"{count} sets of coordinates may move, more than {MOST_BOXES}")
        return tuple(self._signed(full, rest))

    def _signed(self, full: int, rest: Fraction) -> Iterator[Box]:
        zero = Fraction(0)
        for widths in self._widths(full, rest):
            if self.monotone:
                yield tuple((zero, width) for width in widths)
                yield tuple((-width, zero) for width in widths)
            else:
                yield tuple((-width, width) for width in widths)

    def _widths(self, full: int, rest: Fraction) -> Iterator[list[Fraction]]:
        for chosen in itertools.combinations(range(self.size), full):
            for extra in set(range(self.size)) - set(chosen) if rest else {None}:
                yield [self.reach if i in chosen else rest if i == extra else Fraction(0) for i in range(self.size)]


def covers(relation: NeighbourRelation) -> tuple[Moves, ...]:
    """Return covers of the moves from an input to a neighbour: each of them gives an upper bound of epsilon.

    Raises
    ------
    UndecidedMovesError
        If neighbours have another length, or the boxes are too many.
    """
    if isinstance(relation, RecordNeighbours):
        return (_records(relation),)
    reach = Fraction(relation.largest_step) if math.isfinite(relation.largest_step) else None
    if reach is None:
        raise UndecidedMovesError("a coordinate may move without bound")
    if math.isfinite(relation.high - relation.low):
        reach = min(reach, Fraction(relation.high) - Fraction(relation.low))
    return _norms(relation, reach)


def require_size(relation: NeighbourRelation, size: int) -> None:
    """Raise `UndecidedMovesError` unless the relation is about data of the given number of coordinates."""
    if getattr(relation, "size", None) != size:
        raise UndecidedMovesError(f"the data have {size} coordinates, the relation is about {relation!r}")


def _records(relation: RecordNeighbours) -> Moves:
    if relation.relation != "replace" or relation.max_size not in {None, relation.size}:
        raise UndecidedMovesError("neighbours have another number of records")
    return Moves(relation.size, min(relation.size, 1), Fraction(relation.high) - Fraction(relation.low))


def _norms(relation: VectorNeighbours, reach: Fraction) -> tuple[Moves, ...]:
    """Return the covers for a bound `reach` on every coordinate and whatever else the relation asks for."""
    most = relation.size if relation.l0 is None else min(relation.l0, relation.size)
    total = None if relation.l1 is None else _whole(Fraction(relation.l1), relation.integer)
    moves = Moves(relation.size, most, reach, total, relation.monotone)
    if relation.l2 is None or most <= 1:
        return (moves,)
    square = Fraction(relation.l2) ** 2
    spread = Fraction(math.floor(square)) if relation.integer else _root_above(most * square)  # |x| <= x^2 there
    narrow = spread if total is None else min(total, spread)
    return replace(moves, total=narrow), moves


def _whole(value: Fraction, integer: bool) -> Fraction:
    return Fraction(math.floor(value)) if integer else value


def _root_above(square: Fraction) -> Fraction:
    """Return a rational that is at least the root, by less than 2^-39."""
    scale = 1 << 40
    root = math.isqrt(math.floor(square * scale * scale))
    return Fraction(root if Fraction(root, scale) ** 2 == square else root + 1, scale)
