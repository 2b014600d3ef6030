"""Common parts of the noise-reduction mechanisms: grid of times, stopping rule, form of the outcome.

A noise-reduction mechanism releases an answer again and again with less and less noise, and the last release says all
that the earlier ones said: its noises at falling *times* (the variance of Brownian noise, the scale of Laplace noise)
are the values of one stochastic process. Rogers, Samorodnitsky, Wu and Ramdas 2023, Def 4.2 and Def 4.3.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import real_array, require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "NoiseReduction",
    "RefinedRun",
    "StoppingRule",
    "StopsAbove",
    "never_stops",
    "outcome_rows",
    "released_counts",
    "require_times",
]

Array = NDArray[np.float64]


class StoppingRule(Protocol):
    """Rule that decides after each release, from the releases only, whether the run ends."""

    def __call__(self, times: Array, values: Array) -> NDArray[np.bool_]:
        """Return which runs stop now.

        Parameters
        ----------
        times : ndarray, shape (releases,)
            The times released so far, falling.
        values : ndarray, shape (runs, releases, dimension)
            What each run has released at these times.

        Returns
        -------
        ndarray of bool, shape (runs,)
        """
        ...


def never_stops(times: Array, values: Array) -> NDArray[np.bool_]:  # noqa: ARG001  # the signature of a rule
    """Run to the end of the grid."""
    return np.zeros(len(values), dtype=np.bool_)


@dataclass(frozen=True)
class StopsAbove:
    """Stops once the first coordinate of the latest release exceeds a threshold."""

    threshold: float

    def __call__(self, times: Array, values: Array) -> NDArray[np.bool_]:  # noqa: ARG002  # the signature of a rule
        """Return which runs have just exceeded the threshold."""
        exceeded: NDArray[np.bool_] = values[:, -1, 0] > self.threshold
        return exceeded


def require_times(times: ArrayLike) -> Array:
    """Return `times` as a float64 vector of finite, positive, strictly falling numbers with finite reciprocals.

    Raises
    ------
    UsageError
        If there are none, or one of them is not a number, not positive, or not below the one before.
    """
    try:
        grid = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"times must be a vector of numbers, got {times!r}") from None
    if grid.ndim != 1 or grid.size == 0:
        raise UsageError(f"times must be a vector of at least one number, got shape {grid.shape}")
    if not bool(np.all(np.isfinite(grid) & (grid >= np.finfo(np.float64).tiny))):
        raise UsageError(f"times must be finite and positive (and not subnormal), got {times!r}")
    if bool(np.any(grid[1:] >= grid[:-1])):
        raise UsageError(f"times must fall strictly, got {times!r}")
    return grid


def released_counts(stop: StoppingRule, times: Array, values: Array) -> NDArray[np.int64]:
    """Return the number of releases of each run: until the rule stops it, or the grid ends.

    The rule is shown prefixes of the runs that are still going, and nothing else.

    Parameters
    ----------
    stop : StoppingRule
        The rule.
    times : ndarray, shape (steps,)
        The grid.
    values : ndarray, shape (runs, steps, dimension)
        What would be released if no run stopped early.
    """
    counts = np.full(len(values), len(times))
    running = np.arange(len(values))
    for released in range(1, len(times)):
        stopped = np.asarray(stop(times[:released], values[running, :released]), dtype=np.bool_)
        if stopped.shape != running.shape:
            raise UsageError(f"stop must return one truth value for each of {running.size} runs, got {stopped.shape}")
        counts[running[stopped]] = released
        running = running[~stopped]
        if not running.size:
            break
    return counts


def outcome_rows(counts: NDArray[np.int64], values: Array) -> Array:
    """Return one row per run: the number of releases, then the released values, padded with 0."""
    hidden = np.arange(values.shape[1]) >= counts[:, None]
    shown = np.where(hidden[:, :, None], 0.0, values).reshape(len(values), -1)
    return np.concatenate([counts[:, None].astype(np.float64), shown], axis=1)


class RefinedRun(ABC):
    """One run on one answer, refined on demand; the grid may be chosen adaptively.

    Parameters
    ----------
    answer : array_like
        The true answer: a number or a vector.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    UsageError
        If the answer is not finite.
    """

    def __init__(self, answer: ArrayLike, rng: np.random.Generator) -> None:
        self._answer = real_array("answer", answer)
        self._rng = rng
        self._time = float("inf")
        self._value: Array | None = None

    @abstractmethod
    def _noise_at(self, time: float) -> Array:
        """Draw the noise at `time`, below the time of the last release, given the noise so far."""

    @property
    def time(self) -> float:
        """The time of the last release; infinite before the first."""
        return self._time

    @property
    def value(self) -> Array | None:
        """The last release; None before the first."""
        return self._value

    def refine(self, time: float) -> Array:
        """Release the answer with noise of a smaller time.

        Raises
        ------
        UsageError
            If `time` is not positive, or not below the one before; nothing is released.
        """
        time = float(require_positive("time", time))
        if not (np.isfinite(1 / time) and time < self._time):
            raise UsageError(f"time must be positive and below {self._time!r}, the one before, got {time!r}")
        released: Array = np.asarray(self._answer + self._noise_at(time))
        self._time, self._value = time, released
        return released

    def refine_until(self, times: Iterable[float], stop: StoppingRule = never_stops) -> tuple[Array, Array]:
        """Refine along a grid until the rule stops, and return the times and values released.

        Returns
        -------
        times : ndarray, shape (releases,)
        values : ndarray, shape (releases, dimension)
        """
        grid = require_times(list(times))
        values: list[Array] = []
        for released, time in enumerate(grid.tolist(), start=1):
            values.append(np.atleast_1d(self.refine(time)))
            if bool(stop(grid[:released], np.stack(values)[None])[0]):
                break
        return grid[: len(values)], np.stack(values)


@dataclass(frozen=True)
class NoiseReduction:
    """A grid, a stopping rule and a sensitivity; subclasses define the noise and the claim.

    An outcome is a row: the number of releases, then the released values, one time after the other, filled up with
    zeros. The times are public.

    Parameters
    ----------
    size : int
        Number of coordinates of the answer, at least 1.
    times : tuple of float
        The grid, positive and falling strictly.
    stop : StoppingRule
        Asked after every release but the last.
    sensitivity : float
        Distance of the answers on neighbours, positive; which norm is the subclass's affair.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    times: tuple[float, ...]
    stop: StoppingRule = never_stops
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_times(self.times)
        require_positive("sensitivity", self.sensitivity)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at a distance of at most the sensitivity."""
        raise NotImplementedError

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise at all times, shape (rows, times, size)."""
        raise NotImplementedError

    def released(self, answers: Array, noise: Array) -> NDArray[np.int64]:
        """Return the number of releases of each run."""
        return released_counts(self.stop, require_times(self.times), answers + noise)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` runs on the answers `data`, one a row."""
        answers = require_vector("data", data, self.size)

        def draw(rows: int) -> Array:
            noise = self.noise(rows, rng)
            return outcome_rows(self.released(answers, noise), answers + noise)

        return in_chunks(draw, size, self.size * len(self.times))
