"""Noisy counts of unknown labels: truncated Gaussian noise with a threshold."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive, require_probability
from dpassay.claims import ApproximateZCDP, Claim
from dpassay.impl.accounting.histograms import gaussian_histogram_zcdp
from dpassay.impl.accounting.truncation import truncation_half_width
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.mechanisms.truncated_gaussian import truncated_normal
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["TruncatedGaussianCounts", "truncated_gaussian_counts"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TruncatedGaussianCounts:
    """Counts plus truncated normal noise, of those labels whose noisy count exceeds linf + T.

    Cesar and Rogers 2020, Alg 2 (TruncGauss), corrected: the outcome is indexed by the label, so that its order is no
    function of the true counts, and there must be room for all labels. A label with count 0 can never appear, which is
    why the labels need not be known. The input sigma is missing in the paper.

    Parameters
    ----------
    size : int
        Number of labels of the universe, of which those with a positive count are in the data.
    sigma : float
        Noise multiplier, positive: the standard deviation before truncation is linf sigma.
    delta : float
        In (0, l0), at most 1.
    l0 : int
        Number of counts that one user changes.
    linf : float
        By how much each, positive.
    limit : int, optional
        dbar, the largest number of labels that the data may hold; `size` if not given.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, or `limit` is below `size`: a cut at the largest counts is not private.
    """

    size: int
    sigma: float
    delta: float
    l0: int = 1
    linf: float = 1.0
    limit: int | None = None

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("sigma", self.sigma)
        require_positive("linf", self.linf)
        require_count("l0", self.l0)
        require_probability("delta", self.delta)
        if self.limit is not None and require_count("limit", self.limit) < self.size:
            raise UsageError(f"limit must be at least size, got {self.limit!r} for size {self.size!r}")
        if not 0 < self.delta < self.l0:  # the half width is computed where it is needed: that takes a while
            raise UsageError(f"delta must lie in (0, l0), got {self.delta!r} for l0 {self.l0!r}")

    @cached_property
    def half_width(self) -> float:
        """T of eq (10), rounded up."""
        return float(truncation_half_width(self.delta, self.sigma, self.linf, self.l0))

    @property
    def threshold(self) -> float:
        """The threshold linf + T; only larger noisy counts are released."""
        return self.linf + self.half_width

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Approximate zCDP with rho = l0/(2 sigma^2) and delta."""
        return (ApproximateZCDP(float(gaussian_histogram_zcdp(self.sigma, self.l0)), self.delta),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Histograms that differ in at most l0 counts, by at most linf each."""
        return VectorNeighbours(size=self.size, l0=min(self.l0, self.size), linf=self.linf, low=0.0)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` runs on the counts `data`: one row a run, one column a label, 0 where it is not released."""
        counts = require_vector("data", data, self.size, 0.0)

        def draw(rows: int) -> NDArray[Any]:
            noisy = counts + self.noise(rows, rng)
            return np.asarray(np.where(self.passes(noisy) & (counts > 0), noisy, 0.0))

        return in_chunks(draw, size, self.size)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise of `rows` runs, one row a run."""
        scale = self.linf * self.sigma
        return scale * truncated_normal(self.half_width / scale, (rows, self.size), rng)

    def passes(self, noisy: Array) -> NDArray[np.bool_]:
        """Return which noisy counts are released."""
        return noisy > self.threshold


truncated_gaussian_counts = catalogue(
    __name__,
    TruncatedGaussianCounts(size=3, sigma=2.0, delta=0.05, l0=2),
    items=(("cesar2020", "trunc_gauss"), ("cesar2020", "truncated_gaussian")),
)
