"""Changes to modules while a run is under way: arrays that can hold symbols, and a watch on hidden randomness.

Every replaced function asks whether a run is under way in its thread, and otherwise does what it always did.
"""

import builtins
import functools
import math
import os
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dpassay.properties.tracing.arrays import SymbolArray, objects, wrap
from dpassay.properties.tracing.conditions import Condition
from dpassay.properties.tracing.images import Image, image_of
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import active, original_of, refuse
from dpassay.properties.tracing.replacing import replace_name, replace_where_imported
from dpassay.properties.tracing.symbols import Symbol, symbol_sum

__all__ = ["Watch", "patched"]

_CONVERSIONS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
_CREATIONS = ("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like")
_SOURCES_OF_ENTROPY = ("/dev/random", "/dev/urandom")
_FOREIGN = ("numpy", "scipy", "dpassay.properties.tracing", "dpassay.spec")


_Wrapped = tuple[Any, str, Callable[[Any], Any]]
"""A module, the name of its function, and what makes the function that stands for it."""


class Watch:
    """Observations of the code under test."""

    def __init__(self) -> None:
        self.writes = False
        self.prints = False


@contextmanager
def patched(watch: Watch, sampler: Any) -> Iterator[None]:
    """Replace functions of numpy and of the system until the end of the context.

    Functions that the modules of the target import by name are replaced there as well.
    """
    with ExitStack() as stack:
        _keep_numpy_in_generators(stack)
        for name in _CONVERSIONS:
            _replace(stack, np, name, _converting)
        for name in _CREATIONS:
            _replace(stack, np, name, _creating)
        _replace_by_name(stack, sampler, [*_of_numbers(), *_of_entropy()])
        _replace(stack, builtins, "open", lambda opener: _watched_open(opener, watch))
        _replace(stack, os, "open", _guarded_open)
        stdout, sys.stdout = sys.stdout, _Watched(watch)
        stack.callback(lambda: setattr(sys, "stdout", stdout))
        yield


def _of_numbers() -> Iterator[_Wrapped]:
    yield from ((math, name, _image(name)) for name in ("exp", "expm1", "log", "log1p", "sqrt"))
    yield from ((math, name, _of_noise(function)) for name, function in _OF_NOISE.items())
    yield math, "fsum", _of_noisy_parts(symbol_sum)
    yield from ((statistics, name, _of_noisy_parts(_mean)) for name in ("mean", "fmean"))


def _of_entropy() -> Iterator[_Wrapped]:
    yield random, "_urandom", _hidden("entropy of the system")
    for module, name in (("os", "urandom"), ("os", "getrandom"), ("ssl", "RAND_bytes")):
        loaded = sys.modules.get(module)
        if getattr(loaded, name, None) is not None:
            yield loaded, name, _hidden(f"{module}.{name}")


def _replace_by_name(stack: ExitStack, sampler: Any, wrappers: Sequence[_Wrapped]) -> None:
    made = {}
    for module, name, wrapper in wrappers:
        original = original_of(getattr(module, name))
        _replace(stack, module, name, wrapper)
        made[id(original)] = getattr(module, name)
    replace_where_imported(stack, sampler, made)


def _keep_numpy_in_generators(stack: ExitStack) -> None:
    """Let the generators of numpy, which are compiled, use numpy as it is.

    They have no frame by which a replaced function could tell them from the code under test, and write their draws as
    doubles into the memory of the array that ``numpy.empty`` returns: an array of objects would be destroyed, and the
    interpreter with it.
    """
    as_it_is = ModuleType("numpy")
    as_it_is.__dict__.update({name: original_of(value) for name, value in np.__dict__.items()})
    for name, module in list(sys.modules.items()):
        if name.startswith("numpy.random.") and vars(module).get("np") is np:
            _replace(stack, module, "np", lambda _: as_it_is)


def _replace(stack: ExitStack, module: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    original = original_of(getattr(module, name))
    made = wrapper(original)
    if isinstance(made, FunctionType):
        made.replaces = original  # type: ignore[attr-defined]
    replace_name(stack, vars(module), name, made, original)


def _hidden(words: str) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def replaced(*arguments: Any, **options: Any) -> Any:
            if active.run is not None:
                refuse(f"hidden randomness: {words}")
            return original(*arguments, **options)

        return replaced

    return wrapper


def _image(name: str) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def replaced(*arguments: Any) -> Any:
            if len(arguments) != 1 or not isinstance(arguments[0], Symbol | Image):
                return original(*arguments)
            found = image_of(arguments[0], name)
            if isinstance(found, float) and not math.isfinite(found):
                raise ValueError("math domain error")  # where numpy returns NaN or an infinity
            return found

        return replaced

    return wrapper


_OF_NOISE: dict[str, Callable[..., Any]] = {
    "fabs": abs,
    "copysign": lambda size, sign: abs(size) if sign >= 0 else -abs(size),
    "isnan": lambda _: False,
    "isinf": lambda _: False,
    "isfinite": lambda _: True,
}
"""Functions of `math` that convert their arguments to floats, on noisy values."""


def _of_noise(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def replaced(*arguments: Any) -> Any:
            is_noisy = any(isinstance(argument, Symbol | Image) for argument in arguments)
            return function(*arguments) if is_noisy else original(*arguments)

        return replaced

    return wrapper


def _of_noisy_parts(function: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        @functools.wraps(original)
        def replaced(values: Any, *arguments: Any, **options: Any) -> Any:
            if active.run is None:
                return original(values, *arguments, **options)
            parts = list(values)
            if arguments or options or not any(isinstance(part, Symbol | Image) for part in parts):
                return original(parts, *arguments, **options)
            return function(parts)

        return replaced

    return wrapper


def _mean(parts: list[Any]) -> Any:
    return symbol_sum(parts) / len(parts)


def _is_ours_to_answer() -> bool:
    """Return whether a run is under way and the calling code is neither numpy's nor ours."""
    if active.run is None:
        return False
    module = sys._getframe(2).f_globals.get("__name__", "")  # noqa: SLF001 - the documented way to the caller
    return not module.startswith(_FOREIGN)


def _converting(original: Any) -> Any:
    def converted(a: Any, dtype: Any = None, *arguments: Any, **options: Any) -> Any:
        if not _is_ours_to_answer():
            return original(a, dtype, *arguments, **options)
        if isinstance(a, SymbolArray) or _holds_noise(a):
            array = a if isinstance(a, SymbolArray) and original.__name__ != "array" else wrap(objects(a).copy())
            return array if dtype is None or np.dtype(dtype).kind in "fO" else array.astype(dtype)
        result = original(a, dtype, *arguments, **options)
        is_new = original.__name__ == "array" and result.dtype.kind == "f" and result.ndim
        return wrap(result.astype(object)) if is_new and active.run.mode.is_lifted else result

    return converted


def _creating(original: Any) -> Any:
    def created(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        if not (_is_ours_to_answer() and active.run.mode.is_lifted) or result.dtype.kind != "f":
            return result
        return wrap(np.nan_to_num(result).astype(object) if "empty" in original.__name__ else result.astype(object))

    return created


def _holds_noise(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_noise(part) for part in value)
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(part, Noisy | Condition) for part in value.flat)
    return isinstance(value, Noisy | Condition)


def _require_no_entropy(file: Any) -> None:
    if active.run is not None and str(file) in _SOURCES_OF_ENTROPY:
        refuse(f"hidden randomness: {file}")


def _guarded_open(original: Any) -> Any:
    @functools.wraps(original)
    def opened(path: Any, *arguments: Any, **options: Any) -> Any:
        _require_no_entropy(path)
        return original(path, *arguments, **options)

    return opened


def _watched_open(original: Any, watch: Watch) -> Any:
    def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        _require_no_entropy(file)
        if active.run is not None and set(mode) & set("wax+"):
            watch.writes = True
        return original(file, mode, *arguments, **options)

    return opened


class _Watched:
    """Standard output during a trace: the output of the code under test is dropped, other output is kept."""

    encoding = "utf-8"

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._stdout = sys.stdout

    def write(self, text: str) -> int:
        if active.run is None:
            return self._stdout.write(text)
        self._watch.prints = True
        return len(text)

    def flush(self) -> None:
        self._stdout.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)
