"""Brownian noise reduction: one Brownian motion, observed at decreasing times.

Rogers, Samorodnitsky, Wu and Ramdas 2023, Def 4.4. In *information time* u = 1/t the process u B(1/u) is a Brownian
motion again, and u y(u) = u f + u B(1/u) grows by independent increments: so a run is drawn, and extended online, by
adding normal increments of variance u_k - u_(k-1) and dividing by u_k. Nothing is lost to cancellation on dense grids,
where the bridge form loses digits. Times are variances; the outcomes are float64 numbers, with all that follows for
the discreteness of floating point.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.claims import ZCDP, Claim
from dpassay.impl.accounting.gaussian import gaussian_zcdp
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.noise_reduction import NoiseReduction, RefinedRun, StopsAbove, require_times
from dpassay.impl.validation import require_count
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "BrownianNoiseReduction",
    "BrownianRun",
    "brownian_noise",
    "brownian_noise_reduction",
]

Array = NDArray[np.float64]


def brownian_noise(times: ArrayLike, runs: int, rng: np.random.Generator, *, dimension: int = 1) -> Array:
    """Draw Brownian motions at decreasing times.

    Parameters
    ----------
    times : array_like, shape (steps,)
        Variances, positive and falling strictly.
    runs : int
        Number of independent motions.
    rng : numpy.random.Generator
        Source of randomness.
    dimension : int
        Number of coordinates, all at the same times.

    Returns
    -------
    ndarray, shape (runs, steps, dimension)
        Row by row normal with mean 0 and covariance min(s, t) between the times s and t.

    Raises
    ------
    UsageError
        If the times are not such a grid, or a count is not one.
    """
    grid = require_times(times)
    require_count("runs", runs, low=0)
    require_count("dimension", dimension)
    precisions = 1 / grid
    steps = np.sqrt(np.diff(precisions, prepend=0.0))
    noise = rng.standard_normal((runs, grid.size, dimension))
    noise *= steps[:, None]
    np.cumsum(noise, axis=1, out=noise)
    noise /= precisions[:, None]
    return noise


class BrownianRun(RefinedRun):
    """One run on one answer; times are variances.

    Examples
    --------
    >>> run = BrownianRun(10.0, np.random.default_rng(0))
    >>> values = [run.refine(time) for time in (100.0, 1.0, 0.01)]
    >>> run.time, bool(abs(values[-1] - 10) < 1)
    (0.01, True)
    """

    def __init__(self, answer: ArrayLike, rng: np.random.Generator) -> None:
        super().__init__(answer, rng)
        self._precision = 0.0
        self._motion: Array = np.zeros(self._answer.shape)

    @property
    def precision(self) -> float:
        """The precision spent: 1/time, 0 before the first release. At sensitivity D it costs rho = D^2 precision/2."""
        return self._precision

    def _noise_at(self, time: float) -> Array:
        precision = 1 / time
        step = np.sqrt(precision - self._precision) * self._rng.standard_normal(self._answer.shape)
        self._motion = self._motion + step
        self._precision = precision
        return np.asarray(self._motion / precision)


@dataclass(frozen=True)
class BrownianNoiseReduction(NoiseReduction):
    """An answer with Brownian noise at decreasing variances, released until a stopping rule ends the run.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Def 4.4. The sensitivity is Euclidean.
    """

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP with rho = sensitivity^2 / (2 t) at the last time t of the grid: the cost of a full run."""
        return (ZCDP(float(gaussian_zcdp(self.times[-1] ** 0.5, self.sensitivity)) * (1 + 2.0**-50)),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at a Euclidean distance of at most the sensitivity."""
        return VectorNeighbours(size=self.size, l2=self.sensitivity)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw `rows` Brownian motions."""
        return brownian_noise(self.times, rows, rng, dimension=self.size)


brownian_noise_reduction = catalogue(
    __name__,
    BrownianNoiseReduction(size=1, times=(4.0, 1.0, 0.25), stop=StopsAbove(1.0)),
    items=(
        ("rogers2023", "brownian_noise_reduction"),
        ("rogers2023", "noise_reduction_mechanism"),
        ("rogers2023", "stopping_function"),
    ),
)
