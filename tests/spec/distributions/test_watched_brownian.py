"""A watched Brownian motion against closed forms: one look, orthants, and simulation-free limits."""

import cmath
import math
from fractions import Fraction

import pytest
from flint import arb

from dpassay.spec.ball import ball, normal_cdf, precision
from dpassay.spec.distributions.watched_brownian import ELLIPSES, rule_accuracy, staying_probability

ONE = Fraction(1)


def test_at_one_look_it_is_the_normal_distribution() -> None:
    both = staying_probability((Fraction(4),), lambda _: (arb(-1), arb(3)))
    assert (both - (normal_cdf(arb(3) / 2) - normal_cdf(-arb(1) / 2))).overlaps(arb(0))
    below = staying_probability((Fraction(4),), lambda _: (None, arb(3)))
    assert (below - normal_cdf(arb(3) / 2)).overlaps(arb(0))


def test_an_orthant_at_two_and_three_looks() -> None:
    """Pr[W(1) < 0, W(2) < 0] = 1/4 + asin(sqrt(1/2))/(2 pi) = 3/8; at three looks the sum of three arcsines."""
    with precision(128):
        two = staying_probability((ONE, 2 * ONE), lambda _: (None, arb(0)))
        assert abs(two - ball(Fraction(3, 8))) < 1e-25
        looks = (ONE, 2 * ONE, 5 * ONE)
        angles = [(ball(a) / ball(b)).sqrt().asin() for a, b in ((1, 2), (1, 5), (2, 5))]
        three = staying_probability(looks, lambda _: (None, arb(0)))
        assert abs(three - (arb(1) / 8 + sum(angles, arb(0)) / (4 * arb.pi()))) < 1e-25


def test_looks_without_a_bound_change_nothing() -> None:
    with precision(128):
        free = staying_probability((ONE, 2 * ONE, 3 * ONE), lambda v: (arb(-1), arb(1)) if v == 1 else (None, arb(99)))
        assert abs(free - (1 - 2 * normal_cdf(-arb(1)))) < 1e-25


@pytest.mark.parametrize(("half", "step", "following"), [(1.0, 1.0, 1.0), (3.0, 0.5, 2.0), (2.0, 2.0, 0.25)])
def test_the_error_of_the_rule_is_that_of_the_largest_value_on_an_ellipse(
    half: float, step: float, following: float
) -> None:
    """64/15 M r^(2 - 2n)/(1 - r^-2) for n nodes, scaled; M is the largest modulus on the ellipse, found by a search,
    of the normal density times e^(y^2/(2 following)), the bound on the chance to stay at imaginary part y.
    """

    def bound(r: float, nodes: int) -> float:
        points = [half * (r * cmath.exp(0.01j * k) + cmath.exp(-0.01j * k) / r) / 2 for k in range(629)]
        centred = max(abs(cmath.exp(-((1j * z.imag) ** 2) / (2 * step))) for z in points) / math.sqrt(
            2 * math.pi * step
        )
        stays = max(math.exp(z.imag**2 / (2 * following)) for z in points)
        return 64 / 15 * half * centred * stays * r ** (2 - 2 * nodes) / (1 - r**-2)

    nodes, error = rule_accuracy(arb(half), arb(step), arb(following))
    assert min(abs(float(error) / bound(r, nodes) - 1) for r in ELLIPSES) < 1e-3
