"""Cells of data space, cut by the decisions that hold no noise, and the pairs of cells that neighbours join."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpassay.neighbours import NeighbourRelation
from dpassay.spec.leaves.derived import covers_of
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Relation
from dpassay.spec.leaves.moves import Moves, UndecidedMovesError, require_size
from dpassay.spec.leaves.polyhedra import has_interior, negated, opposite
from dpassay.spec.leaves.programmes import interior_point
from dpassay.spec.leaves.rows import ONE, Vector, constraint_of, row_of

__all__ = ["MOST_CELLS", "Cell", "CellPair", "domain_rows", "has_cells", "joined_cells", "points_across"]

MOST_CELLS = 16
"""Models with more cells of data are undecided."""

MOST_SIGNS = 6
"""More coordinates that share a bound on their sum would take too many constraints."""

Cell = tuple[Constraint, ...]


@dataclass(frozen=True)
class CellPair:
    """Two cells with data x in the first and a neighbour x + Delta in the second.

    Parameters
    ----------
    here, there : Cell
        The cells.
    sources, targets : tuple of Leaf
        The leaves on data in the first cell, and in the second.
    place : tuple of Vector
        Functions of (x, Delta) that are not negative on a polyhedron that holds all such data.
    inside : tuple of Constraint
        The same functions as constraints, strict where a cell is open; data are both x and Delta.
    """

    here: Cell
    there: Cell
    sources: tuple[Leaf, ...]
    targets: tuple[Leaf, ...]
    place: tuple[Vector, ...]
    inside: tuple[Constraint, ...]


def has_cells(model: LeafModel) -> bool:
    """Return whether a decision is about data alone."""
    return any(not constraint.form.noise for leaf in model.leaves for constraint in leaf.constraints)


def joined_cells(model: LeafModel, relation: NeighbourRelation) -> Iterator[CellPair]:
    """Yield all pairs of cells that neighbours join, each with a part of the moves between them.

    Parameters
    ----------
    model : LeafModel
        On symbolic data.
    relation : NeighbourRelation
        For data of the same length.

    Raises
    ------
    UndecidedMovesError
        If the cells or the moves are too many, or a leaf asks for an equality of data.
    """
    require_size(relation, model.size)
    cells = _cells(model)
    regions = _regions(covers_of(model, relation)[0])
    if len(cells) > MOST_CELLS:
        raise UndecidedMovesError(f"decisions about data cut {len(cells)} cells or more")
    leaves = {cell: tuple(_leaves(model, cell)) for cell in cells}
    for here, there in itertools.product(cells, repeat=2):
        for region in regions:
            inside = (*_at_both(here, there), *map(constraint_of, region))
            if has_interior(inside):
                place = (*_place(here, there), *region)
                yield CellPair(here, there, leaves[here], leaves[there], place, inside)


def domain_rows(size: int, relation: NeighbourRelation) -> tuple[Vector, ...]:
    """Return functions that are not negative where x and x + Delta lie in the domain of the relation."""
    rows: list[Vector] = []
    for sign, end in ((1, relation.low), (-1, relation.high)):
        for i in range(size) if math.isfinite(end) else ():
            form = Affine(-sign * Fraction(end), {}, {i: Fraction(sign)})
            rows += [row_of(form, moved=False), row_of(form, moved=True)]
    return tuple(rows)


def points_across(model: LeafModel, relation: NeighbourRelation) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Yield data x and x + Delta in different cells, well inside of them where there is room.

    Raises
    ------
    UndecidedMovesError
        As for `joined_cells`.
    """
    domain = tuple(map(constraint_of, domain_rows(model.size, relation)))
    for pair in joined_cells(model, relation):
        if pair.here != pair.there:
            point = _point((*pair.inside, *domain), 2 * model.width)
            if point is not None:
                own = range(0, 2 * model.size, 2)
                yield [point[i] for i in own], [point[i] + point[i + 1] for i in own]


def _point(constraints: Sequence[Constraint], count: int) -> tuple[Fraction, ...] | None:
    """Return data that obey all constraints, the strict ones by a margin; by the same margin all, if that is possible.

    With equalities or corners among the closed ones there is no such point.
    """
    forms = [(one.form.data, one.form.constant) for one in constraints if one.form.data]
    is_strict = [one.relation is Relation.ABOVE for one in constraints if one.form.data]
    strict = [form for form, open_ in zip(forms, is_strict, strict=True) if open_]
    closed = [form for form, open_ in zip(forms, is_strict, strict=True) if not open_]
    return interior_point(forms, count) or interior_point(strict, count, closed)


def _cells(model: LeafModel) -> list[Cell]:
    """Return all sign patterns of the forms in data alone that some data have.

    Raises
    ------
    UndecidedMovesError
        If a leaf asks for an equality of data: it would belong to no cell.
    """
    forms: list[Affine] = []
    for leaf in model.leaves:
        own = {constraint.form for constraint in leaf.constraints if not constraint.form.noise}
        if any(negated(form) in own for form in own):
            raise UndecidedMovesError("a decision is about an equality of data")
        for constraint in leaf.constraints:
            form = constraint.form
            if form.data and not form.noise and form not in forms and negated(form) not in forms:
                forms.append(form)
    cells: list[Cell] = [()]
    for form in forms:
        parts = [(*cell, *side) for cell in cells for side in _sides(model, form)]
        cells = [cell for cell in parts if has_interior(cell)]
        if len(cells) > MOST_CELLS:
            break
    return cells


def _sides(model: LeafModel, form: Affine) -> tuple[Cell, ...]:
    """Return the sides of a decision about data.

    The boundary is on one side if all leaves agree on that. It is a cell of its own if some leaves have it on one side
    and others on the other: the mechanism may behave on it as on neither side. Leaves that are closed on both sides do
    not tell.
    """
    taken = {one for leaf in model.leaves for one in leaf.constraints if one.form in {form, negated(form)}}
    above, below = Constraint(form), Constraint(negated(form))
    strictly_above, strictly_below = opposite(below), opposite(above)
    for pair in ((above, strictly_below), (strictly_above, below), (above, below)):
        if taken.issubset(pair):
            return tuple((side,) for side in pair)
    return (strictly_above,), (above, below), (strictly_below,)


def _leaves(model: LeafModel, cell: Cell) -> Iterator[Leaf]:
    """Yield the leaves whose decisions about data are those of the cell."""
    outside = {Constraint(negated(one.form), relation) for one in cell for relation in Relation}
    outside -= set(cell)  # a boundary is on both closed sides
    for leaf in model.leaves:
        if outside.isdisjoint(leaf.constraints):
            yield leaf


def _place(here: Cell, there: Cell) -> list[Vector]:
    """Return the constraints of (x, Delta): x in one cell, x + Delta in the other."""
    return [row_of(one.form, moved=False) for one in here] + [row_of(one.form, moved=True) for one in there]


def _at_both(here: Cell, there: Cell) -> Iterator[Constraint]:
    """Yield the constraints on (x, Delta), strict ones as such."""
    for constraints, moved in ((here, False), (there, True)):
        for one in constraints:
            yield replace(constraint_of(row_of(one.form, moved=moved)), relation=one.relation)


def _regions(moves: Moves) -> list[list[Vector]]:
    """Return polyhedra whose union holds all moves; a convex hull is not enough, since the cost is not convex here.

    Raises
    ------
    UndecidedMovesError
        If a bound on the l1 norm of many coordinates would take too many constraints.
    """
    regions = []
    for box in replace(moves, total=None).boxes:
        moving = [i for i, (low, high) in enumerate(box[: moves.size]) if low < high]
        region: list[Vector] = []
        for i, (low, high) in enumerate(box):
            region += [{("move", i): Fraction(1), ONE: -low}, {("move", i): Fraction(-1), ONE: high}]
        if moves.total is not None and sum(max(-low, high) for low, high in box[: moves.size]) > moves.total:
            if len(moving) > MOST_SIGNS:
                raise UndecidedMovesError(f"{len(moving)} coordinates share a bound on their sum")
            for signs in itertools.product((1, -1), repeat=len(moving)):
                total: Vector = {("move", i): Fraction(sign) for i, sign in zip(moving, signs, strict=True)}
                region.append({**total, ONE: moves.total})
        regions.append(region)
    return regions
