"""Pairs of finite distributions that are epsilon-indistinguishable, e^epsilon rational, with a set of outcomes.

Every such pair is a post-processing of randomised response: with r = e^epsilon, Z^0 = (r K^0 + K^1)/(r + 1) and
Z^1 = (K^0 + r K^1)/(r + 1) for K^0 = (r Z^0 - Z^1)/(r - 1) and K^1 = (r Z^1 - Z^0)/(r - 1), which are distributions.
So the pairs are drawn from *all* pairs (K^0, K^1); a zero of one of them is a tie at e^epsilon.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.domains.base import Domain

__all__ = ["IndistinguishablePairs", "TargetedPair", "conditioned", "private_pair", "restricted"]


@dataclass(frozen=True)
class TargetedPair(PairAtRatio):
    """Two indistinguishable distributions on 0, ..., n - 1 and the target {0, ..., hits - 1}.

    Which outcomes are in the target is no loss of generality: their order means nothing.
    """

    hits: int = 1

    @property
    def target(self) -> frozenset[Hashable]:
        """The target."""
        return frozenset(range(self.hits))

    @property
    def swapped(self) -> "TargetedPair":
        """The two inputs in the other order."""
        return TargetedPair(self.right, self.left, self.ratio, self.hits)


def private_pair(
    ratio: Fraction, first: FiniteDistribution, second: FiniteDistribution, hits: int = 1
) -> TargetedPair:
    """Make the pair that results from randomised response with odds `ratio` between two distributions.

    Parameters
    ----------
    ratio : Fraction
        e^epsilon, above 1.
    first, second : FiniteDistribution
        Distributions on the same outcomes.
    hits : int
        Number of outcomes in the target.
    """
    mixed = [
        {o: (ratio * a.probability(o) + b.probability(o)) / (ratio + 1) for o in first.outcomes}
        for a, b in ((first, second), (second, first))
    ]
    return TargetedPair(FiniteDistribution(mixed[0]), FiniteDistribution(mixed[1]), ratio, hits)


@dataclass(frozen=True)
class IndistinguishablePairs(Domain):
    """Targeted pairs with smallest_size to largest_size outcomes, a ratio above 1, and a proper non-empty target.

    Parameters
    ----------
    largest_size, smallest_size : int
        Numbers of outcomes.
    """

    largest_size: int = 5
    smallest_size: int = 2

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a pair."""
        if not (isinstance(value, TargetedPair) and self.smallest_size <= value.size <= self.largest_size):
            return False
        outcomes = tuple(range(value.size))
        if not value.left.outcomes == outcomes == value.right.outcomes:
            return False
        p, q, r = value.left.weights, value.right.weights, value.ratio
        return r > 1 and 1 <= value.hits < value.size and all(p[o] <= r * q[o] and q[o] <= r * p[o] for o in outcomes)


NOTHING = "nothing"
"""The outcome of a restriction where it hides the outcome."""


def restricted(distribution: FiniteDistribution, kept: frozenset[Hashable]) -> FiniteDistribution:
    """Return the distribution that publishes an outcome in `kept` and hides all others."""
    weights = {o: p for o, p in distribution.weights.items() if o in kept}
    weights[NOTHING] = sum((p for o, p in distribution.weights.items() if o not in kept), Fraction(0))
    return FiniteDistribution(weights)


def conditioned(distribution: FiniteDistribution, event: frozenset[Hashable]) -> FiniteDistribution:
    """Return the distribution given an event of positive probability; outcomes off the event keep probability 0."""
    mass = sum((p for o, p in distribution.weights.items() if o in event), Fraction(0))
    return FiniteDistribution({o: p / mass if o in event else Fraction(0) for o, p in distribution.weights.items()})
