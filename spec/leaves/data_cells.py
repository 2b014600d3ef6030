"""Alignments across decisions about data alone: cells of data, and shifts into the leaves of another cell.

The decisions that hold no noise cut the space of data into cells. For data x in a cell A and a neighbour x + Delta in
a cell B, a leaf of A is mapped into a leaf of B with the same outcome by a shift s(x, Delta), affine in x and Delta:

1. every constraint of the target holds at (Z + s, x + Delta) wherever those of the source hold at (Z, x);
2. every released number has the same value at both;
3. |s_i| <= t_i there; the cost is sum t_i;
4. images of different sources in one target are disjoint.

Each of 1 and 3 says that an affine function is not negative on a polyhedron in noise, data and move, hence that it is
a non-negative combination of the constraints of the polyhedron and of 1 (Farkas): linear in s, t and the multipliers,
so that the least cost is one linear programme for each pair of leaves. Without 4 a point of the target could be
counted once for each source, and the bound would be false.
"""

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpassay.claims import NeighbourRelation
from dpassay.spec.leaves.alignment import DIRECTIONS, Unaligned
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise
from dpassay.spec.leaves.moves import Moves, UndecidedMovesError, covers, require_size
from dpassay.spec.leaves.outcomes import UnknownOutcomeError, skeleton
from dpassay.spec.leaves.polyhedra import has_interior, negated, support
from dpassay.spec.leaves.programmes import Infeasible, minimum

__all__ = ["AlignedCells", "cell_bound"]

MOST_CELLS = 16
MOST_UNKNOWNS = 600
MOST_SIGNS = 6

Vector = dict[Hashable, Fraction]
"""An affine function: coefficients by variable, and the constant at `ONE`."""

ONE = "1"
"""The name of the constant function."""


@dataclass(frozen=True)
class AlignedCells:
    """A proof of epsilon across cells of data, with the number of pairs of cells that neighbours join."""

    epsilon: Fraction
    delta: Fraction
    pairs: int


@dataclass(frozen=True)
class _Image:
    """A source leaf, its target and the shift of each noise."""

    source: Leaf
    target: Leaf
    shift: Mapping[Noise, Vector]
    cost: Fraction


def cell_bound(model: LeafModel, relation: NeighbourRelation) -> AlignedCells | Unaligned:
    """Bound epsilon for all data of the model's length, decisions about data alone included.

    Parameters
    ----------
    model : LeafModel
        On symbolic data.
    relation : NeighbourRelation
        For data of the same length.
    """
    if model.on_lattice:
        return Unaligned("a decision depends on noise on a lattice, beside one about data alone")
    try:
        require_size(relation, model.size)
        cells = _cells(model)
        regions = _regions(covers(relation)[0])
    except (UndecidedMovesError, UnknownOutcomeError) as error:
        return Unaligned(str(error))
    if len(cells) > MOST_CELLS:
        return Unaligned(f"decisions about data cut {len(cells)} cells or more")
    worst, pairs = Fraction(0), 0
    for here, there in itertools.product(cells, repeat=2):
        for region in regions:
            place = _place(here, there) + region
            if not has_interior([*map(_constraint, place)]):
                continue
            pairs += 1
            images = _images(_leaves(model, here), _leaves(model, there), place)
            if isinstance(images, Unaligned):
                return images
            worst = max(worst, *(image.cost for image in images))
    return AlignedCells(worst, model.undecided, pairs)


# --- cells --------------------------------------------------------------------------------------------------


def _cells(model: LeafModel) -> list[tuple[Constraint, ...]]:
    """Return all sign patterns of the forms in data alone that some data have; a boundary belongs to both sides.

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
    cells: list[tuple[Constraint, ...]] = [()]
    for form in forms:
        halves = [(*cell, Constraint(side)) for cell in cells for side in (form, negated(form))]
        cells = [cell for cell in halves if has_interior(cell)]
        if len(cells) > MOST_CELLS:
            break
    return cells


def _leaves(model: LeafModel, cell: Sequence[Constraint]) -> list[Leaf]:
    """Return the leaves whose decisions about data are those of the cell."""
    outside = {negated(constraint.form) for constraint in cell}
    return [leaf for leaf in model.leaves if not any(one.form in outside for one in leaf.constraints)]


def _place(here: Sequence[Constraint], there: Sequence[Constraint]) -> list[Vector]:
    """Return the constraints of (x, Delta): x in one cell, x + Delta in the other."""
    return [_vector(one.form, moved=False) for one in here] + [_vector(one.form, moved=True) for one in there]


def _regions(moves: Moves) -> list[list[Vector]]:
    """Return polyhedra whose union holds all moves; a convex hull is not enough, since the cost is not convex here.

    Raises
    ------
    UndecidedMovesError
        If a bound on the l1 norm of many coordinates would take too many constraints.
    """
    regions = []
    for box in replace(moves, total=None).boxes:
        moving = [i for i, (low, high) in enumerate(box) if low < high]
        region: list[Vector] = []
        for i, (low, high) in enumerate(box):
            region += [{("move", i): Fraction(1), ONE: -low}, {("move", i): Fraction(-1), ONE: high}]
        if moves.total is not None and sum(max(-low, high) for low, high in box) > moves.total:
            if len(moving) > MOST_SIGNS:
                raise UndecidedMovesError(f"{len(moving)} coordinates share a bound on their sum")
            for signs in itertools.product((1, -1), repeat=len(moving)):
                total: Vector = {("move", i): Fraction(sign) for i, sign in zip(moving, signs, strict=True)}
                region.append({**total, ONE: moves.total})
        regions.append(region)
    return regions


def _vector(form: Affine, *, moved: bool) -> Vector:
    """Write a form at x, or at x + Delta."""
    total: Vector = {ONE: form.constant}
    total.update(form.noise.items())
    for i, value in form.data.items():
        total["data", i] = value
        if moved:
            total["move", i] = value
    return total


def _constraint(row: Vector) -> Constraint:
    """Write a row as a constraint whose data are both x and Delta."""
    data = {_index(name): value for name, value in row.items() if isinstance(name, tuple)}
    noise = {name: value for name, value in row.items() if isinstance(name, Noise)}
    return Constraint(Affine(row.get(ONE, Fraction(0)), noise, data))


def _index(name: tuple[str, int]) -> int:
    return 2 * name[1] + (name[0] == "move")


# --- images -------------------------------------------------------------------------------------------------


def _images(sources: Sequence[Leaf], targets: Sequence[Leaf], place: Sequence[Vector]) -> list[_Image] | Unaligned:
    """Map every source into a target, cheapest first, with disjoint images."""
    images: list[_Image] = []
    for source in sources:
        choices = (image for target in targets if (image := _image(source, target, place)) is not None)
        for image in sorted(choices, key=lambda one: one.cost):
            if all(_are_disjoint(image, other, place) for other in images):
                images.append(image)
                break
        else:
            return Unaligned("no leaf of a neighbouring cell takes a leaf in, apart from the images of others")
    return images


def _are_disjoint(first: _Image, second: _Image, place: Sequence[Vector]) -> bool:
    if first.target is not second.target:
        return True
    shifted = [row for image in (first, second) for row in _shifted_leaf(image)]
    return not has_interior([_constraint(row) for row in (*place, *shifted)])


def _shifted_leaf(image: _Image) -> Iterator[Vector]:
    """Yield the constraints of the image: those of the source at Z - s."""
    for constraint in (*image.source.constraints, *_supports(image.source)):
        back = {noise: {name: -value for name, value in shift.items()} for noise, shift in image.shift.items()}
        yield _at_shift(_vector(constraint.form, moved=False), back)


def _supports(leaf: Leaf) -> list[Constraint]:
    noises = dict.fromkeys(noise for one in leaf.constraints for noise in one.form.noise)
    return [one for noise in noises for one in support(noise)]


def _at_shift(row: Vector, shift: Mapping[Noise, Vector]) -> Vector:
    """Return the row at Z + s."""
    total = dict(row)
    for noise, own in shift.items():
        for name, value in own.items():
            total[name] = total.get(name, Fraction(0)) + row.get(noise, Fraction(0)) * value
    return total


def _image(source: Leaf, target: Leaf, place: Sequence[Vector]) -> _Image | None:
    """Return the cheapest map of one leaf into another, None if there is none."""
    (structure, numbers), (other, released) = (
        skeleton(leaf.outcome, functions=True) for leaf in (source, target)
    )  # fmt: skip
    if structure != other or (source.choices, source.weight) != (target.choices, target.weight):
        return None
    programme = _Programme([*place, *(_vector(one.form, moved=False) for one in source.constraints),
                            *(_vector(one.form, moved=False) for one in _supports(source))])  # fmt: skip
    forms = [*(one.form for one in (*source.constraints, *target.constraints)), *numbers, *released]
    for noise in dict.fromkeys(noise for form in forms for noise in form.noise):
        programme.shift(noise)
    for constraint in target.constraints:
        programme.require(_vector(constraint.form, moved=True), shifted=True)
    for left, right in zip(numbers, released, strict=True):
        programme.equate(_vector(right, moved=True), _vector(left, moved=False))
    solved = programme.solve()
    return None if solved is None else _Image(source, target, *solved)


class _Programme:
    """Affine shifts with multipliers: every requirement is an identity between affine functions on a polyhedron."""

    def __init__(self, polyhedron: Sequence[Vector]) -> None:
        self.polyhedron = polyhedron
        names = dict.fromkeys(name for row in polyhedron for name in row)
        self.parameters = [name for name in names if isinstance(name, tuple)] + [ONE]
        self.costs: list[Fraction] = []
        self.rows: list[tuple[dict[int, Fraction], Fraction]] = []
        self.shifts: dict[Noise, dict[Hashable, tuple[int, int]]] = {}

    def _unknown(self, cost: int = 0) -> int:
        self.costs.append(Fraction(cost))
        return len(self.costs) - 1

    def shift(self, noise: Noise) -> None:
        """Let a noise be shifted as far as its distribution allows, and charge the largest shift."""
        directions = DIRECTIONS.get(noise.kind, ())
        if not directions:
            return
        own = self.shifts[noise] = {name: (self._unknown(), self._unknown()) for name in self.parameters}
        most = self._unknown(cost=1)
        for sign in (1, -1):
            row = {name: {up: Fraction(-sign), down: Fraction(sign)} for name, (up, down) in own.items()}
            if sign in directions:
                row[ONE][most] = Fraction(1)
            self._positive(row, {})

    def require(self, row: Vector, *, shifted: bool) -> None:
        """Ask that a function of the target is not negative on the polyhedron."""
        self._positive(self._unknowns(row) if shifted else {}, row)

    def _unknowns(self, row: Vector) -> dict[Hashable, dict[int, Fraction]]:
        """Return the part of row(Z + s) that depends on s, by variable."""
        total: dict[Hashable, dict[int, Fraction]] = {}
        for noise, own in self.shifts.items():
            weight = row.get(noise, Fraction(0))
            for name, (up, down) in own.items() if weight else ():
                total.setdefault(name, {}).update({up: weight, down: -weight})
                # two noises have different unknowns, so that nothing is overwritten
        return total

    def _positive(self, unknowns: Mapping[Hashable, Mapping[int, Fraction]], row: Vector) -> None:
        """Ask that unknowns + row is a non-negative combination of the polyhedron and 1."""
        multipliers = [self._unknown() for _ in self.polyhedron]
        names = dict.fromkeys(itertools.chain(unknowns, row, *self.polyhedron))
        for name in names:
            left = dict(unknowns.get(name, {}))
            for unknown, own in zip(multipliers, self.polyhedron, strict=True):
                if own.get(name):
                    left[unknown] = -own[name]
            self._row(left, -row.get(name, Fraction(0)), equal=name != ONE)

    def equate(self, right: Vector, left: Vector) -> None:
        """Ask that right(Z + s) and left(Z) are the same function."""
        unknowns = self._unknowns(right)
        for name in dict.fromkeys((*unknowns, *right, *left)):
            rest = left.get(name, Fraction(0)) - right.get(name, Fraction(0))
            self._row(dict(unknowns.get(name, {})), rest, equal=True)

    def _row(self, left: dict[int, Fraction], bound: Fraction, *, equal: bool) -> None:
        if left or bound:
            self.rows.append((left, bound))
            if equal:
                self.rows.append(({name: -value for name, value in left.items()}, -bound))

    def solve(self) -> tuple[dict[Noise, Vector], Fraction] | None:
        """Return shifts and cost, None if there are none or the programme is too large."""
        if len(self.costs) > MOST_UNKNOWNS:
            return None
        found = minimum(self.costs, self.rows)
        if isinstance(found, Infeasible):
            return None
        shifts = {
            noise: {name: found.point[up] - found.point[down] for name, (up, down) in own.items()}
            for noise, own in self.shifts.items()
        }
        return shifts, found.value
