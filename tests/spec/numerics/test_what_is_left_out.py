"""The ends of an integral that no quadrature visits are enclosed by a bound; it must cover both of them.

At the ends that the rules choose, what is left out is smaller than the error of the quadrature: no integral with a
closed form shows that a bound lacks a factor, one of its two sides or the growth of the integrand. So the integrand
is 0 here wherever it is visited: what is returned is the bound alone, and it is held against the largest integrand
that the caller's promise allows beyond the places visited.
"""

import math
from fractions import Fraction

import pytest
from flint import acb, arb

from dpassay.spec.ball import ball, normal_cdf, precision
from dpassay.spec.numerics.adaptive_quadrature import normal_mean
from dpassay.spec.numerics.smoothing import Entire

LEVELS = [Fraction(1), Fraction(50)]
RATES = [Fraction(0), Fraction(1, 2), Fraction(3)]
VARIANCES = [Fraction(1), Fraction(1, 4), Fraction(9)]


class Visited:
    """The zero function, which remembers the ends of the part of the real line that it was asked for."""

    def __init__(self) -> None:
        self.left, self.right = math.inf, -math.inf

    def __call__(self, z: acb) -> acb:
        self.left = min(self.left, float(z.real.lower()))
        self.right = max(self.right, float(z.real.upper()))
        return z * 0


def beyond(end: arb, rate: arb, variance: arb) -> arb:
    """Enclose E[e^(rate |W|); W > end] for W normal with mean 0 and an end above 0."""
    deviation = variance.sqrt()
    return (rate * rate * variance / 2).exp() * normal_cdf((rate * variance - end) / deviation)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("centre", [Fraction(0), Fraction(-7, 2)])
def test_a_normal_mean_allows_for_both_tails(level: Fraction, rate: Fraction, centre: Fraction) -> None:
    visited, growth, one = Visited(), ball(rate), arb(1)
    found = normal_mean(visited, centre=ball(centre), largest=ball(level), rate=growth)
    left, right = ball(centre) - arb(visited.left), arb(visited.right) - ball(centre)
    assert found.contains(0)
    assert not arb(found.upper()) < ball(level) * (beyond(left, growth, one) + beyond(right, growth, one))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("ends", [(None, None), (Fraction(-1), None), (None, Fraction(2)), (Fraction(1000), None)])
def test_a_mean_between_ends_allows_for_the_infinite_ones(
    level: Fraction, rate: Fraction, variance: Fraction, ends: tuple[Fraction | None, Fraction | None]
) -> None:
    visited, growth, width = Visited(), ball(rate), ball(variance)
    low, high = (None if end is None else ball(end) for end in ends)
    with precision(64):
        found = Entire(visited, ball(level), growth, arb(0)).mean_between(width, low, high)
    if visited.left > visited.right:  # nothing was visited: all of the half-line is left out
        assert low is not None
        missed = beyond(low, growth, width)
    else:
        missed = beyond(arb(visited.right), growth, width) if high is None else arb(0)
        missed = missed + beyond(-arb(visited.left), growth, width) if low is None else missed
    assert found.contains(0)
    assert not arb(found.upper()) < ball(level) * missed


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("place", [Fraction(0), Fraction(5, 2)])
def test_a_smoothed_function_allows_for_the_nodes_it_leaves_out(
    level: Fraction, rate: Fraction, variance: Fraction, place: Fraction
) -> None:
    visited, growth, width, z = Visited(), ball(rate), ball(variance), ball(place)
    with precision(64):
        found = Entire(visited, ball(level), growth, arb(0)).smoothed(width).value(acb(z))
    right = arb(visited.right) - z
    assert found.real.contains(0)
    # to the right of z, where |z + D| is z + |D|
    assert not arb(found.real.upper()) < ball(level) * (growth * z).exp() * beyond(right, growth, width)
