"""One shift of Gaussian noise for all leaves."""

from fractions import Fraction

import mpmath
import pytest

from dpassay.neighbours import parse_neighbours
from dpassay.spec.leaves import gaussian_alignment
from dpassay.spec.leaves.alignment import Unaligned
from dpassay.spec.leaves.gaussian_alignment import GaussianAligned, gaussian_bound
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.polyhedra import negated

ONE = Fraction(1)


def form(noise: dict[int, int], data: dict[int, int], kind: NoiseKind = NoiseKind.NORMAL) -> Affine:
    return Affine(
        Fraction(0),
        {Noise(kind, place): Fraction(value) for place, value in noise.items()},
        {index: Fraction(value) for index, value in data.items()},
    )


def released(*numbers: Affine, size: int) -> LeafModel:
    return LeafModel((Leaf((), ONE, numbers),), size=size)


def square(model: LeafModel, relation: str) -> Fraction | None:
    found = gaussian_bound(model, parse_neighbours(relation))
    return found.square if isinstance(found, GaussianAligned) else None


@pytest.mark.parametrize(
    ("numbers", "relation", "expected"),
    [
        ((form({0: 2}, {0: 1}),), "vector:size=1,linf=1", Fraction(1, 4)),
        ((form({0: 1}, {0: 1}),), "vector:size=1,linf=3", Fraction(9)),
        ((form({0: 3, 1: 4}, {0: 1}),), "vector:size=1,linf=1", Fraction(1, 25)),
        ((form({0: 1}, {0: 1}), form({1: 1}, {0: 1})), "vector:size=1,linf=1", Fraction(2)),
        ((form({0: 1}, {0: 1}), form({0: 2}, {0: 2})), "vector:size=1,linf=1", Fraction(1)),
        ((form({0: 1}, {0: 1}), form({1: 1}, {1: 1})), "vector:size=2,linf=1", Fraction(2)),
        ((form({0: 1}, {0: 1}), form({1: 1}, {1: 1})), "vector:size=2,l2=1", Fraction(1)),
        ((form({0: 1}, {0: 1}), form({1: 1}, {1: 1})), "vector:size=2,l1=1", Fraction(1)),
        ((form({0: 1}, {0: 1, 1: 1}),), "vector:size=2,linf=1", Fraction(4)),
        ((form({0: 1}, {0: 1, 1: -1}),), "vector:size=2,linf=1,monotone", Fraction(1)),
        ((form({0: 1}, {0: 1}), form({0: 1}, {})), "vector:size=1,linf=1", None),
        ((form({0: 1}, {0: 1}), form({}, {0: 1})), "vector:size=1,linf=1", None),
        ((form({0: 1}, {0: 1}), form({0: 1}, {0: 1}, NoiseKind.LAPLACE)), "vector:size=1,linf=1", None),
        ((form({0: 1}, {}, NoiseKind.LAPLACE), form({0: 1}, {0: 1})), "vector:size=1,linf=1", ONE),
        ((form({0: 1}, {0: 1}),), "records:low=0,high=3,size=1,relation=replace", Fraction(9)),
    ],
)
def test_the_shortest_shift_over_all_moves(
    numbers: tuple[Affine, ...], relation: str, expected: Fraction | None
) -> None:
    assert square(released(*numbers, size=parse_neighbours(relation).size), relation) == expected


def test_the_largest_eigenvalue_bounds_moves_of_a_bounded_length() -> None:
    """Three numbers A x with noise of their own: the largest eigenvalue of A'A, and a move along its eigenvector."""
    matrix = ((1, 2, 1), (0, 1, 3), (1, -1, 1))
    numbers = tuple(form({k: 1}, {i: a for i, a in enumerate(row) if a}) for k, row in enumerate(matrix))
    found = gaussian_bound(released(*numbers, size=3), parse_neighbours("vector:size=3,l2=2"))
    products = mpmath.matrix(matrix).T * mpmath.matrix(matrix)
    expected = 4 * max(mpmath.eigsy(products, eigvals_only=True))
    assert isinstance(found, GaussianAligned)
    assert 0 <= mpmath.mpf(found.square.numerator) / found.square.denominator - expected <= expected * 2**-39
    length = sum(sum(a * x for a, x in zip(row, found.move, strict=True)) ** 2 for row in matrix)
    assert length >= found.square * (1 - Fraction(1, 2**38))
    assert sum(x * x for x in found.move) <= 4


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(((2, 1), (1, 2)), True), (((1, 2), (2, 1)), False), (((0, 1), (1, 5)), False), (((1, 1), (1, 1)), True),
     (((0, 0), (0, 3)), True), (((-1, 0), (0, 3)), False), (((1, 1, 0), (1, 1, 1), (0, 1, 9)), False)],
)  # fmt: skip
def test_eigenvalues_have_no_negative_one_by_elimination(rows: tuple[tuple[int, ...], ...], expected: bool) -> None:
    assert gaussian_alignment._is_positive([list(map(Fraction, row)) for row in rows]) is expected


def test_one_shift_must_serve_all_leaves() -> None:
    """A noise that one leaf releases with the data, and another one without them, cannot be shifted for both."""
    sign = form({1: 1}, {})
    leaves = (
        Leaf((Constraint(sign),), ONE, ("a", form({0: 1}, {0: 1}))),
        Leaf((Constraint(negated(sign)),), ONE, ("b", form({0: 1}, {}))),
    )
    assert square(LeafModel(leaves, size=1), "vector:size=1,linf=1") is None
    assert square(LeafModel(leaves[:1], size=1), "vector:size=1,linf=1") == 1


def test_decisions_count_like_numbers() -> None:
    lead = form({0: 1, 1: -1}, {0: 1, 1: -1})
    leaves = (Leaf((Constraint(lead),), ONE, 0), Leaf((Constraint(negated(lead)),), ONE, 1))
    assert square(LeafModel(leaves, size=2), "vector:size=2,linf=1") == 2
    assert square(LeafModel(leaves, size=2), "vector:size=2,linf=1,monotone") == Fraction(1, 2)


def test_what_was_not_traced_is_not_proved() -> None:
    model = LeafModel((Leaf((), ONE, (form({0: 1}, {0: 1}),)),), undecided=Fraction(1, 2**60), size=1)
    assert isinstance(gaussian_bound(model, parse_neighbours("vector:size=1,linf=1")), Unaligned)


def test_many_coupled_coordinates_are_bounded_by_their_widths() -> None:
    model = released(form({0: 1}, dict.fromkeys(range(12), 1)), size=12)
    assert square(model, "vector:size=12,linf=1") == 144


def test_coordinates_beside_many_coupled_ones_count() -> None:
    """Twelve coordinates share a noise, and each of two others has one of its own, once with half of its scale."""
    numbers = form({0: 1}, dict.fromkeys(range(12), 1)), form({1: 1}, {12: 1}), form({2: 1}, {13: 2})
    assert square(released(*numbers, size=14), "vector:size=14,linf=1") == 144 + 1 + 4
