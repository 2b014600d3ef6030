"""RAPPOR: the Bloom filter of a value, reported through permanent and instantaneous randomised response."""

import hashlib
import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_probability
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["Rappor", "one_time_rappor", "rappor"]

Array = NDArray[np.float64]

_CLAIM_ROUNDING = 1 + 2.0**-40  # the chances are close to 1/2: log of their ratio loses some digits


@dataclass(frozen=True)
class Rappor:
    """The reported bits of the Bloom filter of one integer.

    Erlingsson, Pihur and Korolova 2014. A bit becomes a fair coin with probability `permanent`; what comes of it is
    told as 1 with probability `high` if it is 1 and `low` = 1 - high if it is 0.

    Parameters
    ----------
    filter_size, hashes : int
        Bits of the filter, and how many of them a value sets; at least 1.
    permanent : float
        Probability f of a fair coin, in (0, 1].
    high : float
        Probability q of the truth in the second stage, in [1/2, 1]; 1 is the one-time variant.
    low_value, high_value : int
        Range of the values.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    filter_size: int = 20
    hashes: int = 4
    permanent: float = 0.75
    high: float = 0.55
    low_value: int = -10
    high_value: int = 10

    def __post_init__(self) -> None:
        require_count("filter_size", self.filter_size)
        require_count("hashes", self.hashes)
        for name in ("low_value", "high_value"):
            if not isinstance(getattr(self, name), Integral):
                raise UsageError(f"{name} must be an integer, got {getattr(self, name)!r}")
        require_interval(self.low_value, self.high_value)
        require_probability("permanent", self.permanent)
        if self.permanent == 0:
            raise UsageError("permanent must be positive: without a coin the bits are told")
        if not 0.5 <= self.high <= 1:
            raise UsageError(f"high must lie in [0.5, 1], got {self.high!r}")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with 2 hashes log((1 + g)/(1 - g)), g = (1 - permanent)(2 high - 1), rounded up by 2^-40."""
        gain = (1 - self.permanent) * (2 * self.high - 1)
        return (PureDP(4 * self.hashes * math.atanh(gain) * _CLAIM_ROUNDING),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Values that differ by 1; for a hash they are as different as any other two values."""
        return VectorNeighbours(
            1, l0=1, linf=1.0, low=float(self.low_value), high=float(self.high_value), integer=True
        )

    def filter_of(self, value: int) -> NDArray[np.int64]:
        """Return the Bloom filter of a value; the hashes are those of SHA-256 with the number of the hash before."""
        bits = np.zeros(self.filter_size, dtype=np.int64)
        for k in range(self.hashes):
            digest = hashlib.sha256(f"{k}:{value}".encode()).digest()
            bits[int.from_bytes(digest[:8], "big") % self.filter_size] = 1
        return bits

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` reports, one a row, on a single value."""
        [value] = require_vector("data", data, 1, float(self.low_value), float(self.high_value))
        if value != round(value):
            raise UsageError(f"data must be a whole number, got {value!r}")
        bits = self.filter_of(int(value)).astype(bool)

        def draw(rows: int) -> NDArray[Any]:
            coin = rng.random((rows, self.filter_size))  # below f/2: 1, up to f: 0, beyond: the bit
            kept = np.where(coin < self.permanent, coin < self.permanent / 2, bits)
            if self.high == 1:
                return np.asarray(kept.astype(np.int8))
            return np.asarray((kept ^ (rng.random((rows, self.filter_size)) >= self.high)).astype(np.int8))

        return in_chunks(draw, size, 2 * self.filter_size)


_ITEM = (("gaboardi2017", "local_heavy_hitters"),)

rappor = catalogue(__name__, Rappor(), items=_ITEM)

one_time_rappor = catalogue(__name__, Rappor(permanent=0.95, high=1.0), items=_ITEM)
