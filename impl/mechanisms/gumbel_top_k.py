"""The ranked list of the k largest counts by Gumbel noise, equivalent to k exponential mechanisms."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import ZCDP, Claim, PureDP
from dpassay.impl.accounting.setwise import bounded_range_mean_loss
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["GumbelTopK", "gumbel_top_k", "ranked_top_k"]

Array = NDArray[np.float64]


def ranked_top_k(noisy: Array, k: int) -> NDArray[np.int64]:
    """Return the indices of the k largest entries of each row, the largest first."""
    part = np.argpartition(-noisy, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(noisy, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


@dataclass(frozen=True)
class GumbelTopK:
    """The labels of the k largest counts with Gumbel noise of scale linf/epsilon, in their noisy order.

    Cesar and Rogers 2020, Table 1 (KnownGumb without its counts); the distribution is that of peeling, k exponential
    mechanisms
    without replacement, each epsilon-bounded-range for counts that all move the same way.

    Parameters
    ----------
    size : int
        Number of labels.
    k : int
        Length of the list, at most `size`.
    epsilon : float
        Bounded range of each choice, positive.
    linf : float
        Largest change of each count, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    k: int
    epsilon: float
    linf: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_count("k", self.k)
        if self.k > self.size:
            raise UsageError(f"k must be at most size, got {self.k!r} for size {self.size!r}")
        require_positive("epsilon", self.epsilon)
        require_positive("linf", self.linf)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with k epsilon, and zCDP with k kappa(epsilon)."""
        return (PureDP(self.k * self.epsilon), ZCDP(self.rho))

    @property
    def rho(self) -> float:
        """The zCDP parameter of the list."""
        return self.k * float(bounded_range_mean_loss(self.epsilon))

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that all change in one direction, each by at most linf."""
        return VectorNeighbours(size=self.size, linf=self.linf, monotone=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` ranked lists, one a row of k labels (indices from 0)."""
        counts = require_vector("data", data, self.size)
        return in_chunks(lambda rows: self.draw(counts, rows, rng), size, self.size)

    def draw(self, counts: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `rows` ranked lists on counts that have been checked."""
        return ranked_top_k(counts + rng.gumbel(scale=self.linf / self.epsilon, size=(rows, self.size)), self.k)


gumbel_top_k = catalogue(
    __name__,
    GumbelTopK(size=4, k=2, epsilon=0.5),
    items=(("cesar2020", "linkedin_mechanism_grid"),),
)
