"""Decisions about data alone: clipping, branches on data, and images that would overlap."""

from fractions import Fraction

import pytest

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.leaves import data_cells
from dpassay.spec.leaves.alignment import Unaligned, alignment_bound
from dpassay.spec.leaves.data_cells import AlignedCells, cell_bound
from dpassay.spec.leaves.model import LeafModel, NoiseKind

from .models import at_least, datum, leaf, model, noise, noisy_max, number, plus

LAPLACE = NoiseKind.LAPLACE
X, Y = datum(0), datum(1)


def clipped(scale: int) -> LeafModel:
    """x clipped to [0, 1], plus Laplace noise."""
    z = noise(LAPLACE, 0, scale)
    return model([
        leaf(z, at_least(number(0), X)),
        leaf(plus(X, z), at_least(X, number(0)), at_least(number(1), X)),
        leaf(plus(number(1), z), at_least(X, number(1))),
    ], 1)  # fmt: skip


def bound(leaves: LeafModel, step: float) -> Fraction:
    found = cell_bound(leaves, VectorNeighbours(leaves.size, linf=step))
    assert isinstance(found, AlignedCells), found
    return found.epsilon


@pytest.mark.parametrize(("step", "expected"), [(0.5, Fraction(1, 4)), (1, Fraction(1, 2)), (100, Fraction(1, 2))])
def test_clipping_bounds_the_sensitivity(step: float, expected: Fraction) -> None:
    assert bound(clipped(2), step) == expected
    assert isinstance(alignment_bound(clipped(2), VectorNeighbours(1, linf=step)), Unaligned)


def test_without_decisions_about_data_there_is_one_cell() -> None:
    assert bound(noisy_max(2, LAPLACE, 2), 1) == 1


def test_a_maximum_of_data_has_the_sensitivity_of_one_coordinate() -> None:
    z = noise(LAPLACE, 0)
    largest = model([leaf(plus(X, z), at_least(X, Y)), leaf(plus(Y, z), at_least(Y, X))], 2)
    assert bound(largest, 1) == 1


def test_a_constant_that_depends_on_data_has_no_bound() -> None:
    leaky = model([leaf("high", at_least(X, number(0))), leaf("low", at_least(number(0), X))], 1)
    assert isinstance(cell_bound(leaky, VectorNeighbours(1, linf=1)), Unaligned)


def folded() -> LeafModel:
    """x >= 0: "a" if |z| <= 1. x < 0: "a" if 0 <= z <= 1. Twice the probability, a loss of log 2."""
    z = noise(LAPLACE, 0, 10)
    high, low = at_least(X, number(0)), at_least(number(0), X)
    places = {
        "far": (at_least(z, number(1)),), "right": (at_least(number(1), z), at_least(z, number(0))),
        "left": (at_least(number(0), z), at_least(z, number(-1))), "low": (at_least(number(-1), z),),
    }  # fmt: skip
    answers = {"far": "b", "right": "a", "left": "a", "low": "b"}
    leaves = [leaf(answers[place], high, *where) for place, where in places.items()]
    rest = [leaf("b", low, *places["far"]), leaf("a", low, *places["right"]), leaf("b", low, at_least(number(0), z))]
    return model([*leaves, *rest], 1)


def test_images_that_overlap_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either part of "a" fits into the target at a cost of at most 1/10, but not both."""
    assert isinstance(cell_bound(folded(), VectorNeighbours(1, linf=1)), Unaligned)
    monkeypatch.setattr(data_cells, "_are_disjoint", lambda *_: True)
    assert bound(folded(), 1) == Fraction(1, 10)


def test_cells_that_touch_in_one_input_are_joined() -> None:
    """x <= 1 and x >= 2 with moves of 1: the pair (1, 2) alone, at which the outcome tells them apart."""
    between = at_least(X, number(1)), at_least(number(2), X)
    leaves = [leaf("low", at_least(number(1), X)), leaf("low", *between), leaf("high", at_least(X, number(2)))]
    assert isinstance(cell_bound(model(leaves, 1), VectorNeighbours(1, linf=1)), Unaligned)
    far = model([leaf("low", at_least(number(1), X)), leaf("high", at_least(X, number(2)))], 1)
    assert isinstance(cell_bound(far, VectorNeighbours(1, linf=1)), Unaligned)


def test_moves_along_one_axis_are_not_skipped() -> None:
    leaky = model([leaf("high", at_least(X, number(0))), leaf("low", at_least(number(0), X))], 2)
    assert isinstance(cell_bound(leaky, VectorNeighbours(2, l1=1)), Unaligned)


def test_equalities_of_data_are_refused() -> None:
    same = at_least(X, Y), at_least(Y, X)
    found = cell_bound(model([leaf("same", *same), leaf("other")], 2), VectorNeighbours(2, l1=1))
    assert isinstance(found, Unaligned)
    assert "equality" in found.reason


def test_the_minimum_of_two_answers_has_sensitivity_one_in_l1() -> None:
    z = noise(LAPLACE, 0)
    smallest = model([leaf(plus(X, z), at_least(Y, X)), leaf(plus(Y, z), at_least(X, Y))], 2)
    found = cell_bound(smallest, VectorNeighbours(2, l1=1))
    assert isinstance(found, AlignedCells)
    assert found.epsilon == 1


def test_a_branch_that_only_a_move_of_two_coordinates_reaches_is_reached() -> None:
    """x >= 1/4 and y >= 1/4 from (0, 0): along the axes one of them stays below."""
    level = number(Fraction(1, 4))
    inside = at_least(X, level), at_least(Y, level)
    rest = leaf("low", at_least(level, X)), leaf("low", at_least(X, level), at_least(level, Y))
    assert isinstance(cell_bound(model([leaf("high", *inside), *rest], 2), VectorNeighbours(2, l1=1)), Unaligned)
