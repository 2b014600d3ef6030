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

If delta may be spent, leaves that have no such shift at a cost of at most the allowed epsilon are given up, whole or
in part, at the price of their probability (:mod:`dpassay.spec.leaves.given_up`): a shift need not keep the
constraints on noise that only the target draws, and gives up the noise that violates them.
"""

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpassay.neighbours import NeighbourRelation
from dpassay.spec.leaves.alignment import DIRECTIONS, Unaligned
from dpassay.spec.leaves.cell_pairs import domain_rows, joined_cells
from dpassay.spec.leaves.given_up import Part, union_mass, violating, whole
from dpassay.spec.leaves.model import Constraint, Leaf, LeafModel, Noise
from dpassay.spec.leaves.moves import UndecidedMovesError
from dpassay.spec.leaves.outcomes import UnknownOutcomeError, skeleton
from dpassay.spec.leaves.polyhedra import has_interior, support
from dpassay.spec.leaves.programmes import Infeasible, minimum
from dpassay.spec.leaves.renaming import forms_of, renamed
from dpassay.spec.leaves.rows import ONE, Vector, constraint_of, row_of, shifted_row

__all__ = ["AlignedCells", "cell_bound"]

MOST_UNKNOWNS = 600


@dataclass(frozen=True)
class AlignedCells:
    """A proof of (epsilon, delta) across cells of data, with the number of pairs of cells that neighbours join."""

    epsilon: Fraction
    delta: Fraction
    pairs: int


@dataclass(frozen=True)
class _Image:
    """A source leaf, its target, the shift of each noise and the constraints of the target that it may violate."""

    source: Leaf
    target: Leaf
    shift: Mapping[Noise, Vector]
    cost: Fraction
    violated: tuple[Constraint, ...] = ()

    @property
    def missed(self) -> list[Part]:
        """The parts of the source that the shift does not take into the target."""
        rows = (shifted_row(row_of(one.form, moved=True), self.shift) for one in self.violated)
        return [violating(self.source, row) for row in rows]


def cell_bound(
    model: LeafModel, relation: NeighbourRelation, allowed: Fraction | None = None
) -> AlignedCells | Unaligned:  # fmt: skip
    """Bound epsilon, or delta at an epsilon, for all data of the model's length, decisions about data alone included.

    Parameters
    ----------
    model : LeafModel
        On symbolic data.
    relation : NeighbourRelation
        For data of the same length.
    allowed : Fraction, optional
        An epsilon: leaves that would cost more are given up, and delta is their probability. None: delta is only the
        undecided mass, and nothing is given up.
    """
    if model.on_lattice:
        return Unaligned("a decision depends on noise on a lattice, beside one about data alone")
    epsilon, delta, pairs = Fraction(0), Fraction(0), 0
    try:
        domain = domain_rows(model.size, relation)
        for pair in joined_cells(model, relation):
            pairs += 1
            found = _images(pair.sources, pair.targets, pair.place, (*pair.place, *domain), allowed)
            if isinstance(found, Unaligned):
                return found
            epsilon, delta = max(epsilon, found[0]), max(delta, found[1])
    except (UndecidedMovesError, UnknownOutcomeError) as error:
        return Unaligned(str(error))
    return AlignedCells(epsilon, delta + model.undecided, pairs)


# --- images -------------------------------------------------------------------------------------------------


def _images(
    sources: Sequence[Leaf], targets: Sequence[Leaf], place: Sequence[Vector], bounds: Sequence[Vector],
    allowed: Fraction | None,
) -> tuple[Fraction, Fraction] | Unaligned:  # fmt: skip
    """Map every source into a target, cheapest first, with disjoint images; return the largest cost, and delta."""
    images, given_up = list[_Image](), list[Part]()
    for source in sources:
        image = _first(_full(source, targets, place, allowed), images, place)
        if image is not None:
            images.append(image)
            continue
        if allowed is None:
            return Unaligned("no leaf of a neighbouring cell takes a leaf in, apart from the images of others")
        part = _first(_partial(source, targets, place, bounds, allowed), images, place)
        if part is None or union_mass(part.missed, bounds) >= whole(source).mass(bounds):
            given_up.append(whole(source))
        else:
            images.append(part)
            given_up += part.missed
    delta = union_mass(given_up, bounds)
    if delta >= 1:
        return Unaligned("runs of any probability would have to be given up")
    return max((image.cost for image in images), default=Fraction(0)), delta


def _full(
    source: Leaf, targets: Sequence[Leaf], place: Sequence[Vector], allowed: Fraction | None
) -> list[_Image]:  # fmt: skip
    """Return the maps of a whole leaf that cost no more than allowed, cheapest first."""
    found = (_image(own, target, place, target.constraints) for target in targets for own in _names(source, target))
    return sorted(
        (one for one in found if one is not None and (allowed is None or one.cost <= allowed)),
        key=lambda one: one.cost,
    )


def _partial(
    source: Leaf, targets: Sequence[Leaf], place: Sequence[Vector], bounds: Sequence[Vector], allowed: Fraction
) -> list[_Image]:
    """Return the maps that keep no constraint on noise that the source does not draw, cheapest in delta first."""
    found = []
    for own, target in ((own, other) for other in targets for own in _names(source, other)):
        drawn = {noise for form in forms_of(own) for noise in form.noise}
        kept = tuple(one for one in target.constraints if drawn.issuperset(one.form.noise))
        image = _image(own, target, place, kept) if len(kept) < len(target.constraints) else None
        if image is not None and image.cost <= allowed:
            found.append(image)
    return sorted(found, key=lambda one: union_mass(one.missed, bounds))


def _names(source: Leaf, target: Leaf) -> tuple[Leaf, ...]:
    """Return the source as it is, and with the names of the target for its noises if these differ."""
    other = renamed(source, target)
    return (source,) if other == source else (source, other)


def _first(choices: Sequence[_Image], others: Sequence[_Image], place: Sequence[Vector]) -> _Image | None:
    """Return the first image that is disjoint from all others."""
    return next((one for one in choices if all(_are_disjoint(one, other, place) for other in others)), None)


def _are_disjoint(first: _Image, second: _Image, place: Sequence[Vector]) -> bool:
    if first.target is not second.target:
        return True
    shifted = [row for image in (first, second) for row in _shifted_leaf(image)]
    return not has_interior([constraint_of(row) for row in (*place, *shifted)])


def _shifted_leaf(image: _Image) -> Iterator[Vector]:
    """Yield the constraints of the image: those of the source at Z - s."""
    for constraint in (*image.source.constraints, *_supports(image.source)):
        back = {noise: {name: -value for name, value in shift.items()} for noise, shift in image.shift.items()}
        yield shifted_row(row_of(constraint.form, moved=False), back)
    yield from (row_of(one.form, moved=True) for one in image.violated)  # noise that violates them has no image


def _supports(leaf: Leaf) -> list[Constraint]:
    noises = dict.fromkeys(noise for one in leaf.constraints for noise in one.form.noise)
    return [one for noise in noises for one in support(noise)]


def _image(source: Leaf, target: Leaf, place: Sequence[Vector], kept: Sequence[Constraint]) -> _Image | None:
    """Return the cheapest map of one leaf that keeps the given constraints of another; None if there is none."""
    (structure, numbers), (other, released) = (
        skeleton(leaf.outcome, functions=True) for leaf in (source, target)
    )  # fmt: skip
    if structure != other or (source.choices, source.weight) != (target.choices, target.weight):
        return None
    programme = _Programme([*place, *(row_of(one.form, moved=False) for one in source.constraints),
                            *(row_of(one.form, moved=False) for one in _supports(source))])  # fmt: skip
    forms = [*(one.form for one in (*source.constraints, *kept)), *numbers, *released]
    for noise in dict.fromkeys(noise for form in forms for noise in form.noise):
        programme.shift(noise)
    for constraint in kept:
        programme.require(row_of(constraint.form, moved=True), shifted=True)
    for left, right in zip(numbers, released, strict=True):
        programme.equate(row_of(right, moved=True), row_of(left, moved=False))
    solved = programme.solve()
    violated = tuple(one for one in target.constraints if one not in kept)
    return None if solved is None else _Image(source, target, *solved, violated)


def _zeros(polyhedron: Sequence[Vector]) -> set[Hashable]:
    """Return the variables that two rows fix at 0, such as moves of coordinates that stay."""
    signs: dict[Hashable, set[bool]] = {}
    for row in polyhedron:
        slopes = [(name, value) for name, value in row.items() if name != ONE and value]
        if len(slopes) == 1 and not row.get(ONE):
            signs.setdefault(slopes[0][0], set()).add(slopes[0][1] > 0)
    return {name for name, both in signs.items() if len(both) == 2}


class _Programme:
    """Affine shifts with multipliers: every requirement is an identity between affine functions on a polyhedron."""

    def __init__(self, polyhedron: Sequence[Vector]) -> None:
        self.zero = _zeros(polyhedron)
        rest = map(self._reduced, polyhedron)
        self.polyhedron = polyhedron = [row for row in rest if any(name != ONE for name in row)]
        names = dict.fromkeys(name for row in polyhedron for name in row)
        self.parameters = [name for name in names if isinstance(name, tuple)] + [ONE]
        self.costs: list[Fraction] = []
        self.rows: list[tuple[dict[int, Fraction], Fraction]] = []
        self.shifts: dict[Noise, dict[Hashable, tuple[int, int]]] = {}

    def _reduced(self, row: Vector) -> Vector:
        """Leave out the variables that are 0 on the polyhedron."""
        return {name: value for name, value in row.items() if name not in self.zero}

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
        row = self._reduced(row)
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
        right, left = self._reduced(right), self._reduced(left)
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
