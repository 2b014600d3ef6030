"""Noisy max with Laplace noise: the exact distribution of the reported index.

argmax_i (answers_i + Lap(1/rate)), so the noise has scale 2 sensitivity / epsilon. With x_i = rate (score_i -
own), a unit Laplace density f and distribution function F,

    Pr[own wins] = int f(z) prod_i F(z - x_i) dz.

The integrand is a sum of exponentials between the kinks 0 and x_i, integrated in closed form piece by piece: in
y = e^-(z - b), b the left end of a piece, every factor with x_i <= b is 1 - e^(x_i - b) y / 2, every other one
e^(b - x_i) / (2 y).
"""

import itertools
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly, ctx

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, precision, sum_balls
from dpassay.spec.distributions.selection import Rivals, SelectionDistribution

__all__ = ["LaplaceNoisyMaxDistribution"]

LARGEST_SIZE = 2_000


class LaplaceNoisyMaxDistribution(SelectionDistribution):
    """The distribution of argmax_i (answers_i + Lap(2 sensitivity / epsilon)); up to 2000 candidates."""

    @staticmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        """Enclose the log-probability that the candidate's noisy score is the largest.

        Raises
        ------
        UsageError
            If there are more than 2000 candidates: a polynomial is expanded on every piece.
        """
        degree = sum(count for _, count in rivals)
        if degree >= LARGEST_SIZE:
            raise UsageError(f"Laplace noisy max is expanded for at most {LARGEST_SIZE} candidates, got {degree + 1}")
        gaps = tuple((rate * (score - own), count) for score, count in rivals)
        return _log_win(gaps, ctx.prec)


@lru_cache(maxsize=4096)
def _log_win(gaps: Rivals, bits: int) -> arb:
    degree = sum(count for _, count in gaps)
    # on a piece the coefficients sum to at most (3/2)^degree in modulus and the polynomial is at least 2^-degree
    with precision(bits + (8 * degree) // 5 + 32):
        kinks = sorted({Fraction(0), *(x for x, _ in gaps)})
        pieces = [_below_all(gaps, kinks[0], degree)]
        pieces += [_between(gaps, low, high) for low, high in itertools.pairwise(kinks)]
        pieces.append(_between(gaps, kinks[-1], None))
        log_probability: arb = sum_balls(pieces).log()
    return log_probability


def _below_all(gaps: Rivals, kink: Fraction, degree: int) -> arb:
    """Integrate up to the lowest kink, where every factor is half an exponential."""
    exponent = (degree + 1) * kink - sum(count * x for x, count in gaps)
    return ball(exponent).exp() / (arb(2) ** (degree + 1) * (degree + 1))


def _between(gaps: Rivals, low: Fraction, high: Fraction | None) -> arb:
    """Integrate from one kink to the next, or from the last one to infinity."""
    above = [(x, count) for x, count in gaps if x > low]
    many = sum(count for _, count in above)
    scale = ball(sum(((low - x) * count for x, count in above), -abs(low))).exp() / arb(2) ** (many + 1)
    product = arb_poly([1])
    for x, count in gaps:
        if x <= low:
            product = product * arb_poly([1, -ball(x - low).exp() / 2]) ** count
    power = (1 if low >= 0 else -1) - many
    return scale * sum_balls(c * _power_integral(power + k, low, high) for k, c in enumerate(product.coeffs()))


def _power_integral(power: int, low: Fraction, high: Fraction | None) -> arb:
    """Integrate y^(power - 1) from e^-(high - low) to 1."""
    if high is None:
        return arb(1) / power
    width = ball(high - low)
    return width if power == 0 else -(-power * width).expm1() / power
