"""The sparse vector technique with Laplace noise: the places of the first answers that reach a noisy threshold."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.laplace_above_threshold import leads_over
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_noise, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "LaplaceSparseVector",
    "NumericSparseVector",
    "RestartedSparseVector",
    "first_places",
    "numeric_sparse_vector",
    "restarted_sparse_vector",
    "sparse_vector",
]

Array = NDArray[np.float64]
Places = NDArray[np.int64]

MOST_HITS = 2**53


@dataclass(frozen=True)
class LaplaceSparseVector:
    """The places, from 1, of the first `cutoff` answers that reach the noisy threshold; 0 where there are fewer.

    One noise Lap(2 sensitivity/epsilon) on the threshold, fresh noise Lap(4 cutoff sensitivity/epsilon) on every
    answer. Lyu, Su and Li 2017, Algorithm 1 (SVT1 of the common benchmark); Gaboardi 2017, S10.

    Parameters
    ----------
    size : int
        Length of the stream, at least 1.
    threshold : float
        The public threshold, finite.
    epsilon : float
        Target of pure DP in nats, positive.
    cutoff : int
        Hits after which the mechanism halts, in [1, 2^53]; may exceed the length of the stream.
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
    threshold: float
    epsilon: float
    cutoff: int = 1
    sensitivity: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_at_least("threshold", self.threshold, -math.inf)
        require_positive("epsilon", self.epsilon)
        if require_count("cutoff", self.cutoff) > MOST_HITS:
            raise UsageError(f"cutoff must be at most {MOST_HITS}, got {self.cutoff}")
        require_positive("sensitivity", self.sensitivity)
        require_interval(self.low, self.high)
        require_noise(threshold_scale=self.threshold_scale, query_scale=self.query_scale)

    @property
    def threshold_scale(self) -> float:
        """Scale of the noise on the threshold."""
        return 2 * self.sensitivity / self.epsilon

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 4 * self.cutoff * self.sensitivity / self.epsilon

    @property
    def most_hits(self) -> int:
        """The length of an outcome: the cutoff, but no more than there are answers."""
        return min(self.cutoff, self.size)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP for streams of any length."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Streams of answers each moved by at most the sensitivity."""
        return VectorNeighbours(size=self.size, linf=self.sensitivity, low=self.low, high=self.high)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of places on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return in_chunks(lambda rows: self.draw(answers, rows, rng), size, self.size + 1)

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes on validated answers."""
        leads = leads_over(self.threshold, answers)
        noise = self.query_scale * rng.laplace(size=(rows, self.size))
        return first_places(noise + leads >= self.threshold_scale * rng.laplace(size=(rows, 1)), self.most_hits)


def first_places(hits: NDArray[np.bool_], most: int) -> Places:
    """Return for every row the places, from 1, of its first `most` hits, padded with 0.

    Examples
    --------
    >>> first_places(np.array([[False, True, True], [False, False, False]]), 2).tolist()
    [[2, 3], [0, 0]]
    """
    places = np.zeros((len(hits), most), dtype=np.int64)
    if most == 1:
        places[:, 0] = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0)
        return places
    ranks = np.cumsum(hits, axis=1)
    rows, columns = np.nonzero(hits & (ranks <= most))
    places[rows, ranks[rows, columns] - 1] = columns + 1
    return places


@dataclass(frozen=True)
class RestartedSparseVector(LaplaceSparseVector):
    """AboveThreshold with epsilon / cutoff, restarted with new noise on the threshold after each hit.

    Scales 2 cutoff sensitivity/epsilon and 4 cutoff sensitivity/epsilon. Dwork and Roth 2014, Algorithm 2 (SVT2 of the
    common benchmark); Gaboardi 2017, S10. The parameters are those of `LaplaceSparseVector`.
    """

    @property
    def threshold_scale(self) -> float:
        """Scale of the noise on the threshold."""
        return 2 * self.cutoff * self.sensitivity / self.epsilon

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes on validated answers."""
        leads = leads_over(self.threshold, answers)
        noisy = leads + self.query_scale * rng.laplace(size=(rows, self.size))
        thresholds = self.threshold_scale * rng.laplace(size=(rows, self.most_hits + 1))
        places, count, every = (
            np.zeros((rows, self.most_hits), dtype=np.int64),
            np.zeros(rows, dtype=int),
            np.arange(rows),
        )
        for k in range(self.size):
            hit = (count < self.most_hits) & (noisy[:, k] >= thresholds[every, count])
            places[hit, count[hit]] = k + 1
            count += hit
        return places


@dataclass(frozen=True)
class NumericSparseVector(LaplaceSparseVector):
    """Places and numbers of the first hits: (place, number, place, number, ...), padded with 0.

    A third of the budget for each of the threshold, the tests and the numbers, which have fresh noise: scales 3
    sensitivity/epsilon, 6 cutoff sensitivity/epsilon and 3 cutoff sensitivity/epsilon. Dwork and Roth 2014, Algorithm
    3, with the threshold's noise drawn once (NumericalSVT of the common benchmark). The parameters are those of
    `LaplaceSparseVector`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        require_noise(value_scale=self.value_scale)

    @property
    def threshold_scale(self) -> float:
        """Scale of the noise on the threshold."""
        return 3 * self.sensitivity / self.epsilon

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer that is tested."""
        return 6 * self.cutoff * self.sensitivity / self.epsilon

    @property
    def value_scale(self) -> float:
        """Scale of the fresh noise on a number that is released."""
        return 3 * self.cutoff * self.sensitivity / self.epsilon

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes on validated answers."""
        places = super().draw(answers, rows, rng)
        numbers = answers[places - 1] + self.value_scale * rng.laplace(size=places.shape)
        return interleaved(places, numbers)


def interleaved(places: Places, numbers: Array) -> Array:
    """Return the rows (place, number, place, number, ...), with a number of 0 where there is no place."""
    rows, most = places.shape
    return np.stack([places, np.where(places > 0, numbers, 0.0)], axis=2).reshape(rows, 2 * most)


_ITEMS = (("gaboardi2017", "sparse_vector"),)

sparse_vector = catalogue(
    __name__,
    LaplaceSparseVector(size=10, threshold=0.5, epsilon=0.1, low=-10.0, high=10.0),
    items=_ITEMS,
)
"""SVT1 of the common benchmark."""

restarted_sparse_vector = catalogue(
    __name__,
    RestartedSparseVector(size=10, threshold=1.0, epsilon=0.1, low=-10.0, high=10.0),
    items=_ITEMS,
)
"""SVT2 of the common benchmark."""

numeric_sparse_vector = catalogue(
    __name__,
    NumericSparseVector(size=10, threshold=1.0, epsilon=0.1, cutoff=2, low=-10.0, high=10.0),
    items=_ITEMS,
)
"""NumericalSVT of the common benchmark."""
