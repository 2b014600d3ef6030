"""Mixtures of e-values over a normal rate, integrated numerically: no closed form is assumed.

For a rate lambda and the information V, exp(lambda x - lambda (lambda + drift) V/2) is an e-value: of a Brownian
motion x at the clock V for drift 0, and for drift 1 and lambda >= 0 of the privacy loss x of mechanisms with zCDP
parameters that sum to V/2. The closed forms of `time_uniform_loss` are held against these integrals.
"""

from collections.abc import Callable

from flint import acb, arb, ctx

from dpassay.spec.ball import Exact, Real, ball
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.verdict import Verdict

__all__ = ["mixture_of_evalues", "reaches_the_level"]


def mixture_of_evalues(
    value: arb, information: Exact, tuning: Exact, *, drift: int = 0, one_sided: bool = False
) -> arb:
    """Enclose the mean of exp(lambda x - lambda (lambda + drift) V/2) over lambda ~ N(0, 1/g), or |N(0, 1/g)|.

    Parameters
    ----------
    value : arb
        x.
    information, tuning : exact number
        V and g, positive.
    drift : int
        0 or 1.
    one_sided : bool
        Whether the rate is the modulus of a normal number.
    """
    v, g = ball(information), ball(tuning)
    slope, curvature = value - drift * v / 2, v + g
    peak = arb((slope / curvature).mid())
    reach = arb((2 * (arb(2).log() * ctx.prec) / curvature).sqrt().upper())
    low, high = arb((peak - reach).lower()), arb((peak + reach).upper())
    tail = _beyond(high, slope, curvature)
    if one_sided and low < 0:
        low = arb(0)
    else:
        tail = tail + _beyond(-low, -slope, curvature)
    density = (g / (2 * arb.pi())).sqrt() * (2 if one_sided else 1)
    goal = arb(2) ** (8 - ctx.prec)
    log_weighted: Callable[[acb], acb] = lambda z: z * value - z * (z + drift) * v / 2 - g * z * z / 2
    integral = acb.integral(lambda z, _: log_weighted(z).exp(), low, high, rel_tol=goal, abs_tol=goal)
    return density * (arb(integral.real) + arb(0, tail.abs_upper()))


def _beyond(end: arb, slope: arb, curvature: arb) -> arb:
    """Bound the integral of exp(slope z - curvature z^2/2) over z > end, where the exponent falls: it is concave."""
    falling = curvature * end - slope
    return (slope * end - curvature * end * end / 2).exp() / falling if falling > 0 else arb.nan()


def reaches_the_level(mixture: Real, delta: Exact) -> Verdict:
    """Decide whether a mixture of e-values at a boundary is 1/d (d times the mixture agrees with 1 to 60 bits)."""
    return agree(lambda: ball(delta) * mixture(), lambda: arb(1), "d times the mixture at the boundary, and 1")
