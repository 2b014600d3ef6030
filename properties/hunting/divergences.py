"""Distributions as tables, and the certified epsilon of a pair at a given delta."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.properties.pairing.registry import PushedForward
from dpassay.spec.ball import ball, float_lower, float_upper, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, hockey_stick, max_divergence, privacy_loss

__all__ = ["Tabulated", "epsilon_at_lower"]


@dataclass(frozen=True)
class Tabulated:
    """A distribution whose logarithms were computed once, at one precision.

    Parameters
    ----------
    table : dict of outcome to arb
        Logarithms of probabilities.
    is_partition : bool
        Whether the outcomes are seen through a partition, or after another step of post-processing.
    added : Fraction
        As of `PushedForward`.
    """

    table: dict[Hashable, arb]
    is_partition: bool = False
    added: Fraction = Fraction(0)

    @classmethod
    def of(cls, distribution: DiscreteDistribution) -> "Tabulated":
        """Compute the table at the working precision."""
        table = {outcome: distribution.log_probability(outcome) for outcome in distribution.outcomes}
        if isinstance(distribution, PushedForward):
            return cls(table, is_partition=True, added=distribution.added)
        return cls(table)

    def mass(self, event: Iterable[Hashable]) -> tuple[float, float]:
        """Return certified ends of the probability of an event."""
        cells = tuple(event)
        total = sum_balls(self.log_probability(cell).exp() for cell in cells)
        return max(0.0, float_lower(total - ball(self.added * len(cells)))), min(1.0, float_upper(total))

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The outcomes of the table."""
        return tuple(self.table)

    def log_probability(self, outcome: Hashable) -> arb:
        """Return the tabulated logarithm, -inf for an outcome that is not listed."""
        return self.table.get(outcome, arb.neg_inf())


def epsilon_at_lower(left: DiscreteDistribution, right: DiscreteDistribution, delta: float) -> float:
    """Return a certified lower bound on the epsilon at which the hockey-stick divergence falls to delta.

    Bisection to 2^-40 relative; 0 if no epsilon is certified to be refuted.
    """
    top = float_lower(max_divergence(left, right))
    if delta == 0:
        return max(0.0, top)
    low, high = 0.0, min(max(top, 0.0), 1e3)
    if not hockey_stick(left, right, ball(0)) > ball(delta):
        return 0.0
    if hockey_stick(left, right, ball(high)) > ball(delta):
        return math.inf if math.isinf(top) and _mass_beyond(left, right) > ball(delta) else high
    for _ in range(60):
        middle = (low + high) / 2
        if hockey_stick(left, right, ball(middle)) > ball(delta):
            low = middle
        else:
            high = middle
    return low


def _possible(left: DiscreteDistribution) -> list[Hashable]:
    return [outcome for outcome in left.outcomes if left.log_probability(outcome) != arb.neg_inf()]


def _mass_beyond(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the left mass of the outcomes that the right cannot produce."""
    total = arb(0)
    for outcome in _possible(left):
        if privacy_loss(left, right, outcome) == arb.pos_inf():
            total = total + left.log_probability(outcome).exp()
    return total
