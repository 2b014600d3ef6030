"""AboveThreshold with Laplace noise: the first query of a stream whose noisy answer reaches a noisy threshold."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_at_least, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.halting import HaltingSession, first_true
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_noise, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "LaplaceAboveThreshold",
    "laplace_above_threshold",
    "leads_over",
    "monotone_above_threshold",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LaplaceAboveThreshold:
    """Halting time 1..size on a stream of `size` answers, or 0 if every noisy answer stays below.

    One noise Lap(2 sensitivity/epsilon) on the threshold, fresh noise Lap(4 sensitivity/epsilon) on every answer, half
    of that where all answers move the same way. Gaboardi 2017, S7; Dwork and Roth 2014, Algorithm 1.

    Parameters
    ----------
    size : int
        Length of the stream, at least 1.
    threshold : float
        The public threshold, finite.
    epsilon : float
        Target of pure DP in nats, positive; the length of the stream does not matter.
    sensitivity : float
        Largest change of each answer between neighbours, positive.
    low, high : float
        Every answer lies in [low, high]; infinite by default.
    monotone : bool
        Whether all answers of a neighbour move the same way.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    threshold: float
    epsilon: float
    sensitivity: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    monotone: bool = False

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_at_least("threshold", self.threshold, -math.inf)
        require_positive("epsilon", self.epsilon)
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
        return (2 if self.monotone else 4) * self.sensitivity / self.epsilon

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Streams of answers each moved by at most the sensitivity."""
        return VectorNeighbours(self.size, linf=self.sensitivity, low=self.low, high=self.high, monotone=self.monotone)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` halting times on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        leads = leads_over(self.threshold, answers)

        def draw(rows: int) -> NDArray[Any]:
            noise = self.query_scale * rng.laplace(size=(rows, self.size))
            return first_true(noise + leads >= self.threshold_scale * rng.laplace(size=(rows, 1)))

        return in_chunks(draw, size, self.size + 1)

    def session(self, rng: np.random.Generator) -> "HaltingSession[LaplaceAboveThreshold]":
        """Start an interactive run that receives answers one at a time; the threshold noise is drawn here."""

        def query_noise() -> float:
            return float(rng.laplace(scale=self.query_scale))

        return HaltingSession(self, float(rng.laplace(scale=self.threshold_scale)), query_noise)


def leads_over(threshold: float, answers: Array) -> Array:
    """Return by how much the answers exceed the threshold, infinite if float64 overflows.

    Taken before any noise is added, which would be lost beside large numbers.
    """
    with np.errstate(over="ignore"):
        return answers - threshold


_ITEMS = (("gaboardi2017", "laplace_above_threshold"),)

laplace_above_threshold = catalogue(__name__, LaplaceAboveThreshold(size=10, threshold=0.0, epsilon=1.0), items=_ITEMS)

monotone_above_threshold = catalogue(
    __name__,
    LaplaceAboveThreshold(size=10, threshold=0.0, epsilon=1.0, monotone=True),
    items=_ITEMS,
)
