"""Peeling: the ranked list of k exponential mechanisms without replacement, and the equivalent race of arrivals.

Each round reports o with probability w_o over the weights that are left, w = e^(rate score). Arrival times that are
exponential with rates w arrive in the same order (Plackett and Luce), and their negative logarithms are scores with
Gumbel noise: the top k of one noisy vector.
"""

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from dpassay.spec.ball import Exact, ball, exact, sum_balls

__all__ = ["PeelingDistribution", "arrival_probability_exact", "peeling_probability_exact", "ranked_lists"]


def ranked_lists(size: int, k: int) -> tuple[tuple[int, ...], ...]:
    """Return all ordered choices of k of the indices 0, ..., size - 1."""
    return tuple(itertools.permutations(range(size), k))


def peeling_probability_exact(weights: Sequence[Fraction], ranked: Sequence[int]) -> Fraction:
    """Return the product of w_o over the weights left, for rational weights."""
    left, probability = sum(weights, Fraction(0)), Fraction(1)
    for o in ranked:
        probability *= weights[o] / left
        left -= weights[o]
    return probability


def arrival_probability_exact(weights: Sequence[Fraction], ranked: Sequence[int]) -> Fraction:
    """Return the probability that exponential arrivals of these rates come in the order `ranked`, then all others.

    By integrating the densities from the last time to the first: f(t) = c e^(-r t) is the probability that all that
    comes later does so in order, given that nothing has come until t.
    """
    c, r = Fraction(1), sum((w for o, w in enumerate(weights) if o not in ranked), Fraction(0))
    for o in reversed(ranked):
        # int_t^oo w e^(-w u) c e^(-r u) du
        c, r = c * weights[o] / (weights[o] + r), weights[o] + r
    return c


@dataclass(frozen=True)
class PeelingDistribution:
    """The exact distribution of the ranked list on a vector of scores.

    Parameters
    ----------
    scores : tuple of exact numbers
        Of any size: nothing overflows.
    k : int
        Length of the list.
    rate : exact number
        epsilon over the range of the scores.
    """

    scores: tuple[Exact, ...]
    k: int
    rate: Exact

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All ranked lists."""
        return ranked_lists(len(self.scores), self.k)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of a ranked list."""
        scores = tuple(exact("scores", score) for score in self.scores)
        ranked = tuple(outcome) if isinstance(outcome, tuple) else (outcome,)
        return _log_peeling(scores, exact("rate", self.rate), ranked, ctx.prec)


@lru_cache(maxsize=8192)
def _log_peeling(scores: tuple[Fraction, ...], rate: Fraction, ranked: tuple[int, ...], _bits: int) -> arb:
    left = list(range(len(scores)))
    total = arb(0)
    for o in ranked:
        odds = sum_balls(ball(rate * (scores[i] - scores[o])).exp() for i in left if i != o)
        total = total - odds.log1p()
        left.remove(o)
    return total
