"""Ex-post differential privacy: the privacy loss of each outcome is at most a bound of that outcome.

Lebensold, Precup and Balle 2024, Def 9. The bound is a non-negative function of the outcome, infinity included.
"""

import math
from collections.abc import Hashable
from fractions import Fraction

from dpassay.claims import ExPost, UsageError
from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, privacy_loss
from dpassay.spec.notions.base import Notion, register, tightness
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["EX_POST_DP", "ex_post_dp_holds"]


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
    return verdict.with_(witness={"outcome": outcome})


def _on_rationals(bound: Fraction, left: FiniteDistribution, right: FiniteDistribution, outcome: Hashable) -> Verdict:
    p, q = left.probability(outcome), right.probability(outcome)
    if above_exponential(p, q, bound):
        detail = f"outcome {outcome!r} has probabilities {p} and {q} (exact)"
        return Violated(evidence=Evidence.EXACT, detail=detail, witness={"outcome": outcome})
    return Holds(evidence=Evidence.EXACT, tightness=tightness(ball(bound), privacy_loss(left, right, outcome)))


EX_POST_DP = register(
    Notion(
        name="ex-post differential privacy",
        claim_type=ExPost,
        definition="The privacy loss of every outcome is at most a non-negative bound that depends on the outcome.",
        items=(("lebensold2024", "ex_post_dp"),),
        decide=ex_post_dp_holds,
        where="dpassay.spec.notions.ex_post:EX_POST_DP",
    )
)
