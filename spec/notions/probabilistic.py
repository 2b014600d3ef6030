"""Probabilistic differential privacy: the privacy loss exceeds epsilon with probability at most delta.

The inequality inside is strict, the probability is that of the left distribution, and the loss has its sign
(Lebensold, Precup and Balle 2024, Defs 2 and 3). The notion does not survive post-processing.
"""

from dataclasses import replace
from fractions import Fraction

from dpassay.claims import ApproximateDP, ProbabilisticDP
from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, loss_tail
from dpassay.spec.notions.base import Notion, grown, losses_beyond, register
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Verdict

__all__ = ["PROBABILISTIC_DP", "probabilistic_dp_holds"]


def probabilistic_dp_holds(claim: ProbabilisticDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether the outcomes with P(o) > e^epsilon Q(o) have left probability at most delta."""
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        epsilon = Fraction(claim.epsilon)
        bad = (p for o, p in left.weights.items() if above_exponential(p, right.probability(o), epsilon))
        return at_most_exact(sum(bad, Fraction(0)), Fraction(claim.delta), "probability of a loss above epsilon")
    return at_most(lambda: loss_tail(left, right, ball(claim.epsilon)), lambda: ball(claim.delta))


PROBABILISTIC_DP = register(
    Notion(
        name="probabilistic differential privacy",
        claim_type=ProbabilisticDP,
        definition="The privacy loss exceeds epsilon with probability at most delta.",
        items=(
            ("lebensold2024", "pdp"),
            ("lebensold2024", "privacy_loss"),
            ("cesar2020", "privacy_loss_rv"),
            ("rogers2023", "privacy_loss"),
        ),
        decide=probabilistic_dp_holds,
        divergence=lambda claim, left, right: loss_tail(left, right, ball(claim.epsilon)),
        bound=lambda claim: ball(claim.delta),
        enlarged=lambda claim: replace(claim, delta=min(grown(claim.delta), Fraction(1))),
        event=lambda claim, left, right: losses_beyond(claim.epsilon, left, right),
        through_cells=lambda claim: ApproximateDP(claim.epsilon, claim.delta),
    )
)
