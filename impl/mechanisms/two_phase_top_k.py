"""Top-k in two phases: labels by Gumbel noise, then their counts with fresh Gaussian noise."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_positive
from dpassay.claims import ZCDP, Claim
from dpassay.impl.accounting.histograms import gaussian_histogram_zcdp
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.gumbel_top_k import GumbelTopK
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector
from dpassay.neighbours import VectorNeighbours

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
        Largest change of each count, positive.

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
        self.ranking  # noqa: B018  # checks the parameters that it takes
        require_positive("sigma", self.sigma)

    @cached_property
    def ranking(self) -> GumbelTopK:
        """The first phase."""
        return GumbelTopK(self.size, self.k, self.epsilon, self.linf)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP of both phases together, rounded up."""
        second = float(gaussian_histogram_zcdp(self.sigma, self.k))
        return (ZCDP((self.ranking.rho + second) * (1 + 2.0**-50)),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that all change in one direction, each by at most linf."""
        return self.ranking.neighbours

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of k labels (indices from 0) and their k noisy counts."""
        counts = require_vector("data", data, self.size)

        def draw(rows: int) -> NDArray[Any]:
            labels = self.ranking.draw(counts, rows, rng)
            values = counts[labels] + self.linf * self.sigma * rng.standard_normal(labels.shape)
            return np.concatenate([labels, values], axis=1)

        return in_chunks(draw, size, 2 * self.size)


two_phase_top_k = catalogue(
    __name__,
    TwoPhaseTopK(size=3, k=2, epsilon=0.5, sigma=2.0),
    items=(("cesar2020", "two_phase_topk_gaussian"),),
)
