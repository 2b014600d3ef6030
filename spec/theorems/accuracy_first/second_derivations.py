"""Values of the chapter's bounds by a second derivation, for pins."""

from fractions import Fraction

from flint import acb, arb, ctx

from dpassay.spec.ball import ball, normal_cdf, normal_quantile, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.zcdp import most_suspicious_order
from dpassay.spec.theorems.gaussian_selection.second_derivations import gaussian_excess

__all__ = [
    "converted_delta",
    "core_loss_bounds",
    "core_losses",
    "either_exceeds",
    "half_normal_level",
    "loss_level",
    "mixture_level",
    "rho_of_response",
    "rho_within",
]


def converted_delta(rho: Fraction, slack: Fraction) -> arb:
    """Enclose the delta of a Gaussian pair that is rho-zCDP at rho + 2 sqrt(rho L), L = log(1/slack).

    By adaptive integration, at (sqrt(rho) + sqrt(L))^2 - L.
    """
    root, log_inverse = ball(rho).sqrt(), -ball(slack).log()
    return gaussian_excess((2 * ball(rho)).sqrt(), (root + log_inverse.sqrt()) ** 2 - log_inverse)


def mixture_level(v: Fraction, g: Fraction, d: Fraction) -> arb:
    """Enclose the s at which the mean of e^(l s - l^2 v/2) over l ~ N(0, 1/g) is 1/d.

    That mean is sqrt(g/(v + g)) e^(s^2/(2 (v + g))).
    """
    total = ball(v + g)
    return (total * (total / (ball(g) * ball(d) ** 2)).log()).sqrt()


def loss_level(v: Fraction, g: Fraction, d: Fraction) -> arb:
    """Enclose the loss at which the mixture reaches 1/d, its drift v/2 included."""
    return mixture_level(v, g, d) + ball(v) / 2


def half_normal_level(v: Fraction, g: Fraction, d: Fraction) -> arb:
    """Return the s at which the mean of e^(l s - l^2 v/2) over l ~ |N(0, 1/g)| is 1/d, by bisection.

    That mean is 2 sqrt(g/(v + g)) e^(x^2/2) Phi(x) at s = x sqrt(v + g).
    """
    low, high = arb(0), arb(64)
    for _ in range(ctx.prec):
        x = ((low + high) / 2).mid()
        mean = 2 * (ball(g) / ball(v + g)).sqrt() * (x * x / 2).exp() * normal_cdf(x)
        low, high = (x, high) if mean < 1 / ball(d) else (low, x)
    return low * ball(v + g).sqrt()


def either_exceeds(d: Fraction, correlation: Fraction) -> arb:
    """Enclose the probability that one of two correlated standard normal variables exceeds its quantile at 1 - d.

    The probability that neither does is (1 - d)^2 for independent ones; its derivative in r = sin t is the density at
    the quantile z, e^(-z^2/(1 + r))/(2 pi) dt (Plackett 1954).
    """
    z = -normal_quantile(ball(d))
    density = acb.integral(lambda t, _: (-(z**2) / (1 + t.sin())).exp(), acb(0), acb(ball(correlation).asin()))
    return 1 - ball(1 - d) ** 2 - density.real / (2 * arb.pi())


def rho_of_response() -> arb:
    """Enclose (2/3 - 1/3) log 2, the mean loss of a response with odds 2."""
    return ball(2).log() / 3


def rho_within(ratio: Fraction, slack: Fraction) -> arb:
    """Enclose (sqrt(log ratio + L) - sqrt(L))^2, L = log(1/slack), at which rho + 2 sqrt(rho L) is log ratio."""
    log_inverse = -ball(slack).log()
    return ((ball(ratio).log() + log_inverse).sqrt() - log_inverse.sqrt()) ** 2


CORE = FiniteDistribution.of(10, 5, 15), FiniteDistribution.of(5, 4, 21)
"""The core of (6, 1, 3)/10 and (1, 1, 8)/10 at e^epsilon = 2: a delta of 4/10 is cut off."""


def _core_orders() -> list[arb]:
    return [ball(most_suspicious_order(*pair)) for pair in (CORE, CORE[::-1])]


def core_losses() -> list[arb]:
    """Return the mean loss of `CORE` and log E[e^(s L)] at a suspicious s, then those of the other order."""
    found = []
    for pair, s in zip((CORE, CORE[::-1]), _core_orders(), strict=True):
        p, q = ([ball(side.probability(o)) for o in side.outcomes] for side in pair)
        found.append(sum_balls(a * (a / b).log() for a, b in zip(p, q, strict=True)))
        found.append(sum_balls(a * (a / b) ** s for a, b in zip(p, q, strict=True)).log())
    return found


def core_loss_bounds() -> list[arb]:
    """Return rho and rho s (s + 1) for rho = log(2)^2/2, both twice."""
    rho = ball(2).log() ** 2 / 2
    return [bound for s in _core_orders() for bound in (rho, rho * s * (s + 1))]
