"""The last digits and the fractions of numbers, which a large random part hides from cells of the number itself."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGE", "digits_of_column", "digits_of_number"]

Array = NDArray[np.float64]

LARGE = 64
"""Numbers of this size and above are looked at digit by digit inside of vectors and records."""

_EXACT = 2**53
"""Up to here float64 holds every integer."""

_DIGITS = 24
"""Decimal digits of integers that float64 does not hold, from the last one on; those above show in the number."""


def digits_of_number(path: str, value: float, least: float = LARGE) -> dict[str, float]:
    """Return the last digit of a whole number or the fraction of another one, by expression; nothing below `least`.

    Integers beyond 2^53, which float64 rounds, show more of their last digits.

    Examples
    --------
    >>> digits_of_number("outcome[0]", 4711.25)
    {'fraction(outcome[0])': 0.25}
    >>> digits_of_number("outcome", 2**53 + 1)["digits(outcome)[-2]"]
    9.0
    """
    if abs(value) < least or not _is_finite(value):
        return {}
    if isinstance(value, int):
        last = {f"last_digit({path})": float(value % 10)}
        return last if abs(value) <= _EXACT else last | _exact_digits(path, value)
    fraction = value - math.floor(value)
    return {f"fraction({path})": fraction} if fraction else {f"last_digit({path})": value % 10}


def _is_finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _exact_digits(path: str, value: int) -> dict[str, float]:
    written = str(abs(value) % 10**_DIGITS).zfill(_DIGITS)[-_length(value) :]
    return {f"digits({path})[-{k}]": float(written[-k]) for k in range(2, len(written) + 1)}


def _length(value: int) -> int:
    """Return how many digits an integer has, at most `_DIGITS` and perhaps one too many."""
    return min(_DIGITS, abs(value).bit_length() * 31 // 100 + 1)


def digits_of_column(path: str, column: NDArray[Any] | Sequence[float], least: float = LARGE) -> dict[str, Array]:
    """Return the last digits of the whole numbers of a column and the fractions of the others; NaN for the rest.

    Nothing if no number of a column is large enough.

    Parameters
    ----------
    path : str
        The expression of the column.
    column : ndarray of numbers, or sequence of int and float
        Integers of a sequence may have any size.
    least : float
        Smaller numbers are left out.
    """
    if not isinstance(column, np.ndarray) or (column.dtype.kind in "iu" and _has_long(column)):
        listed = column.tolist() if isinstance(column, np.ndarray) else column
        rows = [digits_of_number(path, number, least) for number in listed]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}
    values = np.ascontiguousarray(column, dtype=np.float64)
    is_seen = np.isfinite(values) & (np.abs(values) >= least)
    if not is_seen.any():
        return {}
    if column.dtype.kind in "iu":
        return {f"last_digit({path})": np.where(is_seen, (column % 10).astype(np.float64), np.nan)}
    seen = np.flatnonzero(is_seen)
    chosen = values[seen]
    parts = chosen - np.floor(chosen)
    is_whole = parts == 0
    digit, fraction = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    if is_whole.any():  # remainders take long, and continuous noise has no whole numbers
        digit[seen[is_whole]] = chosen[is_whole] % 10
        parts[is_whole] = np.nan
    fraction[seen] = parts
    return {f"last_digit({path})": digit, f"fraction({path})": fraction}


def _has_long(column: NDArray[Any]) -> bool:
    return bool(column.size) and (int(column.max()) > _EXACT or int(column.min()) < -_EXACT)
