"""Laplace noise on repeated copies of one number, and on the terms of running sums."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_positive, rounded_up
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_noise, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["LaplaceParallel", "LaplacePrefixSum", "laplace_parallel", "laplace_prefix_sum"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LaplaceParallel:
    """Several independent noisy copies of one number: basic composition, attained.

    Parameters
    ----------
    copies : int
        Number of copies, at least 1.
    epsilon : float
        Pure-DP parameter of each copy in nats, positive; the noise has scale 1/epsilon.
    low, high : float
        Range of the number.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    copies: int
    epsilon: float
    low: float = -10.0
    high: float = 10.0

    def __post_init__(self) -> None:
        require_count("copies", self.copies)
        require_positive("epsilon", self.epsilon)
        require_interval(self.low, self.high)
        require_noise(scale=1 / self.epsilon)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with the sum of the epsilons, rounded up."""
        return (PureDP(rounded_up(self.copies * Fraction(self.epsilon))),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Numbers that differ by at most 1."""
        return VectorNeighbours(1, l0=1, linf=1.0, low=self.low, high=self.high)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of noisy copies of a single number."""
        [answer] = require_vector("data", data, 1, self.low, self.high)

        def draw(rows: int) -> Array:
            return np.asarray(answer + rng.laplace(scale=1 / self.epsilon, size=(rows, self.copies)))

        return in_chunks(draw, size, self.copies)


@dataclass(frozen=True)
class LaplacePrefixSum:
    """Running sums of the answers, each answer with Laplace noise of scale 1/epsilon.

    The sums tell the noisy answers and nothing else, so that they cost what those cost: epsilon where one answer
    changes by 1 (one-differ), size times epsilon where all do.

    Parameters
    ----------
    size : int
        Number of answers, at least 1.
    epsilon : float
        Target of pure DP in nats, positive.
    low, high : float
        Range of every answer.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    epsilon: float
    low: float = -10.0
    high: float = 10.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("epsilon", self.epsilon)
        require_interval(self.low, self.high)
        require_noise(scale=1 / self.epsilon)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """One answer differs, by at most 1."""
        return VectorNeighbours(self.size, l0=1, linf=1.0, low=self.low, high=self.high)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of running sums."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        def draw(rows: int) -> Array:
            return np.cumsum(answers + rng.laplace(scale=1 / self.epsilon, size=(rows, self.size)), axis=1)

        return in_chunks(draw, size, self.size)


_ITEM = (("gaboardi2017", "basic_composition"),)

laplace_parallel = catalogue(__name__, LaplaceParallel(20, 0.005), items=_ITEM)
laplace_prefix_sum = catalogue(__name__, LaplacePrefixSum(10, 0.1), items=_ITEM)
