"""Means of the excess of a Gaussian loss, held against the delta of the pair that both steps make together."""

import math
from fractions import Fraction

import pytest
from flint import acb, arb

from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.numerics.smoothing import Entire, exponential, loss_excess

LEVELS = [Fraction(-1), Fraction(0), Fraction(3, 2)]


@pytest.mark.parametrize("level", LEVELS)
def test_the_excess_is_the_delta_at_what_is_missing(level: Fraction) -> None:
    for loss in (Fraction(-1), Fraction(0), Fraction(2)):
        found = loss_excess(ball(level), ball(Fraction(3, 4))).value(acb(ball(loss))).real
        assert found.overlaps(gaussian_hockey_stick(Fraction(3, 4), level - loss))
        assert found.rad() < 1e-12


@pytest.mark.parametrize("level", LEVELS)
def test_a_first_loss_and_its_excess_are_one_gaussian_pair(level: Fraction) -> None:
    """The squares of the distances add up, integrated by Arb and by the trapezoidal rule."""
    first, second = Fraction(1, 2), Fraction(5, 4)
    with precision(128):
        excess = loss_excess(ball(level - first / 2), ball(second).sqrt())
        truth = gaussian_hockey_stick(ball(first + second).sqrt(), level)
        for found in (excess.mean_between(ball(first), None, None), excess.smoothed(ball(first)).value(acb(0)).real):
            assert found.overlaps(truth)
            assert found.rad() < 1e-24


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_the_bound_on_its_growth_holds(level: Fraction, scale: Fraction) -> None:
    excess = loss_excess(ball(level), ball(scale))
    for x in (-6, -1, 0, 1, 6):
        for y in (0, Fraction(1, 2), 2):
            bound = excess.level * (excess.slope * abs(x) + excess.bend * ball(y) ** 2 / 2).exp()
            assert abs(excess.value(acb(arb(x), ball(y)))) <= bound


@pytest.mark.parametrize("factor", [-3, Fraction(1, 4)])
def test_a_multiple_grows_as_much_and_starts_higher(factor: Fraction | int) -> None:
    one = exponential(arb(2), arb(1))
    many = one.times(ball(factor))
    assert many.value(acb(1, 2)).overlaps(ball(factor) * acb(3, 4).exp())
    assert many.slope == 2
    assert many.bend == 0
    assert many.level.overlaps(abs(ball(factor)) * arb(1).exp())


@pytest.mark.parametrize("aside", [Fraction(0), Fraction(1, 2)])
def test_the_error_of_the_rule_is_bounded_and_the_bound_is_nearly_attained(aside: Fraction) -> None:
    """For e^(-b z^2/2), whose modulus grows as fast as its bound off the real axis: the mean is known."""
    b, variance, step, z = arb(3), arb(1), arb(1) / 4, acb(0, ball(aside))
    with precision(256):
        bell = Entire(lambda w: (-b * w * w / 2).exp(), arb(1), arb(0), b)
        nodes = [step * k for k in range(-120, 121)]
        total = sum((bell.value(z + node) * (-node * node / (2 * variance)).exp() for node in nodes), acb(0))
        mean = (-b * z * z / (2 * (1 + b * variance))).exp() / (1 + b * variance).sqrt()
        error = abs(step * total / (2 * arb.pi() * variance).sqrt() - mean)
        bound = bell._line_error(z, variance, step, 120)
    assert error < bound
    height = 2 * math.pi  # of the line on which the bound is taken; the mean of the bell is less than there
    assert bound.log() < error.log() + 3 + 3 * float(aside) * height
