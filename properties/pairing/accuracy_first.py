"""Selection with Gumbel noise: its exact distribution, that of the exponential mechanism at twice the epsilon."""

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.impl.broken.accuracy_filters import BothDirections, HalfOfTheScale
from dpassay.impl.mechanisms.gumbel_selection import GumbelSelection
from dpassay.properties.pairing.registry import register_distribution, register_worst_case
from dpassay.spec.ball import Real, ball
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution

Array = NDArray[np.float64]


def _distribution(mechanism: GumbelSelection, data: Array) -> ExponentialMechanismDistribution:
    return ExponentialMechanismDistribution(tuple(data.tolist()), 2 * mechanism.epsilon, 1)


def _distribution_of_half_the_scale(mechanism: HalfOfTheScale, data: Array) -> ExponentialMechanismDistribution:
    return ExponentialMechanismDistribution(tuple(data.tolist()), 4 * mechanism.epsilon, 1)


def _worst_case(mechanism: GumbelSelection, claim: Claim) -> Real | None:
    """Return epsilon, which range and loss approach when the count of one of many candidates rises."""
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, (PureDP, BoundedRange)) else None


register_distribution(GumbelSelection, _distribution)
register_distribution(BothDirections, _distribution)
register_distribution(HalfOfTheScale, _distribution_of_half_the_scale)
register_worst_case(GumbelSelection, _worst_case)
