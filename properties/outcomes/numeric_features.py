"""Features of the numbers in outcomes: of numbers, vectors and arrays of numbers, for a whole batch at once."""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.digits import LARGE, digits_of_column
from dpassay.properties.outcomes.flattening import OUTCOME, to_float
from dpassay.properties.outcomes.parts import Parts
from dpassay.properties.outcomes.symbols import numbers_of, shape_of

__all__ = [
    "LOWEST_BIT",
    "coordinate_names",
    "features_of_parts",
    "lowest_bit",
    "numeric_features",
    "partly_of_vectors",
]

Array = NDArray[np.float64]
Shape = tuple[int, ...]

LOWEST_BIT = "lowest_bit(outcome)"

_SHOWN_COORDINATES = 6
"""Coordinates of an array that are features of their own; the others count through sums, extremes and learners."""

_TOGETHER = 1 << 14
"""Numbers whose bits are looked at together: they fit into the cache of a processor."""


def coordinate_names(shape: Shape, most: int) -> list[str]:
    """Return the expressions of the first coordinates of an array.

    >>> coordinate_names((2, 2), 3)
    ['outcome[0][0]', 'outcome[0][1]', 'outcome[1][0]']
    """
    return [OUTCOME + "".join(f"[{k}]" for k in place) for place in islice(np.ndindex(shape), most)]


def features_of_parts(parts: Parts, shape: Shape) -> dict[str, Array]:
    """Return the features of the numbers, vectors and arrays of a batch, which may differ in shape.

    Parameters
    ----------
    parts : Parts
        The outcomes.
    shape : tuple of int
        Of each outcome, where they are rows of an array of numbers.
    """
    if not parts.are_plain:
        return numeric_features(parts.rows, shape)
    result: dict[str, Array] = {}
    groups: dict[Shape, list[int]] = {}
    for position in parts.numeric().tolist():
        own = shape_of(parts.rows[position])
        assert own is not None
        groups.setdefault(own, []).append(position)
    for own, positions in groups.items():
        exact = [numbers_of(parts.rows[k]) for k in positions]
        for name, values in numeric_features(_floats(exact, own), own, exact).items():
            result.setdefault(name, np.full(len(parts.rows), np.nan))[positions] = values
    return result | _lowest_bits(parts, result.get(LOWEST_BIT))


def _floats(exact: Sequence[Sequence[float]], shape: Shape) -> Array:
    """Return the numbers of outcomes of one shape as rows; integers beyond float64 become infinite."""
    values = np.array([to_float(number) for row in exact for number in row], np.float64)
    return values.reshape(len(exact), -1) if shape else values


def _lowest_bits(parts: Parts, known: Array | None) -> dict[str, Array]:
    """Return the lowest bit of all numbers in structured outcomes beside that of vectors."""
    kinds = parts.structured[1]
    if not any(flat.leaves for flat in parts.flats):
        return {} if known is None else {LOWEST_BIT: known}
    least = [lowest_bit(np.array(flat.leaves)).min() if flat.leaves else np.nan for flat in parts.flats]
    own = np.array([*least, np.nan])[kinds]
    return {LOWEST_BIT: own if known is None else np.where(kinds >= 0, own, known)}


def numeric_features(
    rows: NDArray[Any], shape: Shape, exact: Sequence[Sequence[float]] | None = None
) -> dict[str, Array]:
    """Return the features of outcomes of one shape.

    Parameters
    ----------
    rows : ndarray
        Shape (calls,) for numbers, (calls, numbers) for arrays, in C order.
    shape : tuple of int
        Of an outcome; empty for numbers.
    exact : sequence of sequence of int and float, optional
        The numbers of each outcome, where the rows are rounded to float64.
    """
    values = np.asarray(rows, dtype=np.float64)
    if not shape:
        digits = digits_of_column(OUTCOME, rows if exact is None else [row[0] for row in exact], least=0)
        return {OUTCOME: values, LOWEST_BIT: lowest_bit(values), **digits}
    count, width = values.shape
    result = {"len(outcome)": np.full(count, float(shape[0]))}
    columns = values.T.copy()  # each is read several times; a view would keep all of the rows
    result |= {name: columns[k].copy() for k, name in enumerate(coordinate_names(shape, _SHOWN_COORDINATES))}
    if width > 1:
        result |= {
            _last_name(shape): columns[-1].copy(),
            "max(outcome)": reduce(np.maximum, columns),
            "min(outcome)": reduce(np.minimum, columns),
        }
        with np.errstate(over="ignore", invalid="ignore"):
            result["sum(outcome)"] = reduce(np.add, columns)  # in the same order for every shape and layout
        result["argmax(outcome)"] = values.argmax(axis=1).astype(np.float64)
    if width:
        result[LOWEST_BIT] = reduce(np.minimum, map(lowest_bit, columns))
        result |= _digits_inside(rows, shape, exact)
    if len(shape) > 1 and width:
        result |= _row_features(values, shape)
    return result


def _digits_inside(rows: NDArray[Any], shape: Shape, exact: Sequence[Sequence[float]] | None) -> dict[str, Array]:
    """Return the digits and fractions of the coordinates that have names, where there are any."""
    named = dict(enumerate(coordinate_names(shape, _SHOWN_COORDINATES)))
    named.setdefault(rows.shape[1] - 1, _last_name(shape))
    result: dict[str, Array] = {}
    for k, name in named.items():
        result |= digits_of_column(name, rows[:, k] if exact is None else [row[k] for row in exact])
    return {name: values for name, values in result.items() if not np.isnan(values).all()}


def partly_of_vectors(vectors: NDArray[Any] | Iterable[Sequence[float]], longest: int) -> dict[str, str]:
    """Return what of vectors or arrays of numbers is not looked at one by one, in words for a message.

    Parameters
    ----------
    vectors : ndarray of shape (calls, numbers), or iterable of sequences of numbers
        The outcomes.
    longest : int
        Up to this length all numbers are looked at together.
    """
    longer = () if isinstance(vectors, np.ndarray) else (row for row in vectors if len(row) > _SHOWN_COORDINATES + 1)
    parts = [vectors] if isinstance(vectors, np.ndarray) else (np.array([row], np.float64) for row in longer)
    where, found = f"between the first {_SHOWN_COORDINATES} and the last one", dict[str, str]()
    for rows in parts:
        if rows.shape[1] > longest:
            return {OUTCOME: f"numbers {where}"}
        if (np.abs(rows[:, _SHOWN_COORDINATES:-1].astype(np.float64)) >= LARGE).any():
            found = {OUTCOME: f"digits and fractions of numbers {where}"}
    return found


def _last_name(shape: Shape) -> str:
    return OUTCOME + "[-1]" * len(shape)


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
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    exponents = np.empty(flat.size)
    for start in range(0, flat.size, _TOGETHER):
        part = slice(start, start + _TOGETHER)
        exponents[part] = _lowest_bit(flat[part].view(np.int64))
    return exponents.reshape(np.shape(values))


def _lowest_bit(bits: NDArray[np.int64]) -> Array:
    biased = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(biased > 0, 1 << 52, 0)
    trailing = ((mantissa & -mantissa).astype(np.float64).view(np.int64) >> 52) - 1023  # its exponent
    exponents = (np.maximum(biased, 1) - 1075 + trailing).astype(np.float64)
    return np.where((mantissa == 0) | (biased == 0x7FF), 1100.0, exponents)
