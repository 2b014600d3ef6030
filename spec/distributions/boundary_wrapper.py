"""The boundary wrapper: an algorithm that reports "boundary" with a probability that grows with its uncertainty.

With pi = 1 - max_r Pr[A = r] it reports the boundary with probability min(1/3, pi/(1 + pi)), and an outcome of A
otherwise (Cohen and Lyu 2023, Alg 4).
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution

__all__ = ["BOUNDARY", "BoundaryWrappedDistribution", "boundary_wrapped"]

BOUNDARY = -1
"""The outcome that the wrapper adds."""


def boundary_wrapped(distribution: FiniteDistribution) -> FiniteDistribution:
    """Return the distribution of the wrapped algorithm, exactly."""
    doubt = 1 - max(distribution.weights.values())
    boundary = min(Fraction(1, 3), doubt / (1 + doubt))
    weights = {o: p * (1 - boundary) for o, p in distribution.weights.items()}
    return FiniteDistribution({**weights, BOUNDARY: boundary})


@dataclass(frozen=True)
class BoundaryWrappedDistribution:
    """The distribution of the wrapped algorithm for real-valued probabilities.

    Parameters
    ----------
    base : DiscreteDistribution
        The distribution of the algorithm; -1 must not be among its outcomes.
    """

    base: DiscreteDistribution

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """Those of the algorithm, and the boundary."""
        return (*self.base.outcomes, BOUNDARY)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome."""
        doubt = self._doubt()
        third = ball(Fraction(1, 3))
        if outcome != BOUNDARY:
            return self.base.log_probability(outcome) + (1 / (1 + doubt)).max(2 * third).log()
        return arb.neg_inf() if doubt == 0 else (doubt / (1 + doubt)).min(third).log()

    def _doubt(self) -> arb:
        """Enclose pi: the least sum of all probabilities but one, accurate where the answer is sure."""
        probabilities = [self.base.log_probability(o).exp() for o in self.base.outcomes]
        least = arb(1)
        for k in range(len(probabilities)):
            least = least.min(sum_balls(p for j, p in enumerate(probabilities) if j != k))
        return least
