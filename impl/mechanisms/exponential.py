"""The exponential mechanism and permute-and-flip: selection of a candidate by its exponentiated score.

The exponential mechanism comes in two conventions, which must not be mixed up. `ExponentialMechanism` divides by twice
the sensitivity, whatever way the scores move. `RangeExponentialMechanism` divides by the range of the score
differences; for scores that all move the same way (counts, when one record is added or removed) that range is the
sensitivity, and this is the third convention, without the factor 2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_positive
from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.lazy import special
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "ExponentialMechanism",
    "PermuteAndFlip",
    "RangeExponentialMechanism",
    "exponential_mechanism",
    "permute_and_flip",
    "range_exponential_mechanism",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _ScoreSelection:
    """Base class of the mechanisms of this file: parameters, neighbours and scaled scores."""

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
        with np.errstate(over="ignore"):  # -inf, for a score that is farther off than a float64 can say
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
        Largest change of each score between neighbours, positive.

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
        return np.asarray(weights - special.logsumexp(weights))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` candidates (indices from 0) on the scores `data`."""
        weights = self.log_weights(data)

        def draw(rows: int) -> NDArray[Any]:
            return np.asarray(np.argmax(weights + rng.gumbel(size=(rows, self.size)), axis=1))

        return in_chunks(draw, size, self.size)


@dataclass(frozen=True)
class RangeExponentialMechanism:
    """Candidate i with probability proportional to exp(epsilon score_i / score_range).

    Cesar and Rogers 2020, Def 2.3. `score_range` bounds the largest minus the smallest change of a score between
    neighbours; with scores that all move the same way it is their sensitivity. If all scores always change alike the
    range is 0 and the mechanism perfectly private at any temperature; that case is refused here.

    Parameters
    ----------
    size : int
        Number of candidates, at least 1.
    epsilon : float
        Range of the privacy losses, positive.
    score_range : float
        Positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    epsilon: float
    score_range: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("epsilon", self.epsilon)
        require_positive("score_range", self.score_range)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Bounded range, hence pure DP."""
        return (BoundedRange(self.epsilon), PureDP(self.epsilon))

    @property
    def neighbours(self) -> VectorNeighbours:
        """Scores that all move the same way, by at most the range."""
        return VectorNeighbours(size=self.size, linf=self.score_range, monotone=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` candidates (indices from 0) on the scores `data`."""
        return ExponentialMechanism(self.size, self.epsilon, self.score_range / 2).sample(data, size, rng)


@dataclass(frozen=True)
class PermuteAndFlip(_ScoreSelection):
    """The first candidate, in uniformly random order, whose biased coin shows heads.

    The coin of candidate i shows heads with probability exp(epsilon (score_i - best score) / (2 sensitivity)), so
    the best one always accepts. McKenna and Sheldon 2020, Algorithm 1.

    Parameters
    ----------
    size : int
        Number of candidates, at least 1.
    epsilon : float
        Target of pure DP, positive.
    sensitivity : float
        Largest change of each score between neighbours, positive.

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
    __name__,
    ExponentialMechanism(size=5, epsilon=1.0),
    items=(("lebensold2024", "exponential_mechanism"), ("cesar2020", "exponential_mechanism")),
)

range_exponential_mechanism = catalogue(
    __name__,
    RangeExponentialMechanism(size=5, epsilon=1.0),
    items=(("cesar2020", "exponential_mechanism"), ("cesar2020", "quality_score_range")),
)

permute_and_flip = catalogue(
    __name__,
    PermuteAndFlip(size=5, epsilon=1.0),
    items=(("lebensold2024", "permute_and_flip"),),
)
