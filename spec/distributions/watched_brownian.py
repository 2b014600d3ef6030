"""A Brownian motion observed at many times: the probability that it stays between bounds at all of them.

Backwards from the last look, the probability to stay inside from a value w on is an integral over one interval,

    g_{i-1}(w) = integral from lo_i to hi_i of phi_s(w' - w) g_i(w') dw',   s^2 the time between the looks,

by the Gauss-Legendre rule. The integrands are entire: |phi_s(x + iy)| = phi_s(x) e^(y^2/(2 s^2)), and g_i, a
probability at a complex shift, is at most e^(y^2/(2 s'^2)), s'^2 the time to the look after. The rule with N nodes
is wrong by at most (64/15) c M r^(-2N + 2) / (1 - r^-2) on an interval of half-length c, M the maximum of the
integrand on the ellipse with parameter r (Trefethen 2008, Thm 4.5); that is added to every integral.
"""

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, ctx

from dpassay.spec.ball import ball, midpoint, normal_cdf, sum_balls

__all__ = ["ELLIPSES", "Region", "rule_accuracy", "staying_probability"]

Region = tuple[arb | None, arb]
"""The interval in which the motion must be at a look; None for a lower end at minus infinity."""

SLACK_BITS = 16
ELLIPSES = [1 + k / 20 for k in range(1, 41)]
"""Sums of the half-axes, in half-widths of the interval, of the Bernstein ellipses that the error bound may use."""


@functools.lru_cache(maxsize=256)
def _rule(nodes: int, bits: int) -> tuple[tuple[arb, arb], ...]:  # noqa: ARG001  # the precision is part of the key
    """Return nodes and weights of the Gauss-Legendre rule on [-1, 1]."""
    return tuple(arb.legendre_p_root(nodes, k, weight=True) for k in range(nodes))


def staying_probability(looks: Sequence[Fraction], region: Callable[[Fraction], Region]) -> arb:
    """Enclose Pr[W(v) in region(v) at all looks v], W a Brownian motion from 0.

    Parameters
    ----------
    looks : sequence of Fraction
        Times, positive and rising strictly, at least one.
    region : callable
        The interval at a look.
    """
    ends = [_finite(region(v), v) for v in looks]
    lost = sum_balls(missed for _, _, missed in ends)
    steps = [ball(after - before) for before, after in zip((Fraction(0), *looks[:-1]), looks, strict=True)]
    low, high, _ = ends[-1]
    stay: Callable[[arb], arb] = functools.partial(_last_step, low, high, steps[-1].sqrt())
    for i in range(len(looks) - 2, -1, -1):
        stay = _averaged(stay, ends[i][0], ends[i][1], steps[i], steps[i + 1])
    return stay(arb(0)) + arb(0, lost.abs_upper())


def _finite(region: Region, look: Fraction) -> tuple[arb, arb, arb]:
    """Return a region cut to where the motion is likely to be, and a bound on the probability of the rest."""
    low, high = region
    depth = arb(math.ceil(math.sqrt(2 * math.log(2) * ctx.prec)))
    far, missed = depth * ball(look).sqrt(), arb(0)
    if low is None or low < -far:
        low, missed = -far, missed + normal_cdf(-depth)
    if high > far:
        high, missed = far, missed + normal_cdf(-depth)
    return low, high, missed


def _last_step(low: arb, high: arb, scale: arb, start: arb) -> arb:
    return normal_cdf((high - start) / scale) - normal_cdf((low - start) / scale)


def _averaged(stay: Callable[[arb], arb], low: arb, high: arb, step: arb, following: arb) -> Callable[[arb], arb]:
    """Return w -> E[stay(w + N(0, step)); low < w + N(0, step) < high]."""
    half, centre = (high - low) / 2, (high + low) / 2
    nodes, error = rule_accuracy(half, step, following)
    points = [(centre + half * x, half * weight) for x, weight in _rule(nodes, ctx.prec)]
    values = [(at, weight * stay(at) / (2 * arb.pi() * step).sqrt()) for at, weight in points]

    def averaged(w: arb) -> arb:
        terms = (value * (-(at - w) * (at - w) / (2 * step)).exp() for at, value in values)
        return sum_balls(terms) + arb(0, error.abs_upper())

    return averaged


def rule_accuracy(half: arb, step: arb, following: arb) -> tuple[int, arb]:
    """Return a number of nodes and the error of the rule: float64 chooses the number, balls bound the error.

    Parameters
    ----------
    half : arb
        Half of the width of the interval.
    step, following : arb
        Variances of the step to this look and of the step after it.
    """
    goal = (ctx.prec - SLACK_BITS) * math.log(2)
    bend = midpoint(1 / step + 1 / following) / 2
    needed = {r: (goal + bend * (midpoint(half) * (r - 1 / r) / 2) ** 2) / (2 * math.log(r)) for r in ELLIPSES}
    best = min(needed, key=lambda r: needed[r])
    nodes, r = math.ceil(needed[best]) + 2, arb(best)
    height = half * (r - 1 / r) / 2
    largest = (height**2 * (1 / step + 1 / following) / 2).exp() / (2 * arb.pi() * step).sqrt()
    return nodes, arb(64) / 15 * half * largest * r ** (2 - 2 * nodes) / (1 - r**-2)
