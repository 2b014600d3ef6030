"""Outcomes as plain values, one by one: symbols that can be counted, and the numbers in them.

Any function of the outcome may be bet on, so nothing here can invalidate a test; it decides only what the audit
is able to see.
"""

import math
from collections.abc import Hashable
from typing import Any

from dpassay.impl.libraries.plain import NAN, Record
from dpassay.properties.outcomes.flattening import to_float

__all__ = [
    "LONGEST_ATOM",
    "comparable",
    "floats_of",
    "is_exact",
    "numbers_of",
    "part_at",
    "shape_of",
    "size_of",
    "too_long",
    "tupled",
]

LONGEST_ATOM = 1024
"""Longer outcomes are seen through their features; as symbols only their lengths differ."""

_NUMBERS = frozenset({bool, int, float})


def shape_of(symbol: Any) -> tuple[int, ...] | None:
    """Return the shape of a number, a vector or an array of numbers, None for anything else."""
    if isinstance(symbol, (int, float)):
        return ()
    if not isinstance(symbol, tuple) or not symbol:
        return None
    if set(map(type, symbol)) <= _NUMBERS:
        return (len(symbol),)
    shapes = {shape_of(part) for part in symbol}
    (first, *others) = shapes
    return None if others or first is None else (len(symbol), *first)


def numbers_of(symbol: Any) -> list[float]:
    """Return the numbers in a number, a vector or an array of numbers, in C order."""
    if isinstance(symbol, (int, float)):
        return [symbol]
    if set(map(type, symbol)) <= _NUMBERS:
        return list(symbol)
    return [number for part in symbol for number in numbers_of(part)]


def floats_of(symbol: Any) -> list[float]:
    """Return the numbers of `numbers_of` as floats; integers beyond float64 become infinite."""
    return list(map(to_float, numbers_of(symbol)))


def tupled(listed: Any) -> Any:
    """Return a list of lists as a tuple of tuples."""
    return tuple(map(tupled, listed)) if isinstance(listed, list) else listed


def size_of(symbol: Any) -> int:
    """Return how many numbers and characters a plain value holds, about."""
    if isinstance(symbol, (str, bytes)):
        return len(symbol)
    if isinstance(symbol, Record):
        return sum(size_of(part) for _, part in symbol.parts)
    if not isinstance(symbol, tuple):
        return 1
    return len(symbol) if set(map(type, symbol)) <= _NUMBERS else sum(map(size_of, symbol))


def _is_numeric(symbol: Any) -> bool:
    parts = symbol if isinstance(symbol, tuple) else (symbol,)
    return all(isinstance(part, (int, float)) for part in parts)


def is_exact(symbol: Any) -> bool:
    """Return whether an array of floats holds a number unchanged: otherwise its value would depend on its batch."""
    parts = symbol if isinstance(symbol, tuple) else (symbol,)
    return _is_numeric(symbol) and all(isinstance(part, float) or abs(part) <= 2**53 for part in parts)


def part_at(symbol: Any, place: tuple[int, ...]) -> float:
    """Return the number at an index, NaN where there is none."""
    for k in place:
        if not isinstance(symbol, tuple) or k >= len(symbol):
            return math.nan
        symbol = symbol[k]
    return to_float(symbol) if isinstance(symbol, (int, float)) else math.nan


def comparable(symbol: Hashable) -> Hashable:
    """Return a symbol that equals itself: NaN by its name, also inside; a value that is too long by its length."""
    if isinstance(symbol, (tuple, str, bytes)) and len(symbol) > LONGEST_ATOM:
        return too_long(len(symbol))
    if isinstance(symbol, tuple):
        return tuple(map(comparable, symbol))
    if isinstance(symbol, Record):
        if len(symbol.parts) > LONGEST_ATOM:
            return too_long(len(symbol.parts))
        return Record(symbol.kind, tuple((accessor, comparable(part)) for accessor, part in symbol.parts))
    return NAN if isinstance(symbol, float) and math.isnan(symbol) else symbol


def too_long(length: int) -> str:
    """Return the symbol of a value of this length, which is too long to be one itself."""
    return f"<{length} values>"
