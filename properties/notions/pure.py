"""Pure DP in the audit: the claim itself; a Laplace mechanism is the reference."""

from dpassay.claims import PureDP
from dpassay.properties.betting.families import delta_family, epsilon_family
from dpassay.properties.betting.scales import laplace_scale
from dpassay.properties.notions.base import AuditedNotion, quantity, register, times

__all__ = ["PURE_DP"]

PURE_DP = register(
    AuditedNotion(
        claim_type=PureDP,
        families=lambda claim: [epsilon_family(claim.epsilon, 0.0), delta_family(claim.epsilon, 0.0)],
        labels=lambda claim: {
            "epsilon": ("privacy loss", claim.epsilon),
            "delta": (f"delta at epsilon {claim.epsilon:g}", 0.0),
        },
        divergence="epsilon",
        decisive=quantity("epsilon"),
        scales=lambda claim, family: [laplace_scale(family, claim.epsilon, lambda e: {"epsilon": e})],
        reference="Laplace",
        point=lambda claim: (claim.epsilon, 0.0),
        composed=lambda claim, count: PureDP(times(count, claim.epsilon)),
    )
)
