"""The names ``float``, ``int``, ``min`` and ``max`` in the code under test during a trace.

A noisy value is a real number, and ``float`` keeps it: ideal arithmetic does not round. ``int`` rounds towards 0. Sums
of noise and data are instances of ``float``, and rounded ones of ``int``. Code that asks ``type(x) is float`` may take
another way than on numbers; the runs on numbers, which keep Python's own names, show it.
``min(max(x, 0), 1)`` of data is a function of the data, as ``np.clip`` is, in place of decisions.
"""

import builtins
import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from dpassay.properties.tracing.arrays import SymbolArray
from dpassay.properties.tracing.derived import clipped
from dpassay.properties.tracing.exact_names import functions_in, spaces_of
from dpassay.properties.tracing.images import ROUNDINGS, Image
from dpassay.properties.tracing.refusal import active
from dpassay.properties.tracing.symbols import Symbol

__all__ = ["noisy_names"]


class _FloatType(type):
    """The type that stands for ``float``."""

    def __instancecheck__(cls, instance: object) -> bool:
        if isinstance(instance, Symbol | Image) and active.run is not None:
            return not _is_whole(instance)
        return isinstance(instance, builtins.float)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, builtins.float)

    def __call__(cls, value: Any = 0.0) -> Any:
        if isinstance(value, SymbolArray) and value.size == 1 and active.run is not None:
            value = value.item()
        return value if isinstance(value, Symbol | Image) and active.run is not None else builtins.float(value)

    def __getattr__(cls, name: str) -> Any:
        return getattr(builtins.float, name)


class _Float(metaclass=_FloatType):
    """The name ``float``; arrays of this type are arrays of floats."""

    dtype = np.dtype(np.float64)


class _IntType(type):
    """The type that stands for ``int``."""

    def __instancecheck__(cls, instance: object) -> bool:
        if isinstance(instance, Symbol | Image) and active.run is not None:
            return _is_whole(instance)
        return isinstance(instance, builtins.int)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, builtins.int)

    def __call__(cls, *values: Any, **options: Any) -> Any:
        if len(values) == 1 and not options and active.run is not None:
            value = values[0].item() if isinstance(values[0], SymbolArray) and values[0].size == 1 else values[0]
            if isinstance(value, Image) or (isinstance(value, Symbol) and _is_rounded(value)):
                return math.trunc(value)
        return builtins.int(*values, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(builtins.int, name)


class _Int(metaclass=_IntType):
    """The name ``int``; arrays of this type are arrays of integers."""

    dtype = np.dtype(np.int64)


def _is_whole(value: Any) -> bool:
    """Return whether a noisy value is an integer of Python, as far as is known: a rounded number, or lattice noise."""
    if isinstance(value, Image):
        return value.steps[-1][0] in ROUNDINGS
    return bool(value.run.is_whole(value.form))


def _is_rounded(value: Symbol) -> bool:
    """Return whether ``int`` rounds a symbol; constants have Python's own way."""
    run, form = value.run, value.form
    return bool(form.terms) and bool(run.is_rounded(form) or run.is_integer(form))


def _extreme(plain: Callable[..., Any], *, is_above: bool) -> Callable[..., Any]:
    """Return ``max`` (`is_above`) or ``min`` with clipped data as coordinates of their own."""

    @functools.wraps(plain)
    def replaced(*values: Any, **options: Any) -> Any:
        if len(values) == 2 and not options and active.run is not None:
            found = clipped(*values, is_above=is_above)
            if isinstance(found, Symbol):  # a constant would have the type of one of both
                return found
        return plain(*values, **options)

    return replaced


_DEEPEST = 4
"""Functions within functions that are looked into."""

_NAMES: dict[str, Any] = {
    "float": _Float,
    "int": _Int,
    "max": _extreme(builtins.max, is_above=True),
    "min": _extreme(builtins.min, is_above=False),
}


def _asks_for_types(space: dict[str, Any], own: list[FunctionType]) -> bool:
    """Return whether functions of a module use the name ``type``."""
    functions = [value for value in list(space.values()) if isinstance(value, FunctionType)]
    functions += [function for function in own if function.__globals__ is space]
    return any(_names(function.__code__, "type") for function in functions)


def _names(code: CodeType, name: str) -> bool:
    return name in code.co_names or any(_names(part, name) for part in code.co_consts if isinstance(part, CodeType))


@contextmanager
def noisy_names(sampler: Any) -> Iterator[None]:
    """Let ``float``, ``int``, ``min`` and ``max`` keep noisy values in the code of a sampler, while in the context.

    A name that a module binds itself stays as it is: then a conversion of noise to a float is refused. So does ``int``
    where the code asks for ``type(x)``, which is no stand-in.
    """
    own = list(functions_in(sampler, _DEEPEST))
    bound = [
        (space, name)
        for space in spaces_of(sampler)
        for name in _NAMES
        if name not in space and not (name == "int" and _asks_for_types(space, own))
    ]
    try:
        for space, name in bound:
            space[name] = _NAMES[name]
        yield
    finally:
        for space, name in bound:
            space.pop(name, None)
