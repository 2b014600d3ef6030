"""Sessions: several calls of a target on one input, seen as one outcome.

A mechanism that keeps state between calls may be private call by call and leak over several: noise that cancels,
noise that is reused, an exact answer from the third call on. A session of K calls must obey the claim composed K
times. Every session begins with a copy of the target in the state in which it was given, so that sessions are
independent of each other; state that cannot be copied (globals of a module, files) is kept between them.
"""

from collections.abc import Hashable
from copy import deepcopy
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_integer
from dpassay.properties.drawing.call_guard import Habit
from dpassay.properties.drawing.decoding import through
from dpassay.properties.drawing.draws import released_apart
from dpassay.properties.drawing.target_process import RemoteSampler, ask
from dpassay.properties.neighbours.code_numbers import holds_generator
from dpassay.properties.outcomes.calls import CallFailedError, Sampler, call

__all__ = ["MOST_CALLS_OF_SESSION", "SessionSampler", "generators_of", "in_sessions", "require_session"]

Array = NDArray[np.float64]

MOST_CALLS_OF_SESSION = 1000
"""Calls of a session at most: they are made one by one, and the composed claim of more allows nearly anything."""


def require_session(session: int) -> int:
    """Return a number of calls of a session if it is an integer from 1 to `MOST_CALLS_OF_SESSION`.

    Raises
    ------
    UsageError
        Otherwise.
    """
    return require_integer("session", session, 1, MOST_CALLS_OF_SESSION)


@dataclass(frozen=True)
class SessionSampler:
    """A sampler whose outcomes are the outcomes of `length` successive calls.

    Parameters
    ----------
    inner : Sampler
        The target.
    length : int
        Calls of a session.
    """

    inner: Sampler
    length: int

    never_raises_for_many = True
    """An exception of one session among many is an outcome: see `sample_side`."""

    def __post_init__(self) -> None:
        # where the code of the target is, to be sent along
        object.__setattr__(self, "__module__", getattr(self.inner, "__module__", type(self).__module__))

    @property
    def wrap(self) -> "_Sessions":
        """The function that makes the same of the target in another process."""
        return _Sessions(self.length)

    def __call__(self, data: Array, size: int, rng: np.random.Generator) -> list[tuple[Hashable, ...]]:
        """Draw `size` sessions, each with a copy of the target."""
        return [self._session(data, rng) for _ in range(size)]

    def one_by_one(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        """Draw `size` sessions, with the symbol of the exception in place of those whose calls all raised."""
        return released_apart(lambda: self._session(data, rng), size)

    def _session(self, data: Array, rng: np.random.Generator) -> tuple[Hashable, ...]:
        target = _copied(self.inner)
        outcomes: list[Hashable] = []
        failures: list[CallFailedError] = []
        for _ in range(self.length):
            try:
                outcomes.append(call(target, data, 1, rng).symbols()[0])
            except CallFailedError as failure:
                failures.append(failure)
                outcomes.append(failure.symbol)
        if len(failures) == self.length:  # then there is nothing to see but that
            raise failures[0].__cause__ or failures[0]
        return tuple(outcomes)


@dataclass(frozen=True)
class _Sessions:
    """Makes sessions of a sampler, in whatever process it is."""

    length: int

    def __call__(self, sampler: Sampler) -> Sampler:
        return SessionSampler(sampler, self.length)


def in_sessions(sampler: Sampler | RemoteSampler, length: int) -> Sampler | RemoteSampler:
    """Return the sampler of sessions of `length` calls; for a length of 1 the sampler itself.

    Raises
    ------
    UsageError
        If the target cannot be copied, so that sessions would not be independent.
    """
    if length == 1:
        return sampler
    wrapped = through(sampler, _Sessions(length))
    ask(wrapped, _require_copy)
    return wrapped


def generators_of(sampler: Sampler) -> set[Habit]:
    """Return the habit of a sampler, or of the target of its sessions, that holds a random generator of its own.

    A sampler that says `is_elsewhere` stands for code of another interpreter: its own code tells nothing.
    """
    target = sampler.inner if isinstance(sampler, SessionSampler) else sampler
    if getattr(target, "is_elsewhere", False):
        return set()
    return {Habit.OWN_GENERATOR} if holds_generator(target) else set()


def _require_copy(sampler: SessionSampler) -> None:
    try:
        _copied(sampler.inner)
    except Exception as error:  # whatever the code of the target raises
        raise UsageError(
            f"session must be 1 for a target that cannot be copied, as each session begins with a copy of it: "
            f"{type(error).__name__}: {error}"
        ) from error


def _copied(target: Any) -> Any:
    """Return a copy of a target with the state that it holds: its attributes, defaults and enclosed variables."""
    if isinstance(target, MethodType):
        return MethodType(target.__func__, deepcopy(target.__self__))
    if not isinstance(target, FunctionType):
        return deepcopy(target)
    if not target.__closure__ and not target.__defaults__ and not target.__kwdefaults__:
        return target
    memo: dict[int, Any] = {}
    cells = tuple(_copied_cell(cell, memo) for cell in target.__closure__ or ())
    copied = FunctionType(
        target.__code__, target.__globals__, target.__name__, deepcopy(target.__defaults__, memo), cells or None
    )
    copied.__kwdefaults__ = deepcopy(target.__kwdefaults__, memo)
    return copied


def _copied_cell(cell: CellType, memo: dict[int, Any]) -> CellType:
    try:
        content = cell.cell_contents
    except ValueError:  # it is not filled yet
        return CellType()
    return CellType(deepcopy(content, memo))
