"""Heavy hitters in the local model: Hadamard response, and frequency estimates from its reports."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.hadamard import walsh_hadamard
from dpassay.impl.mechanisms.randomised_response import truth_probability
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["HadamardResponse", "hadamard_response"]

Array = NDArray[np.float64]

MOST_VALUES = 2**40


@dataclass(frozen=True)
class HadamardResponse:
    """One user's value in 0, ..., values - 1, reported as a column of a Hadamard matrix.

    With probability e^epsilon/(1 + e^epsilon) a column where the row of the value is +1, else one where it is -1
    (Acharya, Sun and Zhang 2019, in its two-level form; Gaboardi 2017, S11).

    Parameters
    ----------
    values : int
        Number of values, from 2 to 2^40.
    epsilon : float
        Pure-DP parameter in nats for each user, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        if require_count("values", self.values, low=2) > MOST_VALUES:
            raise UsageError(f"values must be at most {MOST_VALUES}, got {self.values}")
        require_positive("epsilon", self.epsilon)

    @property
    def order(self) -> int:
        """The order of the matrix, the least power of 2 above the number of values."""
        return 1 << self.values.bit_length()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP, between any two values."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Any two values."""
        top = float(self.values - 1)
        return VectorNeighbours(1, linf=top, low=0.0, high=top, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` reports of one value."""
        [value] = require_vector("data", data, 1, 0.0, float(self.values - 1))
        if value != round(value):
            raise UsageError(f"data must be a whole number, got {value!r}")
        return in_chunks(lambda rows: self.reports(np.full(rows, int(value)), rng), size, 2)

    def reports(self, users: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return one report for the value of each user.

        Raises
        ------
        UsageError
            If a value is not one of 0, ..., values - 1.
        """
        rows = _whole("users", users, self.values) + 1
        column = rng.integers(0, self.order, len(rows))
        wanted = rng.random(len(rows)) < truth_probability(self.epsilon)
        positive = np.bitwise_count(rows & column) % 2 == 0
        # flipping a bit that the row has maps the columns of one sign to those of the other, one to one
        flipped: NDArray[np.int64] = column ^ np.where(positive == wanted, 0, rows & -rows)
        return flipped

    def frequencies(self, reports: ArrayLike) -> Array:
        """Estimate the share of the users that hold each value, without bias.

        Parameters
        ----------
        reports : array_like of int
            At least one, each in [0, order).

        Returns
        -------
        ndarray
            Of length `values`; off by more than t with probability at most
            2 values exp(-n t^2 tanh(epsilon/2)^2 / 2) anywhere.

        Raises
        ------
        UsageError
            If there is no report, or one out of its range; if epsilon is so small that reports tell nothing.
        """
        columns = _whole("reports", reports, self.order)
        gain = 2 * truth_probability(self.epsilon) - 1
        if not gain:
            raise UsageError(f"epsilon must exceed 2^-50 for an estimate, got {self.epsilon!r}")
        counts = np.bincount(columns, minlength=self.order)
        correlations = walsh_hadamard(counts)[1 : self.values + 1] / len(columns)
        return np.asarray(correlations / gain)


def _whole(name: str, values: ArrayLike, end: int) -> NDArray[np.int64]:
    """Return a non-empty vector of whole numbers in [0, end)."""
    try:
        numbers = np.asarray(values, dtype=np.float64)  # exact below 2^53
    except (TypeError, ValueError):
        numbers = np.empty(0)
    good = numbers.ndim == 1 and numbers.size and bool(np.all((numbers >= 0) & (numbers < end)))
    if not good or bool(np.any(numbers != np.floor(numbers))):
        raise UsageError(f"{name} must be a vector of whole numbers in [0, {end}), got {values!r}")
    return numbers.astype(np.int64)


hadamard_response = catalogue(
    __name__,
    HadamardResponse(values=7, epsilon=1.0),
    items=(("gaboardi2017", "local_heavy_hitters"),),
)
