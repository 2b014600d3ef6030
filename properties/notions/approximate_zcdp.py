"""Approximate zCDP in the audit: the points of zCDP at epsilon + xi and delta + (1 - delta) delta'."""

import math

from dpassay.claims import ApproximateZCDP
from dpassay.properties.betting.families import epsilon_family, shifted
from dpassay.properties.betting.scales import gaussian_scale
from dpassay.properties.notions.base import AuditedNotion, Label, quantity, register, times
from dpassay.properties.notions.zcdp import rho_family

__all__ = ["APPROXIMATE_ZCDP", "EXCESS"]

EXCESS = "hockey-stick divergence above the curve that the claim implies"


def _labels(claim: ApproximateZCDP) -> dict[str, Label]:
    offset = f" and xi {claim.xi:g}" if claim.xi else ""
    return {
        "epsilon": (f"epsilon at delta {claim.delta:g}", None),
        "rho": (f"rho at delta {claim.delta:g}{offset}", claim.rho),
        "excess": (EXCESS, 0.0),
    }


APPROXIMATE_ZCDP = register(
    AuditedNotion(
        claim_type=ApproximateZCDP,
        families=lambda claim: [
            epsilon_family(None, claim.delta),
            shifted(rho_family(claim.rho), claim.xi, claim.delta),
        ],
        labels=_labels,
        divergence="excess",
        decisive=lambda claim, result: quantity("rho" if result.rho_lower is not None else "excess")(claim, result),
        scales=lambda claim, family: [gaussian_scale(family, math.sqrt(2 * claim.rho), lambda m: {"rho": m * m / 2})],
        reference="Gaussian",
        composed=lambda claim, count: ApproximateZCDP(
            times(count, claim.rho), min(times(count, claim.delta), 1), times(count, claim.xi)
        ),
    )
)
