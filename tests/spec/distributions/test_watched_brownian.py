"""A watched Brownian motion against closed forms: one look, orthants, and simulation-free limits."""

from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, normal_cdf, precision
from dpassay.spec.distributions.watched_brownian import staying_probability

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
