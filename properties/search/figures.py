"""The figure that a claim bounds, certified for an ordered pair of exact output distributions.

Each figure is a ball at the working precision. Figures rank pairs and are reported; whether a claim is broken is
decided by its notion alone, for the claim `with_allowance`: larger by a relative 2^-50, since the float64 that states
it may itself be a rounded number.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.properties.audit.hypotheses import ex_post_bound, families_of
from dpassay.spec.ball import ball, float_lower, max_balls
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    hockey_stick,
    loss_tail,
    max_divergence,
    privacy_loss,
    relative_entropy,
    renyi_divergence,
)

__all__ = [
    "ALLOWANCE",
    "ORDERS",
    "Tabulated",
    "allowed",
    "epsilon_at_lower",
    "figure",
    "with_allowance",
    "witness_event",
]

ALLOWANCE = Fraction(1, 2**50)
ORDERS = (1.0625, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 65.0)
"""The orders at which figures of zCDP are taken."""


@dataclass(frozen=True)
class Tabulated:
    """A distribution whose logarithms were computed once, at one precision."""

    table: dict[Hashable, arb]

    @classmethod
    def of(cls, law: DiscreteDistribution) -> "Tabulated":
        """Compute the table at the working precision."""
        return cls({outcome: law.log_probability(outcome) for outcome in law.outcomes})

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The outcomes of the table."""
        return tuple(self.table)

    def log_probability(self, outcome: Hashable) -> arb:
        """Return the tabulated logarithm, -inf for an outcome that is not listed."""
        return self.table.get(outcome, arb.neg_inf())


def figure(  # noqa: PLR0911  # one branch for each notion
    claim: Claim, left: DiscreteDistribution, right: DiscreteDistribution
) -> arb:
    """Enclose what the claim bounds, for the left over the right.

    The max divergence (pure), the hockey-stick divergence at epsilon (approximate), the tail of the loss
    (probabilistic), the range of the losses (bounded range), the Renyi divergence (RDP), the relative entropy or the
    largest ``R_alpha / alpha`` over `ORDERS` (zCDP), the largest excess of an implied hockey-stick divergence over its
    bound (approximate zCDP and concentrated DP), the largest excess of a loss over its bound (ex-post).
    """
    match claim:
        case PureDP():
            return max_divergence(left, right)
        case ApproximateDP(epsilon):
            return hockey_stick(left, right, ball(epsilon))
        case ProbabilisticDP(epsilon):
            return loss_tail(left, right, ball(epsilon))
        case BoundedRange():
            return max_divergence(left, right) + max_divergence(right, left)
        case RenyiDP(alpha):
            return renyi_divergence(left, right, ball(alpha))
        case ZCDP():
            moments = [renyi_divergence(left, right, ball(alpha)) / ball(alpha) for alpha in ORDERS]
            return max_balls([relative_entropy(left, right), *moments])
        case ApproximateZCDP() | ConcentratedDP():
            return max_balls(_implied_excesses(claim, left, right))
        case ExPost():
            return max_balls([_excess(claim, left, right, outcome) for outcome in _possible(left)])


def with_allowance(claim: Claim) -> Claim:
    """Return the claim with its bound enlarged by `ALLOWANCE`, exactly.

    Examples
    --------
    >>> with_allowance(PureDP(1.0)).epsilon - 1 == ALLOWANCE
    True
    """
    more: Any = 1 + ALLOWANCE  # exact parameters, which the notions read as they read floats
    match claim:
        case PureDP(value) | BoundedRange(value) | RenyiDP(_, value):
            return replace(claim, epsilon=Fraction(value) * more)
        case ApproximateDP(_, value) | ProbabilisticDP(_, value):
            return replace(claim, delta=min(Fraction(value) * more, Fraction(1)))
        case ZCDP(value) | ApproximateZCDP(value):
            return replace(claim, rho=Fraction(value) * more)
        case ConcentratedDP(mu, tau):
            return ConcentratedDP(Fraction(mu) * more, Fraction(tau) * more)
        case ExPost():
            # the notion does not speak of the negative bound of a wrong mechanism: what exceeds 0 exceeds it
            return replace(claim, epsilon_of=lambda outcome: _enlarged(max(ex_post_bound(claim, outcome), 0.0)))


def allowed(claim: Claim) -> arb:
    """Enclose the largest figure that the claim allows, its own rounding included."""
    match with_allowance(claim):
        case PureDP(value) | BoundedRange(value) | ZCDP(value):
            return ball(value)
        case ApproximateDP(_, value) | ProbabilisticDP(_, value) | RenyiDP(_, value):
            return ball(value)
        case ExPost() | ApproximateZCDP() | ConcentratedDP():
            return arb(0)


def _enlarged(bound: float) -> Any:
    return bound if math.isinf(bound) else Fraction(bound) * (1 + ALLOWANCE)


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


def witness_event(claim: Claim, left: DiscreteDistribution, right: DiscreteDistribution) -> tuple[Hashable, ...]:
    """Return the outcomes that show the figure: those beyond epsilon, or the single one with the largest loss."""
    possible = _possible(left)
    loss = {outcome: float_lower(privacy_loss(left, right, outcome)) for outcome in possible}
    if isinstance(claim, ApproximateDP | ProbabilisticDP):
        beyond = tuple(outcome for outcome in possible if loss[outcome] > claim.epsilon)
        if beyond:
            return beyond
    if isinstance(claim, ExPost):
        return (max(possible, key=lambda outcome: float_lower(_excess(claim, left, right, outcome))),)
    return (max(possible, key=lambda outcome: loss[outcome]),)


def _implied_excesses(
    claim: ApproximateZCDP | ConcentratedDP, left: DiscreteDistribution, right: DiscreteDistribution
) -> list[arb]:
    """Enclose the hockey-stick divergences beyond what the claim implies; the float64 curve is rounded up."""
    family = families_of(claim)[-1]
    points = zip(family.epsilon[family.claimed].tolist(), family.delta[family.claimed].tolist(), strict=True)
    return [hockey_stick(left, right, ball(e)) - ball(d) for e, d in points if e < math.inf]


def _possible(left: DiscreteDistribution) -> list[Hashable]:
    return [outcome for outcome in left.outcomes if left.log_probability(outcome) != arb.neg_inf()]


def _mass_beyond(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the left mass of the outcomes that the right cannot produce."""
    total = arb(0)
    for outcome in _possible(left):
        if privacy_loss(left, right, outcome) == arb.pos_inf():
            total = total + left.log_probability(outcome).exp()
    return total


def _excess(claim: ExPost, left: DiscreteDistribution, right: DiscreteDistribution, outcome: Hashable) -> arb:
    bound = ex_post_bound(claim, outcome)
    if bound == math.inf:
        return arb.neg_inf()
    return privacy_loss(left, right, outcome) - ball(bound)
