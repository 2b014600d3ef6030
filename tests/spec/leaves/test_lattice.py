"""Noise on a lattice: masses of sums, and alignments by integers against losses that are summed up."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb

from dpassay.neighbours import parse_neighbours
from dpassay.spec.ball import float_upper, precision, sum_balls
from dpassay.spec.leaves.alignment import Unaligned, alignment_bound
from dpassay.spec.leaves.data_cells import cell_bound
from dpassay.spec.leaves.lattice_alignment import AlignedOnLattice, lattice_bound
from dpassay.spec.leaves.lattice_masses import cell_masses
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.probability import UndecidedLeafError, leaf_probability

HALF, THIRD, ONE = Fraction(1, 2), Fraction(1, 3), Fraction(1)


def geometric(place: int, ratio: Fraction = HALF) -> Noise:
    return Noise(NoiseKind.GEOMETRIC, place, ratio)


def form(noise: dict[Noise, int], data: dict[int, int] | None = None, constant: Fraction = Fraction(0)) -> Affine:
    whole = {index: Fraction(value) for index, value in (data or {}).items()}
    return Affine(constant, {name: Fraction(value) for name, value in noise.items()}, whole)


def two_sided(place: int = 0, data: dict[int, int] | None = None, ratio: Fraction = HALF) -> Affine:
    return form({geometric(2 * place, ratio): 1, geometric(2 * place + 1, ratio): -1}, data)


def near(value: arb, expected: Fraction) -> bool:
    return bool(abs(value - arb(expected.numerator) / expected.denominator) < arb(2) ** -60)


@pytest.mark.parametrize("ratio", [HALF, THIRD, Fraction(9, 10)])
def test_masses_of_the_difference_of_two_geometric_noises(ratio: Fraction) -> None:
    points = tuple(map(Fraction, range(-3, 4)))
    with precision(96):
        cells = cell_masses(two_sided(ratio=ratio), points)
        for place, point in enumerate(points):
            expected = (1 - ratio) / (1 + ratio) * ratio ** abs(int(point))
            assert near(cells[2 * place + 1], expected)
            assert cells[2 * place].is_zero() or place == 0  # nothing lies between two integers
        assert near(cells[-1], ratio**4 / (1 + ratio))
        assert near(sum_balls(cells), ONE)


@pytest.mark.parametrize("bits", [8, 53, 96])
@pytest.mark.parametrize("factor", [1, -1, 3])
def test_masses_enclose_what_their_sums_leave_out(bits: int, factor: int) -> None:
    """A single noise of ratio 1/2 has exact masses: the truth lies above their sum by what is left out, and within."""
    number, point = form({geometric(0): factor}), Fraction(2 * factor)
    with precision(bits):
        (whole,) = cell_masses(number, ())
        parts = cell_masses(number, (point,))
    assert whole.contains(1)
    near_0, beyond = (parts[0], parts[2]) if factor > 0 else (parts[2], parts[0])
    for cell, expected in ((near_0, arb(3) / 4), (parts[1], arb(1) / 8), (beyond, arb(1) / 8)):
        assert cell.contains(expected)


def test_values_off_the_lattice_or_below_one_sided_noise_have_no_mass() -> None:
    number = form({geometric(0): 2}, constant=THIRD)
    with precision(96):
        cells = cell_masses(number, (Fraction(-1), THIRD, Fraction(1), Fraction(7, 3)))
    assert [cell.is_zero() for cell in cells] == [True, True, True, False, True, True, True, False, False]
    assert near(cells[3], HALF)
    assert near(cells[7], Fraction(1, 4))
    assert cell_masses(form({geometric(0): -1}), (Fraction(1),))[1].is_zero()


def test_masses_of_sums_of_different_ratios() -> None:
    with precision(96):
        cells = cell_masses(form({geometric(0): 1, geometric(1, THIRD): 1}), (Fraction(0), Fraction(1)))
        assert near(cells[1], THIRD)  # 1/2 2/3
        assert near(cells[3], THIRD * (HALF + THIRD))
        mirrored = cell_masses(form({geometric(0): -1, geometric(1, THIRD): -1}), (Fraction(-1), Fraction(0)))
        assert near(mirrored[3], THIRD)
        assert near(mirrored[1], THIRD * (HALF + THIRD))


def test_other_noise_and_too_long_sums_are_refused() -> None:
    with pytest.raises(UndecidedLeafError):
        cell_masses(form({geometric(0): 1, Noise(NoiseKind.LAPLACE, 0): 1}), (Fraction(0),))
    with pytest.raises(UndecidedLeafError):
        cell_masses(form({geometric(0, 1 - Fraction(1, 10**6)): 1}), (Fraction(0),))


def only(number: Affine, size: int = 1) -> LeafModel:
    return LeafModel((Leaf((), ONE, number),), size=size)


def bound(model: LeafModel, relation: str) -> float | None:
    found = lattice_bound(model, parse_neighbours(relation))
    return float(found.epsilon) / math.log(2) if isinstance(found, AlignedOnLattice) else None


@pytest.mark.parametrize(
    ("number", "relation", "expected"),
    [
        (two_sided(0, {0: 1}), "vector:size=1,linf=1,integer", 1),
        (two_sided(0, {0: 1}), "vector:size=1,linf=3,integer", 3),
        (two_sided(0, {0: 1}), "vector:size=1,linf=5,low=0,high=2.5,integer", 2),
        (two_sided(0, dict.fromkeys(range(20), 1)), "vector:size=20,linf=5,low=0,high=2.5,integer", 40),
        (two_sided(0, {0: 2}), "vector:size=1,linf=1,integer", 2),
        (two_sided(0, {0: 1, 1: -1}), "vector:size=2,linf=1,integer", 2),
        (two_sided(0, {0: 1, 1: -1}), "vector:size=2,l1=1,integer", 1),
        (two_sided(0, {0: 1, 1: 1}), "vector:size=2,l0=1,linf=2,integer", 2),
        (form({geometric(0): 1}, {0: 1}), "vector:size=1,linf=1,integer", None),
        (form({geometric(0): 2, geometric(1): -2}, {0: 1}), "vector:size=1,linf=1,integer", None),
        (two_sided(0, {0: 1}), "vector:size=1,linf=1", None),
    ],
)
def test_additive_geometric_noise_costs_its_shift(number: Affine, relation: str, expected: float | None) -> None:
    size = parse_neighbours(relation).size
    assert bound(only(number, size), relation) == (None if expected is None else pytest.approx(expected, rel=1e-12))


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("vector:size=2,linf=1,integer", 2),
        ("vector:size=2,linf=1,l1=2,integer", 2),
        ("vector:size=2,l1=1,integer", 1),
        ("vector:size=2,linf=1,integer,monotone", 1),
        ("vector:size=2,linf=1,l1=2,integer,monotone", 1),
    ],
)
def test_coordinates_that_cost_in_opposite_directions_move_apart(relation: str, expected: float) -> None:
    """One decision costs if its coordinate falls, the other one if its coordinate rises."""
    decisions = two_sided(0, {0: 1}), two_sided(1, {1: -1})
    model = LeafModel((Leaf(tuple(map(Constraint, decisions)), ONE, "both"),), size=2)
    assert bound(model, relation) == pytest.approx(expected, rel=1e-12)


def test_histograms_of_many_bins_need_unit_moves_only() -> None:
    numbers = tuple(two_sided(k, {k: 1}) for k in range(12))
    model = LeafModel((Leaf((), ONE, numbers),), size=12)
    assert bound(model, "vector:size=12,l1=1,integer") == pytest.approx(1)
    assert bound(model, "vector:size=12,linf=1,integer") == pytest.approx(12)


def threshold(relation: Relation) -> LeafModel:
    """Report whether data[0] + G - G' is above (or at) 2."""
    above = Affine(Fraction(-2), two_sided().noise, {0: ONE})
    below = Affine(Fraction(2), {name: -value for name, value in above.noise.items()}, {0: -ONE})
    other = Relation.AT_LEAST if relation is Relation.ABOVE else Relation.ABOVE
    return LeafModel(
        (Leaf((Constraint(above, relation),), ONE, True), Leaf((Constraint(below, other),), ONE, False)), size=1
    )


@pytest.mark.parametrize("relation", list(Relation))
def test_decisions_on_a_lattice_are_shifted_and_their_boundaries_kept(relation: Relation) -> None:
    model = threshold(relation)
    assert bound(model, "vector:size=1,linf=1,integer") == pytest.approx(1)
    assert merged(model) is model
    assert isinstance(cell_bound(model, parse_neighbours("vector:size=1,linf=1,integer")), Unaligned)
    assert isinstance(alignment_bound(model, parse_neighbours("vector:size=1,linf=1")), Unaligned)


def test_a_decision_on_a_lattice_has_no_probability_of_its_own() -> None:
    leaf = Leaf((Constraint(two_sided()),), ONE, 0)
    with pytest.raises(UndecidedLeafError, match="lattice"):
        leaf_probability(leaf)


def test_the_bound_of_an_exact_value_is_the_loss_that_sums_give() -> None:
    """Whether data[0] + G - G' is 2: an equality may hold with positive probability."""
    above = Affine(Fraction(-2), two_sided().noise, {0: ONE})
    below = Affine(Fraction(2), {name: -value for name, value in above.noise.items()}, {0: -ONE})
    model = LeafModel(
        (
            Leaf((Constraint(above), Constraint(below)), ONE, True),
            Leaf((Constraint(above, Relation.ABOVE),), ONE, False),
            Leaf((Constraint(below, Relation.ABOVE),), ONE, False),
        ),
        size=1,
    )
    mass = [HALF ** abs(k) / 3 for k in range(-8, 9)]
    loss = max(abs(math.log(a / b)) for a, b in itertools.pairwise(mass))
    assert bound(model, "vector:size=1,linf=1,integer") == pytest.approx(loss / math.log(2))


def test_costs_are_upper_bounds() -> None:
    found = lattice_bound(only(two_sided(0, {0: 1}, THIRD)), parse_neighbours("vector:size=1,linf=1,integer"))
    assert isinstance(found, AlignedOnLattice)
    with precision(200):
        assert found.epsilon >= Fraction(float_upper(arb(3).log()))
