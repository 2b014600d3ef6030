"""Terms of the Renyi bounds of AboveThreshold by a second derivation, for pins.

The bounds of `above_threshold_renyi` are enclosed by upper and lower sums of convex functions; here the same means are
integrated by :mod:`dpassay.spec.numerics.adaptive_quadrature`, for whole powers. Tails are bounded by the hazard's
bound sqrt(2/pi) + max(u, 0) and by 1 + z <= e^z.
"""

from flint import acb, arb

from dpassay.spec.ball import Exact, ball, exact, sum_balls
from dpassay.spec.domains.streams import NeighbouringStreams, ThresholdSetting
from dpassay.spec.numerics.adaptive_quadrature import complex_normal_cdf, normal_mean
from dpassay.spec.theorems.gaussian_selection.second_derivations import halts_at, never_halts

__all__ = ["log_direct_moment", "log_moment_of_worst_time", "stream_divergence"]


def log_direct_moment(setting: ThresholdSetting, power: int) -> arb:
    """Enclose log E[(Phi(-v)/Phi(-v - s))^power], v = (sigma_X x + rho - a)/sigma_Z, s = 2 Delta/sigma_Z, x of mean
    power Delta/sigma_X.
    """
    slope = ball(setting.sigma_threshold / setting.sigma_query)
    lead = ball((setting.threshold - setting.low) / setting.sigma_query)
    lift, mean = ball(2 * setting.step / setting.sigma_query), ball(power * setting.step / setting.sigma_threshold)

    def value(x: acb) -> acb:
        v = slope * x + lead
        return (complex_normal_cdf(-v) / complex_normal_cdf(-v - lift)) ** power

    root = (2 / arb.pi()).sqrt()
    largest = (power * lift * (root + lift / 2 + abs(slope * mean + lead))).exp()
    return normal_mean(value, centre=mean, largest=largest, rate=power * lift * slope).log()


def log_moment_of_worst_time(slope: arb, lead: arb, gamma: int) -> arb:
    """Enclose log E[Phi(-slope x - lead)^-gamma] for x standard normal, lead >= 0 and gamma slope^2 < 1.

    With x = lambda y, lambda^2 (1 - gamma slope^2) = 1, what is left grows no faster than e^(rate |y|).
    """
    squared = 1 / (1 - gamma * slope * slope)
    scale, root = squared.sqrt(), (2 * arb.pi()).sqrt()

    def value(y: acb) -> acb:
        weight = scale * ((1 - squared) * y * y / 2).exp()
        return weight / complex_normal_cdf(-slope * scale * y - lead) ** gamma

    largest = scale * (2 * (root * lead / 2 + lead * lead / 2).exp()) ** gamma
    return normal_mean(value, largest=largest, rate=gamma * scale * slope * (root / 2 + lead)).log()


def stream_divergence(stream: NeighbouringStreams, alpha: Exact) -> arb:
    """Enclose D_alpha of the halting time, left over right, from the chances of surviving."""
    order = ball(exact("alpha", alpha))
    sides = [[(answer, 1) for answer, count in side for _ in range(count)] for side in (stream.left, stream.right)]
    chances = [
        [
            *(halts_at(stream.setting, side[:t], side[t][0]) for t in range(stream.size)),
            never_halts(stream.setting, side),
        ]
        for side in sides
    ]
    terms = ((order * p.log() + (1 - order) * q.log()).exp() for p, q in zip(*chances, strict=True))
    return sum_balls(terms).log() / (order - 1)
