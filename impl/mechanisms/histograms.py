"""Histograms of known labels with Laplace or Gaussian noise on every count."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_positive
from dpassay.claims import ZCDP, ApproximateDP, Claim, ConcentratedDP, PureDP
from dpassay.impl.accounting.histograms import gaussian_histogram_zcdp, laplace_histogram_delta
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["GaussianHistogram", "LaplaceHistogram", "gaussian_histogram", "laplace_histogram"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Histogram:
    """Base class of the mechanisms of this file: the neighbour relation, and the addition of noise."""

    size: int
    l0: int
    linf: float

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_count("l0", self.l0)
        require_positive("linf", self.linf)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Histograms that differ in at most l0 counts, by at most linf each."""
        return VectorNeighbours(size=self.size, l0=min(self.l0, self.size), linf=self.linf)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise of `rows` runs, one row a run."""
        raise NotImplementedError

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` noisy histograms, one a row, on the counts `data`."""
        counts = require_vector("data", data, self.size)
        return in_chunks(lambda rows: counts + self.noise(rows, rng), size, self.size)


@dataclass(frozen=True)
class LaplaceHistogram(_Histogram):
    """Counts with Laplace noise of scale linf/epsilon (KnownLap of Cesar and Rogers 2020, Table 1 and Lemma 6.2).

    Parameters
    ----------
    size : int
        Number of counts.
    l0 : int
        Number of counts that one user changes.
    linf : float
        By how much each, positive.
    epsilon : float
        Privacy of one count, positive: the scale does not depend on l0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("epsilon", self.epsilon)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with l0 epsilon; and half of that epsilon, with the delta of the optimal composition."""
        whole = min(self.l0, self.size) * self.epsilon
        delta = float(laplace_histogram_delta(whole / 2, self.epsilon, min(self.l0, self.size)))
        return (PureDP(whole), ApproximateDP(whole / 2, delta))

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw Laplace noise."""
        return rng.laplace(scale=self.linf / self.epsilon, size=(rows, self.size))


@dataclass(frozen=True)
class GaussianHistogram(_Histogram):
    """Counts with N(0, linf^2 sigma^2) on each: Cesar and Rogers 2020, Section 6.2 and Lemma 6.3.

    Parameters
    ----------
    size : int
        Number of counts.
    l0 : int
        Number of counts that one user changes.
    linf : float
        By how much each, positive.
    sigma : float
        Noise multiplier, positive: the standard deviation is linf sigma.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    sigma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("sigma", self.sigma)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP: rho = l0/(2 sigma^2), which is the mean loss mu, too; tau = sqrt(2 rho)."""
        rho = float(gaussian_histogram_zcdp(self.sigma, min(self.l0, self.size)))
        return (ZCDP(rho), ConcentratedDP(rho, float(np.sqrt(2 * rho) * (1 + 2.0**-50))))

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw Gaussian noise."""
        return self.linf * self.sigma * rng.standard_normal((rows, self.size))


laplace_histogram = catalogue(
    __name__,
    LaplaceHistogram(size=3, l0=2, linf=1.0, epsilon=0.5),
    items=(("cesar2020", "laplace_l0_bound"), ("cesar2020", "linkedin_mechanism_grid")),
)

gaussian_histogram = catalogue(
    __name__,
    GaussianHistogram(size=3, l0=2, linf=5.0, sigma=2.0),
    items=(("cesar2020", "gaussian_histogram_zcdp"), ("cesar2020", "gaussian_l0_zcdp_bound")),
)
