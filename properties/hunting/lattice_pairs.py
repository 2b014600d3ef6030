"""Traced mechanisms that release numbers with geometric noise, on pairs of inputs.

Every released number that differs between the two inputs is cut at values around both of its centres: at the value
itself, and between two of them. The masses of these cells are sums; a value that only one side can take shows an
infinite loss. Cells refute and prove nothing.
"""

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.leaves.lattice_masses import cell_masses, lattice_law
from dpassay.spec.leaves.model import Affine, Leaf, LeafModel, NoiseKind, Relation
from dpassay.spec.leaves.outcomes import released_numbers, skeleton
from dpassay.spec.leaves.probability import UndecidedLeafError

__all__ = ["CellsOnLattice", "SideOnLattice", "has_geometric_numbers", "on_lattices"]

_REACHES = (8, 4, 2, 1, 0)
"""Numbers of values on each side of a centre that are cells of their own, the largest first."""

_MOST_CELLS = 256
"""Cells of one structure of outcomes; with more of them fewer values around the centres are cells of their own."""


def has_geometric_numbers(model: LeafModel) -> bool:
    """Return whether a released number holds geometric noise."""
    numbers = (number for leaf in model.leaves for number in released_numbers(leaf.outcome))
    return any(noise.kind is NoiseKind.GEOMETRIC for number in numbers for noise in number.noise)


@dataclass(frozen=True)
class CellsOnLattice:
    """Where the numbers of one structure of outcomes are cut: no points where both sides have the same number.

    Parameters
    ----------
    outcome : Hashable
        An outcome of the structure.
    points : tuple of tuple of Fraction
        For each number.
    """

    outcome: Hashable
    points: tuple[tuple[Fraction, ...], ...]

    @property
    def labels(self) -> list[tuple[int, ...]]:
        """The cells: for each number its place in `cell_masses`."""
        return list(itertools.product(*(range(2 * len(own) + 1) for own in self.points)))

    @property
    def ends(self) -> tuple[tuple[Fraction, ...], ...]:
        """Ends of the cells for each number: a point is the cell between the float below it and itself."""
        below = [[Fraction(math.nextafter(float(point), -math.inf)) for point in own] for own in self.points]
        return tuple(
            tuple(itertools.chain.from_iterable(zip(lower, own, strict=True)))
            for lower, own in zip(below, self.points, strict=True)
        )


@dataclass(frozen=True)
class SideOnLattice:
    """The distribution on one input through cells."""

    leaves: tuple[tuple[Leaf, tuple[Affine, ...]], ...]
    cells: CellsOnLattice

    @cached_property
    def draws(self) -> int:
        """Number of noises behind an outcome at most."""
        return max((sum(len(number.noise) for number in numbers) for _, numbers in self.leaves), default=0)

    def log_probability(self, label: Sequence[int]) -> arb:
        """Enclose the logarithm of the probability of a cell."""
        value = sum_balls(self._probability(leaf, numbers, label) for leaf, numbers in self.leaves)
        return arb.neg_inf() if value.is_zero() else value.log()

    def _probability(self, leaf: Leaf, numbers: Sequence[Affine], label: Sequence[int]) -> arb:
        total = ball(leaf.weight)
        for number, points, place in zip(numbers, self.cells.points, label, strict=True):
            if points:
                total = total * cell_masses(number, points)[place]
        return total


def on_lattices(left: LeafModel, right: LeafModel) -> list[tuple[SideOnLattice, SideOnLattice]]:
    """Return both distributions through common cells, for each structure of outcomes.

    Raises
    ------
    UndecidedLeafError
        If a decision depends on noise, or the numbers of an outcome share noise or hold noise of another kind.
    UnknownOutcomeError
        If functions of numbers are released.
    """
    if left.undecided or right.undecided:
        raise UndecidedLeafError("runs were not traced")
    sides = [_by_structure(model) for model in (left, right)]
    pairs = []
    for structure in dict.fromkeys((*sides[0], *sides[1])):
        own = [tuple(side.get(structure, ())) for side in sides]
        cells = _cells(*own)
        pairs.append((SideOnLattice(own[0], cells), SideOnLattice(own[1], cells)))
    return pairs


def _by_structure(model: LeafModel) -> dict[Hashable, list[tuple[Leaf, tuple[Affine, ...]]]]:
    found: dict[Hashable, list[tuple[Leaf, tuple[Affine, ...]]]] = {}
    for leaf in model.leaves:
        if any(one.form.noise for one in leaf.constraints):
            raise UndecidedLeafError("a decision depends on noise on a lattice, or beside it")
        if not leaf.weight or not all(_holds(one.form.constant, one.relation) for one in leaf.constraints):
            continue
        structure, numbers = skeleton(leaf.outcome)
        noises = [noise for number in numbers for noise in number.noise]
        if len(noises) != len(set(noises)):
            raise UndecidedLeafError("released numbers share noise on a lattice")
        for number in numbers:
            lattice_law(number)  # refuses other noise
        found.setdefault(structure, []).append((leaf, numbers))
    return found


def _holds(value: Fraction, relation: Relation) -> bool:
    return value > 0 or (value == 0 and relation is Relation.AT_LEAST)


Leaves = Sequence[tuple[Leaf, tuple[Affine, ...]]]


def _cells(left: Leaves, right: Leaves) -> CellsOnLattice:
    """Cut the numbers that are not the same in all leaves of both sides, as finely as is affordable."""
    leaf, first = [*left, *right][0]
    numbers = [[own[k] for _, own in (*left, *right)] for k in range(len(first))]
    moving = [len({(number.constant, lattice_law(number)) for number in own}) > 1 for own in numbers]
    points: tuple[tuple[Fraction, ...], ...] = ()
    for reach in _REACHES:
        points = tuple(_around(own, reach) if moves else () for own, moves in zip(numbers, moving, strict=True))
        if math.prod(2 * len(own) + 1 for own in points) <= _MOST_CELLS:
            return CellsOnLattice(leaf.outcome, points)
    first_moving = moving.index(True)  # what is seen of one number is post-processing
    return CellsOnLattice(leaf.outcome, tuple(own if k == first_moving else () for k, own in enumerate(points)))


def _around(numbers: Sequence[Affine], reach: int) -> tuple[Fraction, ...]:
    found: set[Fraction] = set()
    for number in numbers:
        step, law = lattice_law(number)
        found |= {number.constant + k * step for k in range(-reach, reach + 1)} if law else {number.constant}
    return tuple(sorted(found))
