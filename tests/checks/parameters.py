"""Mechanisms with one parameter moved: a check at the parameters of the catalogue alone misses a wrong factor of 1."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from dpassay.arguments import UsageError
from dpassay.claims import Claim

__all__ = ["moved"]

ENDS = {"low": -2.25, "high": 3.5}
"""What stands in place of an infinite end."""


def moved(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, mechanism) for every number among the parameters, each moved alone, where the domain allows it."""
    for field in dataclasses.fields(value):
        for name, new in _moves(field.name, getattr(value, field.name)):
            try:
                yield name, dataclasses.replace(value, **{field.name: new})
            except UsageError:
                continue


def _moves(name: str, old: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(old, bool | Claim):
        return
    if isinstance(old, int):
        yield name, old + 1
    elif isinstance(old, float):
        new = 1.25 * old + (0.125 if old else -0.25)
        yield name, new if math.isfinite(old) else ENDS[name]
    elif dataclasses.is_dataclass(old):
        yield from ((f"{name}.{inner}", new) for inner, new in moved(old))
