"""Approximate DP in the audit: the claim itself; a Laplace mechanism and randomised response are the references."""

from dpassay.claims import ApproximateDP
from dpassay.properties.betting.families import delta_family, epsilon_family
from dpassay.properties.betting.scales import delta_scale, laplace_scale
from dpassay.properties.notions.base import AuditedNotion, at_delta, quantity, register, times
from dpassay.spec.verdict import Evidence

__all__ = ["APPROXIMATE_DP"]

APPROXIMATE_DP = register(
    AuditedNotion(
        claim_type=ApproximateDP,
        families=lambda claim: [
            epsilon_family(claim.epsilon, claim.delta),
            delta_family(claim.epsilon, claim.delta),
        ],
        labels=lambda claim: {
            "epsilon": (f"epsilon at delta {claim.delta:g}", claim.epsilon),
            "delta": (f"delta at epsilon {claim.epsilon:g}", claim.delta),
        },
        divergence="delta",
        decisive=lambda claim, result: quantity("epsilon" if result.evidence is Evidence.SAMPLED else "delta")(
            claim, result
        ),
        scales=lambda claim, family: [
            laplace_scale(family, claim.epsilon, lambda e: {"epsilon": at_delta(e, claim.delta)}),
            delta_scale(family, claim.epsilon, claim.delta),
        ],
        reference="Laplace",
        point=lambda claim: (claim.epsilon, claim.delta),
        composed=lambda claim, count: ApproximateDP(times(count, claim.epsilon), min(times(count, claim.delta), 1)),
    )
)
