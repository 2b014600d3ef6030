"""Concentrated DP in the audit: the points of the zCDP with xi = mu - tau^2/2 and rho = tau^2/2."""

import math

from dpassay.claims import ConcentratedDP
from dpassay.properties.betting.families import ClaimFamily, epsilon_family, shifted
from dpassay.properties.betting.scales import Scale, gaussian_scale
from dpassay.properties.notions.approximate_zcdp import EXCESS
from dpassay.properties.notions.base import AuditedNotion, quantity, register, times, times_root
from dpassay.properties.notions.zcdp import rho_family

__all__ = ["CONCENTRATED_DP"]


_LARGEST_RHO = 1e307
"""Larger parameters of zCDP would overflow in the bounds of moments."""


def _rho(claim: ConcentratedDP) -> float:
    """Return tau^2/2, at most `_LARGEST_RHO`: the claim then allows losses far beyond those that any bet can tell."""
    return min(claim.tau * claim.tau / 2, _LARGEST_RHO)


def _families(claim: ConcentratedDP) -> list[ClaimFamily]:
    rho = _rho(claim)
    return [epsilon_family(None, 0.0), shifted(rho_family(rho), claim.mu - rho, 0.0)]


def _scales(claim: ConcentratedDP, family: ClaimFamily) -> list[Scale]:
    least = min(math.sqrt(2 * claim.mu), claim.tau)
    return [gaussian_scale(family, least, lambda m: {"mu": m * m / 2, "tau": m})]


CONCENTRATED_DP = register(
    AuditedNotion(
        claim_type=ConcentratedDP,
        families=_families,
        labels=lambda claim: {
            "epsilon": ("epsilon at delta 0", None),
            "rho": (f"rho at xi {claim.mu - _rho(claim):g}", _rho(claim)),
            "excess": (EXCESS, 0.0),
        },
        divergence="excess",
        decisive=quantity("excess"),
        scales=_scales,
        reference="Gaussian",
        composed=lambda claim, count: ConcentratedDP(times(count, claim.mu), times_root(count, claim.tau)),
    )
)
