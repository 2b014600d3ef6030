"""Randomised response: each bit is reported truthfully with a probability above one half."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.lazy import special
from dpassay.neighbours import VectorNeighbours

__all__ = ["RandomisedResponse", "randomised_response", "truth_probability"]

Array = NDArray[np.float64]


def truth_probability(epsilon: float) -> float:
    """Return e^epsilon / (1 + e^epsilon), rounded towards 1/2 by at most 2^-51 and to a multiple of 2^-53.

    Such a number is the exact chance that a float64 drawn from [0, 1) is below it.
    """
    return max(0.5, float(special.expit(require_positive("epsilon", epsilon))) - 2.0**-52)


@dataclass(frozen=True)
class RandomisedResponse:
    """A vector of bits, each reported truthfully with probability e^epsilon / (1 + e^epsilon), independently.

    Warner 1965; the mechanism that attains basic composition (Gaboardi 2017, S3).

    Parameters
    ----------
    size : int
        Number of bits, at least 1.
    epsilon : float
        Pure-DP parameter in nats for a change of one bit, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    epsilon: float

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("epsilon", self.epsilon)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Bit vectors of which one bit differs."""
        return VectorNeighbours(self.size, l0=1, linf=1.0, low=0.0, high=1.0, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` vectors of bits, one a row (numbers, if there is one bit)."""
        bits = require_vector("data", data, self.size, 0.0, 1.0)
        if not bool(np.all(bits == np.round(bits))):
            raise UsageError(f"data must be bits, got {bits!r}")
        truth, told = truth_probability(self.epsilon), bits.astype(np.int64)

        def draw(rows: int) -> NDArray[Any]:
            shape = rows if self.size == 1 else (rows, self.size)
            return np.asarray(told ^ (rng.random(shape) >= truth))

        return in_chunks(draw, size, self.size)


randomised_response = catalogue(
    __name__,
    RandomisedResponse(size=3, epsilon=1.0),
    items=(("gaboardi2017", "basic_composition"),),
)
