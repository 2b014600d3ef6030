"""Renyi DP in the audit: points of the curve epsilon(delta) that it implies; a Gaussian mechanism is the reference."""

import math

from dpassay.claims import RenyiDP
from dpassay.properties.betting.families import curve_family, epsilon_family
from dpassay.properties.betting.scales import gaussian_scale
from dpassay.properties.notions.base import AuditedNotion, quantity, register, times
from dpassay.spec.notions.implications import renyi_to_approximate

__all__ = ["RENYI_DP", "renyi_curve"]


def renyi_curve(alpha: float, epsilon: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that follows from RDP(alpha, epsilon), rounded up."""
    return renyi_to_approximate(RenyiDP(alpha, epsilon), delta=delta).epsilon


RENYI_DP = register(
    AuditedNotion(
        claim_type=RenyiDP,
        moments=lambda claim: ((claim.alpha, claim.epsilon),),
        families=lambda claim: [
            epsilon_family(None, 0.0),
            curve_family("renyi_epsilon", claim.epsilon, lambda epsilon, d: renyi_curve(claim.alpha, epsilon, d)),
        ],
        labels=lambda claim: {
            "epsilon": ("epsilon at delta 0", None),
            "renyi_epsilon": (f"Renyi divergence of order {claim.alpha:g}", claim.epsilon),
        },
        divergence="renyi_epsilon",
        decisive=quantity("renyi_epsilon"),
        scales=lambda claim, family: [
            gaussian_scale(
                family, math.sqrt(2 * claim.epsilon / claim.alpha), lambda m: {"epsilon": claim.alpha * m * m / 2}
            )
        ],
        reference="Gaussian",
        composed=lambda claim, count: RenyiDP(claim.alpha, times(count, claim.epsilon)),
    )
)
