"""The Gaussian sparse vector technique: AboveThreshold restarted after every alarm, behind a self-reporting filter."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_positive
from dpassay.claims import ApproximateDP, Claim, ProbabilisticDP
from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_all_below_loss
from dpassay.impl.accounting.above_threshold_renyi import above_threshold_rdp
from dpassay.impl.accounting.conversions import best_probabilistic_epsilon
from dpassay.impl.accounting.filters import Offer, OfferedMechanism, SelfReportingFilter, run_filtered
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["GaussianSparseVector", "gaussian_sparse_vector"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianSparseVector:
    """The places (from 1) of all alarms on a stream, until it ends or the filter refuses another run.

    Every run of AboveThreshold begins after the last alarm with fresh noise for its threshold, and is charged what its
    outcome reveals; the last one, which ends without an alarm, too. Lebensold, Precup and Balle 2024, section 3.3,
    with the delta of a run a fraction 1/size of the budget, because their Thm 11 = Thm 19 needs the sum over the runs.

    Parameters
    ----------
    run : GaussianAboveThreshold
        The first run, on the whole stream: parameters and the stream's length.
    epsilon : float
        Budget, positive.
    delta : float
        Budget, in (0, 1).

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    run: GaussianAboveThreshold
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_positive("delta", self.delta)
        ProbabilisticDP(self.epsilon, self.delta)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Probabilistic DP, which implies approximate DP."""
        return (ProbabilisticDP(self.epsilon, self.delta), ApproximateDP(self.epsilon, self.delta))

    @property
    def neighbours(self) -> VectorNeighbours:
        """Streams of answers in [low, high], each moved by at most the sensitivity."""
        return self.run.neighbours

    @cached_property
    def offer(self) -> Offer:
        """The offer of every run: the smaller of its largest ex-post loss and the Renyi bound at delta/size."""
        run, delta = self.run, self.delta / self.run.size
        noise = (run.threshold, run.sigma_threshold, run.sigma_query, run.low, run.sensitivity)
        epsilon = best_probabilistic_epsilon(lambda alpha: above_threshold_rdp(alpha, *noise), delta)
        largest = float(max(run.losses.max(), self.all_below_losses.max()))
        return Offer(largest) if largest <= epsilon else Offer(epsilon, delta)

    @cached_property
    def all_below_losses(self) -> Array:
        """Ex-post bounds of runs of 1..size answers that end without an alarm."""
        run = self.run
        return gaussian_above_threshold_all_below_loss(
            np.arange(1, run.size + 1), run.threshold, run.sigma_threshold, run.sigma_query, run.low, run.high,
            run.sensitivity,
        )  # fmt: skip

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` outcomes, each a tuple of increasing places, on the answers `data`."""
        answers = require_vector("data", data, self.run.size, self.run.low, self.run.high)

        def draw(rows: int) -> NDArray[Any]:
            outcomes = np.empty(rows, dtype=object)
            for row in range(rows):
                outcomes[row] = self._alarms(answers, rng)
            return outcomes

        return list(in_chunks(draw, size, self.run.size))

    def _alarms(self, answers: Array, rng: np.random.Generator) -> tuple[int, ...]:
        def choose(times: Sequence[int]) -> OfferedMechanism | None:
            rest = answers[sum(times) :]
            if rest.size == 0 or 0 in times:
                return None
            return OfferedMechanism(
                self.offer, lambda: self._one_run(rest, rng), lambda time: self._loss(time, rest.size)
            )

        times = run_filtered(SelfReportingFilter(self.epsilon, self.delta), choose)
        return tuple(int(place) for place in np.cumsum([time for time in times if time]))

    def _one_run(self, answers: Array, rng: np.random.Generator) -> int:
        return int(self.run.draw(answers, 1, rng)[0])

    def _loss(self, time: Any, length: int) -> float:
        return float(self.run.losses[time] if time else self.all_below_losses[length - 1])


gaussian_sparse_vector = catalogue(
    __name__,
    GaussianSparseVector(
        GaussianAboveThreshold(
            size=6, threshold=0.5, sigma_threshold=1.0, sigma_query=1.75, low=0.0, high=1.0, sensitivity=0.1
        ),
        epsilon=1.0,
        delta=1e-5,
    ),
    items=(("lebensold2024", "gaussian_above_threshold"), ("lebensold2024", "fsrc_filter")),
)
