"""Noisy max with exponential noise, and mechanisms that release the largest noisy answer."""

import itertools
import math
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.broken.noisy_max_values import (
    ExponentialValue,
    HalfExponentialScale,
    LaplaceValue,
    NoiseOnTiesOnly,
)
from dpassay.impl.mechanisms.exponential_noisy_max import ExponentialNoisyMax
from dpassay.impl.mechanisms.noisy_max import LaplaceNoisyMax
from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.outcomes.events import Interval
from dpassay.properties.pairing.corners import (
    WIDE,
    bounded_selection_loss,
    corner_pair,
    corner_range,
    selection_corners,
)
from dpassay.properties.pairing.registry import (
    DistributionPair,
    PushedForward,
    register_distribution,
    register_pair_distribution,
    register_worst_case,
    register_worst_pairs,
)
from dpassay.spec.ball import Real, ball, exact
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.laplace import Side
from dpassay.spec.distributions.noisy_max_values import (
    ExponentialNoisyMaxDistribution,
    Noise,
    NoisyMaxValueDistribution,
)

Array = NDArray[np.float64]

LARGEST_SIZE = 500
"""Queries up to which the exact distribution is used: its time grows with their number."""


# --- the index ----------------------------------------------------------------------------------------------


def _exponential_distribution(mechanism: ExponentialNoisyMax, data: Array) -> ExponentialNoisyMaxDistribution | None:
    if mechanism.size > LARGEST_SIZE or data.size != mechanism.size:
        return None
    return ExponentialNoisyMaxDistribution(tuple(data.tolist()), _epsilon_of_noise(mechanism), mechanism.sensitivity)


def _epsilon_of_noise(mechanism: ExponentialNoisyMax) -> Fraction:
    """Return the epsilon that the noise is enough for: its scale is a float64 number."""
    return 2 * exact("sensitivity", mechanism.sensitivity) / exact("scale", mechanism.scale)


def _exponential_worst_case(mechanism: ExponentialNoisyMax, claim: Claim) -> Real | None:
    if not isinstance(claim, PureDP):
        return None
    epsilon = _epsilon_of_noise(mechanism)
    if math.isfinite(mechanism.high - mechanism.low):
        return bounded_selection_loss(mechanism, epsilon, ExponentialNoisyMaxDistribution)
    return lambda: ball(epsilon)


def _uniform_on_ties(_mechanism: NoiseOnTiesOnly, data: Array) -> FiniteDistribution:
    return FiniteDistribution.of(*(data == data.max()).astype(int).tolist())


# --- the value ----------------------------------------------------------------------------------------------


def _value_pair(mechanism: Any, left: Array, right: Array, noise: Noise) -> DistributionPair:
    """Cut the line at all answers: half-lines below them attain the loss under Laplace noise."""
    cuts = [None, *sorted({*left.tolist(), *right.tolist()}), None]
    sides: list[Side] = list(itertools.pairwise(cuts))
    ends = [
        (-math.inf if low is None else float(low), math.inf if high is None else float(high)) for low, high in sides
    ]

    def pushed(answers: Array) -> PushedForward:
        distribution = NoisyMaxValueDistribution(tuple(answers.tolist()), mechanism.scale, noise)
        cells: dict[Hashable, Real] = {
            Interval("outcome", *pair): _log_interval(distribution, side)
            for pair, side in zip(ends, sides, strict=True)
        }
        return PushedForward(cells)

    return pushed(left), pushed(right)


def _log_interval(distribution: NoisyMaxValueDistribution, side: Side) -> Real:
    return lambda: distribution.log_interval(side)


def _laplace_value_pair(mechanism: LaplaceValue, left: Array, right: Array) -> DistributionPair:
    return _value_pair(mechanism, left, right, "laplace")


def _exponential_value_pair(mechanism: ExponentialValue, left: Array, right: Array) -> DistributionPair:
    return _value_pair(mechanism, left, right, "exponential")


def _cost_of_every_answer(mechanism: LaplaceValue, claim: Claim) -> Real | None:
    """Return d Delta/s: attained below all answers if they move together."""
    if not isinstance(claim, PureDP):
        return None
    return lambda: ball(mechanism.size * exact("sensitivity", mechanism.sensitivity) / exact("scale", mechanism.scale))


def _infinite(_mechanism: ExponentialValue, claim: Claim) -> Real | None:
    return (arb.pos_inf) if isinstance(claim, PureDP) else None


def _all_rise(mechanism: Any, relation: NeighbourRelation) -> Iterator[Pair]:
    if isinstance(relation, VectorNeighbours):
        ends = corner_range(relation, mechanism, 0.0, WIDE * mechanism.scale)
        yield corner_pair(relation, ends, np.zeros(relation.size, dtype=np.bool_))


def _one_leads(mechanism: Any, relation: NeighbourRelation) -> Iterator[Pair]:
    """Yield the pair where one answer, far above all others, falls: its noise alone decides the value."""
    if isinstance(relation, VectorNeighbours):
        low, high = corner_range(relation, mechanism, 0.0, WIDE * mechanism.scale)
        left = np.where(np.arange(relation.size) == 0, high, low)
        right = left.copy()
        right[0] -= min(relation.largest_step, high - low)
        yield left, right


# --- registration -------------------------------------------------------------------------------------------

register_distribution(ExponentialNoisyMax, _exponential_distribution)
register_worst_case(ExponentialNoisyMax, _exponential_worst_case)
register_distribution(HalfExponentialScale, _exponential_distribution)
register_worst_case(HalfExponentialScale, _exponential_worst_case)
for selection_type in (ExponentialNoisyMax, HalfExponentialScale, LaplaceNoisyMax):
    register_worst_pairs(selection_type, selection_corners)

register_distribution(NoiseOnTiesOnly, _uniform_on_ties)

register_pair_distribution(LaplaceValue, _laplace_value_pair)
register_worst_pairs(LaplaceValue, _all_rise)
register_worst_case(LaplaceValue, _cost_of_every_answer)

register_pair_distribution(ExponentialValue, _exponential_value_pair)
register_worst_pairs(ExponentialValue, _one_leads)
register_worst_case(ExponentialValue, _infinite)
