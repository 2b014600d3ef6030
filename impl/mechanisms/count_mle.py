"""Gaussian counts, projected onto a public order by least squares."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import ZCDP, Claim
from dpassay.impl.accounting.histograms import gaussian_histogram_zcdp
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.lazy import optimize
from dpassay.neighbours import VectorNeighbours

__all__ = ["CountMLE", "count_mle", "ordered_fit"]

Array = NDArray[np.float64]

_NARROW = 32


def ordered_fit(noisy: Array) -> Array:
    """Return, row by row, the closest x in l2 with x_1 >= ... >= x_k >= 0: isotonic regression, then cut off at 0.

    Narrow arrays go through x_i = min_{a <= i} max_{b >= i} mean(y_a, ..., y_b), all rows at once; wide ones through
    scipy's pooling, row by row.
    """
    rows = np.atleast_2d(noisy)
    fit = _by_means(rows) if rows.shape[1] <= _NARROW else np.array([_pooled(row) for row in rows])
    return np.asarray(np.maximum(fit, 0.0).reshape(noisy.shape))


def _pooled(row: Array) -> Array:
    return np.asarray(optimize.isotonic_regression(row, increasing=False).x)


def _by_means(rows: Array) -> Array:
    size = rows.shape[1]
    fit = np.full_like(rows, np.inf)
    for a in range(size):
        means = np.cumsum(rows[:, a:], axis=1) / np.arange(1, size - a + 1)
        largest = np.maximum.accumulate(means[:, ::-1], axis=1)[:, ::-1]  # over all b >= i, from a on
        fit[:, a:] = np.minimum(fit[:, a:], largest)
    return fit


@dataclass(frozen=True)
class CountMLE:
    """Counts with N(0, linf^2 sigma^2) on each, fitted to a given order of the labels.

    Cesar and Rogers 2020, Alg 1. The order must be public, or the output of a private phase that is charged elsewhere:
    the order of the true counts reveals them.

    Parameters
    ----------
    size : int
        Number of counts.
    sigma : float
        Noise multiplier, positive: the standard deviation is linf sigma.
    linf : float
        Largest change of each count, positive.
    order : tuple of int, optional
        The labels from the largest to the smallest; 0, 1, ... if not given.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, or `order` is no permutation of the labels.
    """

    size: int
    sigma: float
    linf: float = 1.0
    order: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("sigma", self.sigma)
        require_positive("linf", self.linf)
        if self.order is not None and sorted(self.order) != list(range(self.size)):
            raise UsageError(f"order must hold each label below {self.size} once, got {self.order!r}")

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP with rho = size/(2 sigma^2): all counts may move."""
        return (ZCDP(float(gaussian_histogram_zcdp(self.sigma, self.size))),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that each move by at most linf."""
        return VectorNeighbours(size=self.size, linf=self.linf, low=0.0)

    def order_of(self, counts: Array) -> NDArray[np.int64]:  # noqa: ARG002  # what a mutant looks at
        """Return the public order, which does not depend on the counts."""
        return np.arange(self.size) if self.order is None else np.array(self.order)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise of `rows` runs, one row a run."""
        return self.linf * self.sigma * rng.standard_normal((rows, self.size))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` fits, one a row, in the given order of the labels."""
        counts = require_vector("data", data, self.size, 0.0)
        order = self.order_of(counts)
        return in_chunks(lambda rows: ordered_fit(counts[order] + self.noise(rows, rng)), size, self.size)


count_mle = catalogue(
    __name__,
    CountMLE(size=3, sigma=2.0),
    items=(("cesar2020", "count_mle"),),
)
