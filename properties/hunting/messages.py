"""The message of an exception that a witness is about: the outcome itself is the type of the exception."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import SamplerLostError, UsageError
from dpassay.properties.drawing.call_guard import CallTimeoutError, carry_out
from dpassay.properties.drawing.decoding import through
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.target_process import RemoteSampler, TargetExitError, WorkersLostError, ask
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.outcomes.symbols import RAISES, CallFailedError, Sampler, call

__all__ = ["with_message"]

Array = NDArray[np.float64]

_LOOKS = 32
"""Calls in which an exception is looked for: a rarer one has no message in the output."""

_LONGEST = 200
"""Characters of a message that are shown."""


def with_message(result: HuntResult, sampler: Sampler | RemoteSampler, timeout: float) -> HuntResult:
    """Return a result with a note of the exception, where the event of its witness is one.

    Parameters
    ----------
    result : HuntResult
        Of one call an outcome.
    sampler : Sampler or RemoteSampler
        Of the inputs as the search has them.
    timeout : float
        Seconds that each call may take.
    """
    if result.witness is None or RAISES not in result.witness.event:
        return result
    is_left = sum(result.witness.p_left) >= sum(result.witness.p_right)
    data = np.array(result.witness.left if is_left else result.witness.right)
    draw = Draw(data, _LOOKS, np.random.SeedSequence(result.seed), one_by_one=True)
    try:
        with kept_global_generators():
            outcomes = ask(through(sampler, _telling), carry_out, draw, timeout)[0]
    except (CallTimeoutError, SamplerLostError, TargetExitError, UsageError, WorkersLostError):
        return result
    told: Sequence[object] = [] if outcomes is None else outcomes.symbols()
    message = next((one for one in told if isinstance(one, str)), None)
    if message is None:
        return result
    return replace(result, notes=(*result.notes, f"an exception of the event: {message}"))


def _telling(sampler: Sampler) -> Sampler:
    """Return a sampler whose outcomes are the words of exceptions, and None for all else."""

    def told(data: Array, size: int, rng: np.random.Generator) -> list[str | None]:
        return [_message(sampler, data, rng) for _ in range(size)]

    return told


def _message(sampler: Sampler, data: Array, rng: np.random.Generator) -> str | None:
    try:
        call(sampler, data, 1, rng)
    except CallFailedError as failure:
        return " ".join(str(failure).split())[:_LONGEST]
    return None
