"""Arguments: the checks of what a user gives, and messages that name the parameter, the value and what is accepted."""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = [
    "MOST_CALLS",
    "MOST_SECONDS",
    "UsageError",
    "as_number",
    "is_finite",
    "is_number",
    "require_at_least",
    "require_flag",
    "require_integer",
    "require_positive",
    "require_probability",
    "rounded_down",
    "rounded_up",
    "set_fields",
    "shown",
]


class UsageError(ValueError):
    """Raised for an argument outside its domain; the message names it, the value and the domain."""


MOST_CALLS = 10**12
"""Calls that a hunt may be asked for: more than a machine makes in a month."""

MOST_SECONDS = 1e9
"""Seconds that a time limit may be: thirty years."""

_LONGEST_SHOWN = 80


def shown(value: Any) -> str:
    """Return a value as an error message shows it: short, on one line, whatever its ``repr`` does."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  # whatever a foreign __repr__ raises
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 4]} ..."


def is_finite(value: Any) -> bool:
    """Return whether `value` is a finite number, of any type that has a float64 next to it."""
    return is_number(value) and not math.isinf(value)


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number or an infinity; words, arrays and NaN are not."""
    if isinstance(value, np.ndarray):
        return False
    try:
        return not math.isnan(value)
    except Exception:  # noqa: BLE001  # whatever a foreign __float__ raises
        return False


def as_number(value: Any) -> Any:
    """Return a finite real number as the float64 that equals it, or else as the `Fraction` that equals it.

    Integers, rationals, decimals and numpy scalars are accepted. A value that is not a finite real number is returned
    unchanged, so that the check of its domain can refuse it.

    Examples
    --------
    >>> as_number(4), as_number(Fraction(1, 2)), as_number(Fraction(1, 3))
    (4.0, 0.5, Fraction(1, 3))
    """
    if type(value) is float or not is_finite(value):
        return value
    try:
        exact = Fraction(*value.as_integer_ratio()) if hasattr(value, "as_integer_ratio") else Fraction(value)
        near = float(exact)
    except (TypeError, ValueError, OverflowError):  # not a rational number: the float64 next to it
        return float(value)
    return near if Fraction(near) == exact else exact


def rounded_up(value: float | Fraction) -> float:
    """Return the least float64 that is not below a number; infinity beyond the largest one."""
    try:
        near = float(value)
    except OverflowError:  # a fraction
        return math.inf if value > 0 else -sys.float_info.max
    return near if math.isinf(near) or Fraction(near) >= value else math.nextafter(near, math.inf)


def rounded_down(value: float | Fraction) -> float:
    """Return the largest float64 that is not above a number."""
    return -rounded_up(-value)


def set_fields(record: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is constructed."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def require_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int if it is an integer in [low, high]; raise `UsageError` naming `name` otherwise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        The value given.
    low : int
        The smallest accepted value.
    high : int, optional
        The largest accepted value.
    """
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (is_integer and value >= low and (high is None or value <= high)):
        accepted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{name} must be an integer, {accepted}, got {shown(value)}")
    return int(value)


def require_at_least(name: str, value: float, low: float) -> float:
    """Return `value` if it is a finite number not below `low`; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(value) and value >= low):
        raise UsageError(f"{name} must be a finite number, at least {low:g}, got {shown(value)}")
    return value


def require_flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False; raise `UsageError` naming `name` otherwise."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def require_positive(name: str, value: float) -> float:
    """Return `value` if it is a finite positive number; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(value) and value > 0):
        raise UsageError(f"{name} must be a finite positive number, got {shown(value)}")
    return value


def require_probability(name: str, value: float) -> float:
    """Return `value` if it lies in [0, 1]; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(value) and 0 <= value <= 1):
        raise UsageError(f"{name} must lie in [0, 1], got {shown(value)}")
    return value
