"""Normal means by the adaptive integration of Arb, a second derivation beside the trapezoidal rule.

``acb.integral`` (F. Johansson, Numerical integration in arbitrary-precision ball arithmetic, ICMS 2018) subdivides the
interval and bounds its error by the modulus on ellipses; nothing of it is shared with
:mod:`dpassay.spec.numerics.quadrature`. It works to an absolute tolerance, so that it suits means that are not tiny.
"""

import math
from collections.abc import Callable

from flint import acb, arb, ctx

from dpassay.spec.ball import normal_cdf

__all__ = ["complex_normal_cdf", "normal_mean"]


def complex_normal_cdf(z: acb) -> acb:
    """Enclose Phi(z) at a complex number: erfc(-z / sqrt 2) / 2."""
    return (-z / arb(2).sqrt()).erfc() / 2


def normal_mean(
    function: Callable[[acb], acb], *, centre: arb | int = 0, largest: arb | int = 1, rate: arb | int = 0
) -> arb:
    """Enclose E[f(X)] for X normal with mean `centre` and variance 1.

    Parameters
    ----------
    function : callable
        Entire, or meromorphic without a pole on the real line; real and not negative there.
    centre : arb or int
        The mean.
    largest, rate : arb or int
        f(x) is at most ``largest e^(rate |x - centre|)`` for |x - centre| above ``sqrt(2 log(2) (p + 8)) + rate``, p
        being the working precision in bits.
    """
    reach = math.isqrt(int(2 * math.log(2) * (ctx.prec + 8))) + 2 + math.ceil(float(arb(rate).upper()))
    root = (2 * arb.pi()).sqrt()

    def integrand(t: acb, _analytic: bool) -> acb:
        return (-t * t / 2).exp() / root * function(t + centre)

    end = reach + reach % 2
    inside = sum((acb.integral(integrand, k, k + 2) for k in range(-end, end, 2)), acb(0)).real
    outside = 2 * largest * (arb(rate) * rate / 2).exp() * normal_cdf(arb(rate) - end)
    return inside + arb(0).union(outside)
