"""The distribution of repeated releases of a sum of records, with a charge to each record per release.

Cohen and Lyu 2023, Alg 5, with the released values left out: an outcome is the tuple of the queries, from 1, whose
noisy sum reached the threshold.
"""

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpassay.spec.ball import Exact, ball

__all__ = ["ChargeRule", "RepeatedSumsDistribution", "one_for_each_record"]

ChargeRule = Callable[[Sequence[Fraction], Sequence[int]], list[int]]
"""Takes the records and the hits that each has left; returns the cost of a released query for each."""


def one_for_each_record(records: Sequence[Fraction], left: Sequence[int]) -> list[int]:
    """Charge one hit to every record above 0 that is still in."""
    return [int(record > 0 and rest > 0) for record, rest in zip(records, left, strict=True)]


@dataclass(frozen=True)
class RepeatedSumsDistribution:
    """Which of `queries` queries are released.

    Parameters
    ----------
    records : tuple of Fraction
        The data set.
    queries, hits : int
        Number of queries of the sum, and tau.
    scale : Exact
        Of the Laplace noise.
    threshold : Exact
        The least noisy sum that is released.
    charge : callable
        The rule by which records are charged.
    """

    records: tuple[Fraction, ...]
    queries: int
    hits: int
    scale: Exact
    threshold: Exact
    charge: ChargeRule = one_for_each_record

    @cached_property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All sets of queries, in order."""
        numbers = range(1, self.queries + 1)
        return tuple(chosen for size in range(self.queries + 1) for chosen in itertools.combinations(numbers, size))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome."""
        assert isinstance(outcome, tuple)
        left, total = [self.hits] * len(self.records), arb(0)
        for query in range(1, self.queries + 1):
            value = sum((r for r, rest in zip(self.records, left, strict=True) if rest > 0), Fraction(0))
            gap = Fraction(self.threshold) - value
            total = total + _log_tail(gap if query in outcome else -gap, self.scale)
            if query in outcome:
                costs = self.charge(self.records, left)
                left = [rest - cost for rest, cost in zip(left, costs, strict=True)]
        return total


def _log_tail(gap: Fraction, scale: Exact) -> arb:
    """Enclose the logarithm of the probability that Laplace noise exceeds `gap`."""
    exponent = ball(abs(gap) / Fraction(scale))
    if gap >= 0:
        return -exponent - arb(2).log()
    return (-(-exponent).exp() / 2).log1p()
