"""AboveThreshold restarted after every halt: a pass through a whole series."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold

__all__ = ["Rounds", "pass_through"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rounds:
    """The rounds of one pass, in order.

    Parameters
    ----------
    halting_times : array of int
        How many days each round took that halted; the last of its days is reported as high.
    left_over : int
        Days of the final round if it did not halt, 0 if the last day was reported.
    """

    halting_times: NDArray[np.int64]
    left_over: int

    @property
    def count(self) -> int:
        """Number of rounds, the one that did not halt included."""
        return len(self.halting_times) + (self.left_over > 0)

    def alarms(self, days: int, rounds: int | None = None) -> NDArray[np.bool_]:
        """Return which of the days were reported as high, by the first `rounds` rounds if not by all."""
        raised = np.zeros(days, dtype=bool)
        raised[np.cumsum(self.halting_times[:rounds]) - 1] = True
        return raised


def pass_through(mechanism: GaussianAboveThreshold, answers: Array, rng: np.random.Generator) -> Rounds:
    """Run `mechanism` on the answers, begin anew after every halt, and stop at the end of the series.

    Parameters
    ----------
    mechanism : GaussianAboveThreshold
        Its `size` is the number of answers; the noise of threshold and answers is drawn afresh in every round.
    answers : array of shape (mechanism.size,)
        The series.
    rng : numpy.random.Generator
        Source of the noise.
    """
    halting_times: list[int] = []
    rest = answers
    while len(rest):
        [outcome] = replace(mechanism, size=len(rest)).sample(rest, 1, rng)
        if outcome == 0:
            break
        halting_times.append(int(outcome))
        rest = rest[int(outcome) :]
    return Rounds(np.array(halting_times, dtype=np.int64), len(rest))
