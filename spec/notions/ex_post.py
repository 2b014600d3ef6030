"""Ex-post differential privacy: the privacy loss of each outcome is at most a bound of that outcome.

Lebensold, Precup and Balle 2024, Def 9. The bound is a non-negative function of the outcome, infinity included.
"""

import math
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import ExPost
from dpassay.spec.ball import at_most, ball, float_lower, max_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, privacy_loss
from dpassay.spec.notions.base import Notion, grown, register, tightness
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["EX_POST_DP", "ex_post_bound", "ex_post_dp_holds"]


def ex_post_dp_holds(claim: ExPost, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether the loss of every outcome that the left can produce is at most its bound.

    Raises
    ------
    UsageError
        If the bound of an outcome is negative or NaN.
    """
    return conjunction(_outcome_holds(claim, left, right, outcome) for outcome in left.outcomes)


def _outcome_holds(
    claim: ExPost, left: DiscreteDistribution, right: DiscreteDistribution, outcome: Hashable
) -> Verdict:
    bound = claim.epsilon_of(outcome)
    if not bound >= 0:
        raise UsageError(f"an ex-post bound must be at least 0, got {bound!r} for the outcome {outcome!r}")
    if bound == math.inf or (isinstance(left, FiniteDistribution) and left.probability(outcome) == 0):
        return Holds(evidence=Evidence.EXACT)
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        return _on_rationals(Fraction(bound), left, right, outcome)
    verdict = at_most(lambda: privacy_loss(left, right, outcome), lambda: ball(bound))
    return replace(verdict, witness={"outcome": outcome})


def _on_rationals(bound: Fraction, left: FiniteDistribution, right: FiniteDistribution, outcome: Hashable) -> Verdict:
    p, q = left.probability(outcome), right.probability(outcome)
    note(lambda: privacy_loss(left, right, outcome), lambda: ball(bound))
    if above_exponential(p, q, bound):
        detail = f"outcome {outcome!r} has probabilities {p} and {q} (exact)"
        return Violated(evidence=Evidence.EXACT, detail=detail, witness={"outcome": outcome})
    return Holds(evidence=Evidence.EXACT, tightness=tightness(ball(bound), privacy_loss(left, right, outcome)))


def ex_post_bound(claim: ExPost, outcome: Hashable) -> float:
    """Return the bound that an ex-post claim sets for an outcome.

    Raises
    ------
    UsageError
        If the claim cannot tell: it raises (also on the symbol of a call that raised) or returns NaN.
    """
    try:
        bound = float(claim.epsilon_of(outcome))
    except Exception as error:
        raise UsageError(f"epsilon_of must bound every outcome, but on {outcome!r} it raises {error!r}") from error
    if math.isnan(bound):
        raise UsageError(f"epsilon_of must return a number or infinity for every outcome, got NaN for {outcome!r}")
    return bound


def _excesses(claim: ExPost, left: DiscreteDistribution, right: DiscreteDistribution) -> dict[Hashable, arb]:
    """Enclose the excess of each loss over its bound, for the outcomes that the left can produce."""
    excesses: dict[Hashable, arb] = {}
    for outcome in left.outcomes:
        if left.log_probability(outcome) != arb.neg_inf():
            bound = ex_post_bound(claim, outcome)
            is_bounded = bound < math.inf
            excesses[outcome] = privacy_loss(left, right, outcome) - ball(bound) if is_bounded else arb.neg_inf()
    return excesses


def _worst_outcome(claim: ExPost, left: DiscreteDistribution, right: DiscreteDistribution) -> tuple[Hashable, ...]:
    lower = {outcome: float_lower(excess) for outcome, excess in _excesses(claim, left, right).items()}
    return (max(lower, key=lower.__getitem__),)


def _enlarged(claim: ExPost) -> ExPost:
    """Enlarge every bound; a negative one is read as 0, since any loss that exceeds 0 exceeds it as well."""

    def bound_of(outcome: Hashable) -> Any:
        bound = max(ex_post_bound(claim, outcome), 0.0)
        return bound if math.isinf(bound) else grown(bound)

    return replace(claim, epsilon_of=bound_of)


EX_POST_DP = register(
    Notion(
        name="ex-post differential privacy",
        claim_type=ExPost,
        definition="The privacy loss of every outcome is at most a non-negative bound that depends on the outcome.",
        items=(("lebensold2024", "ex_post_dp"),),
        decide=ex_post_dp_holds,
        divergence=lambda claim, left, right: max_balls(_excesses(claim, left, right).values()),
        bound=lambda _: arb(0),
        enlarged=_enlarged,
        event=_worst_outcome,
    )
)
