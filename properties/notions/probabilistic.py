"""Probabilistic DP in the audit: approximate DP with the same parameters is bet against, which is weaker."""

import math

from dpassay.claims import ProbabilisticDP
from dpassay.properties.betting.families import delta_family, epsilon_family
from dpassay.properties.betting.scales import delta_scale, laplace_scale
from dpassay.properties.notions.base import AuditedNotion, at_delta, quantity, register, times
from dpassay.spec.verdict import Evidence

__all__ = ["PROBABILISTIC_DP"]


def _beyond(epsilon: float, delta: float) -> float:
    """Return the epsilon that the loss of the Laplace mechanism exceeds with probability at most delta."""
    return at_delta(epsilon + 2 * math.log(2), delta) if delta >= 0.5 else epsilon


PROBABILISTIC_DP = register(
    AuditedNotion(
        claim_type=ProbabilisticDP,
        families=lambda claim: [
            epsilon_family(claim.epsilon, claim.delta),
            delta_family(claim.epsilon, claim.delta),
        ],
        labels=lambda claim: {
            "epsilon": (f"epsilon at delta {claim.delta:g}", claim.epsilon),
            "delta": (f"delta at epsilon {claim.epsilon:g}", claim.delta),
            "loss_tail": (f"probability of a privacy loss above {claim.epsilon:g}", claim.delta),
        },
        divergence="loss_tail",
        decisive=lambda claim, result: quantity("epsilon" if result.evidence is Evidence.SAMPLED else "loss_tail")(
            claim, result
        ),
        scales=lambda claim, family: [
            laplace_scale(family, claim.epsilon, lambda e: {"epsilon": _beyond(e, claim.delta)}),
            delta_scale(family, claim.epsilon, claim.delta),
        ],
        reference="Laplace",
        point=lambda claim: (claim.epsilon, claim.delta),
        composed=lambda claim, count: ProbabilisticDP(times(count, claim.epsilon), min(times(count, claim.delta), 1)),
    )
)
