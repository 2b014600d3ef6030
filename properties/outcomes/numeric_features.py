"""Features of outcomes that are numbers, vectors or arrays of numbers, computed for a whole batch at once."""

from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.flattening import OUTCOME

__all__ = ["LOWEST_BIT", "coordinate_names", "lowest_bit", "numeric_features"]

Array = NDArray[np.float64]
Shape = tuple[int, ...]

LOWEST_BIT = "lowest_bit(outcome)"

FRACTION, LAST_DIGIT = "fraction(outcome)", "last_digit(outcome)"
"""Of single numbers: what large random parts would hide from cells of the number itself."""

_SHOWN_COORDINATES = 6
"""Coordinates of an array that are features of their own; the others count through sums, extremes and learners."""


def coordinate_names(shape: Shape, most: int) -> list[str]:
    """Return the expressions of the first coordinates of an array.

    >>> coordinate_names((2, 2), 3)
    ['outcome[0][0]', 'outcome[0][1]', 'outcome[1][0]']
    """
    return [OUTCOME + "".join(f"[{k}]" for k in place) for place in islice(np.ndindex(shape), most)]


def numeric_features(rows: NDArray[Any], shape: Shape) -> dict[str, Array]:
    """Return the features of outcomes of one shape.

    Parameters
    ----------
    rows : ndarray
        Shape (calls,) for numbers, (calls, numbers) for arrays, in C order.
    shape : tuple of int
        Of an outcome; empty for numbers.
    """
    values = np.asarray(rows, dtype=np.float64)
    if not shape:
        return {OUTCOME: values, LOWEST_BIT: lowest_bit(values), **_digits(rows, values)}
    count, width = values.shape
    result = {"len(outcome)": np.full(count, float(shape[0]))}
    # copies: a view would keep all of the rows
    result |= {name: values[:, k].copy() for k, name in enumerate(coordinate_names(shape, _SHOWN_COORDINATES))}
    if width > 1:
        result |= {
            "outcome[-1]" + "[-1]" * (len(shape) - 1): values[:, -1].copy(),
            "max(outcome)": values.max(axis=1),
            "min(outcome)": values.min(axis=1),
        }
        with np.errstate(over="ignore", invalid="ignore"):
            result["sum(outcome)"] = reduce(np.add, values.T)  # in the same order for every shape and layout
        result["argmax(outcome)"] = values.argmax(axis=1).astype(np.float64)
        result[LOWEST_BIT] = lowest_bit(values).min(axis=1)
    if len(shape) > 1 and width:
        result |= _row_features(values, shape)
    return result


def _digits(rows: NDArray[Any], values: Array) -> dict[str, Array]:
    """Return the last decimal digit of whole numbers, and the fractional part of others; NaN for the rest.

    Integers are taken as they are, beyond 2^53 too.
    """
    if rows.dtype.kind in "iu":
        return {LAST_DIGIT: (rows % 10).astype(np.float64)}
    finite = np.where(np.isfinite(values), values, np.nan)
    fraction = finite - np.floor(finite)
    is_whole = fraction == 0
    return {LAST_DIGIT: np.where(is_whole, finite % 10, np.nan), FRACTION: np.where(is_whole, np.nan, fraction)}


def _row_features(values: Array, shape: Shape) -> dict[str, Array]:
    """Return the lengths and the sums of the first rows of arrays of two or more dimensions."""
    result = {"len(outcome[0])": np.full(len(values), float(shape[1]))}
    rows = values.reshape(len(values), shape[0], -1)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = {k: reduce(np.add, rows[:, k].T) for k in range(min(shape[0], _SHOWN_COORDINATES))}
    return result | {f"sum(outcome[{k}])": total for k, total in sums.items()}


def lowest_bit(values: Array) -> Array:
    """Return the exponent of the lowest set bit of each float64: the finest lattice of powers of two it lies on.

    Noise that is computed in float64 and added to an answer lies on a lattice that depends on the answer (Mironov
    2012). 0, infinity and NaN have no lowest bit: they get one above all others.

    Examples
    --------
    >>> lowest_bit(np.array([1.0, 0.75, 6.0, 0.1])).tolist()
    [0.0, -2.0, 1.0, -55.0]
    """
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    biased = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(biased > 0, 1 << 52, 0)
    trailing = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    exponents = (np.maximum(biased, 1) - 1075 + trailing).astype(np.float64)
    return np.where((mantissa == 0) | (biased == 0x7FF), 1100.0, exponents)
