"""Mechanisms with finitely many outcomes and known probabilities, as the boundary wrapper requires."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.validation import require_count, require_vector
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import VectorNeighbours

__all__ = ["FiniteMechanism", "ProbabilityOracle", "log_ratio_upper", "pure_epsilon", "randomised_bit"]

Array = NDArray[np.float64]

_UP = 1 + 2.0**-50


class ProbabilityOracle(ClaimedMechanism, Protocol):
    """A mechanism with the outcomes 0, ..., n - 1 that knows their probabilities."""

    def log_probabilities(self, data: Array) -> Array:
        """Return the logarithms of the n probabilities on an input; -inf for an impossible outcome."""
        ...


def log_ratio_upper(ratio: Fraction) -> float:
    """Return |log ratio| of a positive rational, rounded up; within a relative 2^-49, also next to 1."""
    larger = max(ratio, 1 / ratio)
    if larger < 2:
        return math.log1p(float(larger - 1)) * _UP
    if larger < 10**300:
        return math.log(float(larger)) * _UP
    return math.log(larger.numerator // larger.denominator + 1) * _UP  # of an integer beyond float64


def pure_epsilon(mechanism: ClaimedMechanism) -> float:
    """Return the epsilon of the first claim of a mechanism.

    Raises
    ------
    UsageError
        If that claim is not one of pure DP: the analysis of the wrappers needs it.
    """
    claim = mechanism.claims[0]
    if not isinstance(claim, PureDP):
        raise UsageError(f"base must claim pure DP first, got {claim!r}")
    return claim.epsilon


@dataclass(frozen=True)
class FiniteMechanism:
    """The mechanism with one distribution on each of two neighbouring data sets, the bits 0 and 1.

    Parameters
    ----------
    zero, one : sequence of int
        Positive weights of the outcomes 0, ..., n - 1 on the data sets [0] and [1]; the probabilities are
        proportional to them.

    Raises
    ------
    UsageError
        If the weights are not positive integers, or not equally many.
    """

    zero: Sequence[int]
    one: Sequence[int]

    def __post_init__(self) -> None:
        for name, weights in (("zero", self.zero), ("one", self.one)):
            for weight in weights:
                require_count(name, weight)
        if not len(self.zero) == len(self.one) > 0:
            raise UsageError(f"zero and one must have equally many weights, got {len(self.zero)} and {len(self.one)}")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with its exact epsilon, rounded up."""
        sums = sum(self.zero), sum(self.one)
        ratios = [Fraction(p * sums[1], q * sums[0]) for p, q in zip(self.zero, self.one, strict=True)]
        return (PureDP(max(map(log_ratio_upper, ratios))),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """A bit, which may be the other one."""
        return VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)

    def log_probabilities(self, data: Array) -> Array:
        """Return the logarithms of the probabilities on a bit."""
        weights = np.asarray(self._weights(data), dtype=np.float64)
        return np.asarray(np.log(weights / weights.sum()))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` outcomes on a bit."""
        require_count("size", size, low=0)
        cumulative = np.cumsum(np.exp(self.log_probabilities(data)))
        places = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return np.asarray(np.minimum(places, len(cumulative) - 1))

    def _weights(self, data: Array) -> Sequence[int]:
        (bit,) = require_vector("data", data, 1, 0, 1)
        if bit not in (0, 1):
            raise UsageError(f"data must hold the bit 0 or 1, got {bit!r}")
        return self.one if bit else self.zero


randomised_bit = catalogue(
    __name__,
    FiniteMechanism((3, 1), (1, 3)),
    items=(("cohen2023", "indistinguishability"),),
)
