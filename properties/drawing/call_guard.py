"""Guarded calls of a target: a time limit for each call, and notes on faulty behaviour.

A draw is carried out in another thread, so that the time limit and an interruption from the keyboard work on
every platform, also while the target waits in C. A thread cannot be ended from outside: the one that hangs is left
behind, and asked to stop at its next line of Python.
"""

import contextvars
import ctypes
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.libraries.reading import ACCEPTED
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.drawing.global_generators import global_state, seed_global_generators
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler

if TYPE_CHECKING:
    from dpassay.properties.betting.game import PairGame

__all__ = [
    "CALL_TIMEOUT",
    "LOOKED_AT_IN_PART",
    "NOT_FRESH",
    "NOT_READ",
    "PARTLY_READ",
    "PROBED_CALLS",
    "PROBES",
    "CallTimeoutError",
    "Habit",
    "WatchedSampler",
    "carry_out",
    "habits_of",
    "is_constant",
    "notes_on_reading",
]

Array = NDArray[np.float64]

CALL_TIMEOUT = 60.0
"""Seconds that one call of the target may take unless stated otherwise."""

PROBED_CALLS, PROBES = 8, 6
"""Outcomes of one probing call, and the largest number of such calls."""

_PROBE = 1 << 29  # key of seeds that no draw of a hunt has
_SHOWN = 8
"""Numbers of an input that a message shows."""


class CallTimeoutError(Exception):
    """A call did not return in time."""


class Habit(Enum):
    """A behaviour of the target that its user should know, in words."""

    EDITS_INPUT = "the target changes its input in place; each call received a copy"
    GLOBAL_GENERATORS = (
        "the target draws from the global generators of numpy.random, random or torch: they are seeded anew for each "
        "draw, so that workers share no stream; with threads the result cannot be replayed"
    )
    NOT_REPRODUCIBLE = (
        "the target does not draw from its rng alone: the same rng gave different outcomes, so this result cannot "
        "be replayed"
    )
    REPEATS_ITSELF = (
        "not a fresh draw: different generators gave the same outcomes, so calls are not independent and there is no "
        "verdict"
    )
    RELEASES_ONCE = (
        "not a fresh draw: the target drew random numbers for the first call on an input only and repeats the "
        "outcome; that is the release of one outcome, which calls on the same input cannot test: no verdict"
    )
    SHARES_NOISE = (
        "outcomes of one call are not independent of each other: every outcome was drawn by a call with size=1"
    )
    REPEATS_OWN = (
        "not a fresh draw: the target holds a random generator of its own, and calls on one input returned the same "
        "outcome; noise that is kept cannot be told from none: no verdict"
    )
    NOT_RANDOM = "the target is not random: all calls on one input returned the same outcome"
    DRAWS, DRAWS_NOTHING = "some calls draw from the rng", "some calls draw nothing from the rng"
    """No notes by themselves: both of them, and one outcome for each input, make `RELEASES_ONCE`."""
    OWN_GENERATOR = "the target holds a random generator"
    """No note by itself: without draws from the rng, and with one outcome for each input, it makes `REPEATS_OWN`."""


NOT_FRESH = frozenset({Habit.REPEATS_ITSELF, Habit.RELEASES_ONCE, Habit.REPEATS_OWN})
"""With these calls are no independent draws of the mechanism, so that there is no verdict."""

NOT_READ, PARTLY_READ = "the target returns outcomes that cannot be read", "parts of outcomes cannot be read"
"""Beginnings of notes on unread outcomes. A hunt without readable outcomes that refutes nothing has no result."""

LOOKED_AT_IN_PART = "parts of outcomes are too long to be looked at in every detail"

_NAMED_PARTS = 8
"""Unreadable parts of an outcome that a message names."""


def notes_on_reading(games: "Sequence[PairGame]") -> list[str]:
    """Return notes for the user on unreadable outcomes, and on unreadable parts of outcomes."""
    partly = {path: what for game in games for path, what in game.partly.items()}
    long = [f"{LOOKED_AT_IN_PART}: {_listed(partly)}; a leak there would be missed"] if partly else []
    unread = {path: kind for game in games for path, kind in game.unread.items()}
    if not unread:
        return long
    blanks = sum(game.blanks for game in games)
    if not blanks:
        return [f"{PARTLY_READ}: {_listed(unread)}; they were not tested", *long]
    calls = sum(game.calls for game in games)
    return [f"{NOT_READ}: {_listed(unread)}, {blanks:,} of {calls:,}; accepted types are {ACCEPTED}", *long]


def _listed(parts: Mapping[str, str]) -> str:
    named = [f"{path} ({what})" for path, what in list(parts.items())[:_NAMED_PARTS]]
    return ", ".join([*named, f"{len(parts) - len(named)} more"] if len(parts) > len(named) else named)


def carry_out(sampler: Sampler, draw: Draw, call_timeout: float = CALL_TIMEOUT) -> tuple[Outcomes | None, set[Habit]]:
    """Carry out a guarded draw; return also the behaviour that was noticed.

    The global generators of `random`, `numpy.random` and PyTorch are seeded from the draw, for targets that use them.

    Parameters
    ----------
    sampler, draw
        As for `sample_side`.
    call_timeout : float
        Seconds that each call may take; infinity: no limit, and the calls are made in this very thread.

    Raises
    ------
    CallTimeoutError
        If a call does not return in time.
    UsageError
        If the target returns something else than the outcomes asked for.
    """
    seed_global_generators(draw.seed)
    watched = WatchedSampler(sampler)
    return _sample(watched, draw, call_timeout), watched.habits


class WatchedSampler:
    """A sampler that keeps the time of its current call, and compares inputs before and after."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self.habits: set[Habit] = set()
        self.current: tuple[float, int] | None = None  # when the call began, and its size
        self.is_abandoned = False

    @property
    def one_by_one(self) -> Sampler | None:
        """The function of the sampler that goes call by call, under watch as well; None if it has none."""
        inner: Sampler | None = getattr(self._sampler, "one_by_one", None)
        return None if inner is None else partial(self._watch, inner)

    @property
    def never_raises_for_many(self) -> bool:
        """Return whether the sampler says so; see `sample_side`."""
        return bool(getattr(self._sampler, "never_raises_for_many", False))

    def __call__(self, data: Array, size: int, rng: np.random.Generator) -> Any:
        """Return what the sampler returns."""
        return self._watch(self._sampler, data, size, rng)

    def _watch(self, sampler: Sampler, data: Array, size: int, rng: np.random.Generator) -> Any:
        if self.is_abandoned:
            raise CallTimeoutError
        before, state = data.copy(), rng.bit_generator.state
        self.current = time.monotonic(), size
        try:
            return sampler(data, size, rng)
        finally:
            self.current = None
            self.habits.add(Habit.DRAWS if rng.bit_generator.state != state else Habit.DRAWS_NOTHING)
            if before.tobytes() != data.tobytes():
                self.habits.add(Habit.EDITS_INPUT)


def _sample(watched: WatchedSampler, draw: Draw, call_timeout: float) -> Outcomes | None:
    if math.isinf(call_timeout):
        return sample_side(watched, draw)
    results: list[Outcomes | None] = []
    errors: list[BaseException] = []
    done, context = threading.Event(), contextvars.copy_context()

    def run() -> None:
        try:
            results.append(context.run(sample_side, watched, draw))
        except BaseException as error:  # noqa: BLE001  # raised again by the thread that waits
            errors.append(error)
        finally:
            done.set()

    caller = _Caller.idle()
    caller.jobs.put(run)
    try:
        patience = call_timeout
        while not done.wait(patience):
            began, size = watched.current or (time.monotonic(), 0)
            patience = began + call_timeout - time.monotonic()
            if patience <= 0:
                raise CallTimeoutError(_complaint(draw, size, call_timeout))
    except BaseException:
        watched.is_abandoned = caller.is_abandoned = True
        _ask_to_stop(caller.thread)
        raise
    _IDLE.append(caller)
    if errors:
        raise errors[0]
    return results[0]


class _Caller:
    """A thread that makes the calls of one draw after the other: to start a thread for each takes longer."""

    def __init__(self) -> None:
        self.is_abandoned = False
        self.jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._work, name="dpassay target", daemon=True)
        self.thread.start()

    @classmethod
    def idle(cls) -> "_Caller":
        """Return one that has nothing to do; one that hangs in a call is never idle again."""
        try:
            return _IDLE.pop()
        except IndexError:
            return cls()

    def _work(self) -> None:
        while not self.is_abandoned:
            self.jobs.get()()


_IDLE: list[_Caller] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # a child process has none of the threads


def _complaint(draw: Draw, size: int, call_timeout: float) -> str:
    values = ", ".join(f"{value:.6g}" for value in draw.data[:_SHOWN])
    more = ", ..." if len(draw.data) > _SHOWN else ""
    return f"the target hangs: f([{values}{more}], {size}, rng) did not return within {call_timeout:g} s"


def _ask_to_stop(thread: threading.Thread) -> None:
    """Raise SystemExit in a thread at its next line of Python; where that cannot be done, it runs on."""
    interpreter = getattr(ctypes, "pythonapi", None)  # CPython only
    if interpreter is not None and thread.ident is not None:
        interpreter.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


# --- habits that one draw does not show ---------------------------------------------------------------------


def habits_of(sampler: Sampler, data: Array, seed: int, call_timeout: float = CALL_TIMEOUT) -> set[Habit]:
    """Ask for the same outcomes twice, and for others, to see how a target uses its rng.

    It takes `PROBED_CALLS` outcomes from each of at most `PROBES` calls; none of them enters a test.

    Parameters
    ----------
    sampler : Sampler
        The target.
    data : array of shape (n,)
        One input.
    seed : int
        Seed of the hunt.
    call_timeout : float
        Seconds that each call may take.

    Raises
    ------
    CallTimeoutError
        If a call does not return in time.
    """

    def probe(key: int) -> tuple[list[Any] | None, bool]:
        draw = Draw(data, PROBED_CALLS, np.random.SeedSequence(seed, spawn_key=(_PROBE, key)), one_by_one=False)
        seed_global_generators(draw.seed)
        before = global_state()
        outcomes = _sample(WatchedSampler(sampler), draw, call_timeout)
        return None if outcomes is None else outcomes.atoms(), global_state() != before

    (first, touches), (again, _) = probe(0), probe(0)
    if first is None or again is None:  # raised: how often is a question for the test itself
        return set()
    habits = {Habit.GLOBAL_GENERATORS} if touches else set()
    if first != again:
        return habits | {Habit.NOT_REPRODUCIBLE}
    varies = any(symbol != first[0] for symbol in first)
    if varies and all(probe(key)[0] == first for key in range(1, PROBES - 1)):
        habits.add(Habit.REPEATS_ITSELF)
    return habits


def is_constant(game: "PairGame") -> bool:
    """Return whether each side of a game showed one outcome only, as far as the game remembers."""
    for side in (True, False):
        seen: list[Outcomes] = []
        for outcomes, is_left in game.archive:
            chosen = np.flatnonzero(is_left == side)
            if chosen.size:
                seen.append(outcomes.taken(chosen[:1]))
                if not outcomes.taken(chosen).are_alike():
                    return False
        if seen and not Outcomes.joined(seen).are_alike():
            return False
    return bool(game.archive)
