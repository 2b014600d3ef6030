"""Renyi differential privacy: the Renyi divergence of one order alpha > 1 is at most epsilon.

Lebensold, Precup and Balle 2024, Defs 4 and 5. Def 4 prints the exponent outside the expectation,
(E_Q[P/Q])^alpha, which is 1 for every pair: a misprint, since the paper uses E_Q[(P/Q)^alpha] throughout.
"""

from dataclasses import replace
from fractions import Fraction

from dpassay.claims import RenyiDP
from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    FiniteDistribution,
    renyi_divergence,
    renyi_moment_exact,
)
from dpassay.spec.distributions.noise_pairs import renyi_divergence_of_noise
from dpassay.spec.notions.base import Notion, grown, register, tightness
from dpassay.spec.notions.threshold_events import binary_renyi, event_by
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["RENYI_DP", "renyi_dp_holds"]

LARGEST_EXACT_ORDER = 64


def renyi_dp_holds(claim: RenyiDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether D_alpha(left || right) <= epsilon; exactly for integer orders up to 64."""
    alpha = Fraction(claim.alpha)
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        if alpha.denominator == 1 and alpha <= LARGEST_EXACT_ORDER:
            return _on_rationals(int(alpha), Fraction(claim.epsilon), left, right)
        if claim.epsilon == 0:  # the divergence is 0 for equal distributions only, at any order
            return _on_rationals(2, Fraction(0), left, right)
    return at_most(lambda: renyi_divergence(left, right, ball(alpha)), lambda: ball(claim.epsilon))


def _on_rationals(alpha: int, epsilon: Fraction, left: FiniteDistribution, right: FiniteDistribution) -> Verdict:
    moment = renyi_moment_exact(left, right, alpha)
    if moment is None:
        return Violated(evidence=Evidence.EXACT, detail="the right cannot produce all outcomes of the left")
    note(lambda: ball(moment).log() / (alpha - 1), lambda: ball(epsilon))
    if above_exponential(moment, Fraction(1), (alpha - 1) * epsilon):
        return Violated(evidence=Evidence.EXACT, detail=f"E_Q[(P/Q)^{alpha}] = {moment} (exact)")
    divergence = ball(moment).log() / (alpha - 1)
    return Holds(evidence=Evidence.EXACT, tightness=tightness(ball(epsilon), divergence))


RENYI_DP = register(
    Notion(
        name="Renyi differential privacy",
        claim_type=RenyiDP,
        definition="The Renyi divergence of order alpha of neighbouring output distributions is at most epsilon.",
        items=(
            ("lebensold2024", "rdp"),
            ("lebensold2024", "renyi_divergence"),
            ("cesar2020", "renyi_divergence"),
            ("rogers2023", "renyi_divergence"),
        ),
        decide=renyi_dp_holds,
        divergence=lambda claim, left, right: renyi_divergence(left, right, ball(claim.alpha)),
        of_noise=lambda claim, moved: renyi_divergence_of_noise(moved, claim.alpha),
        bound=lambda claim: ball(claim.epsilon),
        enlarged=lambda claim: replace(claim, epsilon=grown(claim.epsilon)),
        event=event_by(lambda claim, p, q: binary_renyi(claim.alpha, p, q)),
    )
)
