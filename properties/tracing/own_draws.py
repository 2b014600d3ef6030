"""Sources of chance and time of the code under test, beside the generator that it gets.

To a trace, a draw from a generator of the target's own, or the time, is a number like any other. Two runs that happen
to agree would make it a constant, and a proof would speak of a mechanism without it.
"""

import cProfile
import datetime as dt
import random
import sys
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dpassay.properties.drawing.global_generators import global_state
from dpassay.properties.tracing.exact_names import contents_of, functions_in, spaces_of
from dpassay.properties.tracing.refusal import original_of, refuse

__all__ = ["SHARED", "Clock", "OwnGenerators", "watched_clock"]

_CLOCKS = frozenset(
    getattr(time, name)
    for stem in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for name in (stem, f"{stem}_ns")
    if hasattr(time, name)
)
_DATES = frozenset({"now", "today", "utcnow"})

SHARED = np.random.mtrand._rand, random._inst  # noqa: SLF001 - libraries use them
"""The shared generators of `numpy.random` and `random`."""

_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
_DEEPEST = 4
"""Objects within objects that are looked into."""

_LIBRARIES = frozenset({"numpy", "scipy", "dpassay"})
"""Packages whose objects are not looked into: they are large, and keep no generator of the target."""


class Clock:
    """A note that the code under test asked for the time."""

    was_read = False


@contextmanager
def watched_clock(sampler: Any) -> Iterator[Clock]:
    """Note whether the code of a target asks for the time; other code may, as at a garbage collection."""
    clock, before = Clock(), sys.getprofile()
    spaces = set(map(id, spaces_of(sampler)))

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and id(frame.f_globals) in spaces and _tells_time(function):
            clock.was_read = True

    sys.setprofile(note)
    try:
        yield clock
    finally:
        if isinstance(before, cProfile.Profile):  # up to Python 3.11 it stands there itself, and cannot be called
            before.enable()
        else:
            sys.setprofile(before)


def _tells_time(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    if name in _DATES:
        owner = getattr(function, "__self__", None)
        return isinstance(owner, type) and issubclass(owner, dt.date)
    return any(function is one for one in _CLOCKS if one.__name__ == name)


class OwnGenerators:
    """The generators that the code under test can reach by its names, with their states at the start.

    Parameters
    ----------
    sampler : object
        The target.
    """

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        self._states = {id(found): (found, _state(found)) for found in _generators_of(sampler)}
        self._shared = global_state()

    def why_used(self) -> str | None:
        """Return words for one that has been drawn from; None if none was. A new one that is kept counts as used."""
        found = list(_generators_of(self._sampler))
        if any(id(one) not in self._states or self._states[id(one)][1] != _state(one) for one in found):
            return "hidden randomness: a generator of the target's own"
        if self._shared != global_state():
            return "hidden randomness: a shared generator, by other ways than the functions of random and numpy.random"
        return None

    def require_no_shared(self) -> None:
        """Refuse a target that keeps a shared generator, or a method of one, where a trace cannot replace it."""
        if any(one is shared for one in _generators_of(self._sampler) for shared in SHARED):
            refuse("hidden randomness: a function of a shared generator in a default, a closure or an object")


def _state(generator: Any) -> Hashable:
    if isinstance(generator, random.Random):
        return repr(generator.getstate())
    if isinstance(generator, np.random.Generator):
        return repr(generator.bit_generator.state)
    return repr(generator.get_state(legacy=False))


def _generators_of(sampler: Any) -> Iterator[Any]:
    """Yield the generators among all global names, and those within what the functions of the target name."""
    spaces = spaces_of(sampler)
    seen = set(map(id, spaces))  # of these, only what the functions name is looked into
    for space in spaces:
        for value in list(space.values()):
            if isinstance(value, _GENERATORS):
                yield from _in_value(value, seen, 1)
    for function in functions_in(sampler, _DEEPEST):
        named = [function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__]
        for value in (function, *named):
            yield from _in_value(value, seen, _DEEPEST)
    yield from _in_value(sampler, seen, _DEEPEST)


def _in_value(value: Any, seen: set[int], depth: int) -> Iterator[Any]:
    if depth == 0 or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, _GENERATORS):
        if not isinstance(value, random.SystemRandom) and not type(value).__module__.startswith("dpassay."):
            yield value
        return
    for part in _parts(value):
        yield from _in_value(part, seen, depth - 1)


def _parts(value: Any) -> list[Any]:  # noqa: PLR0911 - a case for each kind of value
    """Return the values that a function, an object or a class of the code under test or a container holds."""
    if any(getattr(value, "__self__", None) is shared for shared in SHARED):
        return [value.__self__]
    function = getattr(value, "__func__", value)
    if original_of(function) is not function:
        return []
    if isinstance(function, FunctionType):
        kept = [*contents_of(function), *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [*kept, getattr(value, "__self__", None), *vars(function).values()]
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, type):
        is_foreign = value.__module__.partition(".")[0] in _LIBRARIES | sys.stdlib_module_names
        return [] if is_foreign else list(vars(value).values())
    if isinstance(value, ModuleType) or type(value).__module__.partition(".")[0] in _LIBRARIES:
        return []
    return list(getattr(value, "__dict__", {}).values())
