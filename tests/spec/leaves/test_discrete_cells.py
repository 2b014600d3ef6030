"""Mechanisms that are discrete on every cell of data, and cells on the boundary between two others."""

import math
from fractions import Fraction

import pytest

from dpassay.neighbours import RecordNeighbours, VectorNeighbours
from dpassay.spec.leaves.alignment import Unaligned
from dpassay.spec.leaves.cell_pairs import joined_cells, points_across
from dpassay.spec.leaves.discrete_cells import DiscreteCells, discrete_bound, log_upper
from dpassay.spec.leaves.model import Constraint, Leaf, LeafModel, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import opposite

from .models import at_least, datum, leaf, minus, model, noise, number

X = datum(0)
ABOVE = Constraint(minus(X, number(Fraction(1, 2))), Relation.ABOVE)
BELOW = opposite(ABOVE)
BIT = RecordNeighbours(low=0.0, high=1.0, size=1, relation="replace")
COIN = noise(NoiseKind.UNIFORM, 0)


def randomised_response(truth: Fraction) -> LeafModel:
    """Tell the truth if a uniform noise is at most a number."""
    says, lies = at_least(number(truth), COIN), at_least(COIN, number(truth))
    return model(
        [
            leaf("yes", ABOVE, says), leaf("no", ABOVE, lies), leaf("no", BELOW, says), leaf("yes", BELOW, lies),
        ],
        1,
    )  # fmt: skip


@pytest.mark.parametrize("truth", [Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)])
def test_randomised_response_has_the_loss_of_its_odds(truth: Fraction) -> None:
    found = discrete_bound(randomised_response(truth), BIT)
    assert isinstance(found, DiscreteCells)
    assert math.isclose(found.epsilon, math.log(truth / (1 - truth)), abs_tol=1e-15)
    assert found.epsilon >= 0
    assert found.delta == 0


def test_delta_at_an_epsilon_is_what_exceeds_it() -> None:
    found = discrete_bound(randomised_response(Fraction(3, 4)), BIT, Fraction(0))
    assert isinstance(found, DiscreteCells)
    assert found.delta == Fraction(1, 2)


def test_an_outcome_of_one_cell_alone_has_no_bound_but_a_delta() -> None:
    rare = Fraction(1, 100)
    leaky = model(
        [
            Leaf((ABOVE,), rare, "high", (("coin", 0),)), Leaf((ABOVE,), 1 - rare, "none", (("coin", 1),)),
            leaf("none", BELOW),
        ],
        1,
    )  # fmt: skip
    assert isinstance(discrete_bound(leaky, BIT), Unaligned)
    found = discrete_bound(leaky, BIT, Fraction(1, 10))
    assert isinstance(found, DiscreteCells)
    assert found.delta == rare


def test_noise_beside_data_or_in_an_outcome_is_not_discrete() -> None:
    z = noise(NoiseKind.LAPLACE, 0)
    assert isinstance(discrete_bound(model([leaf(z, ABOVE), leaf(z, BELOW)], 1), BIT), Unaligned)
    compared = model([leaf(1, ABOVE, at_least(X, COIN)), leaf(0, ABOVE, at_least(COIN, X)), leaf(0, BELOW)], 1)
    assert isinstance(discrete_bound(compared, BIT), Unaligned)


def on_its_boundary(choice: int) -> list[Leaf]:
    """A coin, by which 0 is on one side of the decision or on the other; above and below the outcomes are swapped."""
    above = Constraint(X, Relation.AT_LEAST if choice == 0 else Relation.ABOVE)
    outcomes = ("a", "b") if choice == 0 else ("b", "a")
    return [
        Leaf((side,), Fraction(1, 2), outcome, (("coin", choice),))
        for side, outcome in zip((above, opposite(above)), outcomes, strict=True)
    ]


def test_a_boundary_on_which_leaves_disagree_is_a_cell_of_its_own() -> None:
    """Both sides return "a" or "b" by a fair coin, and the boundary returns "a" always: the loss is infinite."""
    swapped = model([*on_its_boundary(0), *on_its_boundary(1)], 1)
    line = VectorNeighbours(1, linf=1)
    assert len({pair.here for pair in joined_cells(swapped, line)}) == 3
    assert isinstance(discrete_bound(swapped, line), Unaligned)
    agreed = model([*on_its_boundary(0), *on_its_boundary(0)], 1)
    assert len({pair.here for pair in joined_cells(agreed, line)}) == 2


def test_points_across_a_decision_are_neighbours_on_both_sides_of_it() -> None:
    points = list(points_across(randomised_response(Fraction(3, 4)), VectorNeighbours(1, linf=0.25)))
    assert sorted(left[0] > Fraction(1, 2) for left, _ in points) == [False, True]
    for left, right in points:
        assert (left[0] > Fraction(1, 2)) is not (right[0] > Fraction(1, 2))
        assert abs(left[0] - right[0]) <= Fraction(1, 4)


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(1), Fraction(4, 3), Fraction(10**30)])
def test_logarithms_are_rounded_up(ratio: Fraction) -> None:
    bound = log_upper(ratio)
    assert bound >= 0
    assert ratio <= 1 or math.log(ratio) <= bound <= math.log(ratio) * (1 + 1e-15)
