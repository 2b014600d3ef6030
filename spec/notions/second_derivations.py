"""Values of conversions by a second derivation, for pins."""

from fractions import Fraction

from flint import arb, ctx

from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.notions.zcdp import most_suspicious_order

__all__ = [
    "RESPONSE",
    "THREE",
    "delta_at_shift_two",
    "least_epsilon_at_shift_two",
    "response_below_rho",
    "rho_of_the_response",
]

HALF = Fraction(1, 2)
RESPONSE = PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3))
"""Randomised response with odds 3."""
THREE = PairAtRatio(FiniteDistribution.of(5, 3, 2), FiniteDistribution.of(1, 4, 5), Fraction(3, 2))
"""A pair that differs from its swap."""


def _suspicious_order() -> arb:
    return ball(most_suspicious_order(RESPONSE.left, RESPONSE.right))


def response_below_rho(tail: Fraction) -> list[arb | Fraction]:
    """Return the mean loss of `RESPONSE`, the logarithm of a moment and the tail of the loss."""
    epsilon, s = ball(3).log(), _suspicious_order()
    return [epsilon / 2, (((s + ball(HALF)) * epsilon).cosh() / (epsilon / 2).cosh()).log(), tail]


def rho_of_the_response(delta: Fraction) -> list[arb | Fraction]:
    """Return the other sides, for the rho 11/20."""
    s, rho = _suspicious_order(), Fraction(11, 20)
    return [rho, s * (s + 1) * ball(rho), delta]


def delta_at_shift_two(epsilon: arb) -> arb:
    """Enclose Phi(1 - epsilon/2) - e^epsilon Phi(-1 - epsilon/2), the delta of a Gaussian pair 2 apart."""
    return normal_cdf(1 - epsilon / 2) - epsilon.exp() * normal_cdf(-1 - epsilon / 2)


def least_epsilon_at_shift_two() -> arb:
    """Return the least epsilon of the conversions of (alpha, 2 alpha)-RDP for delta = 1/1000, by bisection.

    The derivative with respect to alpha is 2 + log(delta alpha)/(alpha - 1)^2. It grows up to 1/delta.
    """
    low, high = arb(1), arb(8)
    for _ in range(ctx.prec):
        middle = ((low + high) / 2).mid()
        falls = 2 * (middle - 1) ** 2 < (1000 / middle).log()
        low, high = (middle, high) if falls else (low, middle)
    return 2 * low + (1 - 1 / low).log() + (1000 / low).log() / (low - 1)
