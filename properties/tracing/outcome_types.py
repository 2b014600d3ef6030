"""Types of outcomes, which normal forms leave out, and whether outcomes of one value may differ in them.

A list and a tuple, 1.0 and ``np.float32(1)``, or a rounded number and its ``float`` have one normal form, and an
analyst can tell them apart. A proof about normal forms holds for the outcomes themselves if outcomes that may have one
value have one type. Noise has no type on symbols, so that the types of runs on numbers are compared as well.
"""

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.properties.tracing.conditions import Condition
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse
from dpassay.spec.leaves.model import Affine, Image
from dpassay.spec.leaves.outcomes import has_open_bits

__all__ = ["Typed", "may_tell", "types_of_parts"]

_NOISY = "number"
"""The type of noise on symbols, which agrees with that of every number."""

_NUMBERS = frozenset({_NOISY, "int", "float", "bool"})
_USUAL = {"float64": "float", "int64": "int", "bool": "bool"}
"""Types of numpy that count as those of Python: which one a number has depends on how it was drawn."""

_MOST_COMPARED = 1 << 16
"""Pairs of leaves of different types that are compared; more may tell."""


@dataclass(frozen=True)
class Typed:
    """A leaf's outcome and its types.

    Parameters
    ----------
    outcome : Hashable
        The normal form.
    on_symbols : Hashable, optional
        The types on symbols; None if they are not comparable with those of the other leaves.
    on_numbers : frozenset
        The types in runs on numbers; empty without such a run.
    """

    outcome: Hashable
    on_symbols: Hashable | None
    on_numbers: frozenset[Hashable]


def types_of_parts(value: Any, inside: frozenset[int] = frozenset()) -> Hashable:
    """Return the types of an outcome and of its parts; `inside` are the containers around it, by their identities."""
    if isinstance(value, Noisy):
        return _NOISY
    if isinstance(value, Condition):
        return "bool"
    if isinstance(value, np.generic):
        return _USUAL.get(value.dtype.name, value.dtype.name)
    if isinstance(value, np.ndarray):
        own = value.dtype.name if value.dtype.kind in "biuf" else "object"
        return "array", "float" if own in {"float64", "object"} else own, value.ndim
    if id(value) in inside:
        refuse(f"an outcome with a {type(value).__name__} that contains itself")
    return _with_parts(value, inside | {id(value)})


def _with_parts(value: Any, inside: frozenset[int]) -> Hashable:
    """Return the type of an object and, of a container, those of its parts."""
    parts: list[Hashable] | None = None
    name = type(value).__name__

    def types_of(part: Any) -> Hashable:
        return types_of_parts(part, inside)

    if isinstance(value, Mapping):
        parts = [(types_of(key), types_of(part)) for key, part in value.items()]
    elif isinstance(value, set | frozenset):
        parts = [frozenset(map(types_of, value))]
    elif isinstance(value, list | tuple):
        parts = [*map(types_of, value)]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [types_of(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return name if parts is None else (name, *parts)


def may_tell(leaves: Iterable[Typed]) -> bool:
    """Return whether outcomes that may have one value may differ in their types."""
    groups: dict[tuple[Hashable, frozenset[Hashable]], list[Hashable]] = {}
    for leaf in leaves:
        groups.setdefault((leaf.on_symbols, leaf.on_numbers), []).append(leaf.outcome)
        if len(leaf.on_numbers) > 1:
            return True
    distinct = [(types, list(dict.fromkeys(outcomes))) for types, outcomes in groups.items()]
    compared = 0
    for place, (types, outcomes) in enumerate(distinct):
        for other, others in distinct[:place]:
            if not _differ(types, other):
                continue
            compared += len(outcomes) * len(others)
            if compared > _MOST_COMPARED or any(_may_coincide(a, b) for a in outcomes for b in others):
                return True
    return False


def _differ(one: tuple[Any, frozenset[Any]], other: tuple[Any, frozenset[Any]]) -> bool:
    if one[0] is not None and other[0] is not None and not _agree(one[0], other[0]):
        return True
    return bool(one[1]) and bool(other[1]) and one[1] != other[1]


def _agree(one: Any, other: Any) -> bool:
    """Return whether types on symbols may be the same on numbers."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    return one == other or (_NOISY in {one, other} and {one, other} <= _NUMBERS)


def _may_coincide(one: Any, other: Any) -> bool:
    """Return whether two outcomes in normal form have one value with a probability above 0, as far as is known."""
    noisy = [part for part in (one, other) if isinstance(part, Affine | Image)]
    if len(noisy) == 2:
        return True
    if noisy:
        number = other if noisy[0] is one else one
        return isinstance(number, int | float) and not has_open_bits(noisy[0])
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_may_coincide, one, other))
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return one == other or any(isinstance(part, Affine | Image) for part in _parts(one | other))
    return bool(one == other)


def _parts(members: Iterable[Any]) -> Iterator[Any]:
    for part in members:
        if isinstance(part, tuple | frozenset):
            yield from _parts(part)
        else:
            yield part
