"""Report-noisy-max: the index of the largest of several noisy answers."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_at_least, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_noise, require_range, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "GaussianNoisyMax",
    "LaplaceNoisyMax",
    "ScaledNoisyMax",
    "gaussian_noisy_max",
    "laplace_noisy_max",
    "noisy_max_of_benchmark",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianNoisyMax:
    """The index of the largest answer after adding N(0, sigma^2) to each; ties go to the first.

    Lebensold, Precup and Balle 2024, section 3.1. The claim is Thm 8 = Thm 12 with its logarithm.

    Parameters
    ----------
    size : int
        Number of answers, at least 1.
    sigma : float
        Standard deviation of the noise, positive.
    low, high : float
        Every answer lies in [low, high], finite.
    sensitivity : float
        Largest change of each answer between neighbours, at least 0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    sigma: float
    low: float
    high: float
    sensitivity: float

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("sigma", self.sigma)
        require_range(self.low, self.high)
        require_at_least("sensitivity", self.sensitivity, 0)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with the exact worst-case loss, rounded up."""
        width = self.high - self.low
        return (PureDP(float(gaussian_noisy_max_epsilon(self.size, self.sigma, width, self.sensitivity))),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Answers in [low, high], each moved by at most the sensitivity."""
        return VectorNeighbours(size=self.size, linf=self.sensitivity, low=self.low, high=self.high)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` winners (indices from 0) on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        def draw(rows: int) -> NDArray[Any]:
            return np.asarray(np.argmax(answers + self.noise(rows, rng), axis=1))

        return in_chunks(draw, size, self.size)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise of `rows` runs, one row a run."""
        return self.sigma * rng.standard_normal((rows, self.size))


@dataclass(frozen=True)
class ScaledNoisyMax(ABC):
    """The index of the largest answer after adding noise of scale 2 sensitivity / epsilon to each; ties: the first.

    Parameters
    ----------
    size : int
        Number of answers, at least 1.
    epsilon : float
        Target of pure DP in nats, positive.
    sensitivity : float
        Largest change of each answer between neighbours, positive.
    low, high : float
        Every answer lies in [low, high]; infinite by default.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    epsilon: float
    sensitivity: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)
        require_interval(self.low, self.high)
        require_noise(scale=self.scale)

    @abstractmethod
    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise of `rows` outcomes, shape (rows, size)."""

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 2 * self.sensitivity / self.epsilon

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Answers each moved by at most the sensitivity."""
        return VectorNeighbours(size=self.size, linf=self.sensitivity, low=self.low, high=self.high)

    def noisy_answers(self, answers: Array, rows: int, rng: np.random.Generator) -> Array:
        """Draw `rows` vectors of noisy answers relative to the largest answer.

        That does not change the index; beside large answers the noise would be lost, and ties decided by place.
        """
        noise = self.noise(rows, rng)
        with np.errstate(over="ignore"):
            noise += answers - answers.max()
        return noise

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` winners (indices from 0) on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return in_chunks(lambda rows: np.argmax(self.noisy_answers(answers, rows, rng), axis=1), size, self.size)


@dataclass(frozen=True)
class LaplaceNoisyMax(ScaledNoisyMax):
    """Noisy max with Laplace noise; its parameters are those of `ScaledNoisyMax`.

    Dwork and Roth 2014, Claim 3.9, with the factor 2 that answers moving both ways need.
    """

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw Laplace noise."""
        return rng.laplace(scale=self.scale, size=(rows, self.size))


gaussian_noisy_max = catalogue(
    __name__,
    GaussianNoisyMax(size=5, sigma=1.0, low=0.0, high=1.0, sensitivity=0.2),
    items=(("lebensold2024", "gaussian_rnm"),),
)

laplace_noisy_max = catalogue(
    __name__,
    LaplaceNoisyMax(size=5, epsilon=1.0),
    items=(("lebensold2024", "laplace_rnm"),),
)

noisy_max_of_benchmark = catalogue(
    __name__,
    LaplaceNoisyMax(size=5, epsilon=0.1, low=-10.0, high=10.0),
    items=(("lebensold2024", "laplace_rnm"),),
)
"""NoisyMax1 of the common benchmark."""
