"""Calls of a target: the function that samples it, and what a call returns or raises as something to observe."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.keyboard import noting_interruptions
from dpassay.mechanism import ClaimedMechanism, SamplerLostError
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.raised import RAISES, raised_words

__all__ = ["CallFailedError", "Sampler", "WrongCountError", "call", "sampler_of"]

Array = NDArray[np.float64]
Sampler = Callable[[Array, int, np.random.Generator], Any]


class CallFailedError(Exception):
    """A call raised, which is itself something to observe; `symbol` is the outcome that stands for it."""

    def __init__(self, error: BaseException) -> None:
        words = raised_words(error)
        super().__init__(words)
        # libraries quote invalid arguments in messages, which no author of one calls a release
        self.symbol = f"{RAISES}{type(error).__name__ if isinstance(error, WorkerError) else words}>"


class WrongCountError(CallFailedError):
    """A call returned something else than the outcomes asked for; now and then, that is something to observe too."""

    def __init__(self, size: int, raw: Any) -> None:
        kind = type(raw).__name__
        try:
            count = f"{len(raw)} in a {kind}"
        except Exception:  # noqa: BLE001  # whatever a foreign __len__ raises
            count = kind
        self.complaint = f"target must return {size} outcomes (a sequence or an array) for size={size}, got {count}"
        super().__init__(UsageError(self.complaint))
        self.symbol = f"{RAISES}wrong number: {count}>"


def sampler_of(target: Any) -> Sampler:
    """Return the function ``(data, size, rng) -> outcomes`` of a mechanism or of a plain callable.

    Raises
    ------
    UsageError
        If the target is neither, or a function that does not take three arguments.
    """
    if isinstance(target, ClaimedMechanism):
        return target.sample
    if callable(target):
        _require_signature(target)
        function: Sampler = target
        return function
    raise UsageError(f"target must be a mechanism or a callable f(data, size, rng), got {type(target).__name__}")


def _require_signature(target: Callable[..., Any]) -> None:
    """Raise `UsageError` for a function that cannot be called with data, size and rng; some in C do not tell."""
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, 1, None)
    except TypeError:
        name = getattr(target, "__name__", type(target).__name__)
        raise UsageError(
            f"target must take f(data, size, rng), got {name}{signature}; a function that makes one release a call is "
            f"named per-call:FILE.py:{name}, or given as per_call({name})"
        ) from None


def call(
    sampler: Sampler,
    data: Array,
    size: int,
    rng: np.random.Generator,
    is_interrupted: Callable[[], bool] | None = None,
) -> Outcomes:
    """Draw `size` outcomes.

    Parameters
    ----------
    sampler : Sampler
        The target.
    data : array of shape (n,)
        The input; the target gets a copy.
    size : int
        Number of outcomes, at least 1.
    rng : numpy.random.Generator
        Source of randomness for the target.
    is_interrupted : callable, optional
        As `noting_interruptions` yields it, for one call of many: the handler is then installed once for all.

    Raises
    ------
    CallFailedError
        If the target raises, also KeyboardInterrupt, while Ctrl-C itself passes; a `WrongCountError` if it returns
        something else than `size` outcomes.
    SamplerLostError
        If the target says that nothing was observed.
    """
    if is_interrupted is None:
        with noting_interruptions() as noted:
            return call(sampler, data, size, rng, noted)
    try:
        raw = sampler(data.copy(), size, rng)  # a copy: a target that edits its input must not spoil the pair
    except SamplerLostError:
        raise
    except BaseException as error:  # also sys.exit: a target must not end the hunt with a status of its own
        if is_interrupted():
            raise KeyboardInterrupt from error
        raise CallFailedError(error) from error
    if not _has_rows(raw, size):
        raise WrongCountError(size, raw)
    return Outcomes.of(raw)


def _has_rows(raw: Any, size: int) -> bool:
    try:
        return len(raw) == size and not isinstance(raw, (str, bytes, dict, set))
    except Exception:  # noqa: BLE001  # whatever a foreign __len__ raises
        return False
