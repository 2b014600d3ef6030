"""Bayesian inference as an exponential mechanism: one sample of the posterior on a finite grid."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.noisy_mean import records_of
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.neighbours import RecordNeighbours

__all__ = ["PosteriorSample", "posterior_sample", "posterior_sample_of_any_number"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PosteriorSample:
    """A bias t of a coin from a grid, with probability proportional to prod_i t^x_i (1 - t)^(1 - x_i), x_i in [0, 1].

    The log-likelihood of a record is at most B = max(-log t, -log(1 - t)) in modulus, hence 4 B-DP under replacement
    and 2 B-DP under addition or removal of a record (Gaboardi 2017, S11). No noise is added.

    Parameters
    ----------
    grid : tuple of float
        At least one bias, each strictly between 0 and 1; the prior is uniform.
    size, max_size : int
        Between how many records neighbours are looked for.
    relation : {"replace", "add-remove"}
        The neighbour relation.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    grid: tuple[float, ...]
    size: int = 3
    max_size: int | None = None
    relation: str = "replace"

    def __post_init__(self) -> None:
        if not self.grid or not all(0 < bias < 1 for bias in self.grid):
            raise UsageError(f"grid must hold at least one number, all strictly between 0 and 1, got {self.grid!r}")

    @property
    def log_likelihood_bound(self) -> float:
        """The bound B on the log-likelihood of a record."""
        return max(max(-math.log(bias), -math.log1p(-bias)) for bias in self.grid)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with 4 B or 2 B, rounded up by 2^-50."""
        return (PureDP((4 if self.relation == "replace" else 2) * self.log_likelihood_bound * (1 + 2.0**-50)),)

    @property
    def neighbours(self) -> RecordNeighbours:
        """One record replaced, or added or removed."""
        return RecordNeighbours(0.0, 1.0, self.size, self.max_size, self.relation)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` indices into the grid."""
        records, grid = records_of(data, 0.0, 1.0), np.array(self.grid)
        ones = float(records.sum())
        log_posterior = ones * np.log(grid) + (len(records) - ones) * np.log1p(-grid)

        def draw(rows: int) -> NDArray[Any]:
            return np.asarray(np.argmax(log_posterior + rng.gumbel(size=(rows, len(grid))), axis=1))

        return in_chunks(draw, size, len(grid))


_ITEM = (("gaboardi2017", "posterior_sampling"),)
_GRID = (0.25, 0.375, 0.5, 0.625, 0.75)

posterior_sample = catalogue(__name__, PosteriorSample(_GRID), items=_ITEM)

posterior_sample_of_any_number = catalogue(
    __name__,
    PosteriorSample(_GRID, size=0, max_size=3, relation="add-remove"),
    items=_ITEM,
)
