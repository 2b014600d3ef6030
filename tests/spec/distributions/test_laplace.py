import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, enclosure
from dpassay.spec.distributions.laplace import (
    LaplaceDistribution,
    log_laplace_cdf,
    log_laplace_interval,
    log_laplace_max_cdf,
    log_laplace_sf,
)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(-5, 2), Fraction(40)])
def test_both_tails(x: Fraction) -> None:
    expected = math.exp(-x) / 2 if x >= 0 else 1 - math.exp(x) / 2
    assert float(log_laplace_sf(x).exp()) == pytest.approx(expected, rel=1e-14)
    assert float(log_laplace_sf(x).exp() + log_laplace_cdf(x).exp()) == pytest.approx(1, rel=1e-14)


def test_far_tails_keep_their_relative_accuracy() -> None:
    far = Fraction(10) ** 6
    assert float(log_laplace_interval(far, far + 1)) == pytest.approx(-1e6 + math.log(-math.expm1(-1) / 2), rel=1e-15)
    tiny = enclosure(lambda: log_laplace_interval(-far - Fraction(1, 10**9), -far))
    assert float(tiny) == pytest.approx(-1e6 - math.log(2e9), rel=1e-12)


def test_intervals() -> None:
    assert float(log_laplace_interval(None, None)) == 0
    assert float(log_laplace_interval(Fraction(1), Fraction(1))) == -math.inf
    assert float(log_laplace_interval(Fraction(-1), Fraction(2)).exp()) == pytest.approx(
        1 - math.exp(-1) / 2 - math.exp(-2) / 2
    )
    assert log_laplace_interval(None, Fraction(1)).overlaps(log_laplace_cdf(Fraction(1)))


def test_the_largest_of_many() -> None:
    assert float(log_laplace_max_cdf(Fraction(2), 3).exp()) == pytest.approx((1 - math.exp(-2)) ** 3)
    assert float(log_laplace_max_cdf(Fraction(0), 3)) == -math.inf
    assert float(log_laplace_max_cdf(ball(2), 3)) == pytest.approx(3 * math.log(1 - math.exp(-2)))


def test_boxes_and_bad_scales() -> None:
    distribution = LaplaceDistribution((0, 1.5), 2)
    assert float(distribution.log_box([(0, (None, 0)), (1, (1.5, None))]).exp()) == pytest.approx(0.25)
    assert float(distribution.log_box([(0, (1, 1)), (1, (1.5, None))])) == -math.inf
    with pytest.raises(UsageError, match="scale"):
        LaplaceDistribution((0,), 0)
