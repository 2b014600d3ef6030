"""The Gaussian mechanism on a Poisson sample: one additional record, sampled with probability `rate`.

With the record the output is N(0, sigma^2) or, with probability `rate`, N(1, sigma^2); without it N(0, sigma^2). The
likelihood ratio 1 - rate + rate e^((2x - 1)/(2 sigma^2)) increases in x, so that half-lines are the worst events of
one step. Its Renyi divergence is a normal mean of a power of the ratio (Mironov, Talwar and Zhang 2019, Sec. 3).
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import acb, arb

from dpassay.spec.ball import Exact, ball, exact, normal_cdf, sum_balls
from dpassay.spec.distributions.composed_scores import Cell, cells_of_cuts
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick, gaussian_renyi_divergence
from dpassay.spec.distributions.noise import normal_interval

__all__ = ["subsampled_gaussian_cells", "subsampled_gaussian_hockey_stick", "subsampled_gaussian_renyi_divergence"]

LARGEST_BINOMIAL_ORDER = 512
FARTHEST = 24
"""Distance in sigmas to which the integrals extend beyond the mass."""


def subsampled_gaussian_hockey_stick(sigma: Exact, rate: Exact, epsilon: Exact, *, removed: bool = True) -> arb:
    """Enclose the divergence of one step at epsilon >= 0, with the record over without it or the reverse.

    Parameters
    ----------
    sigma : exact number
        Noise scale over sensitivity, positive.
    rate : exact number
        In [0, 1].
    epsilon : exact number
        At least 0.
    removed : bool
        Whether the record is in the first of the two inputs.
    """
    scale, share, level = ball(exact("sigma", sigma)), exact("rate", rate), ball(exact("epsilon", epsilon))
    if share == 0:
        return arb(0)
    if share == 1:
        return gaussian_hockey_stick(1 / scale, level)
    q, rest = ball(share), ball(1 - share)
    if removed:
        cut = scale * scale * (((level.expm1() + q) / q).log()) + arb(1) / 2
        beyond, shifted = normal_cdf(-cut / scale), normal_cdf((1 - cut) / scale)
        return (q * shifted - (level.expm1() + q) * beyond).max(arb(0))
    excess = (-level).exp() - rest
    if excess <= 0:
        return arb(0)
    if not excess > 0:
        return arb(0).union(arb(1))
    cut = scale * scale * (excess / q).log() + arb(1) / 2
    before, shifted = normal_cdf(cut / scale), normal_cdf((cut - 1) / scale)
    return (before - level.exp() * (rest * before + q * shifted)).max(arb(0))


def subsampled_gaussian_cells(sigma: Exact, rate: Exact, pieces: int = 256, reach: int = 10) -> list[Cell]:
    """Cut the real line evenly up to `reach` sigmas beyond the centres; the left side includes the record.

    Parameters
    ----------
    sigma : exact number
        Noise scale at sensitivity 1.
    rate : exact number
        Sampling rate, in [0, 1].
    pieces : int
        Number of cells.
    reach : int
        Distance of the outer cuts from the centres, in sigmas.
    """
    width, share = exact("sigma", sigma), exact("rate", rate)
    q = ball(share)
    low, high = float(-reach * width), float(1 + reach * width)
    cuts = [Fraction(float(x)) for x in np.linspace(low, high, pieces + 1)]
    absent, present = _cell_masses(cuts, width, 0), _cell_masses(cuts, width, 1)
    left = [(1 - q) * p + q * r for p, r in zip(absent, present, strict=True)]
    return cells_of_cuts(left, absent)


def _cell_masses(cuts: list[Fraction], scale: Fraction, centre: int) -> list[arb]:
    """Enclose the normal probabilities of the cells between the cuts and of the two tails."""
    points = [None, *((cut - centre) / scale for cut in cuts), None]
    return [normal_interval(low, high) for low, high in pairwise(points)]


def subsampled_gaussian_renyi_divergence(sigma: Exact, rate: Exact, order: Exact) -> arb:
    """Enclose the Renyi divergence of one step, with the record over without it, of an order above 1.

    Integer orders are binomial sums; others are integrated, with what lies beyond the ends enclosed.
    """
    scale, share, alpha = exact("sigma", sigma), exact("rate", rate), exact("order", order)
    if share == 0:
        return arb(0)
    if share == 1:
        return gaussian_renyi_divergence(1 / scale, alpha)
    if alpha.denominator == 1 and alpha <= LARGEST_BINOMIAL_ORDER:
        return _binomial_moment(scale, share, int(alpha)).log() / (ball(alpha) - 1)
    return _power_mean(scale, share, alpha) / (ball(alpha) - 1)


def _binomial_moment(scale: Fraction, share: Fraction, order: int) -> arb:
    log_in, log_out = ball(share).log(), ball(1 - share).log()
    half = 1 / (2 * scale * scale)
    return sum_balls(
        (arb(math.comb(order, k)).log() + (order - k) * log_out + k * log_in + ball(half * (k * k - k))).exp()
        for k in range(order + 1)
    )


def _power_mean(scale: Fraction, share: Fraction, alpha: Fraction) -> arb:
    """Enclose log E[(1 - rate + rate e^((2 sigma z - 1)/(2 sigma^2)))^alpha], z standard normal.

    The integrand is analytic about the real line; beyond the ends the ratio is at most 1 on the left, and its power at
    most 1 + e^(alpha (2 sigma z - 1)/(2 sigma^2)) on the right.
    """
    power, steep, q, rest = ball(alpha), ball(1 / scale), ball(share), ball(1 - share)
    half = ball(1 / (2 * scale * scale))
    left, right = arb(-FARTHEST), arb(FARTHEST) + arb(math.ceil(alpha / scale))

    def integrand(z: acb, analytic: bool) -> acb:  # the protocol of acb.integral
        ratio: acb = rest + q * (steep * z - half).exp()
        value: acb = (power * ratio.log(analytic=analytic) - z * z / 2).exp()
        return value

    inner = acb.integral(integrand, acb(left), acb(right)).real / (2 * arb.pi()).sqrt()
    moved = (power * (power - 1) * half).exp() * normal_cdf(-(right - power * steep))
    outside = normal_cdf(left) + normal_cdf(-right) + moved
    result: arb = (inner + arb(0).union(outside)).log()
    return result
