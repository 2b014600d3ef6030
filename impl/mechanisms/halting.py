"""Common parts of the threshold mechanisms: the first query of a stream above a noisy threshold."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.validation import require_vector

__all__ = ["HaltedError", "HaltingSession", "Stream", "first_true"]


class HaltedError(RuntimeError):
    """Raised if a session that has halted receives a query."""


def first_true(events: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for every row the place, from 1, of its first true entry, or 0 where there is none."""
    return np.where(events.any(axis=1), events.argmax(axis=1) + 1, 0)


class Stream(Protocol):
    """The public parameters of a stream of answers: their number, range and threshold."""

    @property
    def size(self) -> int:
        """The largest number of answers."""
        ...

    @property
    def threshold(self) -> float:
        """The public threshold."""
        ...

    @property
    def low(self) -> float:
        """The least answer."""
        ...

    @property
    def high(self) -> float:
        """The greatest answer."""
        ...


MechanismT = TypeVar("MechanismT", bound=Stream)


class HaltingSession(Generic[MechanismT]):
    """An interactive run: queries may be chosen after seeing that the earlier ones stayed below.

    Parameters
    ----------
    mechanism : Stream
        Its `size` is the largest number of answers taken.
    threshold_noise : float
        The noise of the threshold, drawn once.
    query_noise : callable
        Draws the noise of the next answer.
    """

    def __init__(self, mechanism: MechanismT, threshold_noise: float, query_noise: Callable[[], float]) -> None:
        self.mechanism = mechanism
        self.asked = 0
        self.halted = False
        self._threshold_noise = threshold_noise
        self._query_noise = query_noise

    def ask(self, answer: float) -> bool:
        """Return whether the next answer reaches the threshold, noises included; if so, the run has halted.

        Raises
        ------
        HaltedError
            If the run has halted, or `size` answers have been taken.
        UsageError
            If `answer` is not a number in [low, high].
        """
        mechanism = self.mechanism
        if self.halted or self.asked == mechanism.size:
            reason = "halted" if self.halted else "reached the end of its stream"
            raise HaltedError(f"the run has {reason} after {self.asked} answers; begin another session")
        [number] = require_vector("answer", [answer], 1, mechanism.low, mechanism.high).tolist()
        self.asked += 1
        # The lead is taken before the noise is added, which would be lost beside large numbers.
        self.halted = self._query_noise() + (number - mechanism.threshold) >= self._threshold_noise
        return self.halted

    @property
    def outcome(self) -> int:
        """The halting time, or 0 while no answer has reached the threshold."""
        return self.asked if self.halted else 0
