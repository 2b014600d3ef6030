"""Selection of a large count with Gumbel noise of scale 1/epsilon, for counts that change in one direction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import ZCDP, BoundedRange, Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import real_array, require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["GumbelSelection", "gumbel_selection", "peeling_order"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GumbelSelection:
    """The index of the largest count plus Gumbel noise of scale 1/epsilon.

    The exponential mechanism without the factor 2, for neighbours whose counts all rise or all fall, by at most 1:
    one user added or removed. Its losses then span at most epsilon. Rogers, Samorodnitsky, Wu and Ramdas 2023,
    Sec 7.2.

    Parameters
    ----------
    size : int
        Number of counts, at least 1.
    epsilon : float
        Range of the loss, positive.

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
        """ZCDP with rho = epsilon^2/8 (rounded up), range and pure DP at epsilon."""
        return ZCDP(self.epsilon**2 / 8 * (1 + 2.0**-50)), BoundedRange(self.epsilon), PureDP(self.epsilon)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that change by at most 1, all in one direction."""
        return VectorNeighbours(size=self.size, linf=1, monotone=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` indices on the counts `data`."""
        scores = self.epsilon * require_vector("data", data, self.size)

        def draw(rows: int) -> NDArray[Any]:
            return np.asarray(np.argmax(scores + rng.gumbel(size=(rows, self.size)), axis=1))

        return in_chunks(draw, size, self.size)


def peeling_order(counts: Array, epsilon: float, runs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the orders in which repeated selection without replacement picks all counts, one row for each run.

    Each selection with noise of its own among what is left has the distribution of sorting by one draw of noise: the
    largest Gumbel variable and the rest, given that it is larger, are independent.

    Parameters
    ----------
    counts : array_like, shape (size,)
        The counts.
    epsilon : float
        Privacy parameter of one selection, nats, positive.
    runs : int
        Number of runs.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    UsageError
        If epsilon is not positive, the counts are no vector of finite numbers, or `runs` is no count.
    """
    require_positive("epsilon", epsilon)
    true = real_array("counts", counts)
    if true.ndim != 1:
        raise UsageError(f"counts must be a vector, got shape {true.shape}")
    noisy = epsilon * true + rng.gumbel(size=(require_count("runs", runs, low=0), true.size))
    return np.asarray(np.argsort(-noisy, axis=1))


gumbel_selection = catalogue(
    __name__,
    GumbelSelection(size=4, epsilon=1.0),
    items=(("rogers2023", "exponential_mechanism_gumbel"),),
)
