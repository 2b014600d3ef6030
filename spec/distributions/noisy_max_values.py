"""Noisy max with Laplace, exponential and Gumbel noise: distributions of the largest noisy answer and of its index.

The largest of independent noisy answers has a product of distribution functions; everything here follows from its
logarithm. The index under Laplace noise is in `laplace_noisy_max`, under Gumbel noise it is the exponential mechanism.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from flint import arb, ctx

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact, precision, sum_balls
from dpassay.spec.distributions.laplace import Side, log_laplace_cdf
from dpassay.spec.distributions.piecewise_exponential import Line
from dpassay.spec.distributions.selection import Rivals, SelectionDistribution

__all__ = ["ExponentialNoisyMaxDistribution", "Noise", "NoisyMaxValueDistribution"]

Noise = Literal["laplace", "exponential", "gumbel"]

LARGEST_SIZE = 2_000


@dataclass(frozen=True)
class NoisyMaxValueDistribution:
    """The distribution of the largest of some noisy answers.

    Parameters
    ----------
    answers : tuple of exact numbers
        At least one.
    scale : exact number
        Scale of the noise, positive.
    noise : {"laplace", "exponential", "gumbel"}
        Its distribution function at s x: e^x/2 or 1 - e^-x/2; 1 - e^-x for x > 0; exp(-e^-x).
    """

    answers: tuple[Exact, ...]
    scale: Exact
    noise: Noise = "laplace"

    def __post_init__(self) -> None:
        if not self.answers:
            raise UsageError("answers must hold at least one number, got none")
        if exact("scale", self.scale) <= 0:
            raise UsageError(f"scale must be positive, got {self.scale!r}")

    def log_cdf(self, value: Exact) -> arb:
        """Enclose the log-probability that the largest noisy answer is at most `value`; -inf if it cannot be."""
        scale, top = exact("scale", self.scale), exact("value", value)
        return sum_balls(self._log_one((top - exact("answers", answer)) / scale) for answer in self.answers)

    def log_interval(self, side: Side) -> arb:
        """Enclose the log-probability that it lies in (low, high]; None is no bound."""
        low, high = side
        log_high = arb(0) if high is None else self.log_cdf(high)
        if low is None:
            return log_high
        log_low = self.log_cdf(low)
        if log_low == arb.neg_inf():
            return log_high
        return log_high + (-(log_low - log_high).expm1()).log()

    def _log_one(self, x: Fraction) -> arb:
        if self.noise == "laplace":
            return log_laplace_cdf(x)
        if self.noise == "exponential":
            return (-ball(-x).expm1()).log() if x > 0 else arb.neg_inf()
        return -ball(-x).exp()


class ExponentialNoisyMaxDistribution(SelectionDistribution):
    """The distribution of argmax_i (answers_i + Exp(2 sensitivity / epsilon)); up to 2000 candidates."""

    @staticmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        """Enclose log int f(z - own) prod_i F(z - score_i)^count_i dz, f and F of exponential noise.

        Raises
        ------
        UsageError
            If there are more than 2000 candidates: a polynomial is expanded.
        """
        size = 1 + sum(count for _, count in rivals)
        if size > LARGEST_SIZE:
            raise UsageError(f"exponential noisy max is expanded for at most {LARGEST_SIZE} candidates, got {size}")
        return _log_win(own, rivals, rate, size, ctx.prec)


@lru_cache(maxsize=4096)
def _log_win(own: Fraction, rivals: Rivals, rate: Fraction, size: int, bits: int) -> arb:
    # the coefficients of prod (1 - c_i y) sum to at most 2^size, its integral is at least 1 / size
    with precision(bits + 2 * size + 32):
        line = Line([own, *(score for score, _ in rivals)], rate)
        integrand = line.exponential_density(own)
        for score, count in rivals:
            integrand = integrand * line.exponential_cdf(score) ** count
        log_probability: arb = integrand.integral().log()
    return log_probability
