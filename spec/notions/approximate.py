"""Approximate differential privacy: the hockey-stick divergence at e^epsilon is at most delta.

The worst event is {o : P(o) > e^epsilon Q(o)} (Lebensold, Precup and Balle 2024, Def 1).
"""

from dataclasses import replace
from fractions import Fraction

from dpassay.claims import ApproximateDP
from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, hockey_stick
from dpassay.spec.distributions.noise_pairs import hockey_stick_of_noise
from dpassay.spec.distributions.noise_upper import hockey_stick_upper_of_noise
from dpassay.spec.notions.base import Notion, grown, losses_beyond, register, tightness
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["APPROXIMATE_DP", "approximate_dp_holds"]


def approximate_dp_holds(claim: ApproximateDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether every event is at most delta likelier than e^epsilon times its probability on the right."""
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        return _on_rationals(claim, left, right)
    return at_most(lambda: hockey_stick(left, right, ball(claim.epsilon)), lambda: ball(claim.delta))


def _on_rationals(claim: ApproximateDP, left: FiniteDistribution, right: FiniteDistribution) -> Verdict:
    epsilon, delta = Fraction(claim.epsilon), Fraction(claim.delta)
    note(lambda: hockey_stick(left, right, ball(epsilon)), lambda: ball(delta))
    event = [o for o, p in left.weights.items() if above_exponential(p, right.probability(o), epsilon)]
    p = sum((left.probability(o) for o in event), Fraction(0))
    q = sum((right.probability(o) for o in event), Fraction(0))
    if above_exponential(p - delta, q, epsilon):
        detail = f"the event {event} has probabilities {p} and {q} (exact)"
        return Violated(evidence=Evidence.EXACT, detail=detail, witness={"event": event})
    least = hockey_stick(left, right, ball(epsilon))
    return Holds(evidence=Evidence.EXACT, tightness=tightness(ball(delta), least))


APPROXIMATE_DP = register(
    Notion(
        name="approximate differential privacy",
        claim_type=ApproximateDP,
        definition="The hockey-stick divergence at e^epsilon of neighbouring output distributions is at most delta.",
        items=(
            ("lebensold2024", "approx_dp"),
            ("cesar2020", "approx_dp"),
            ("gaboardi2017", "approx_dp"),
            ("rogers2023", "approx_dp"),
        ),
        decide=approximate_dp_holds,
        divergence=lambda claim, left, right: hockey_stick(left, right, ball(claim.epsilon)),
        of_noise=lambda claim, moved: hockey_stick_of_noise(moved, claim.epsilon),
        of_noise_upper=lambda claim, moved: hockey_stick_upper_of_noise(moved, claim.epsilon),
        bound=lambda claim: ball(claim.delta),
        enlarged=lambda claim: replace(claim, delta=min(grown(claim.delta), Fraction(1))),
        event=lambda claim, left, right: losses_beyond(claim.epsilon, left, right),
    )
)
