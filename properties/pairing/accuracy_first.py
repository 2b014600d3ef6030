"""Selection with Gumbel noise: its exact law, that of the exponential mechanism at twice the epsilon."""

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.impl.broken.accuracy_filters import BothDirections, HalfOfTheScale
from dpassay.impl.mechanisms.gumbel_selection import GumbelSelection
from dpassay.properties.search.laws import register_law, register_worst_case
from dpassay.spec.ball import Real, ball
from dpassay.spec.distributions.exponential import ExponentialMechanismLaw

Array = NDArray[np.float64]


def _law(mechanism: GumbelSelection, data: Array) -> ExponentialMechanismLaw:
    return ExponentialMechanismLaw(tuple(data.tolist()), 2 * mechanism.epsilon, 1)


def _law_of_half_the_scale(mechanism: HalfOfTheScale, data: Array) -> ExponentialMechanismLaw:
    return ExponentialMechanismLaw(tuple(data.tolist()), 4 * mechanism.epsilon, 1)


def _worst_case(mechanism: GumbelSelection, claim: Claim) -> Real | None:
    """Return epsilon, which range and loss approach when the count of one of many candidates rises."""
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, (PureDP, BoundedRange)) else None


register_law(GumbelSelection, _law)
register_law(BothDirections, _law)
register_law(HalfOfTheScale, _law_of_half_the_scale)
register_worst_case(GumbelSelection, _worst_case)
