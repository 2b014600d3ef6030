"""Laplace noise reduction: one process with Laplace marginals, observed at decreasing times.

Rogers, Samorodnitsky, Wu and Ramdas 2023, appendix A. X has independent increments and X(t) has the density
e^(-|x|/t)/(2t). Two samplers of one distribution: `forward_laplace_noise` goes up in time by increments that vanish
with probability (s/t)^2 and are Laplace with scale t otherwise; `backward_laplace_step` goes down from a value, and so
can be continued online. Times are scales.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import Claim, ExPost
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.noise_reduction import NoiseReduction, RefinedRun, StopsAbove, require_times
from dpassay.impl.validation import real_array, require_count
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "LaplaceNoiseReduction",
    "LaplaceRun",
    "backward_laplace_noise",
    "backward_laplace_step",
    "forward_laplace_noise",
    "laplace_noise_reduction",
]

Array = NDArray[np.float64]
_ROUNDED_UP = 1 + 2.0**-50
_LARGEST_RATIO = 1e300


def forward_laplace_noise(times: ArrayLike, runs: int, rng: np.random.Generator, *, dimension: int = 1) -> Array:
    """Draw Laplace processes at decreasing times, by increments from the smallest time upwards.

    Parameters
    ----------
    times : array_like, shape (steps,)
        Scales, positive and falling strictly.
    runs : int
        Number of independent processes.
    rng : numpy.random.Generator
        Source of randomness.
    dimension : int
        Number of coordinates: independent processes at the same times.

    Returns
    -------
    ndarray, shape (runs, steps, dimension)

    Raises
    ------
    UsageError
        If the times are not such a grid, or a count is not one.
    """
    grid = require_times(times)
    shape = require_count("runs", runs, low=0), grid.size, require_count("dimension", dimension)
    below = np.append(grid[1:], 0.0)  # the time at which each increment begins
    moves = rng.random(shape) >= ((below / grid) ** 2)[:, None]
    increments = np.where(moves, grid[:, None] * rng.laplace(size=shape), 0.0)
    noise: Array = np.cumsum(increments[:, ::-1], axis=1)[:, ::-1]
    return noise


def backward_laplace_step(values: ArrayLike, time: float, earlier: float, rng: np.random.Generator) -> Array:
    """Draw X(s) given X(t), for s = `time` below t = `earlier` (released earlier, with more noise).

    With z = |X(t)|, A = 1/s + 1/t and B = 1/s - 1/t: X(s) = X(t) with probability (s/t) e^(-B z). Otherwise it lies,
    seen from the side of X(t), below 0 as -Exp(A), between 0 and z as an Exp(B) cut off at z, or beyond z as
    z + Exp(A), with weights 1/A, (1 - e^(-B z))/B and e^(-B z)/A. All is computed in units of t, where B may be tiny
    (s near t: the differences are taken by expm1 and log1p) or huge.

    Parameters
    ----------
    values : array_like
        X(t); any shape.
    time, earlier : float
        0 < time < earlier.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    UsageError
        If a value is not finite, or the times are not positive and in this order, or 300 decades apart.
    """
    later = real_array("values", values)
    if require_positive("time", time) >= require_positive("earlier", earlier):
        raise UsageError(f"time must lie below earlier, got {time!r} and {earlier!r}")
    if time < earlier / _LARGEST_RATIO:
        raise UsageError(f"time must be at least earlier / {_LARGEST_RATIO:g}, got {time!r} and {earlier!r}")
    z = np.abs(later) / earlier
    fall = (earlier - time) / time
    rise = fall + 2  # earlier/time + 1
    with np.errstate(over="ignore"):
        depth = fall * z
    kept = np.exp(-depth)
    below, between, beyond = np.full(z.shape, 1 / rise), -np.expm1(-depth) / fall, kept / rise
    where = rng.random(z.shape) * (below + between + beyond)
    outside = rng.exponential(1 / rise, z.shape)
    inside = np.minimum(-np.log1p(rng.random(z.shape) * np.expm1(-depth)) / fall, z)
    moved = np.where(where < below, -outside, np.where(where < below + between, inside, z + outside))
    stays = rng.random(z.shape) < time / earlier * kept
    return np.where(stays, later, earlier * np.where(later < 0, -moved, moved))


def backward_laplace_noise(times: ArrayLike, runs: int, rng: np.random.Generator, *, dimension: int = 1) -> Array:
    """Draw the process of `forward_laplace_noise` in order of release: each value given the preceding one.

    Parameters
    ----------
    times : array_like
        Strictly decreasing positive times (scales).
    runs : int
        Number of runs.
    rng : numpy.random.Generator
        Source of randomness.
    dimension : int
        Number of independent coordinates.
    """
    grid = require_times(times)
    shape = require_count("runs", runs, low=0), require_count("dimension", dimension)
    values = [rng.laplace(scale=grid[0], size=shape)]
    for earlier, time in zip(grid[:-1].tolist(), grid[1:].tolist(), strict=True):
        values.append(backward_laplace_step(values[-1], time, earlier, rng))
    return np.stack(values, axis=1)


class LaplaceRun(RefinedRun):
    """One run on one answer; times are scales, and the loss is at most (l1-sensitivity) / time."""

    def __init__(self, answer: ArrayLike, rng: np.random.Generator) -> None:
        super().__init__(answer, rng)
        self._noise: Array = np.zeros(self._answer.shape)

    def _noise_at(self, time: float) -> Array:
        if np.isinf(self._time):
            self._noise = self._rng.laplace(scale=time, size=self._answer.shape)
        else:
            self._noise = backward_laplace_step(self._noise, time, self._time, self._rng)
        return self._noise


@dataclass(frozen=True)
class LaplaceNoiseReduction(NoiseReduction):
    """An answer with Laplace noise at decreasing scales, released until a stopping rule ends the run.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Def A.1. The sensitivity is in the l1 norm.
    """

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Ex-post: the loss of a run is at most sensitivity / t at its last time t."""
        price = f"sensitivity / last time, times {self.times}"
        return (ExPost(lambda outcome: self.ex_post_epsilon(int(outcome[0])), price),)  # type: ignore[index]

    def ex_post_epsilon(self, released: int) -> float:
        """Return the ex-post bound of a run with that many releases, in nats, rounded up.

        Raises
        ------
        UsageError
            If `released` is no number of releases that a run can have.
        """
        if require_count("released", released) > len(self.times):
            raise UsageError(f"released must be at most {len(self.times)}, the size of the grid, got {released!r}")
        return self.sensitivity / self.times[released - 1] * _ROUNDED_UP

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at an l1 distance of at most the sensitivity."""
        return VectorNeighbours(size=self.size, l1=self.sensitivity)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw `rows` Laplace processes."""
        return forward_laplace_noise(self.times, rows, rng, dimension=self.size)


laplace_noise_reduction = catalogue(
    __name__,
    LaplaceNoiseReduction(size=1, times=(4.0, 2.0, 1.0), stop=StopsAbove(1.0)),
    items=(("rogers2023", "laplace_noise_reduction"), ("rogers2023", "laplace_process")),
)
