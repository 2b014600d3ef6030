"""zCDP in the audit: points of the curve epsilon(delta) that it implies; a Gaussian mechanism is the reference."""

import math

from dpassay.claims import ZCDP
from dpassay.properties.betting.families import ClaimFamily, curve_family, epsilon_family
from dpassay.properties.betting.scales import gaussian_scale
from dpassay.properties.notions.base import AuditedNotion, quantity, register, times
from dpassay.spec.notions.implications import zcdp_to_approximate

__all__ = ["ZCDP_NOTION", "rho_family", "zcdp_curve"]


MOMENT_ORDERS = (2.0, 4.0)
"""The orders whose Renyi moments are bet against; powers of two, so that rho alpha is exact."""


def zcdp_curve(rho: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that follows from rho-zCDP through a good order, rounded up."""
    return zcdp_to_approximate(ZCDP(rho), delta=delta).epsilon


def rho_family(rho: float) -> ClaimFamily:
    """Return the implied points of zCDP with growing rho."""
    return curve_family("rho", rho, zcdp_curve)


ZCDP_NOTION = register(
    AuditedNotion(
        claim_type=ZCDP,
        moments=lambda claim: tuple((alpha, claim.rho * alpha) for alpha in MOMENT_ORDERS),
        families=lambda claim: [epsilon_family(None, 0.0), rho_family(claim.rho)],
        labels=lambda claim: {"epsilon": ("epsilon at delta 0", None), "rho": ("rho", claim.rho)},
        divergence="rho",
        decisive=quantity("rho"),
        scales=lambda claim, family: [gaussian_scale(family, math.sqrt(2 * claim.rho), lambda m: {"rho": m * m / 2})],
        reference="Gaussian",
        composed=lambda claim, count: ZCDP(times(count, claim.rho)),
    )
)
