"""Broken target charging: faults in the session, in the claimed account, or in the charges of records."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ApproximateDP, Claim
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.individual_svt import RepeatedSums
from dpassay.impl.mechanisms.one_shot_top_k import ResponseTopK
from dpassay.impl.mechanisms.target_charging import LeakyCalls, TargetCharging
from dpassay.impl.validation import require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "CountedResponses",
    "CountsByValue",
    "EpsilonForItsInverse",
    "FinishedLevel",
    "charges_after_release",
    "claims_the_printed_bound",
    "counts_records_by_value",
    "finishes_the_level",
    "forgets_the_deltas",
    "takes_epsilon_for_its_inverse",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)


# --- sessions -----------------------------------------------------------------------------------------------


class _ChargesAfterRelease(TargetCharging):
    def ask(self, run: Any, *targets: Any, delta: float = 0.0, **rest: Any) -> Any:
        if self._delta_sum > Fraction(self.delta_of_calls):
            super().ask(run, *targets, delta=delta, **rest)  # refuses, too late
        before = self._delta_sum
        self._delta_sum = Fraction(0)
        outcome = super().ask(run, *targets, delta=delta, **rest)
        self._delta_sum += before
        return outcome


class _ForgetsDeltas(TargetCharging):
    def ask(self, run: Any, *targets: Any, delta: float = 0.0, **rest: Any) -> Any:
        outcome = super().ask(run, *targets, delta=delta, **rest)
        self._delta_sum = Fraction(0)
        return outcome


# --- accounts -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountedResponses:
    """The number of ones in `hits` randomised responses to one bit; the target is the whole range, so each is a hit.

    The claim is the second bound of Thm B.4 as it is printed, without the 2 under the root.
    """

    hits: int
    truth: float
    slack: float
    delta: float

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The printed bound."""
        epsilon, calls = math.log(self.truth / (1 - self.truth)), (1 + self.slack) * self.hits
        total = calls * epsilon**2 / 2 + epsilon * math.sqrt(-calls * math.log(self.delta))
        tail = math.exp(-(self.slack**2) * self.hits / (2 * (1 + self.slack)))
        return (ApproximateDP(total, self.delta + tail),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """The two bits."""
        return VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` counts on the bit `data`."""
        bit = require_vector("data", data, 1, 0, 1)[0]
        return np.asarray(rng.binomial(self.hits, self.truth if bit else 1 - self.truth, size))


# --- selection ----------------------------------------------------------------------------------------------


class FinishedLevel(ResponseTopK):
    """Releases every candidate of the level at which the k-th was found; the outcome is how many those are.

    All candidates test the same bit.
    """

    @property
    def neighbours(self) -> VectorNeighbours:
        """The two bits."""
        return VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` numbers of candidates that answered 1."""
        bit = require_vector("data", data, 1, 0, 1)[0]
        return [int(count) for count in rng.binomial(self.size, self.truth if bit else 1 - self.truth, size)]


# --- records ------------------------------------------------------------------------------------------------


class CountsByValue(RepeatedSums):
    """Copies of a record share one counter, which is charged once per copy."""

    def charges(self, records: Array, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Charge every record for all its copies."""
        _, inverse, copies = np.unique(records, return_inverse=True, return_counts=True)
        charged = super().charges(records, left)
        return np.asarray(charged * copies[inverse])  # once for every copy, on a counter that the copies share


class EpsilonForItsInverse(RepeatedSums):
    """Noise of the scale epsilon."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw noise of the wrong scale."""
        return rng.laplace(scale=self.epsilon, size=(rows, self.queries))


def _leaky(session: type[TargetCharging]) -> LeakyCalls:
    return LeakyCalls(calls=5, leak=0.125, make_session=lambda: session(1, 0.01, 0.49, delta_of_calls=0.25))


charges_after_release = catalogue(
    __name__,
    _leaky(_ChargesAfterRelease),
    mutation=Mutation("a call runs and is published before it is asked whether its delta fits", _SEEN),
)

forgets_the_deltas = catalogue(
    __name__,
    _leaky(_ForgetsDeltas),
    mutation=Mutation("the delta of each call is compared with the whole budget, and not added up", _SEEN),
)

claims_the_printed_bound = catalogue(
    __name__,
    CountedResponses(hits=600, truth=0.5048828125, slack=0.4, delta=1e-13),
    mutation=Mutation("the second bound of Thm B.4 as printed, without the 2 under the root", _SEEN),
)

finishes_the_level = catalogue(
    __name__,
    FinishedLevel(size=200, k=1, truth=0.53125, delta=0.01),
    mutation=Mutation("the sweep finishes the level at which the k-th hit comes: more than k hits", _SEEN),
)

counts_records_by_value = catalogue(
    __name__,
    CountsByValue(size=200, queries=3, hits=201, epsilon=0.05, threshold=100.0, delta=1e-6),
    mutation=Mutation("equal records share one counter, which grows by their number", _SEEN),
)

takes_epsilon_for_its_inverse = catalogue(
    __name__,
    EpsilonForItsInverse(size=3, queries=3, hits=2, epsilon=0.25, threshold=3.5, delta=1e-3),
    mutation=Mutation("the noise has the scale epsilon in place of 1/epsilon", _SEEN),
)
