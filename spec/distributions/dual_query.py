"""DualQuery on a small universe: the exact distribution of the published synthetic records.

Queries are 0/1 tables over the universe. In round t the query player's weights are proportional to
exp(eta sum_{t' < t} (q(D) - q(x_t'))), and the data player answers a query drawn from them with the first element of
the universe on which it is largest.
"""

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpassay.spec.ball import ball, sum_balls

__all__ = ["DualQueryDistribution"]


@dataclass(frozen=True)
class DualQueryDistribution:
    """The distribution of the answers x_1, ..., x_T to one drawn query per round.

    Parameters
    ----------
    queries : tuple of tuples
        q(x) for every query and element of the universe.
    counts : tuple of int
        Number of records of each element.
    rounds : int
        T.
    eta : Fraction
        The learning rate.
    """

    queries: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    rounds: int
    eta: Fraction

    @cached_property
    def _paths(self) -> dict[Hashable, list[tuple[int, ...]]]:
        """The sequences of queries that lead to each outcome."""
        best = [row.index(max(row)) for row in self.queries]
        found: dict[Hashable, list[tuple[int, ...]]] = {}
        for path in itertools.product(range(len(self.queries)), repeat=self.rounds):
            found.setdefault(tuple(best[q] for q in path), []).append(path)
        return found

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The possible sequences of records of the data player."""
        return tuple(self._paths)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the log-probability of a sequence of records."""
        paths = self._paths.get(outcome, [])
        if not isinstance(outcome, tuple) or not paths:
            return arb.neg_inf()
        weights = [self._weights(outcome[:t]) for t in range(self.rounds)]
        masses = []
        for path in paths:
            mass = arb(1)
            for weight, query in zip(weights, path, strict=True):
                mass = mass * weight[query]
            masses.append(mass)
        return sum_balls(masses).log()

    def _weights(self, answered: tuple[int, ...]) -> list[arb]:
        """Enclose the query player's distribution after some answers."""
        total = sum(self.counts)
        scores = []
        for row in self.queries:
            mean = Fraction(sum(q * c for q, c in zip(row, self.counts, strict=True)), total)
            scores.append(len(answered) * mean - sum(row[x] for x in answered))
        raw = [ball(self.eta * (score - max(scores))).exp() for score in scores]
        return [x / sum_balls(raw) for x in raw]
