"""Bounded range in the audit: bets on pairs of calls, which are exact, and against pure DP, which is weaker."""

from dpassay.claims import BoundedRange
from dpassay.properties.betting.families import delta_family, epsilon_family
from dpassay.properties.betting.scales import range_scale
from dpassay.properties.notions.base import AuditedNotion, quantity, register, times

__all__ = ["BOUNDED_RANGE"]

BOUNDED_RANGE = register(
    AuditedNotion(
        claim_type=BoundedRange,
        families=lambda claim: [epsilon_family(claim.epsilon, 0.0), delta_family(claim.epsilon, 0.0)],
        labels=lambda claim: {
            "epsilon": ("range of the privacy loss", claim.epsilon),
            "delta": (f"delta at epsilon {claim.epsilon:g}", 0.0),
        },
        divergence="epsilon",
        decisive=quantity("epsilon"),
        scales=lambda claim, _: [range_scale(claim.epsilon)],
        reference="Laplace",
        point=lambda claim: (claim.epsilon, 0.0),
        compares_pairs=True,
        composed=lambda claim, count: BoundedRange(times(count, claim.epsilon)),
    )
)
