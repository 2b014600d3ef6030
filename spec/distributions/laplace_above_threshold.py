"""AboveThreshold with Laplace noise: the exact distribution of the halting time (Gaboardi 2017, S7)."""

from collections.abc import Hashable
from dataclasses import dataclass

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, exact, sum_balls
from dpassay.spec.distributions.above_threshold import ALL_BELOW
from dpassay.spec.distributions.laplace import log_laplace_cdf, log_laplace_sf
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold

__all__ = ["LaplaceAboveThresholdDistribution", "PublicThresholdDistribution"]


@dataclass(frozen=True)
class LaplaceAboveThresholdDistribution:
    """The distribution of the halting time, 1, ..., k, or `ALL_BELOW`, on a stream of k answers.

    The slides leave the all-below outcome of a finite stream out.

    Parameters
    ----------
    answers : tuple of exact numbers
        The stream, at least one answer.
    setting : LaplaceThreshold
        Threshold and noise.
    """

    answers: tuple[Exact, ...]
    setting: LaplaceThreshold

    def __post_init__(self) -> None:
        if not self.answers:
            raise UsageError("answers must hold at least one number, got none")
        for answer in self.answers:
            exact("answers", answer)

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The halting times and `ALL_BELOW`."""
        return (*range(1, len(self.answers) + 1), ALL_BELOW)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome."""
        time = halting_time(outcome, len(self.answers))
        asked = time or len(self.answers) + 1
        below = [(answer, int(place < asked)) for place, answer in enumerate(self.answers, start=1)]
        return self.setting.log_pattern(below, [(self.answers[time - 1], 1)] if time else [])


@dataclass(frozen=True)
class PublicThresholdDistribution:
    """Answers compared in order with a threshold without noise, until `halts` of them have reached it.

    Independent comparisons, each of which costs privacy (S9). The outcome tells for each comparison whether the answer
    reached the threshold.

    Parameters
    ----------
    answers : tuple of exact numbers
        The answers.
    threshold : exact number
        The public threshold.
    query_scale : exact number
        Scale of the Laplace noise on each answer, positive.
    """

    answers: tuple[Exact, ...]
    threshold: Exact
    query_scale: Exact

    def log_pattern(self, reached: tuple[bool, ...]) -> arb:
        """Enclose the log-probability that exactly the answers marked true reach the threshold."""
        if len(reached) != len(self.answers):
            raise UsageError(f"reached must mark {len(self.answers)} answers, got {reached!r}")
        scale, threshold = exact("query_scale", self.query_scale), exact("threshold", self.threshold)
        leads = [(threshold - exact("answers", answer)) / scale for answer in self.answers]
        return sum_balls(
            log_laplace_sf(x) if above else log_laplace_cdf(x) for x, above in zip(leads, reached, strict=True)
        )


def halting_time(outcome: Hashable, size: int) -> int:
    """Return a halting time, 0 for `ALL_BELOW`; raise `UsageError` if it is not one of 0, ..., size."""
    if isinstance(outcome, bool) or not isinstance(outcome, int) or not 0 <= outcome <= size:
        raise UsageError(f"outcome must be an integer from 0 to {size}, got {outcome!r}")
    return outcome
