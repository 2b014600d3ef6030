"""Report-noisy-max with exponential noise: another sampler of permute-and-flip."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP, VectorNeighbours, require_positive
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_noise, require_vector

__all__ = ["ExponentialNoisyMax", "exponential_noisy_max"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ExponentialNoisyMax:
    """The index of the largest answer after adding Exp(2 sensitivity / epsilon) to each.

    NoisyMax2 of the common benchmark (Ding, Wang, Wang, Zhang and Kifer 2018); Ding and others 2021 show that it is
    permute-and-flip.

    Parameters
    ----------
    size : int
        Number of answers, at least 1.
    epsilon : float
        Target of pure DP in nats, positive.
    sensitivity : float
        How far each answer may move between neighbours, positive.
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
        """Draw `rows` vectors of noisy answers, relative to the largest answer, which does not change the index."""
        noise: Array = rng.exponential(scale=self.scale, size=(rows, self.size))
        with np.errstate(over="ignore"):
            noise += answers - answers.max()
        return noise

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` winners (indices from 0) on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return in_chunks(lambda rows: np.argmax(self.noisy_answers(answers, rows, rng), axis=1), size, self.size)


exponential_noisy_max = catalogue(
    "dpassay.impl.mechanisms.exponential_noisy_max:exponential_noisy_max",
    ExponentialNoisyMax(size=5, epsilon=0.1, low=-10.0, high=10.0),
    items=(("lebensold2024", "permute_and_flip"),),
)
"""NoisyMax2 of the common benchmark."""
