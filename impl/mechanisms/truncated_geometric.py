"""The geometric mechanism on 0, ..., n in integer arithmetic, as in the common benchmark."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["TruncatedGeometric", "truncated_geometric"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TruncatedGeometric:
    """A count in [0, largest] plus two-sided geometric noise of decay 2^k/(2^k + 1), clipped; no float is involved.

    Balcer and Vadhan 2018, Algorithm 4.8 (GeoSample): the least z with F(z) >= u, for a uniform integer u.

    Parameters
    ----------
    largest : int
        n, at least 1.
    bits : int
        k, at least 0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, or the number of equally likely cases exceeds 2^63.
    """

    largest: int
    bits: int

    def __post_init__(self) -> None:
        require_count("largest", self.largest)
        require_count("bits", self.bits, low=0)
        # there are at least 2^(largest bits + 1) cases, and 3 2^(largest - 1): a number too long to print
        if max(self.largest, self.largest * self.bits) > 62 or self.cases >= 2**63:
            sizes = f"largest={self.largest:g}, bits={self.bits:g}"
            raise UsageError(f"largest and bits must keep the number of cases below 2^63, got {sizes}")

    @classmethod
    def of_epsilon(cls, largest: int, epsilon: float) -> "TruncatedGeometric":
        """Return the mechanism with k = ceil(log(2/epsilon)), as in the benchmark; the claim follows from k."""
        return cls(largest, max(0, math.ceil(math.log(2 / require_positive("epsilon", epsilon)))))

    @property
    def cases(self) -> int:
        """The number d of equally likely cases."""
        return int((2 ** (self.bits + 1) + 1) * (2**self.bits + 1) ** (self.largest - 1))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with epsilon = log(1 + 2^-k), rounded up by 2^-50."""
        return (PureDP(math.log1p(2.0**-self.bits) * (1 + 2.0**-50)),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that differ by 1."""
        return VectorNeighbours(1, l0=1, linf=1.0, low=0.0, high=float(self.largest), integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` noisy counts on a single count."""
        [count] = require_vector("data", data, 1, 0.0, float(self.largest))
        if count != round(count):
            raise UsageError(f"data must be a whole number, got {count!r}")
        cumulative = np.array([self._at_most(z, int(count)) for z in range(self.largest + 1)], dtype=np.int64)

        def draw(rows: int) -> NDArray[Any]:
            return np.searchsorted(cumulative, rng.integers(1, self.cases + 1, rows), side="left")

        return in_chunks(draw, size, 1)

    def _at_most(self, z: int, count: int) -> int:
        """Return the number of cases in which the noisy count is at most z."""
        power, step = 2**self.bits, 2**self.bits + 1
        if z == self.largest:
            return self.cases
        if z <= count:
            return int(power ** (count - z) * step ** (self.largest - count + z))
        return int(self.cases - power ** (z - count + 1) * step ** (self.largest - 1 - z + count))


truncated_geometric = catalogue(
    __name__,
    TruncatedGeometric.of_epsilon(5, 0.1),
    items=(("gaboardi2017", "basic_composition"),),
)
