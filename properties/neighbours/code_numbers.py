"""The numbers in the code of a target, at which its behaviour may change, and the generators that it holds.

A threshold that no designed input comes near is often written down: as a constant, a default, a variable of the
enclosing function or of the module, an attribute, the length of a table, or the range of an integer type. Nothing is
executed here but `__code__` and attributes that are read. The numbers choose inputs to try; they are no evidence.
"""

import contextlib
import dis
import math
import random
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

__all__ = ["holds_generator", "numbers_in_code"]

MOST_NUMBERS = 48
"""Numbers of a target at most: each makes some dozens of pairs."""

_MOST_OBJECTS = 256
"""Objects that are looked at: more cost time, and bring numbers that have little to do with the target."""

_LARGEST_TABLE = 64
"""Numbers that are taken from a table, for the same reason."""

_COMMON = (0.0, 1.0, -1.0, 2.0)
"""Numbers that nearly every function holds, and that inputs reach in any case: they come last."""

_TYPE_LIMITS: dict[str, tuple[float, ...]] = {
    **{f"int{bits}": (2.0 ** (bits - 1) - 1, -(2.0 ** (bits - 1))) for bits in (8, 16, 32)},
    **{f"uint{bits}": (2.0**bits - 1,) for bits in (8, 16, 32)},
    "float16": (2.0**11, 65504.0),
    "float32": (2.0**24,),
}
"""Where a type named in the code overflows, or stops to hold every integer."""

_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_NUMERIC = frozenset({"numpy", "scipy"})
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))


def numbers_in_code(target: Any) -> tuple[float, ...]:
    """Return the numbers that the code of a target holds, the telling ones first, at most `MOST_NUMBERS`.

    Functions and classes of the target's own project are followed, those of installed libraries are not.

    Parameters
    ----------
    target : object
        A function, a method, an object with `sample` or `__call__`, or a partial application of one.

    Examples
    --------
    >>> def capped(data, size, rng, most=37):
    ...     return rng.laplace(size=size) + min(data[0], most) * 4.5
    >>> numbers_in_code(capped)
    (37.0, 4.5, 0.0)
    """
    found = dict.fromkeys(
        value + 0.0 for value in _Reader(_package_of(target)).numbers(target) if math.isfinite(value)
    )
    telling = [value for value in found if value not in _COMMON]
    return tuple([*telling, *(value for value in found if value in _COMMON)][:MOST_NUMBERS])


def holds_generator(target: Any) -> bool:
    """Return whether a random generator is within reach of a target: an attribute, a variable of its own code.

    Parameters
    ----------
    target : object
        As for `numbers_in_code`.
    """
    reader = _Reader(_package_of(target))
    for _ in reader.numbers(target):
        if reader.met_generator:
            return True
    return reader.met_generator


class _Reader:
    """A walk through functions and the objects that they name, each looked at once.

    Parameters
    ----------
    package : str
        The package of the target; what belongs to it is followed wherever it is installed.
    """

    def __init__(self, package: str) -> None:
        self._seen: dict[int, Any] = {}  # the objects as well, so that no identity is used twice
        self._package = package
        self.met_generator = False

    def numbers(self, thing: Any) -> Iterator[float]:
        """Yield the numbers in a thing and in what it names, in the order in which they are met."""
        if isinstance(thing, (bool, np.bool_)) or thing is None:
            return
        if isinstance(thing, (int, float, np.integer, np.floating)):
            yield _as_float(thing)
            return
        if isinstance(thing, str):
            yield from _TYPE_LIMITS.get(thing, ())
            return
        if id(thing) in self._seen or len(self._seen) >= _MOST_OBJECTS:
            return
        self._seen[id(thing)] = thing
        yield from self._inside(thing)

    def _inside(self, thing: Any) -> Iterator[float]:
        if isinstance(thing, _GENERATORS) or _is_generator_of_torch(thing):
            self.met_generator = True
        elif isinstance(thing, np.ndarray):
            if thing.dtype.kind in "iuf":
                yield from (float(len(thing)) for _ in range(thing.ndim > 0))
                yield from map(float, thing.ravel()[:_LARGEST_TABLE])
        elif isinstance(thing, dict):
            yield from self._of_all([len(thing), *_some(thing.keys()), *_some(thing.values())])
        elif isinstance(thing, (list, tuple)):
            yield from self._of_all([len(thing), *_some(thing)])
        elif isinstance(thing, (set, frozenset)):
            yield from self._of_all([len(thing), *_some(sorted(thing, key=repr))])
        elif isinstance(thing, partial):
            yield from self._of_all([*thing.args, *thing.keywords.values(), thing.func])
        elif isinstance(thing, MethodType):
            yield from self._of_object(thing.__self__)
            yield from self.numbers(thing.__func__)
        elif isinstance(thing, FunctionType):
            yield from self._of_function(thing)
        elif isinstance(thing, type):
            yield from self._of_all(value for value in vars(thing).values() if _is_readable(value))
        elif not isinstance(thing, ModuleType):
            yield from self._of_object(thing)

    def _of_all(self, things: Iterable[Any]) -> Iterator[float]:
        for thing in things:
            yield from self.numbers(thing)

    def _of_object(self, thing: Any) -> Iterator[float]:
        """Yield the numbers of an object's attributes and of the methods of its class."""
        if not self._is_own(type(thing)):
            return
        yield from self._of_all(_attributes(thing))
        for kind in type(thing).__mro__:
            if self._is_own(kind):
                yield from self.numbers(kind)

    def _of_function(self, function: FunctionType) -> Iterator[float]:
        yield from self.numbers(function.__dict__.get("__wrapped__"))
        if not self._is_own(function):
            return
        yield from self._of_all(function.__defaults__ or ())
        yield from self._of_all((function.__kwdefaults__ or {}).values())
        for cell in function.__closure__ or ():
            try:
                yield from self.numbers(cell.cell_contents)
            except ValueError:  # a cell that is not filled yet
                continue
        yield from self._of_code(function.__code__, function.__globals__)

    def _of_code(self, code: CodeType, names: Mapping[str, Any]) -> Iterator[float]:
        for instruction in dis.get_instructions(code):
            value = instruction.argval
            if isinstance(value, CodeType):
                yield from self._of_code(value, names)
            elif "CONST" in instruction.opname or "SMALL_INT" in instruction.opname:
                yield from self.numbers(value)
        for name in code.co_names:
            yield from _TYPE_LIMITS.get(name, ())
            known = names.get(name)
            if isinstance(known, ModuleType):
                if self._is_own(known):
                    yield from self._of_all(vars(known).get(part) for part in code.co_names)
            elif known is not None:
                yield from self.numbers(known)

    def _is_own(self, thing: Any) -> bool:
        """Return whether a function, class or module is of the target's package, or of no installed library."""
        name = _module_of(thing)
        package = name.partition(".")[0]
        if package == self._package:
            return True
        if package in sys.stdlib_module_names or package in _NUMERIC:
            return False
        if isinstance(thing, FunctionType):
            file: str | None = thing.__code__.co_filename
        else:
            file = getattr(sys.modules.get(name), "__file__", None)
        if file is None or not Path(file).exists():  # typed in, or sent to this process
            return True
        return not any(Path(file).resolve().is_relative_to(folder) for folder in _LIBRARIES)


def _is_generator_of_torch(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, getattr(torch, "Generator", ()))


def _package_of(target: Any) -> str:
    while isinstance(target, partial):
        target = target.func
    own = target.__func__ if isinstance(target, MethodType) else target
    return _module_of(own if isinstance(own, (FunctionType, type)) else type(own)).partition(".")[0]


def _module_of(thing: Any) -> str:
    if isinstance(thing, ModuleType):
        return thing.__name__
    name = thing.__module__ if isinstance(thing, (FunctionType, type)) else type(thing).__module__
    return name if isinstance(name, str) else ""


def _attributes(thing: Any) -> list[Any]:
    """Return the values of an object's attributes, without a call of its own code."""
    try:
        found = list(object.__getattribute__(thing, "__dict__").values())
    except AttributeError:  # it has slots alone
        found = []
    for kind in type(thing).__mro__:
        for member in vars(kind).values():
            if isinstance(member, MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # a slot that is not set
                    found.append(member.__get__(thing))
    return found


def _some(things: Iterable[Any]) -> list[Any]:
    return [thing for _, thing in zip(range(_LARGEST_TABLE), things, strict=False)]


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _is_readable(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, tuple, list, FunctionType))
