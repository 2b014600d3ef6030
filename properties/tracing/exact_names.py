"""The names of the code under test that would round exact numbers: ``float`` and the functions of ``math``."""

import functools
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from dpassay.properties.tracing.exact_numbers import ExactFloat, ExactNumber

__all__ = ["contents_of", "exact_names", "functions_in", "spaces_of"]

_OUR_OWN = str(Path(__file__).parents[2])
_DEEPEST = 4
"""Functions within functions that are looked into: decorators and partial functions."""

_IMAGES = ("exp", "expm1", "log", "log1p", "sqrt")
_OTHERS: dict[str, Callable[..., Any]] = {
    "fabs": abs,
    "fsum": sum,
    "pow": lambda base, exponent: base**exponent,
    "isnan": lambda _: False,
    "isinf": lambda _: False,
    "isfinite": lambda _: True,
}
"""Functions of `math` that convert their arguments to floats, on exact numbers."""


@contextmanager
def exact_names(sampler: Any) -> Iterator[None]:
    """Let ``float`` and functions of ``math`` keep exact numbers in the code of a sampler, while in the context.

    A name that a module binds itself stays as it is: then a conversion to a float is refused.
    """
    spaces = [space for space in spaces_of(sampler) if "float" not in space]
    kept = {name: getattr(math, name) for name in (*_IMAGES, *_OTHERS)}
    try:
        for space in spaces:
            space["float"] = ExactFloat
        for name, original in kept.items():
            setattr(math, name, _exactly(name, original))
        yield
    finally:
        for space in spaces:
            space.pop("float", None)
        for name, original in kept.items():
            setattr(math, name, original)


def _exactly(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def replaced(*arguments: Any) -> Any:
        parts = arguments[0] if name == "fsum" else arguments
        if not any(isinstance(part, ExactNumber) for part in parts):
            return original(*arguments)
        if name in _OTHERS:
            return _OTHERS[name](*arguments)
        return arguments[0].image(name) if len(arguments) == 1 else original(*arguments)

    return replaced


def spaces_of(sampler: Any) -> list[dict[str, Any]]:
    """Return the global names of the functions behind a sampler, and of the modules of the same folders."""
    spaces: dict[int, dict[str, Any]] = {}
    for function in functions_in(sampler, _DEEPEST):
        spaces[id(function.__globals__)] = function.__globals__
    by_folder = _modules_by_folder(_imported())
    for folder in {os.path.split(file)[0] for space in spaces.values() if (file := space.get("__file__"))}:
        for module in by_folder.get(folder, ()):
            spaces[id(vars(module))] = vars(module)
    return list(spaces.values())


def _imported() -> tuple[ModuleType, ...]:
    return tuple(module for module in list(sys.modules.values()) if isinstance(module, ModuleType))


@functools.lru_cache(1)
def _modules_by_folder(modules: tuple[ModuleType, ...]) -> dict[str, list[ModuleType]]:
    """Return the modules of each folder: there are thousands, they hardly change, and they are asked for often."""
    found: dict[str, list[ModuleType]] = {}
    for module in modules:
        file = getattr(module, "__file__", None)
        if file:  # paths as objects take ten times as long
            found.setdefault(os.path.split(file)[0], []).append(module)
    return found


def functions_in(value: Any, depth: int) -> Iterator[FunctionType]:
    """Yield the functions that a callable consists of, ours left out; functions within functions up to a depth."""
    if depth == 0:
        return
    function = getattr(value, "__func__", value)
    if isinstance(function, FunctionType):
        if not function.__code__.co_filename.startswith(_OUR_OWN):
            yield function
        inner = [*contents_of(function), getattr(function, "__wrapped__", None)]
    elif isinstance(function, functools.partial):
        inner = [function.func]
    else:
        inner = [vars(type(function)).get("__call__"), *getattr(function, "__dict__", {}).values()]
    for part in inner:
        if isinstance(part, type):
            for method in [value for value in vars(part).values() if isinstance(value, FunctionType)]:
                yield from functions_in(method, depth - 1)
        elif callable(part):
            yield from functions_in(part, depth - 1)


def contents_of(function: FunctionType) -> list[Any]:
    """Return the values that a function takes from the functions around it."""
    values = []
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # nothing is bound
            continue
    return values
