"""Responses to a bit, sequences of them, and the exponential mechanism: exact distributions and worst cases."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.impl.broken.composition import BareExponent, TimidRange
from dpassay.impl.mechanisms.exponential import RangeExponentialMechanism
from dpassay.impl.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse, ResponseSequence
from dpassay.properties.pairing.registry import register_distribution, register_worst_case
from dpassay.spec.ball import Real, ball
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.generalized_randomized_response import (
    RandomizedResponseTreeDistribution,
    RenamedDistribution,
)

Array = NDArray[np.float64]

LONGEST = 8
"""Sequences up to this length are certified answer by answer."""


def _response_distribution(mechanism: GeneralizedRandomizedResponse, data: Array) -> RenamedDistribution:
    distribution = RandomizedResponseTreeDistribution(int(data[0]), 1, lambda _: (mechanism.epsilon, mechanism.top))
    return RenamedDistribution(distribution, {0: (0,), 1: (1,)})


def _sequence_distribution(mechanism: ResponseSequence, data: Array) -> RandomizedResponseTreeDistribution | None:
    if mechanism.length > LONGEST:
        return None
    return RandomizedResponseTreeDistribution(int(data[0]), mechanism.length, mechanism.choose)


def _response_worst_case(mechanism: GeneralizedRandomizedResponse, claim: Claim) -> Real | None:
    """Return the range or the larger of the two losses t and t - epsilon."""
    epsilon, top = Fraction(mechanism.epsilon), Fraction(mechanism.top)
    match claim:
        case BoundedRange():
            return lambda: ball(epsilon if 0 < top < epsilon else 0)
        case PureDP():
            return lambda: ball(max(top, epsilon - top))
        case _:
            return None


def _range_distribution(mechanism: RangeExponentialMechanism, data: Array) -> ExponentialMechanismDistribution:
    return ExponentialMechanismDistribution(
        tuple(data.tolist()), mechanism.epsilon, mechanism.score_range, monotone=True
    )


def _range_worst_case(mechanism: RangeExponentialMechanism, claim: Claim) -> Real | None:
    """Def 2.3 and Lemma 2.1 of Cesar and Rogers (2020)."""
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, BoundedRange | PureDP) else None


for response_type in (GeneralizedRandomizedResponse, TimidRange):
    register_distribution(response_type, _response_distribution)
register_worst_case(GeneralizedRandomizedResponse, _response_worst_case)
register_distribution(ResponseSequence, _sequence_distribution)
for exponential_type in (RangeExponentialMechanism, BareExponent):
    register_distribution(exponential_type, _range_distribution)
register_worst_case(RangeExponentialMechanism, _range_worst_case)
