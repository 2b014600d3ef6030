"""Gaussian DP in the audit: points of its curve delta(epsilon), to which it is equivalent."""

from statistics import NormalDist

import numpy as np

from dpassay.claims import GaussianDP
from dpassay.properties.betting.families import CURVE_DELTAS, ClaimFamily, epsilon_family, growing
from dpassay.properties.betting.scales import gaussian_scale
from dpassay.properties.notions.base import AuditedNotion, quantity, register, times_root
from dpassay.spec.notions.gdp_conversions import gaussian_to_approximate

__all__ = ["GAUSSIAN_DP"]


def _mu_family(mu: float) -> ClaimFamily:
    """Return points of the curves of growing mu: at losses that the Gaussian mechanism exceeds with `CURVE_DELTAS`."""
    grid, index = growing(mu)
    quantiles = -np.array([NormalDist().inv_cdf(delta) for delta in CURVE_DELTAS])
    finite = np.minimum(grid, LARGEST)[:, None]
    epsilon = finite**2 / 2 + finite * quantiles
    rows = zip(grid.tolist(), epsilon.tolist(), strict=True)
    delta = np.array([[_delta(mu, level) for level in levels] for mu, levels in rows])
    return ClaimFamily("mu", grid, epsilon, delta, index)


def _delta(mu: float, epsilon: float) -> float:
    return gaussian_to_approximate(GaussianDP(mu), epsilon=epsilon).delta if mu <= LARGEST else 1.0


LARGEST = 1e100
"""A larger mu allows everything."""

GAUSSIAN_DP = register(
    AuditedNotion(
        claim_type=GaussianDP,
        families=lambda claim: [epsilon_family(None, 0.0), _mu_family(claim.mu)],
        labels=lambda claim: {"epsilon": ("epsilon at delta 0", None), "mu": ("mu", claim.mu)},
        divergence="mu",
        decisive=quantity("mu"),
        scales=lambda claim, family: [gaussian_scale(family, claim.mu, lambda m: {"mu": m})],
        reference="Gaussian",
        composed=lambda claim, count: GaussianDP(times_root(count, claim.mu)),
    )
)
