"""Events that show a divergence: the outcomes whose privacy loss exceeds a level.

Of all events of the same size, the one of the largest losses tells two distributions apart best (Neyman and Pearson).
Which level shows most of a divergence is a choice in floats, of what to show and not of what is true: the divergence
between the probabilities of the event on both sides is compared from level to level.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from statistics import NormalDist
from typing import Any

from flint import arb

from dpassay.spec.ball import float_lower
from dpassay.spec.distributions.discrete import DiscreteDistribution, privacy_loss

__all__ = ["Coin", "binary_renyi", "binary_separation", "event_by"]

_NEAR = 1e-6
"""Events that show the divergence but for this relative part are as good as the best: the likeliest one is taken."""

Coin = tuple[float, float]
"""The probabilities of an event and of its complement: of both, the smaller one has its relative accuracy."""

Measure = Callable[[Any, Coin, Coin], float]
"""measure(claim, left, right): the divergence that a claim is about, of one coin against another one."""


def event_by(measure: Measure) -> Callable[[Any, DiscreteDistribution, DiscreteDistribution], tuple[Hashable, ...]]:
    """Return the choice of an event by a measure, for the record of a notion."""

    def event(claim: Any, left: DiscreteDistribution, right: DiscreteDistribution) -> tuple[Hashable, ...]:
        possible = [outcome for outcome in left.outcomes if left.log_probability(outcome) != arb.neg_inf()]
        ordered = sorted(possible, key=lambda outcome: -float_lower(privacy_loss(left, right, outcome)))
        rest = [outcome for outcome in right.outcomes if left.log_probability(outcome) == arb.neg_inf()]
        coins = zip(_coins([*ordered, *rest], left), _coins([*ordered, *rest], right), strict=True)
        return tuple(ordered[: _best([*coins][: len(ordered)], measure, claim)])

    return event


def _coins(ordered: Sequence[Hashable], side: DiscreteDistribution) -> list[Coin]:
    masses = [float(side.log_probability(outcome).exp()) for outcome in ordered]
    inside = itertools.accumulate(masses)
    outside = itertools.accumulate([0.0, *reversed(masses[1:])])
    return list(zip(inside, reversed([*outside]), strict=True))


def _best(coins: Sequence[tuple[Coin, Coin]], measure: Measure, claim: Any) -> int:
    """Return the number of outcomes of the event that shows most."""
    values = [measure(claim, left, right) for left, right in coins]
    most = max(values)
    least = most - _NEAR * abs(most) if math.isfinite(most) else most
    good = [k for k, value in enumerate(values) if value >= least]
    return 1 + max(good, key=lambda k: coins[k][0][0] * coins[k][1][1])


def binary_separation(_claim: Any, left: Coin, right: Coin) -> float:
    """Return Phi^-1(p) - Phi^-1(q), the mu of Gaussian DP that two coins of chances p and q need."""
    if not left[0] or not right[1]:
        return 0.0
    return _quantile(*left) - _quantile(*right)


def _quantile(p: float, complement: float) -> float:
    if not p or not complement:
        return math.inf if p else -math.inf
    normal = NormalDist()
    return normal.inv_cdf(p) if p < complement else -normal.inv_cdf(complement)


def binary_renyi(order: float, left: Coin, right: Coin) -> float:
    """Return the Renyi divergence of an order above 1 of two coins."""
    pairs = [(p, q) for p, q in zip(left, right, strict=True) if p]
    if any(not q for _, q in pairs):
        return math.inf
    terms = [order * math.log(p) + (1 - order) * math.log(q) for p, q in pairs]
    top = max(terms)
    return (top + math.log(sum(math.exp(term - top) for term in terms))) / (order - 1)
