"""Distributions as tables, and the certified epsilon of a pair at a given delta."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.claims import Claim
from dpassay.properties.notions.base import epsilon_delta_of
from dpassay.properties.pairing.registry import PushedForward
from dpassay.spec.ball import Real, at_most, ball, float_lower, float_upper, max_balls, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, hockey_stick, max_divergence, privacy_loss
from dpassay.spec.distributions.noise import NoisePair
from dpassay.spec.notions.base import Notion, find_notion
from dpassay.spec.verdict import Outcome

__all__ = ["Tabulated", "decided", "divergence_of", "epsilon_at_lower"]


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
    behind : tuple of NoisePair
    is_behind : bool
        As of `PushedForward`.
    """

    table: dict[Hashable, arb]
    is_partition: bool = False
    added: Fraction = Fraction(0)
    behind: tuple[NoisePair, ...] = ()
    is_behind: bool = False

    @classmethod
    def of(cls, distribution: DiscreteDistribution) -> "Tabulated":
        """Compute the table at the working precision."""
        table = {outcome: distribution.log_probability(outcome) for outcome in distribution.outcomes}
        if isinstance(distribution, PushedForward):
            return cls(
                table,
                is_partition=True,
                added=distribution.added,
                behind=distribution.behind,
                is_behind=distribution.is_behind,
            )
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


def divergence_of(claim: Claim, left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose a figure that a divergence of two distributions is not below: of their cells, or of the noise behind."""
    noise = _of_noise(claim, left)
    if noise is not None and getattr(left, "is_behind", False):
        return noise()
    known = find_notion(claim).divergence(claim, left, right)
    return known if noise is None else max_balls([known, noise()])


def decided(
    notion: Notion[Claim], claim: Claim, left: DiscreteDistribution, right: DiscreteDistribution
) -> Outcome:  # fmt: skip
    """Decide a claim on two distributions, or on their cells, which refute it and prove nothing.

    Parameters
    ----------
    notion : Notion
        The notion of the claim.
    claim : Claim
        The claim.
    left, right : DiscreteDistribution
        The distributions, in this order.
    """
    noise = _of_noise(claim, left)
    if noise is not None and at_most(noise, lambda: notion.bound(claim)).outcome is Outcome.VIOLATED:
        return Outcome.VIOLATED
    if noise is not None and getattr(left, "is_behind", False):
        return Outcome.UNDECIDED
    return notion.decide(claim, left, right).outcome


def _of_noise(claim: Claim, left: DiscreteDistribution) -> Real | None:
    """Return what encloses the divergence of the noise behind a distribution, a claim without events aside.

    An epsilon with its delta is shown by an event, so that the cells decide.
    """
    behind, of_noise = getattr(left, "behind", ()), find_notion(claim).of_noise
    if not behind or of_noise is None or epsilon_delta_of(claim) is not None:
        return None
    return lambda: of_noise(claim, behind)


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
