"""AboveThreshold with Gaussian noise: the first query of a stream whose noisy answer reaches a noisy threshold."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive
from dpassay.claims import Claim, ExPost
from dpassay.impl.accounting.above_threshold import (
    gaussian_above_threshold_all_below_loss,
    gaussian_above_threshold_loss,
)
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.halting import HaltingSession, first_true
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_range, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["AboveThresholdSession", "GaussianAboveThreshold", "gaussian_above_threshold"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianAboveThreshold:
    """Halting time 1..size on a stream of `size` answers, or 0 if every noisy answer stays below.

    One noise N(0, sigma_threshold^2) is added to the threshold, a fresh N(0, sigma_query^2) to every answer; the
    first answer at or above the noisy threshold halts. Lebensold, Precup and Balle 2024, Alg 1 = Alg 3, on a
    finite stream; the claim is Thm 17 corrected, and the all-below loss that a finite stream needs besides.

    Parameters
    ----------
    size : int
        Length of the stream, at least 1.
    threshold : float
        The public threshold, finite.
    sigma_threshold, sigma_query : float
        Standard deviations of the two noises, positive.
    low, high : float
        Every answer lies in [low, high], finite.
    sensitivity : float
        Largest change of each answer between neighbours, at least 0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    threshold: float
    sigma_threshold: float
    sigma_query: float
    low: float
    high: float
    sensitivity: float

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_at_least("threshold", self.threshold, -math.inf)
        require_positive("sigma_threshold", self.sigma_threshold)
        require_positive("sigma_query", self.sigma_query)
        require_range(self.low, self.high)
        require_at_least("sensitivity", self.sensitivity, 0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The ex-post bound, outcome by outcome."""
        return (ExPost(self.epsilon_of, "exact worst-case loss of Gaussian AboveThreshold"),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Streams of answers in [low, high], each moved by at most the sensitivity."""
        return VectorNeighbours(size=self.size, linf=self.sensitivity, low=self.low, high=self.high)

    @cached_property
    def losses(self) -> Array:
        """Ex-post bounds of the outcomes 0..size, in nats, rounded up."""
        noise = (
            self.threshold,
            self.sigma_threshold,
            self.sigma_query,
            self.low,
            self.high,
            self.sensitivity,
        )
        halted = gaussian_above_threshold_loss(np.arange(1, self.size + 1), *noise)
        return np.concatenate([np.atleast_1d(gaussian_above_threshold_all_below_loss(self.size, *noise)), halted])

    def epsilon_of(self, outcome: Hashable) -> float:
        """Return the ex-post bound of an outcome; raise `UsageError` if it is not one of 0..size."""
        return float(self.losses[require_outcome(outcome, self.size)])

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any] | NDArray[Any]:
        """Draw `size` outcomes on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return in_chunks(lambda rows: self.draw(answers, rows, rng), size, self.size + 1)

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `rows` outcomes on validated answers, which may be fewer than `size`."""
        noisy_threshold = self.threshold + self.sigma_threshold * rng.standard_normal((rows, 1))
        noisy_answers = answers + self.sigma_query * rng.standard_normal((rows, answers.size))
        return first_true(noisy_answers >= noisy_threshold)

    def session(self, rng: np.random.Generator) -> "AboveThresholdSession":
        """Start an interactive run that receives answers one at a time; the threshold noise is drawn here."""

        def query_noise() -> float:
            return self.sigma_query * float(rng.standard_normal())

        return AboveThresholdSession(self, self.sigma_threshold * float(rng.standard_normal()), query_noise)


def require_outcome(outcome: Any, size: int) -> int:
    """Return `outcome` as an index if it is an integer in 0..size; raise `UsageError` otherwise."""
    time = require_count("outcome", outcome, low=0)
    if time > size:
        raise UsageError(f"outcome must be an integer from 0 to {size}, got {outcome!r}")
    return time


class AboveThresholdSession(HaltingSession[GaussianAboveThreshold]):
    """An interactive run of `GaussianAboveThreshold` with its privacy loss so far."""

    @property
    def loss(self) -> float:
        """Ex-post bound of the outcomes so far, in nats."""
        if self.asked == 0:
            return 0.0
        m = self.mechanism
        bound = gaussian_above_threshold_loss if self.halted else gaussian_above_threshold_all_below_loss
        return float(bound(self.asked, m.threshold, m.sigma_threshold, m.sigma_query, m.low, m.high, m.sensitivity))


gaussian_above_threshold = catalogue(
    __name__,
    GaussianAboveThreshold(
        size=5, threshold=1.5, sigma_threshold=0.15, sigma_query=0.26, low=1.0, high=2.0, sensitivity=0.1
    ),
    items=(("lebensold2024", "gaussian_above_threshold"),),
)
