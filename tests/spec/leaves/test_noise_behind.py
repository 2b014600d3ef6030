"""Noise behind released numbers, against distances of distributions that are known."""

from fractions import Fraction

import pytest

from dpassay.spec.leaves.model import Affine, Constraint, LeafModel, NoiseKind
from dpassay.spec.leaves.noise_behind import NoiseBehind, noise_behind, root_lower
from dpassay.spec.leaves.polyhedra import negated

from .models import Number, at_least, leaf, minus, noise, number, plus

NORMAL, LAPLACE = NoiseKind.NORMAL, NoiseKind.LAPLACE


def normal(value: Number, *scales: Number) -> Affine:
    total = number(value)
    for place, scale in enumerate(scales):
        total = plus(total, noise(NORMAL, place, scale)) if scale else total
    return total


def laplace(value: Number, place: int, scale: Number = 1) -> Affine:
    return plus(number(value), noise(LAPLACE, place, scale))


def released(*outcomes: object) -> LeafModel:
    return LeafModel(tuple(leaf(outcome) for outcome in outcomes))


def found(left: object, right: object) -> NoiseBehind:
    result = noise_behind(released(left), released(right))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("left", "right", "square"),
    [
        (normal(0, 2), normal(3, 2), Fraction(9, 4)),
        (normal(0, 3, 4), normal(1, 3, 4), Fraction(1, 25)),
        ((normal(0, 1), normal(0, 0, 2)), (normal(1, 1), normal(1, 0, 2)), Fraction(5, 4)),
        ((normal(0, 1), normal(0, 1)), (normal(1, 1), normal(1, 1)), Fraction(1)),
        ((normal(0, 1), normal(0, 1, 1)), (normal(0, 1), normal(1, 1, 1)), Fraction(1)),
    ],
)
def test_the_distance_of_normal_numbers(left: object, right: object, square: Fraction) -> None:
    """Sum of squares of independent ones; of y and y + z with y unmoved, that of z alone."""
    behind = found(left, right)
    assert behind.direction is not None
    assert (behind.direction.square, behind.is_complete) == (square, True)
    assert max(map(abs, behind.direction.weights.values())) == 1


def test_laplace_noise_is_shifted_by_what_the_numbers_tell() -> None:
    behind = found((laplace(0, 0, 2), laplace(1, 1)), (laplace(3, 0, 2), laplace(1, 1)))
    assert behind == NoiseBehind(None, (Fraction(3, 2),), is_complete=True)
    (pair,) = behind.moved
    assert (pair[0].family, pair[0].location, pair[1].location, pair[1].scale) == ("laplace", 0, Fraction(3, 2), 1)


def test_sums_of_laplace_noise_and_mixed_numbers_are_left_out() -> None:
    """They only add to a divergence: what is left is a lower bound, and is not complete."""
    double = (plus(laplace(0, 0), noise(LAPLACE, 1)), plus(laplace(1, 0), noise(LAPLACE, 1)))
    for unknown in (double, (plus(normal(0, 1), noise(LAPLACE, 0)), plus(normal(1, 1), noise(LAPLACE, 0)))):
        behind = found((normal(0, 0, 0, 1), unknown[0]), (normal(2, 0, 0, 1), unknown[1]))
        assert behind.direction is not None
        assert (behind.direction.square, behind.shifts, behind.is_complete) == (Fraction(4), (), False)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (normal(0, 1), normal(0, 1)),
        (normal(0, 1), normal(1, 2)),
        (("a", normal(0, 1)), ("b", normal(1, 1))),
        ((normal(0, 1), number(0)), (normal(1, 1), number(1))),
        ((normal(0, 1), normal(0, 1)), (normal(0, 1), normal(1, 1))),
    ],
)
def test_nothing_is_behind_numbers_that_are_equal_or_differ_otherwise(left: object, right: object) -> None:
    assert noise_behind(released(left), released(right)) is None


def test_decisions_that_do_not_show_leave_the_numbers_as_they_are() -> None:
    """All leaves must release the same: a number that is released on one side of a decision only has another law."""
    sign = at_least(noise(NORMAL, 0), number(0))
    sides = [
        LeafModel((leaf(normal(x, 1), sign), leaf(normal(x, 1), negated_constraint(sign)))) for x in (0, 1)
    ]  # fmt: skip
    behind = noise_behind(*sides)
    assert behind is not None
    assert behind.direction is not None
    assert behind.direction.square == 1
    clipped = [LeafModel((leaf(normal(x, 1), sign), leaf(number(0), negated_constraint(sign)))) for x in (0, 1)]
    assert noise_behind(*clipped) is None


def negated_constraint(one: Constraint) -> Constraint:
    return Constraint(negated(one.form))


def test_a_model_with_undecided_mass_has_no_known_noise() -> None:
    model = LeafModel((leaf(normal(0, 1)),), undecided=Fraction(1, 2**60))
    assert noise_behind(model, released(normal(1, 1))) is None


@pytest.mark.parametrize("square", [Fraction(2), Fraction(1, 3), Fraction(10**40 + 1), Fraction(3, 10**60)])
def test_roots_are_below_and_close(square: Fraction) -> None:
    root = root_lower(square)
    assert root**2 <= square <= (root * (1 + Fraction(1, 2**180))) ** 2
    assert root_lower(square**2) == square


def test_means_and_variance_are_those_of_the_sum() -> None:
    behind = found((normal(5, 1), normal(2, 0, 2)), (normal(4, 1), normal(4, 0, 2)))
    assert behind.direction is not None
    assert behind.direction.weights == {0: -1, 1: Fraction(1, 2)}
    assert behind.direction.means == (Fraction(-4), Fraction(-2))
    assert behind.direction.variance == 2
    assert minus(normal(5), normal(4)) == number(1)
