"""Counts of what continuous noise never shows: special values, repetitions, and values of the inputs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.parts import Parts
from dpassay.properties.outcomes.symbols import floats_of

__all__ = ["LEFT_VALUES", "RIGHT_VALUES", "STRUCTURAL", "structural_features"]

Array = NDArray[np.float64]

INPUT_VALUES, LEFT_VALUES, RIGHT_VALUES = "input_values(outcome)", "left_values(outcome)", "right_values(outcome)"
"""Counts of the numbers of the outcome that are values of an input, and of one input alone; NaN for none."""

NEGATIVE_ZEROS = "negative_zeros(outcome)"
"""The count of the numbers of the outcome that are -0.0, which equals 0.0; NaN for none."""

SPECIAL_VALUES, REPEATED_VALUES = "special_values(outcome)", "repeated_values(outcome)"
"""Counts of the numbers of the outcome that are infinite or NaN, and that repeat another one; NaN for none.

0 and 1 are no repetition: flags hold little else, and their sum tells as much."""

STRUCTURAL = (SPECIAL_VALUES, REPEATED_VALUES, INPUT_VALUES, LEFT_VALUES, RIGHT_VALUES)
"""The features that continuous noise does not have."""

_COMPARED, _COMPARED_AT_ONCE = 24, 1 << 11
"""Numbers of an outcome up to which each is compared with each: of more, rows are sorted; and rows at once."""


def structural_features(parts: Parts, inputs: tuple[Array, Array] | None) -> dict[str, Array]:
    """Count the events that continuous noise never shows; the cost is negligible if there are none.

    Parameters
    ----------
    parts : Parts
        The outcomes.
    inputs : (left, right), optional
        The pair of the game.
    """
    values, owners = parts.numbers()
    found = {SPECIAL_VALUES: owners[~np.isfinite(values)], REPEATED_VALUES: _repetitions(parts)}
    found[NEGATIVE_ZEROS] = owners[(values == 0) & np.signbit(values)]
    if inputs is not None:
        left, right = inputs
        hits = np.isin(values, np.concatenate([left, right]))
        values, owners = values[hits], owners[hits]
        found[INPUT_VALUES] = owners
        found[LEFT_VALUES] = owners[np.isin(values, np.setdiff1d(left, right))]
        found[RIGHT_VALUES] = owners[np.isin(values, np.setdiff1d(right, left))]
    counts = {name: np.bincount(those, minlength=len(parts.rows)) for name, those in found.items() if those.size}
    return {name: np.where(count > 0, count, np.nan) for name, count in counts.items()}


def _repetitions(parts: Parts) -> NDArray[np.intp]:
    """Return to which outcome each number belongs that repeats another one of its outcome."""
    rows = parts.rows
    if not parts.are_plain:
        if rows.ndim != 2 or not _may_repeat(rows):
            return np.empty(0, dtype=np.intp)
        ordered = np.sort(rows, axis=1)
        later = ordered[:, 1:]
        return np.nonzero((later == ordered[:, :-1]) & (later != 0) & (later != 1))[0]
    counts = parts.by_outcome(
        [_repeated(flat.leaves) for flat in parts.flats], lambda symbol: _repeated(floats_of(symbol))
    )
    return np.repeat(np.arange(len(rows)), counts)


def _may_repeat(rows: NDArray[Any]) -> bool:
    """Return whether some row may hold a number twice; to sort rows that do not takes long."""
    width = rows.shape[1]
    if width > _COMPARED:
        return True
    for start in range(0, len(rows), _COMPARED_AT_ONCE):
        columns = rows[start : start + _COMPARED_AT_ONCE].T.copy()
        if any((columns[:k] == columns[k]).any() for k in range(1, width)):
            return True
    return False


def _repeated(leaves: Sequence[float]) -> int:
    """Return how many of the numbers of an outcome repeat another one of them."""
    telling = list(filter(_is_telling, leaves))
    return len(telling) - len(set(telling))


def _is_telling(part: float) -> bool:
    """Return whether a repeated part of an outcome is informative; NaN equals nothing, not even itself."""
    return not math.isnan(part) and part not in {0, 1}
