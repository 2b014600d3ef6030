"""Top-k in two phases: labels by Gumbel noise, then their counts with fresh Gaussian noise."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ZCDP, Claim, UsageError, VectorNeighbours, require_positive
from dpassay.impl.accounting.histograms import gaussian_histogram_zcdp
from dpassay.impl.accounting.setwise import bounded_range_mean_loss
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.gumbel_top_k import ranked_top_k
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector

__all__ = ["TwoPhaseTopK", "two_phase_top_k"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TwoPhaseTopK:
    """The ranked list of `GumbelTopK`, and the counts of its labels with N(0, linf^2 sigma^2).

    Cesar and Rogers 2020, Section 6.2: k adaptive bounded-range mechanisms and one Gaussian of k counts, on which both
    phases are charged. Here as zCDP, k kappa(epsilon) + k/(2 sigma^2).

    Parameters
    ----------
    size : int
        Number of labels.
    k : int
        Length of the list, at most `size`.
    epsilon : float
        Bounded range of each choice, positive.
    sigma : float
        Noise multiplier of the counts, positive.
    linf : float
        How far each count may move, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    k: int
    epsilon: float
    sigma: float
    linf: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_count("k", self.k)
        if self.k > self.size:
            raise UsageError(f"k must be at most size, got {self.k!r} for size {self.size!r}")
        for name in ("epsilon", "sigma", "linf"):
            require_positive(name, getattr(self, name))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP of both phases together, rounded up."""
        first = self.k * float(bounded_range_mean_loss(self.epsilon))
        second = float(gaussian_histogram_zcdp(self.sigma, self.k))
        return (ZCDP((first + second) * (1 + 2.0**-50)),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that all move the same way, by at most linf each."""
        return VectorNeighbours(size=self.size, linf=self.linf, monotone=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of k labels (indices from 0) and their k noisy counts."""
        counts = require_vector("data", data, self.size)

        def draw(rows: int) -> NDArray[Any]:
            gumbel = rng.gumbel(scale=self.linf / self.epsilon, size=(rows, self.size))
            labels = ranked_top_k(counts + gumbel, self.k)
            values = counts[labels] + self.linf * self.sigma * rng.standard_normal(labels.shape)
            return np.concatenate([labels, values], axis=1)

        return in_chunks(draw, size, 2 * self.size)


two_phase_top_k = catalogue(
    "dpassay.impl.mechanisms.two_phase_top_k:two_phase_top_k",
    TwoPhaseTopK(size=3, k=2, epsilon=0.5, sigma=2.0),
    items=(("cesar2020", "two_phase_topk_gaussian"),),
)
