"""Two independent runs of an algorithm, both published."""

from collections.abc import Hashable
from dataclasses import dataclass

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution

__all__ = ["DoubleRunDistribution", "run_twice"]


def run_twice(distribution: FiniteDistribution) -> FiniteDistribution:
    """Return the exact distribution of two independent runs; an outcome is a pair."""
    return FiniteDistribution(
        {(a, b): p * q for a, p in distribution.weights.items() for b, q in distribution.weights.items()}
    )


@dataclass(frozen=True)
class DoubleRunDistribution:
    """The distribution of two independent runs for real-valued probabilities.

    Parameters
    ----------
    base : DiscreteDistribution
        The distribution of one run.
    """

    base: DiscreteDistribution

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The pairs of outcomes."""
        return tuple((a, b) for a in self.base.outcomes for b in self.base.outcomes)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of a pair."""
        if not (isinstance(outcome, tuple) and len(outcome) == 2):
            raise UsageError(f"outcome must be a pair of outcomes of the algorithm, got {outcome!r}")
        return self.base.log_probability(outcome[0]) + self.base.log_probability(outcome[1])
