"""The exponential mechanism: the exact distribution of the reported candidate."""

from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.distributions.selection import Rivals, SelectionDistribution

__all__ = ["ExponentialMechanismDistribution"]


class ExponentialMechanismDistribution(SelectionDistribution):
    """Pr[o] proportional to e^(rate answers_o), with rate = epsilon / (2 sensitivity).

    The paper (Lebensold, Precup and Balle 2024, EM) uses the mechanism as a baseline without writing it down;
    this is Gaboardi 2017, S2. Scores of any size: nothing overflows.
    """

    @staticmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        """Enclose -log(1 + sum_i count_i e^(rate (score_i - own)))."""
        return _log_softmax(own, rivals, rate, ctx.prec)


@lru_cache(maxsize=4096)
def _log_softmax(own: Fraction, rivals: Rivals, rate: Fraction, _bits: int) -> arb:
    # cached by precision: candidates with equal scores have equal probabilities
    odds_against = sum_balls(count * ball(rate * (score - own)).exp() for score, count in rivals)
    return -odds_against.log1p()
