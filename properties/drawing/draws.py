"""Draws: tasks that anything with the target can carry out, here or in another process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.keyboard import noting_interruptions
from dpassay.mechanism import SamplerLostError
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import CallFailedError, Sampler, call

__all__ = ["Draw", "released_apart", "sample_side"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Draw:
    """A task for a worker: `size` outcomes from a seed of its own, call by call or at once.

    Parameters
    ----------
    data : ndarray
        The input.
    size : int
        Number of outcomes.
    seed : SeedSequence
        Of the generator that all calls of the draw receive.
    one_by_one : bool
        Whether each outcome is drawn by a call of its own.
    other : ndarray, optional
        A second input, for calls one by one.
    on_other : ndarray of bool, shape (size,), optional
        Which of the calls receive it, in the order of the calls.
    """

    data: Array
    size: int
    seed: np.random.SeedSequence
    one_by_one: bool
    other: Array | None = None
    on_other: NDArray[np.bool_] | None = None

    def runs(self) -> list[tuple[Array, int]]:
        """Return the inputs in the order of the calls, each with the number of calls until it changes."""
        if self.other is None or self.on_other is None:
            return [(self.data, self.size)]
        ends = [*(np.flatnonzero(np.diff(self.on_other)) + 1).tolist(), self.size]
        return [
            (self.other if self.on_other[start] else self.data, end - start)
            for start, end in zip([0, *ends[:-1]], ends, strict=True)
        ]


def sample_side(sampler: Sampler, draw: Draw) -> Outcomes | None:
    """Carry out a task; None if a call of many outcomes raised.

    Call by call an exception is an outcome like any other. If a call for many outcomes raises, the number of
    exceptions among them is unknown; see `PairGame.enter`. A sampler may have a function `one_by_one` that goes call
    by call itself, with the symbols of exceptions among the outcomes; one that `never_raises_for_many` always does.
    """
    rng = np.random.default_rng(draw.seed)
    is_apart = draw.one_by_one or getattr(sampler, "never_raises_for_many", False)
    one_by_one: Sampler | None = getattr(sampler, "one_by_one", None) if is_apart else None
    if draw.one_by_one and one_by_one is None:
        with noting_interruptions() as is_interrupted:
            singles = [
                _single(sampler, data, rng, is_interrupted) for data, count in draw.runs() for _ in range(count)
            ]
        return Outcomes.joined(singles)
    try:
        return Outcomes.joined([call(one_by_one or sampler, data, count, rng) for data, count in draw.runs()])
    except CallFailedError:
        return None


def _single(sampler: Sampler, data: Array, rng: np.random.Generator, is_interrupted: Callable[[], bool]) -> Outcomes:
    try:
        return call(sampler, data, 1, rng, is_interrupted)
    except CallFailedError as failure:
        return Outcomes.of([failure.symbol])


def released_apart(release: Callable[[], Any], size: int) -> list[Any]:
    """Return `size` releases, each by a call of its own: an exception is an outcome, as in `sample_side`."""
    with noting_interruptions() as is_interrupted:
        return [_released(release, is_interrupted) for _ in range(size)]


def _released(release: Callable[[], Any], is_interrupted: Callable[[], bool]) -> Any:
    try:
        return release()
    except SamplerLostError:
        raise
    except BaseException as error:  # as in `call`
        if is_interrupted():
            raise KeyboardInterrupt from error
        return CallFailedError(error).symbol
