"""Upper bounds on the probability of noise that an alignment gives up."""

import math
from fractions import Fraction

import pytest

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.leaves.alignment import Unaligned
from dpassay.spec.leaves.data_cells import AlignedCells, cell_bound
from dpassay.spec.leaves.given_up import Part, largest_value, union_mass, whole
from dpassay.spec.leaves.model import Constraint, NoiseKind, Relation
from dpassay.spec.leaves.rows import ONE, Vector, row_of

from .models import at_least, datum, leaf, minus, model, noise, number, plus

X, Y = datum(0), datum(1)
Z, W = noise(NoiseKind.LAPLACE, 0), noise(NoiseKind.LAPLACE, 1)


def place(*forms: Constraint) -> list[Vector]:
    return [row_of(one.form, moved=False) for one in forms]


SQUARE = place(
    at_least(X, number(-1)), at_least(number(3), X), at_least(Y, number(0)), at_least(number(2), plus(X, Y))
)


@pytest.mark.parametrize(
    ("form", "expected"),
    [(X, 2), (minus(number(0), X), 1), (plus(X, Y), 2), (Y, 3), (minus(Y, X), 4), (number(5), 5)],
)
def test_the_largest_value_is_at_a_corner(form: object, expected: int) -> None:
    assert largest_value(row_of(form, moved=False), SQUARE) == expected  # type: ignore[arg-type]


def test_a_function_without_bound_has_no_largest_value() -> None:
    assert largest_value(row_of(Y, moved=False), place(at_least(X, number(0)), at_least(Y, X))) is None
    assert largest_value({("data", 7): Fraction(1), ONE: Fraction(0)}, SQUARE) is None


def test_parts_that_share_a_row_are_covered_by_it() -> None:
    """z > 5 and w > 0, z > 5 and w <= 0: the probability of z > 5, not twice as much."""
    far = at_least(Z, number(5))
    parts = [whole(leaf("a", far, at_least(W, number(0)))), whole(leaf("b", far, at_least(number(0), W)))]
    tail = math.exp(-5) / 2
    assert tail <= union_mass(parts, []) <= tail * (1 + 1e-12)
    assert parts[0].mass([]) <= tail / 2 * (1 + 1e-12)
    assert union_mass([], []) == 0


def test_parts_of_different_draws_share_their_probability() -> None:
    row = row_of(minus(Z, number(5)), moved=False)
    parts = [Part((row,), (("coin", k),), Fraction(1, 2)) for k in range(2)]
    tail = math.exp(-5) / 2
    assert tail <= union_mass(parts, []) <= tail * (1 + 1e-12)


def test_data_are_as_bad_as_they_can_be() -> None:
    """x + z > 5 with x <= 2: at most the probability of z > 3; without a bound on x, 1."""
    lone = whole(leaf("a", at_least(plus(X, Z), number(5))))
    tail = math.exp(-3) / 2
    assert tail <= union_mass([lone], SQUARE) <= tail * (1 + 1e-12)
    assert union_mass([lone], []) == 1


def test_a_leaf_that_reveals_its_input_is_given_up() -> None:
    """Beyond 20 the noise is forgotten: delta = Pr[noise > 20]; without any delta there is no proof."""
    rare, usual = leaf(X, at_least(Z, number(20))), leaf(plus(X, W), at_least(number(20), Z))
    leaky, relation = model([rare, usual], 1), VectorNeighbours(1, linf=1)
    found = cell_bound(leaky, relation, Fraction(1))
    assert isinstance(found, AlignedCells)
    assert found.epsilon == 1
    assert math.exp(-20) / 2 <= found.delta <= math.exp(-20) / 2 * (1 + 1e-12)
    assert isinstance(cell_bound(leaky, relation), Unaligned)
    assert isinstance(cell_bound(leaky, relation, Fraction(1, 2)), Unaligned)  # all runs would be given up


def test_a_count_of_exactly_zero_is_not_positive() -> None:
    """x > 0: "some"; x <= 0: "none". Neighbours at distance 1 tell them apart: nothing to give up but everything."""
    sides = [leaf("some", Constraint(X, Relation.ABOVE)), leaf("none", at_least(number(0), X))]
    assert isinstance(cell_bound(model(sides, 1), VectorNeighbours(1, linf=1), Fraction(1)), Unaligned)
