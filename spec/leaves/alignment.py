"""Alignments: an upper bound of epsilon for all inputs of a length, by linear programmes.

For a leaf and a move Delta of the data, a shift s of the noises such that every constraint c . Z + b . x + k >= 0 has
c . s + b . Delta >= 0, and every released number c . Z + b . x + k has c . s + b . Delta = 0, maps the leaf at x into
the same leaf at x + Delta with the same outcome. It is a translation, hence injective and of Jacobian 1, and it
changes the density of the noise by a factor of at most e^cost. Therefore

    Pr[M(x) in E] <= e^epsilon Pr[M(x + Delta) in E] + undecided mass,

epsilon the largest cost over the leaves. The cost of a unit of shift is at most

========================  ========================================
Laplace, logistic         1 in both directions
exponential, Gumbel       1 upwards; downwards there is no bound
uniform, normal           no shift is allowed
========================  ========================================

The least cost is convex in Delta, so that the corners of the boxes of `moves.covers` decide. A coordinate that stands
in the constraints of a leaf with one sign only, and in no released number, is at its bad end: it is not enumerated.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpassay.neighbours import NeighbourRelation
from dpassay.spec.leaves.derived import covers_of
from dpassay.spec.leaves.model import Affine, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.moves import Box, Moves, UndecidedMovesError, require_size
from dpassay.spec.leaves.outcomes import UnknownOutcomeError, released_numbers
from dpassay.spec.leaves.programmes import Infeasible, Optimum, Row, minimum

__all__ = ["Aligned", "Programme", "Shift", "Unaligned", "alignment_bound", "programme_of"]

MOST_CORNERS = 4096

DIRECTIONS: Mapping[NoiseKind, tuple[int, ...]] = {
    NoiseKind.LAPLACE: (1, -1),
    NoiseKind.LOGISTIC: (1, -1),
    NoiseKind.EXPONENTIAL: (1,),
    NoiseKind.GUMBEL: (1,),
}
"""Directions in which a unit of shift costs at most 1; none for other noise."""


@dataclass(frozen=True)
class Shift:
    """An alignment of one leaf.

    Parameters
    ----------
    box : int
        Number of the box of moves.
    fixed : Mapping of int to Fraction
        The coordinates of the move that were enumerated, at one end each; the others may be anywhere in the box.
    shift : Mapping of Noise to Fraction
        The shift.
    cost : Fraction
        Its cost, nats.
    """

    box: int
    fixed: Mapping[int, Fraction]
    shift: Mapping[Noise, Fraction]
    cost: Fraction


@dataclass(frozen=True)
class Aligned:
    """A proof that epsilon is enough, with the worst leaf and move."""

    epsilon: Fraction
    delta: Fraction
    moves: Moves
    shifts: tuple[tuple[Shift, ...], ...]
    worst_leaf: int
    worst_move: tuple[Fraction, ...]


@dataclass(frozen=True)
class Unaligned:
    """A leaf and a move without an alignment, or another reason why none was found; it refutes nothing."""

    reason: str
    leaf: int | None = None
    move: tuple[Fraction, ...] | None = None


def alignment_bound(model: LeafModel, relation: NeighbourRelation) -> Aligned | Unaligned:
    """Bound epsilon for all data of the model's length; merge the model first for the sharper bound.

    Parameters
    ----------
    model : LeafModel
        On symbolic data.
    relation : NeighbourRelation
        For data of the same length.
    """
    try:
        require_size(relation, model.size)
        found = [_aligned(model, moves) for moves in covers_of(model, relation)]
    except (UndecidedMovesError, UnknownOutcomeError) as error:
        return Unaligned(str(error))
    proofs = [one for one in found if isinstance(one, Aligned)]
    return min(proofs, key=lambda proof: proof.epsilon) if proofs else found[0]


def _aligned(model: LeafModel, moves: Moves) -> Aligned | Unaligned:
    shifts: list[tuple[Shift, ...]] = []
    worst: tuple[Fraction, int, tuple[Fraction, ...]] = (Fraction(-1), 0, ())
    solved = _Solved()
    for index, leaf in enumerate(model.leaves):
        programme = _Programme(leaf, solved)
        own: list[Shift] = []
        for number, box in enumerate(moves.boxes):
            corners = programme.corners(box)
            if corners is None:
                return Unaligned(f"more than {MOST_CORNERS} corners of moves", index)
            for fixed in corners:
                move = programme.worst_move(box, fixed)
                found = programme.least_cost(move)
                if found is None:
                    return Unaligned("no shift of the noise keeps the decisions and the released numbers", index, move)
                own.append(Shift(number, fixed, found[1], found[0]))
                worst = max(worst, (found[0], index, move), key=lambda one: one[0])
        shifts.append(tuple(own))
    return Aligned(max(worst[0], Fraction(0)), model.undecided, moves, tuple(shifts), worst[1], worst[2])


@dataclass(frozen=True)
class Programme:
    """Conditions that an alignment of a leaf must keep.

    Parameters
    ----------
    forms : tuple of (Affine, int)
        Affine forms and signs: the form times the sign must not decrease; a released number has both signs.
    bad_ends : Mapping of int to (int or None)
        The end of each coordinate that is worst for all constraints: 0 low, 1 high, None neither.
    """

    forms: tuple[tuple[Affine, int], ...]
    bad_ends: Mapping[int, int | None]

    @property
    def noises(self) -> tuple[Noise, ...]:
        """All noises that occur."""
        return tuple(dict.fromkeys(noise for form, _ in self.forms for noise in form.noise))


def programme_of(leaf: Leaf) -> Programme:
    """Return what an alignment of a leaf must keep."""
    released = released_numbers(leaf.outcome)
    sides = [(one.form, 1) for one in leaf.constraints]
    sides += [(number, side) for number in released for side in (1, -1)]
    return Programme(tuple(sides), _bad_ends(leaf, {i for number in released for i in number.data}))


def _bad_ends(leaf: Leaf, released: set[int]) -> dict[int, int | None]:
    signs: dict[int, set[bool]] = {i: {False, True} for i in released}
    for constraint in leaf.constraints:
        for i, value in constraint.form.data.items():
            signs.setdefault(i, set()).add(value < 0)
    return {i: None if len(both) > 1 else int(both == {True}) for i, both in signs.items()}


class _Solved:
    """Programmes that are equal but for the order of their rows and columns are solved once.

    Leaves with as many answers of each kind, in another order, have such programmes. The order is found by what is
    known of each column alone; programmes for which that does not tell enough are solved again.
    """

    def __init__(self) -> None:
        self._known: dict[object, Optimum | Infeasible] = {}

    def minimum(self, rows: Sequence[tuple[Row, Fraction]], columns: int) -> tuple[Fraction, list[Fraction]] | None:
        """Return the least sum of all columns under rows, and a point that has it; None if the rows contradict."""
        marks: list[list[tuple[int, ...]]] = [[] for _ in range(columns)]
        for row, bound in rows:
            for j, value in row.items():
                marks[j].append((*value.as_integer_ratio(), *bound.as_integer_ratio(), len(row)))
        order = sorted(range(columns), key=lambda j: sorted(marks[j]))
        place = {j: k for k, j in enumerate(order)}
        named = sorted(
            (sorted((place[j], *value.as_integer_ratio()) for j, value in row.items()), *bound.as_integer_ratio())
            for row, bound in rows
        )
        key = columns, tuple((tuple(row), *bound) for row, *bound in named)
        if key not in self._known:
            plain = [({j: Fraction(n, d) for j, n, d in row}, Fraction(*bound)) for row, *bound in named]
            self._known[key] = minimum([Fraction(1)] * columns, plain)
        found = self._known[key]
        if isinstance(found, Infeasible):
            return None
        return found.value, [found.point[place[j]] for j in range(columns)]


class _Programme:
    """The linear programmes of one leaf, for all moves."""

    def __init__(self, leaf: Leaf, solved: _Solved) -> None:
        self.solved = solved
        known = programme_of(leaf)
        self.columns = [(noise, sign) for noise in known.noises for sign in DIRECTIONS.get(noise.kind, ())]
        self.rows = [(self._row(form, side), form.data, side) for form, side in known.forms]
        self.bad_ends = known.bad_ends

    def _row(self, form: Affine, side: int) -> Row:
        return {
            j: side * sign * form.noise[noise] for j, (noise, sign) in enumerate(self.columns) if noise in form.noise
        }

    def corners(self, box: Box) -> list[dict[int, Fraction]] | None:
        """Return all corners in the coordinates that have no bad end; None if they are too many."""
        free = [i for i, (low, high) in enumerate(box) if low < high and self.bad_ends.get(i, 0) is None]
        if 2 ** len(free) > MOST_CORNERS:
            return None
        return [dict(zip(free, corner, strict=True)) for corner in itertools.product(*(box[i] for i in free))]

    def worst_move(self, box: Box, fixed: Mapping[int, Fraction]) -> tuple[Fraction, ...]:
        """Return the move that is worst for all constraints given the coordinates that are fixed."""
        return tuple(fixed[i] if i in fixed else ends[self.bad_ends.get(i) or 0] for i, ends in enumerate(box))

    def least_cost(self, move: Sequence[Fraction]) -> tuple[Fraction, dict[Noise, Fraction]] | None:
        """Return the cheapest alignment for one move, None if there is none."""
        rows = []
        for row, data, side in self.rows:
            bound = -side * sum((b * move[i] for i, b in data.items()), Fraction(0))
            if row or bound > 0:
                rows.append((row, bound))
        found = self.solved.minimum(rows, len(self.columns))
        if found is None:
            return None
        shift: dict[Noise, Fraction] = {}
        for (noise, sign), value in zip(self.columns, found[1], strict=True):
            if value:
                shift[noise] = shift.get(noise, Fraction(0)) + sign * value
        return found[0], shift
