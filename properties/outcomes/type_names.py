"""The types of outcomes in words; the usual numbers of numpy count as those of Python."""

from functools import lru_cache
from typing import Any

import numpy as np

from dpassay.properties.outcomes.flattening import type_words

__all__ = ["TYPE", "type_of", "type_of_rows"]

TYPE = "type(outcome)"
"""The word for the type of an outcome and of its parts. It is looked at once types were seen to differ."""

_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float"}
_USUAL = frozenset({"bool", "int64", "float64"})


def type_of(row: Any, symbol: Any) -> str:
    """Return the type of one outcome; numbers of the usual numpy types count as those of Python."""
    if isinstance(row, np.generic) and row.dtype.kind in _KINDS:
        return _number_type(row.dtype)
    return ("list" if type(row) is list else "") + type_words(symbol)


@lru_cache(maxsize=64)  # numpy makes the name anew each time
def _number_type(dtype: np.dtype[Any]) -> str:
    return _KINDS[dtype.kind] if dtype.name in _USUAL else dtype.name


def type_of_rows(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """Return the type of the outcomes in an array, in the words of `type_words`."""
    return "[" * len(shape) + _number_type(dtype) + "]" * len(shape)
