"""Permute-and-flip: the exact distribution of the reported candidate.

Candidates are visited in uniformly random order, each accepted with probability p_i = e^(rate (q_i - max q));
the first accepted one is reported (R. McKenna and D. Sheldon, NeurIPS 2020). A uniform order is a race of
independent uniform arrival times u: candidate o is reported if no earlier one was accepted, so that

    Pr[o] = p_o int_0^1 prod_{i != o} (1 - p_i u) du.
"""

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly, ctx, fmpq, fmpq_poly

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.selection import Rivals, SelectionDistribution

__all__ = ["PermuteAndFlipDistribution", "first_accepted_exact"]

LARGEST_SIZE = 20_000


class PermuteAndFlipDistribution(SelectionDistribution):
    """The distribution of the first candidate accepted in a random order; up to 20000 candidates."""

    @staticmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        """Enclose log p_o + log int_0^1 prod_i (1 - p_i u)^count_i du.

        Raises
        ------
        UsageError
            If there are more than 20000 candidates: the polynomial is expanded.
        """
        return _log_first_accepted(own, rivals, rate, ctx.prec)


@lru_cache(maxsize=4096)
def _log_first_accepted(own: Fraction, rivals: Rivals, rate: Fraction, bits: int) -> arb:
    degree = sum(count for _, count in rivals)
    if degree >= LARGEST_SIZE:
        raise UsageError(f"permute-and-flip is expanded for at most {LARGEST_SIZE} candidates, got {degree + 1}")
    best = max([own, *(score for score, _ in rivals)])
    # coefficients sum to at most 2^degree in modulus, the integral is at least 1 / (degree + 1)
    with precision(bits + degree + 2 * math.ceil(math.log2(degree + 2)) + 16):
        product = arb_poly([1])
        for score, count in rivals:
            product = product * arb_poly([1, -ball(rate * (score - best)).exp()]) ** count
        integral = product.integral()(arb(1))
        log_probability: arb = ball(rate * (own - best)) + integral.log()
    return log_probability


def first_accepted_exact(acceptance: Mapping[Hashable, Fraction]) -> dict[Hashable, Fraction]:
    """Return the distribution for rational acceptance probabilities, by the integral in rational arithmetic.

    If none need be accepted (no probability is 1) the distribution sums to less than 1.
    """
    distribution = {}
    for candidate, p in acceptance.items():
        product = fmpq_poly([1])
        for other, q in acceptance.items():
            if other != candidate:
                product = product * fmpq_poly([1, fmpq(-q.numerator, q.denominator)])
        integral = product.integral()(fmpq(1))
        distribution[candidate] = p * Fraction(int(integral.p), int(integral.q))
    return distribution
