"""Alignments with noise on a lattice: integer shifts for integer moves of the data.

Geometric noise with ratio q has mass (1 - q) q^z at the integers z >= 0. A shift by an integer s >= 0 maps them to
integers and changes the mass by a factor of q^-s: it costs s log(1/q); a negative shift leaves the support. So a leaf
is aligned as in :mod:`alignment`, with integers for the shifts of such noise. A shift that keeps c . Z + b . x + k at
least 0, or above 0, does so whatever Z is: no boundary is special.

Only integers are allowed, so that the least cost is not convex in the move, and its corners are not enough:

- if there are few integer moves, each has a programme of its own, coordinates with a bad end at that end;
- in any case alignments add up: the sum of integer shifts for unit moves e_i and -e_i, as often as they occur in the
  move, is an alignment for the move. Its cost is at most the sum of theirs.

Either bounds epsilon; the smaller bound counts. A relaxed programme whose solution is not integer proves nothing.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.spec.ball import ball, float_upper
from dpassay.spec.leaves.alignment import DIRECTIONS, Unaligned, programme_of
from dpassay.spec.leaves.derived import DerivedMoves, covers_of
from dpassay.spec.leaves.model import Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.moves import Box, Moves, UndecidedMovesError, require_size
from dpassay.spec.leaves.outcomes import UnknownOutcomeError
from dpassay.spec.leaves.programmes import Infeasible, Row, minimum

__all__ = ["AlignedOnLattice", "IntegerShift", "has_geometric_noise", "lattice_bound", "unit_cost"]

MOST_MOVES = 512
"""Integer moves of one leaf that are aligned one by one."""

UPWARDS = (1,)
"""Directions in which geometric noise is shifted."""

Move = tuple[int, ...]


@dataclass(frozen=True)
class IntegerShift:
    """An alignment of one leaf, with integers for noise on a lattice.

    Parameters
    ----------
    box : int or None
        Number of the box of moves; None for the move of one coordinate by 1 or -1.
    fixed : Mapping of int to int
        The coordinates of the move that were enumerated; the others may be anywhere in the box, or stay.
    shift : Mapping of Noise to Fraction
        The shift.
    """

    box: int | None
    fixed: Mapping[int, int]
    shift: Mapping[Noise, Fraction]


@dataclass(frozen=True)
class AlignedOnLattice:
    """A proof of epsilon for all integer data, with a move that costs most."""

    epsilon: Fraction
    delta: Fraction
    worst_move: Move
    moves: Moves
    shifts: tuple[tuple[IntegerShift, ...], ...]


def has_geometric_noise(model: LeafModel) -> bool:
    """Return whether noise on a lattice occurs in a decision or a released number."""
    return any(noise.kind is NoiseKind.GEOMETRIC for leaf in model.leaves for noise in programme_of(leaf).noises)


def unit_cost(noise: Noise) -> Fraction:
    """Return an upper bound on the cost of a unit of shift, within a few units of the last place of a float."""
    if noise.kind is not NoiseKind.GEOMETRIC:
        return Fraction(1)
    return Fraction(float_upper(-ball(noise.ratio).log()))


def lattice_bound(model: LeafModel, relation: NeighbourRelation) -> AlignedOnLattice | Unaligned:
    """Bound epsilon for all integer data of the model's length.

    Parameters
    ----------
    model : LeafModel
        On symbolic data; its geometric noise takes integer values.
    relation : NeighbourRelation
        For integer data of the same length.
    """
    try:
        require_size(relation, model.size)
        cover = covers_of(model, relation)[0]
        if not _is_whole(cover, relation):
            return Unaligned("noise on a lattice is shifted by integers, and the data are not integers")
        found = [_leaf_bound(leaf, cover) for leaf in model.leaves]
    except (UndecidedMovesError, UnknownOutcomeError) as error:
        return Unaligned(str(error))
    proofs = [one for one in found if not isinstance(one, Unaligned)]
    if len(proofs) < len(found):
        return next(one for one in found if isinstance(one, Unaligned))
    epsilon, worst = max(((one.cost, one.move) for one in proofs), default=(Fraction(0), (0,) * model.width))
    return AlignedOnLattice(epsilon, model.undecided, worst, cover, tuple(one.shifts for one in proofs))


def _is_whole(moves: Moves, relation: NeighbourRelation) -> bool:
    """Return whether the data, or all functions of them that occur, are integers."""
    if isinstance(moves, DerivedMoves):
        return moves.is_whole
    return isinstance(relation, VectorNeighbours) and relation.integer


@dataclass(frozen=True)
class _Bound:
    """The bound of a leaf, a move that attains it, and its alignments."""

    cost: Fraction
    move: Move
    shifts: tuple[IntegerShift, ...]


def _leaf_bound(leaf: Leaf, moves: Moves) -> _Bound | Unaligned:
    """Return the smaller one of the bounds of a leaf."""
    programme = _IntegerProgramme(leaf)
    found = [one for one in (_by_units(programme, moves), _one_by_one(programme, moves)) if one is not None]
    if not found:
        return Unaligned("no shift of the noise by integers keeps the decisions and the released numbers")
    return min(found, key=lambda one: one.cost)


class _IntegerProgramme:
    """The programmes of one leaf."""

    def __init__(self, leaf: Leaf) -> None:
        known = programme_of(leaf)
        self.forms, self.bad_ends = known.forms, known.bad_ends
        self.columns = [
            (noise, sign)
            for noise in known.noises
            for sign in (UPWARDS if noise.kind is NoiseKind.GEOMETRIC else DIRECTIONS.get(noise.kind, ()))
        ]
        self.costs = [unit_cost(noise) for noise, _ in self.columns]
        self.rows: list[Row] = [
            {j: side * sign * form.noise[noise] for j, (noise, sign) in enumerate(self.columns) if noise in form.noise}
            for form, side in self.forms
        ]

    def least_cost(self, move: Sequence[int]) -> tuple[Fraction, Mapping[Noise, Fraction]] | None:
        """Return cost and shift of an alignment for one move, the least one if it is found; None if none is found."""
        rows = []
        for row, (form, side) in zip(self.rows, self.forms, strict=True):
            bound = -side * sum((b * move[i] for i, b in form.data.items()), Fraction(0))
            if row or bound > 0:
                rows.append((row, bound))
        found = minimum(self.costs, rows)
        if isinstance(found, Infeasible) or not _is_integral(self.columns, found.point):
            return None
        shift: dict[Noise, Fraction] = {}
        for (noise, sign), value in zip(self.columns, found.point, strict=True):
            if value:
                shift[noise] = shift.get(noise, Fraction(0)) + sign * value
        return found.value, shift


def _is_integral(columns: Sequence[tuple[Noise, int]], point: Sequence[Fraction]) -> bool:
    """Return whether noise on a lattice is shifted by integers."""
    shifts = zip(columns, point, strict=True)
    return all(noise.kind is not NoiseKind.GEOMETRIC or value.denominator == 1 for (noise, _), value in shifts)


def _by_units(programme: _IntegerProgramme, moves: Moves) -> _Bound | None:
    """Add up alignments of unit moves: the most expensive ones first, as often as the relation allows."""
    if isinstance(moves, DerivedMoves):
        return None  # the moves of functions of one coordinate do not add up
    signed: list[list[tuple[Fraction, int]]] = []
    shifts: list[IntegerShift] = []
    for sign in (1, -1):
        signed.append([])
        for k in range(moves.size):
            found = programme.least_cost([sign * int(i == k) for i in range(moves.size)])
            if found is None:
                return None
            signed[-1].append((found[0], sign))
            shifts.append(IntegerShift(None, {k: sign}, found[1]))
    choices = signed if moves.monotone else [[max(pair) for pair in zip(*signed, strict=True)]]
    return _Bound(*max(_most_expensive(costs, moves) for costs in choices), tuple(shifts))


def _most_expensive(costs: Sequence[tuple[Fraction, int]], moves: Moves) -> tuple[Fraction, Move]:
    """Return the largest sum of costs that moves of at most `reach`, `most` and `total` have."""
    reach, left = math.floor(moves.reach), None if moves.total is None else math.floor(moves.total)
    epsilon, move = Fraction(0), [0] * moves.size
    for place in sorted(range(moves.size), key=lambda k: costs[k][0], reverse=True)[: moves.most]:
        step = reach if left is None else min(reach, left)
        left = None if left is None else left - step
        cost, sign = costs[place]
        epsilon, move[place] = epsilon + step * cost, sign * step
    return epsilon, tuple(move)


def _one_by_one(programme: _IntegerProgramme, moves: Moves) -> _Bound | None:
    """Align every integer move of every box, coordinates with a bad end at that end."""
    if moves.total is not None:
        return None  # the boxes of a bound on the sum hold its extreme moves only
    worst: tuple[Fraction, Move] = Fraction(0), (0,) * len(moves.boxes[0])
    shifts: list[IntegerShift] = []
    for number, box in enumerate(moves.boxes):
        free = [i for i in range(len(box)) if programme.bad_ends.get(i, 0) is None]
        listed = list(itertools.islice(_integers(programme, box), MOST_MOVES + 1))
        if len(listed) > MOST_MOVES:
            return None
        for move in listed:
            found = programme.least_cost(move)
            if found is None:
                return None
            worst = max(worst, (found[0], move))
            shifts.append(IntegerShift(number, {i: move[i] for i in free}, found[1]))
    return _Bound(*worst, tuple(shifts))


def _integers(programme: _IntegerProgramme, box: Box) -> Iterator[Move]:
    ranges = []
    for i, (low, high) in enumerate(box):
        end = programme.bad_ends.get(i, 0)  # a coordinate that does not occur may stay
        ends = range(math.ceil(low), math.floor(high) + 1)
        ranges.append(ends if end is None else [ends[-1] if end else ends[0]])
    return itertools.product(*ranges)
