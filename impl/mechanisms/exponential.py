"""The exponential mechanism and permute-and-flip: a candidate chosen by its exponentiated score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.claims import BoundedRange, Claim, PureDP, VectorNeighbours, require_positive
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector

__all__ = ["ExponentialMechanism", "PermuteAndFlip", "exponential_mechanism", "permute_and_flip"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _ScoreSelection:
    """What the mechanisms of this file share: parameters, neighbours and scaled scores."""

    size: int
    epsilon: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Scores each moved by at most the sensitivity."""
        return VectorNeighbours(size=self.size, linf=self.sensitivity)

    def log_weights(self, data: Array) -> Array:
        """Return epsilon (score - best score) / (2 sensitivity), which is at most 0."""
        scores = require_vector("data", data, self.size)
        return np.asarray(self.epsilon / 2 * ((scores - scores.max()) / self.sensitivity))


@dataclass(frozen=True)
class ExponentialMechanism(_ScoreSelection):
    """Candidate i with probability proportional to exp(epsilon score_i / (2 sensitivity)).

    McSherry and Talwar 2007; its privacy losses span at most epsilon (Durfee and Rogers 2019). Drawn as the
    largest of the scaled scores plus Gumbel noise.

    Parameters
    ----------
    size : int
        Number of candidates, at least 1.
    epsilon : float
        Target of pure DP, positive.
    sensitivity : float
        How far each score may move between neighbours, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP and bounded range."""
        return (PureDP(self.epsilon), BoundedRange(self.epsilon))

    def log_probabilities(self, data: Array) -> Array:
        """Return the logarithms of the probabilities of the candidates on the scores `data`."""
        weights = self.log_weights(data)
        return np.asarray(weights - logsumexp(weights))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` candidates (indices from 0) on the scores `data`."""
        weights = self.log_weights(data)

        def draw(rows: int) -> NDArray[Any]:
            return np.asarray(np.argmax(weights + rng.gumbel(size=(rows, self.size)), axis=1))

        return in_chunks(draw, size, self.size)


@dataclass(frozen=True)
class PermuteAndFlip(_ScoreSelection):
    """The first of the candidates, in uniformly random order, whose coin comes up heads.

    The coin of candidate i shows heads with probability exp(epsilon (score_i - best score) / (2 sensitivity)), so
    the best one always accepts. McKenna and Sheldon 2020, Algorithm 1.

    Parameters
    ----------
    size : int
        Number of candidates, at least 1.
    epsilon : float
        Target of pure DP, positive.
    sensitivity : float
        How far each score may move between neighbours, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` candidates (indices from 0) on the scores `data`."""
        heads = np.exp(self.log_weights(data))

        def draw(rows: int) -> NDArray[Any]:
            places = rng.random((rows, self.size))  # sorting them would give the random order
            accepted = rng.random((rows, self.size)) < heads
            return np.asarray(np.argmin(np.where(accepted, places, 2.0), axis=1))

        return in_chunks(draw, size, 2 * self.size)


exponential_mechanism = catalogue(
    "dpassay.impl.mechanisms.exponential:exponential_mechanism",
    ExponentialMechanism(size=5, epsilon=1.0),
    items=(("lebensold2024", "exponential_mechanism"),),
)

permute_and_flip = catalogue(
    "dpassay.impl.mechanisms.exponential:permute_and_flip",
    PermuteAndFlip(size=5, epsilon=1.0),
    items=(("lebensold2024", "permute_and_flip"),),
)
