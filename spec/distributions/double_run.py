"""Two independent runs of an algorithm, both published."""

from collections.abc import Hashable
from dataclasses import dataclass

from flint import arb

from dpassay.claims import UsageError
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution

__all__ = ["DoubleRunLaw", "run_twice"]


def run_twice(law: FiniteDistribution) -> FiniteDistribution:
    """Return the law of two independent runs, exactly; an outcome is a pair."""
    return FiniteDistribution({(a, b): p * q for a, p in law.weights.items() for b, q in law.weights.items()})


@dataclass(frozen=True)
class DoubleRunLaw:
    """The law of two independent runs where the probabilities are real numbers.

    Parameters
    ----------
    base : DiscreteDistribution
        The law of one run.
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
