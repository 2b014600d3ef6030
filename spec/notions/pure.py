"""Pure differential privacy: the max divergence is at most epsilon.

On discrete outcomes this is a bound on every single outcome (Lebensold, Precup and Balle 2024, Section 2). An
outcome that only the left can produce has infinite loss; one that neither can has none.
"""

from fractions import Fraction

from dpassay.claims import PureDP
from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, max_divergence
from dpassay.spec.distributions.noise_pairs import largest_loss_of_noise
from dpassay.spec.distributions.noise_upper import largest_loss_upper_of_noise
from dpassay.spec.notions.base import Notion, grown, register, tightness
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["PURE_DP", "pure_dp_holds"]


def pure_dp_holds(claim: PureDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether every outcome is at most e^epsilon times as likely on the left as on the right."""
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        return _on_rationals(Fraction(claim.epsilon), left, right)
    return at_most(lambda: max_divergence(left, right), lambda: ball(claim.epsilon))


def _on_rationals(epsilon: Fraction, left: FiniteDistribution, right: FiniteDistribution) -> Verdict:
    note(lambda: max_divergence(left, right), lambda: ball(epsilon))
    for outcome, p in left.weights.items():
        q = right.probability(outcome)
        if above_exponential(p, q, epsilon):
            detail = f"outcome {outcome!r} has probabilities {p} and {q} (exact)"
            return Violated(evidence=Evidence.EXACT, detail=detail, witness={"outcome": outcome})
    return Holds(evidence=Evidence.EXACT, tightness=tightness(ball(epsilon), max_divergence(left, right)))


PURE_DP = register(
    Notion(
        name="pure differential privacy",
        claim_type=PureDP,
        definition="The max divergence between neighbouring output distributions is at most epsilon.",
        items=(("lebensold2024", "pure_dp_pointwise"), ("lebensold2024", "neighbouring_relation")),
        decide=pure_dp_holds,
        divergence=lambda _, left, right: max_divergence(left, right),
        of_noise=lambda _, moved: largest_loss_of_noise(moved),
        of_noise_upper=lambda _, moved: largest_loss_upper_of_noise(moved),
        bound=lambda claim: ball(claim.epsilon),
        enlarged=lambda claim: PureDP(grown(claim.epsilon)),
    )
)
