"""The mean of records with a private count: half of the budget for the count, half for the sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_noise, require_range
from dpassay.neighbours import RecordNeighbours

__all__ = ["NoisyMean", "noisy_mean", "records_of"]

Array = NDArray[np.float64]


def records_of(data: Any, low: float, high: float) -> Array:
    """Return records as a float64 vector, any number of them; raise `UsageError` unless all lie in [low, high]."""
    try:
        records = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"data must be a vector of records, got {data!r}") from None
    if records.ndim != 1 or not bool(np.all((records >= low) & (records <= high))):
        raise UsageError(f"data must be a vector of records in [{low:g}, {high:g}], got {data!r}")
    return records


@dataclass(frozen=True)
class NoisyMean:
    """The noisy count, and the mean from a noisy sum over it.

    A record added or removed changes the count by 1 and the sum of the records, seen from the middle of their range,
    by at most half its width. Each gets Laplace noise for epsilon/2; the count is taken for at least 1.

    Parameters
    ----------
    epsilon : float
        Target of pure DP in nats, positive.
    low, high : float
        Range of the records, finite.
    size, max_size : int
        Between how many records neighbours are looked for; the mechanism takes any number, also none.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    epsilon: float
    low: float = 0.0
    high: float = 1.0
    size: int = 0
    max_size: int = 4

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_range(self.low, self.high)
        require_noise(count_scale=2 / self.epsilon)
        if self.low < self.high:
            require_noise(sum_scale=self.sum_scale)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> RecordNeighbours:
        """One record more or less."""
        return RecordNeighbours(self.low, self.high, self.size, self.max_size, "add-remove")

    @property
    def sum_scale(self) -> float:
        """Scale of the noise on the sum; 0 if the records have no range, infinite if float64 overflows."""
        return (self.high - self.low) / self.epsilon

    @property
    def middle(self) -> float:
        """Middle of the range."""
        return self.low + (self.high - self.low) / 2

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of noisy count and noisy mean."""
        records = records_of(data, self.low, self.high)
        total = float(np.sum(records - self.middle))

        def draw(rows: int) -> Array:
            count = len(records) + rng.laplace(scale=2 / self.epsilon, size=rows)
            noisy = total + rng.laplace(scale=self.sum_scale, size=rows)
            return np.stack([count, self.middle + noisy / np.maximum(count, 1.0)], axis=1)

        return in_chunks(draw, size, 2)


noisy_mean = catalogue(
    __name__,
    NoisyMean(epsilon=1.0),
    items=(("gaboardi2017", "basic_composition"),),
)
