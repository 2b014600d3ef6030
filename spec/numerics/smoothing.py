"""Normal means of entire functions: over the real line by the trapezoidal rule, over an interval by Arb.

A function comes with a bound on its growth,

    |g(x + iy)| <= level e^(slope |x| + bend y^2 / 2)  for all real x and y,

which e^(lambda z) and Phi(z / s) have, and which survives smoothing by normal noise. So means may be nested: what is
expected after a second step is an entire function of where the first one ended. The trapezoidal rule with step h is
wrong by at most 2 M / (e^(2 pi a / h) - 1), M the integral of the modulus along the lines at height +-a
[TrefethenWeideman2014]_, Thm 5.1.

References
----------
.. [TrefethenWeideman2014] L. N. Trefethen and J. A. C. Weideman. The exponentially convergent trapezoidal rule.
   SIAM Review 56 (2014), 385-458.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, arb, ctx

from dpassay.spec.ball import midpoint, normal_cdf
from dpassay.spec.numerics.adaptive_quadrature import complex_normal_cdf

__all__ = ["Entire", "exponential", "loss_excess", "normal_distribution_function"]


@dataclass(frozen=True)
class Entire:
    """An entire function, real on the real line, with a bound on its growth.

    Parameters
    ----------
    value : callable
        Encloses g(z) at a complex ball.
    level, slope, bend : arb
        ``|g(x + iy)| <= level exp(slope |x| + bend y^2 / 2)``; slope and bend not negative.
    """

    value: Callable[[acb], acb]
    level: arb
    slope: arb
    bend: arb

    def times(self, factor: arb) -> "Entire":
        """Return z -> factor g(z)."""
        return Entire(lambda z: self.value(z) * factor, self.level * abs(factor), self.slope, self.bend)

    def smoothed(self, variance: arb) -> "Entire":
        """Return z -> E[g(z + D)], D normal with mean 0 and this (positive) variance."""
        level = 2 * self.level * (self.slope**2 * variance / 2).exp()  # of E[e^(slope |x + D|)], in real x
        return Entire(lambda z: self._line_mean(z, variance), level, self.slope, self.bend)

    def _line_mean(self, z: acb, variance: arb) -> acb:
        depth = ctx.prec * math.log(2)
        spread, tilt = midpoint(variance), midpoint(self.slope)
        step = arb(math.pi * math.sqrt(2 / ((1 / spread + midpoint(self.bend)) * depth)))
        reach = math.ceil((math.sqrt(2 * depth * spread) + tilt * spread) / float(step)) + 1
        total = acb(0)
        for k in range(-reach, reach + 1):
            total = total + self.value(z + step * k) * (-((step * k) ** 2) / (2 * variance)).exp()
        error = self._line_error(z, variance, step, reach)
        return step * total / (2 * arb.pi() * variance).sqrt() + acb(arb(0, error), arb(0, error))

    def _line_error(self, z: acb, variance: arb, step: arb, reach: int) -> arb:
        """Bound the error of the rule: between its nodes, and beyond the last of them."""
        height = 2 * arb.pi() / (step * (1 / variance + self.bend))
        at_z = self.level * (self.slope * arb(z.real).abs_upper()).exp()
        aside = arb(z.imag).abs_upper()
        mean = 2 * (self.slope**2 * variance / 2).exp()  # of e^(slope |D|)
        edge = at_z * mean * (height**2 / (2 * variance) + self.bend * (aside + height) ** 2 / 2).exp()
        between = 2 * edge / ((2 * arb.pi() * height / step).exp() - 1)
        end = step * (reach - 1) - self.slope * variance  # terms fall from step * (reach - 1) on
        if not end > 0:
            return arb.nan()
        beyond = at_z * (self.bend * aside**2 / 2).exp() * mean * normal_cdf(-end / variance.sqrt())
        return arb((between + beyond).abs_upper())

    def mean_between(self, variance: arb, low: arb | None, high: arb | None) -> arb:
        """Enclose E[g(W); low < W < high], W normal with mean 0 and this variance; None for an infinite end."""
        depth = ctx.prec * math.log(2)
        spread = midpoint(variance)
        reach = arb(math.ceil(math.sqrt(2 * depth * spread) + midpoint(self.slope) * spread + 1))
        left = -reach if low is None else low
        right = reach if high is None else high
        tail = arb(0)
        for end, cut in ((-left, low is None), (right, high is None)):
            if cut:
                beyond = normal_cdf(-(end - self.slope * variance) / variance.sqrt())
                tail = tail + 2 * self.level * (self.slope**2 * variance / 2).exp() * beyond
        if not left < right:  # a finite end beyond the reach: the mean there is as small as the tail
            return self._far(variance, low, high)
        scale = (2 * arb.pi() * variance).sqrt()
        goal = arb(2) ** (-ctx.prec + 8)
        integral = acb.integral(
            lambda w, _: self.value(w) * (-w * w / (2 * variance)).exp() / scale,
            left,
            right,
            rel_tol=goal,
            abs_tol=goal,
        )
        return arb(integral.real) + arb(0, tail.abs_upper())

    def _far(self, variance: arb, low: arb | None, high: arb | None) -> arb:
        """Bound the mean on a half-line whose end lies beyond the reach."""
        end = low if low is not None else -high if high is not None else arb.nan()
        if not end > self.slope * variance:
            return arb.nan()
        beyond = normal_cdf(-(end - self.slope * variance) / variance.sqrt())
        return arb(0, (2 * self.level * (self.slope**2 * variance / 2).exp() * beyond).abs_upper())


def exponential(rate: arb, offset: arb) -> Entire:
    """Return z -> e^(rate z + offset)."""
    return Entire(lambda z: (rate * z + offset).exp(), offset.exp(), abs(rate), arb(0))


def normal_distribution_function(end: arb, scale: arb) -> Entire:
    """Return z -> Phi((end - z) / scale): the probability that z plus normal noise stays below `end`.

    Its modulus is at most e^(y^2 / (2 scale^2)), since |phi(x + iy)| = phi(x) e^(y^2 / 2) under the integral.
    """
    root = arb(2).sqrt()
    return Entire(lambda z: ((z - end) / (scale * root)).erfc() / 2, arb(1), arb(0), 1 / scale**2)


def loss_excess(level: arb, scale: arb) -> Entire:
    """Return z -> E[(1 - e^(level - z - L))_+] for L normal with mean scale^2/2 and variance scale^2.

    What a loss of z and that of a further Gaussian pair, at distance `scale`, contribute to the delta at `level`:
    Phi(t) - e^(level - z) Phi(t - scale) with t = scale/2 - (level - z)/scale. It is between 0 and 1 for real z, so
    that both terms are at most 1 there; off the real axis Phi grows by e^(y^2 / (2 scale^2)) at most.
    """

    def value(z: acb) -> acb:
        missing = level - z
        t = scale / 2 - missing / scale
        return complex_normal_cdf(t) - missing.exp() * complex_normal_cdf(t - scale)

    return Entire(value, arb(2), arb(0), 1 / scale**2)
