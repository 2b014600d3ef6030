"""Plain values for machines: how values of this project look in JSON.

Infinity is the string ``"inf"``, an unknown number null; an exact rational is a number where float64 holds it
exactly and the string ``"p/q"`` otherwise.
"""

import dataclasses
import math
from collections.abc import Mapping
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Return `value` as dictionaries, lists, strings, numbers and None.

    Examples
    --------
    >>> plain({"epsilon": float("inf"), "width": Fraction(1, 3), "sigma": Fraction(1, 2)})
    {'epsilon': 'inf', 'width': '1/3', 'sigma': 0.5}
    """
    if isinstance(value, Fraction):
        return _plain_fraction(value)
    if isinstance(value, float | np.floating):
        return _plain_float(float(value))
    if isinstance(value, Enum):
        return str(value) if isinstance(value, StrEnum) else value.name.lower()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    return _plain_container(value)


def _plain_container(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return repr(value)


def _plain_fraction(value: Fraction) -> int | float | str:
    if value.denominator == 1:
        return value.numerator
    try:
        approximation = float(value)
    except OverflowError:
        return str(value)
    return approximation if Fraction(approximation) == value else str(value)


def _plain_float(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
