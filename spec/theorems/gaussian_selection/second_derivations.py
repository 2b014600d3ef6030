"""Probabilities of selection with Gaussian noise by a second derivation, for pins.

The distributions of this chapter integrate over the noise that all comparisons share. Here the integral runs over the
largest noisy answer of the field, with another rule of integration (:mod:`dpassay.spec.numerics.adaptive_quadrature`).
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb, ctx

from dpassay.spec.ball import ball, normal_cdf, sum_balls
from dpassay.spec.domains.streams import NeighbouringStreams, ThresholdSetting, last_apart
from dpassay.spec.numerics.adaptive_quadrature import complex_normal_cdf, normal_mean

__all__ = [
    "Field",
    "field_stays_below",
    "gaussian_excess",
    "halting_loss",
    "halts_at",
    "never_halting_loss",
    "never_halts",
    "wins",
]

Field = Sequence[tuple[Fraction, int]]
"""Answers as (answer, count)."""


def field_stays_below(field: Field, sigma: Fraction, level: Fraction, spread: Fraction) -> arb:
    """Enclose Pr[max_i (q_i + sigma Z_i) < level + spread Z], all noises standard normal and independent.

    If the largest noisy answer belongs to group j, its noise x has the density n_j phi(x) Phi(x)^(n_j - 1) times the
    chance that all other groups stay below; the level exceeds it with probability
    Phi((level - q_j - sigma x) / spread).

    Parameters
    ----------
    field : Field
        Answers with the number of queries that have each.
    sigma : Fraction
        Standard deviation of the noise of the queries.
    level : Fraction
        Mean of the noisy threshold.
    spread : Fraction
        Standard deviation of the noise of the threshold.
    """
    groups = [(answer, count) for answer, count in field if count]
    if not groups:
        return arb(1)
    return sum_balls(_led_by(index, groups, sigma, level, spread) for index in range(len(groups)))


def _led_by(index: int, groups: Field, sigma: Fraction, level: Fraction, spread: Fraction) -> arb:
    own, count = groups[index]
    others = [(ball((own - answer) / sigma), n) for i, (answer, n) in enumerate(groups) if i != index]
    lead, slope = ball((level - own) / spread), ball(sigma / spread)

    def density(x: acb) -> acb:
        value = complex_normal_cdf(lead - slope * x) * complex_normal_cdf(x) ** (count - 1)
        for offset, n in others:
            value *= complex_normal_cdf(x + offset) ** n
        return value

    return count * normal_mean(density)


def wins(own: Fraction, rivals: Field, sigma: Fraction) -> arb:
    """Enclose the probability that noisy max reports an answer."""
    return field_stays_below(rivals, sigma, own, sigma)


def never_halts(setting: ThresholdSetting, answers: Field) -> arb:
    """Enclose the probability that AboveThreshold halts at none of the answers."""
    return field_stays_below(answers, setting.sigma_query, setting.threshold, setting.sigma_threshold)


def halts_at(setting: ThresholdSetting, below: Field, last: Fraction) -> arb:
    """Enclose the probability that the answers `below` stay below and the last one passes: a difference."""
    return never_halts(setting, below) - never_halts(setting, [*below, (last, 1)])


def halting_loss(stream: NeighbouringStreams) -> arb:
    """Enclose the loss, left over right, of halting at the last query."""
    left, right = (halts_at(stream.setting, *last_apart(side)) for side in (stream.left, stream.right))
    return left.log() - right.log()


def never_halting_loss(stream: NeighbouringStreams) -> arb:
    """Enclose the loss, left over right, of never halting."""
    left, right = (never_halts(stream.setting, side) for side in (stream.left, stream.right))
    return left.log() - right.log()


def gaussian_excess(shift: arb, epsilon: arb) -> arb:
    """Enclose the integral of phi(x - m) - e^epsilon phi(x) over its positive part, by adaptive integration."""
    start = epsilon / shift + shift / 2
    end = start + shift + math.isqrt(2 * ctx.prec) + 2

    def excess(x: acb, _analytic: bool) -> acb:
        return (_density(x - shift) - epsilon.exp() * _density(x)) / (2 * arb.pi()).sqrt()

    inside = acb.integral(excess, start, end)
    return inside.real + arb(0).union(normal_cdf(shift - end))


def _density(x: acb) -> acb:
    return (-x * x / 2).exp()
