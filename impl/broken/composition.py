"""Broken composition: accountants whose claims are too small, samplers with the arguments of a response exchanged."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ApproximateDP, BoundedRange, Claim
from dpassay.impl.accounting.mixed_composition import BoundedRangeBatch, MixedBatch
from dpassay.impl.accounting.optimal_composition import PureComposition
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.exponential import RangeExponentialMechanism
from dpassay.impl.mechanisms.generalized_randomized_response import (
    Choice,
    GeneralizedRandomizedResponse,
    ResponseSequence,
    best_second,
    the_bit,
)
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "BareExponent",
    "PForQ",
    "TimidRange",
    "counts_the_bounded_range_mechanisms",
    "divides_by_the_sensitivity",
    "ignores_the_other_direction",
    "looks_at_one_half",
    "samples_with_p_for_q",
    "takes_bounded_range_for_half_of_it",
    "takes_randomized_response_for_bounded_range",
    "takes_the_batch_for_adaptive",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)


def _delta_at(epsilon: float, losses: Array, masses: Array) -> float:
    above = losses > epsilon
    return float(np.sum(masses[above] * -np.expm1(epsilon - losses[above])))


def _half_way(pure: int, bounded_range: int, mechanism_epsilon: float, level: float) -> ApproximateDP:
    batch = MixedBatch(pure=pure, bounded_range=bounded_range, mechanism_epsilon=mechanism_epsilon)
    return ApproximateDP(level, batch._delta_at(mechanism_epsilon / 2, level))  # noqa: SLF001  # that is the fault


def _at(count: int, response: tuple[float, float]) -> Choice:
    return lambda history: response if len(history) < count else (2.0, 1.0)


def _one_direction(top: float, epsilon: float, level: float) -> ApproximateDP:
    """Look at input 0 against input 1 only."""
    own = np.expm1(top - epsilon) / np.expm1(-epsilon)
    return ApproximateDP(level, _delta_at(level, np.array([top, top - epsilon]), np.array([own, 1 - own])))


class PForQ(GeneralizedRandomizedResponse):
    """Answers input 1 as if p were e^-epsilon q."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` answers to the bit `data`."""
        keep = math.expm1(self.top - self.epsilon) / math.expm1(-self.epsilon)
        zero = keep * math.exp(-self.epsilon) if the_bit(data) else keep
        return (rng.random(size) >= zero).astype(np.int64)


class BareExponent(RangeExponentialMechanism):
    """Exponents epsilon u / sensitivity for scores that change in both directions: range 2 sensitivity."""

    @property
    def neighbours(self) -> VectorNeighbours:
        """Scores that move either way."""
        return VectorNeighbours(size=self.size, linf=self.score_range)


@dataclass(frozen=True)
class TimidRange(GeneralizedRandomizedResponse):
    """The correct sampler with a false claim."""

    claim: Claim = field(default=BoundedRange(0.0))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong claim."""
        return (self.claim,)


looks_at_one_half = catalogue(
    __name__,
    ResponseSequence(6, _at(4, (1.0, 0.6)), lambda: _half_way(2, 4, 1.0, 2.0)),
    mutation=Mutation("Thm 3 with t = epsilon/2 in place of the best t", _SEEN),
)

counts_the_bounded_range_mechanisms = catalogue(
    __name__,
    ResponseSequence(
        3, _at(1, (1.0, 0.25)), lambda: MixedBatch(pure=1, bounded_range=2, mechanism_epsilon=1.0).claim(0.5)
    ),
    mutation=Mutation("m counts the bounded-range mechanisms, as before Cor 5.1: m = 1 for k - 1 pure and one", _SEEN),
)

takes_the_batch_for_adaptive = catalogue(
    __name__,
    ResponseSequence(2, best_second(1.0, 0.2, first=0.5), lambda: BoundedRangeBatch(2, 1.0).claim(0.2)),
    mutation=Mutation("the optimal delta of a batch is claimed of adaptively chosen mechanisms, as in eq. (5)", _SEEN),
)

takes_bounded_range_for_half_of_it = catalogue(
    __name__,
    ResponseSequence(4, _at(4, (3.0, 1.78)), lambda: PureComposition([1.5] * 4).claim(5.9)),
    mutation=Mutation("epsilon-bounded-range is treated as epsilon/2-DP", _SEEN),
)

takes_randomized_response_for_bounded_range = catalogue(
    __name__,
    TimidRange(1.4, 0.7, BoundedRange(0.7)),
    mutation=Mutation("epsilon-DP is taken for bounded range epsilon; it is 2 epsilon", _SEEN),
)

ignores_the_other_direction = catalogue(
    __name__,
    TimidRange(1.0, 0.2, _one_direction(0.2, 1.0, 0.3)),
    mutation=Mutation(
        "delta in one order of the neighbours only: the losses are t and t - epsilon, not symmetric", _SEEN
    ),
)

samples_with_p_for_q = catalogue(
    __name__,
    PForQ(1.0, 0.3),
    mutation=Mutation("p = e^-epsilon q in place of e^-t q", _SEEN),
)

divides_by_the_sensitivity = catalogue(
    __name__,
    BareExponent(size=5, epsilon=1.0),
    mutation=Mutation(
        "the factor 2 is dropped though scores move both ways: the range of the losses is 2 epsilon", _SEEN
    ),
)
