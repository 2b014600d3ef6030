"""Finding the mechanism that a user names."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from dpassay.arguments import UsageError, shown
from dpassay.claims import Claim
from dpassay.discovery import load_module
from dpassay.impl.benchmark_names import address_of, all_names
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import AnyNeighbours
from dpassay.properties.drawing.commands import COMMAND, Command
from dpassay.properties.drawing.endpoints import SCHEMES, Endpoint
from dpassay.properties.drawing.per_call import PerCall
from dpassay.properties.outcomes.calls import sampler_of
from dpassay.registry import similar_words

__all__ = [
    "Declaration",
    "absolute",
    "declaration_of",
    "describe_target",
    "full_name",
    "is_foreign",
    "is_program",
    "load_target",
    "may_have_distribution",
]

PER_CALL = "per-call:"
"""Prefix of the name of a function that makes one release a call."""

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial, np.ufunc)


@dataclass(frozen=True)
class Declaration:
    """The claims and the neighbour relation that a target declares.

    Parameters
    ----------
    claims : tuple of Claim
        Empty where it declares none.
    neighbours : AnyNeighbours or None
        None where it declares none.
    may_have_distribution : bool
        Whether its exact output distribution may be known.
    """

    claims: tuple[Claim, ...]
    neighbours: AnyNeighbours | None
    may_have_distribution: bool


def declaration_of(target: Any) -> Declaration:
    """Return the declaration of a target.

    Raises
    ------
    UsageError
        If it declares something else than claims and a neighbour relation.
    """
    sampler_of(target)
    claims, neighbours = getattr(target, "claims", ()), getattr(target, "neighbours", None)
    if not isinstance(claims, tuple | list) or not all(isinstance(claim, Claim) for claim in claims):
        raise UsageError(f"the claims that a target declares must be a tuple of claims, got {shown(claims)}")
    if not (neighbours is None or isinstance(neighbours, AnyNeighbours)):
        raise UsageError(f"the neighbours that a target declares must be a relation, got {shown(neighbours)}")
    return Declaration(tuple(claims), neighbours, may_have_distribution(target))


def may_have_distribution(target: Any) -> bool:
    """Return whether a distribution may be registered for a target: there is none for plain functions.

    Distributions are registered for types: by this package for its own, by other code through the module of the
    registry.
    """
    if isinstance(target, _FUNCTIONS):
        return False
    is_own = any(one.__module__.partition(".")[0] == "dpassay" for one in type(target).__mro__)
    return is_own or "dpassay.properties.pairing.registry" in sys.modules


def is_foreign(target: Any) -> bool:
    """Return whether a target is code of others, loaded by its name."""
    return isinstance(target, str) and not target.startswith("dpassay.")


def load_target(name: str) -> Any:
    """Import what ``package.module:object`` or ``path/to/file.py:object`` names; a file's code is run.

    The folder of a file is put on ``sys.path``, so that it finds its neighbours. ``per-call:`` before the name makes a
    target of a function that releases one outcome a call; ``cmd:PROGRAM ARGUMENTS`` is a command, and
    ``http://127.0.0.1:PORT/PATH`` an endpoint.

    Raises
    ------
    UsageError
        In one line: if the form is wrong, the file or module is missing or fails, or the object is not there or
        cannot be sampled.

    Examples
    --------
    >>> load_target("nowhere:thing")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dpassay.arguments.UsageError: target 'nowhere:thing': ModuleNotFoundError: No module named 'nowhere'; expected ...
    """
    name = full_name(name)
    if name.startswith(COMMAND):
        return Command(name.removeprefix(COMMAND))
    if name.startswith(SCHEMES):
        return Endpoint(name)
    if name.startswith(PER_CALL):
        return PerCall(_found(name, name.removeprefix(PER_CALL)))
    found = _found(name, name)
    if isinstance(found, type):
        raise UsageError(f"target {name!r} is a class; name an instance instead")
    if not (callable(found) or isinstance(found, ClaimedMechanism)):
        raise UsageError(f"target {name!r} must be a mechanism or a callable, got {type(found).__name__}")
    return found


def full_name(name: str) -> str:
    """Return the address of a mechanism of the catalogue that is named as in the literature, such as SVT3.

    Any other name is returned as it is.

    Raises
    ------
    UsageError
        If it has no colon and is no such name, with the most similar ones.

    Examples
    --------
    >>> full_name("NoisyMax4")
    'dpassay.impl.broken.noisy_max_values:exponential_value'
    """
    if ":" in name:
        return name
    known = address_of(name)
    if known is None:
        raise UsageError(
            f"target {name!r} must have the form package.module:object or path/to/file.py:object, or be a name of the "
            f"common benchmark{similar_words(name, all_names()) or ', such as ' + all_names()[0]}"
        )
    return known


def absolute(name: str) -> str:
    """Return the name of a target for a process in another folder: the path of a file is made absolute."""
    if is_program(name):
        return name
    prefix = PER_CALL if name.startswith(PER_CALL) else ""
    file, _, attribute = name.removeprefix(prefix).rpartition(":")
    return f"{prefix}{Path(file).resolve()}:{attribute}" if file.endswith(".py") else name


def is_program(name: str) -> bool:
    """Return whether the name of a target is that of a command or an endpoint: no object of Python."""
    return name.startswith((COMMAND, *SCHEMES))


def _found(name: str, address: str) -> Any:
    place, separator, attribute = address.rpartition(":")
    if not (separator and place and attribute):
        raise UsageError(f"target {name!r} must have the form package.module:object or path/to/file.py:object")
    found: Any = load_module(place, f"target {name!r}")
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(f"target {name!r}: {place} has no attribute {attribute!r}") from None
    return found


def describe_target(target: Any) -> str:
    """Return the name under which a result lists a target: as given, or where the object was defined."""
    if isinstance(target, str):
        return target
    if hasattr(target, "__qualname__"):
        return f"{target.__module__}:{target.__qualname__}"
    return repr(target)
