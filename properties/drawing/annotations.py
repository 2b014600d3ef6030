"""The annotations of a function, as far as they can be read."""

import functools
import inspect
import random
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["alternatives", "annotations_of"]

_KNOWN = {
    "Generator": np.random.Generator,
    "RandomState": np.random.RandomState,
    "random.Random": random.Random,
    "Random": random.Random,
}
"""Generators whose names are understood where a module imports them for type checkers only."""


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function as types; those that cannot be read are left out."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        function = function.__init__  # type: ignore[misc]
    elif not inspect.isroutine(function):
        function = getattr(type(function), "__call__", function)  # noqa: B004 - the function, not whether there is one
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001  # whatever evaluating foreign annotations raises
        return _one_by_one(inspect.unwrap(function))


def alternatives(hint: Any) -> list[Any]:
    """Return the types of a union, None left out; a list of one for any other annotation."""
    if typing.get_origin(hint) is typing.Annotated:
        return alternatives(typing.get_args(hint)[0])
    if typing.get_origin(hint) in {typing.Union, types.UnionType}:
        return [one for part in typing.get_args(hint) if part is not type(None) for one in alternatives(part)]
    return [] if hint is None else [hint]


def _one_by_one(function: Any) -> dict[str, Any]:
    """Return the annotations that can be evaluated, and the generators that are named in others."""
    names, found = getattr(function, "__globals__", {}), dict[str, Any]()
    for parameter, written in getattr(function, "__annotations__", {}).items():
        if not isinstance(written, str):
            found[parameter] = written
            continue
        try:
            found[parameter] = eval(written, names)  # noqa: S307  # code of the target, as Python itself evaluates it
        except Exception:  # noqa: BLE001  # see above
            word = written.partition("|")[0].strip().removeprefix("Optional[").rstrip("]")
            known = _KNOWN.get(word) or (_KNOWN.get(word.rpartition(".")[2]) if ".random." in f".{word}" else None)
            if known is not None:
                found[parameter] = known
    return found
