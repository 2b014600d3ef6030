"""BetweenThresholds: whether a Laplace-noisy answer lies below, between or above two thresholds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.accounting.target_quality import between_thresholds_quality
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_range, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["ABOVE", "BELOW", "BETWEEN", "BetweenThresholds", "between_thresholds"]

Array = NDArray[np.float64]

BELOW, BETWEEN, ABOVE = 0, 1, 2


@dataclass(frozen=True)
class BetweenThresholds:
    """Compare an answer plus Lap(sensitivity/epsilon) with two thresholds; "between" is the target.

    Cohen and Lyu 2023, Sec 2.6.

    Parameters
    ----------
    epsilon : float
        Target of pure DP, positive.
    low, high : float
        The thresholds, finite, low < high.
    sensitivity : float
        Largest change of the answer between neighbours, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    epsilon: float
    low: float
    high: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)
        require_range(self.low, self.high)
        if self.low == self.high:
            raise UsageError(f"low must be below high, got {self.low!r} for both")

    @property
    def quality(self) -> float:
        """The quality of "between" as a target, rounded down."""
        return float(between_thresholds_quality(self.epsilon, (self.high - self.low) / self.sensitivity))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """One answer, moved by at most the sensitivity."""
        return VectorNeighbours(size=1, linf=self.sensitivity)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` outcomes (0 below, 1 between, 2 above) for the answer `data`, a vector of one number."""
        (answer,) = require_vector("data", data, 1)

        def draw(rows: int) -> NDArray[Any]:
            noisy = answer + rng.laplace(scale=self.scale, size=rows)
            return np.asarray((noisy >= self.low).astype(np.int64) + (noisy > self.high))

        return in_chunks(draw, size, 1)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.sensitivity / self.epsilon


between_thresholds = catalogue(
    __name__,
    BetweenThresholds(epsilon=0.5, low=-1.0, high=1.0),
    items=(("cohen2023", "between_thresholds_target"),),
)
