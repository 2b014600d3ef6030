"""Truncated Gaussians against plain numerical integration of the definition, at cut and at inner thresholds."""

import itertools
import math
from fractions import Fraction

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpassay.spec.ball import ball, midpoint, precision
from dpassay.spec.distributions.truncated_gaussian import truncated_hockey_stick


def integrated(half_width: float, shift: float, epsilon: float) -> float:
    """Integrate max(p - e^epsilon q, 0) for p about `shift` and q about 0, each cut at `half_width`."""
    mass = norm.cdf(half_width) - norm.cdf(-half_width)

    def excess(x: float) -> float:
        p = norm.pdf(x - shift) / mass if abs(x - shift) <= half_width else 0.0
        q = norm.pdf(x) / mass if abs(x) <= half_width else 0.0
        return float(max(p - math.exp(epsilon) * q, 0.0))

    ends = sorted({shift - half_width, shift + half_width, min(half_width, shift + half_width)})
    crossing = epsilon / shift + shift / 2
    inner = [x for x in (crossing, half_width) if ends[0] < x < ends[-1]]
    corners = sorted({*ends, *inner})
    return sum(quad(excess, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(corners))


@pytest.mark.parametrize("half_width", [Fraction(1), Fraction(5, 2), Fraction(6)])
@pytest.mark.parametrize("shift", [Fraction(1, 3), Fraction(1), Fraction(19, 10)])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 4), Fraction(2), Fraction(9)])
def test_the_hockey_stick_is_the_integral(half_width: Fraction, shift: Fraction, epsilon: Fraction) -> None:
    with precision(96):
        found = midpoint(truncated_hockey_stick(half_width, shift, ball(epsilon)))
    assert found == pytest.approx(integrated(float(half_width), float(shift), float(epsilon)), rel=1e-9, abs=1e-12)
