"""Regressors of a vector of numbers: bounded functions of its coordinates and of the differences of neighbours.

For noise of Laplace's kind the log ratio of the sides is a sum over coordinates of bounded, nearly sign-like terms;
where a mechanism releases running sums the terms belong to the differences of neighbouring coordinates. A coordinate
with few values, such as a bit or the place of a hit, has an indicator for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Regressors"]

Array = NDArray[np.float64]
Values = NDArray[np.float32]

FEW_VALUES, MOST_INDICATORS = 12, 128
_FAR = 8.0
_SHARPEST = 8.0


@dataclass(frozen=True)
class Regressors:
    """What a regression looks at, fitted to the first vectors and the same from then on.

    Parameters
    ----------
    width : int
        Coordinates of a vector.
    continuous, differences : ndarray of int
        Coordinates with many values; those of them whose difference from the next coordinate is looked at.
    indicated : tuple of (int, float)
        Coordinates and values of the indicators.
    tallied : ndarray
        Values of which it is counted how many coordinates have them.
    centre, spread : ndarray
        Median of each continuous term, and of its distance from it.
    """

    width: int
    continuous: NDArray[np.intp]
    differences: NDArray[np.intp]
    indicated: tuple[tuple[int, float], ...]
    tallied: Array
    centre: Array = field(default_factory=lambda: np.empty(0))
    spread: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def fitted(cls, rows: Array) -> "Regressors":
        """Choose by the first vectors, shape (calls, width)."""
        distinct = [np.unique(column) for column in rows.T]
        discrete = [k for k, values in enumerate(distinct) if values.size <= FEW_VALUES]
        continuous = np.array([k for k in range(len(distinct)) if k not in discrete], dtype=np.intp)
        differences = continuous[:-1][np.diff(continuous) == 1]
        indicators = [(k, float(value)) for k in discrete for value in _rarer(rows[:, k], distinct[k])]
        few = np.unique(rows) if discrete and not continuous.size else np.empty(0)
        tallied = few if rows.shape[1] > 1 and 2 < few.size <= FEW_VALUES else np.empty(0)
        chosen = tuple(indicators if len(indicators) <= MOST_INDICATORS else ())
        unscaled = cls(rows.shape[1], continuous, differences, chosen, tallied)
        terms = unscaled._terms(rows)
        centre = np.median(terms, axis=1)
        spread = np.median(np.abs(terms - centre[:, None]), axis=1)
        scaled = np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
        return cls(rows.shape[1], continuous, differences, chosen, tallied, np.nan_to_num(centre), scaled)

    def groups(self) -> list[int]:
        """Return for each regressor which group it belongs to: those of a group mean the same of other coordinates."""
        parts = [len(self.continuous), len(self.differences)]
        kinds = 5 if self.width == 1 else 4
        grouped = [2 * kind + part for kind in range(kinds) for part in (0, 1) for _ in range(parts[part])]
        values = sorted({value for _, value in self.indicated})
        grouped += [2 * kinds + values.index(value) for _, value in self.indicated]
        crossed = 4 * sum(coordinate + 1 in self.continuous for coordinate, _ in self.indicated)
        alone = 2 * kinds + len(values)
        return grouped + list(range(alone, alone + crossed + len(self.tallied) + 1))

    def of(self, rows: Array) -> Values:
        """Return the values of the regressors, shape (calls, regressors), each a function of its own row."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = ((self._terms(rows) - self.centre[:, None]) / self.spread[:, None]).astype(np.float32)
        z = np.clip(z, -1e6, 1e6)
        size = np.abs(z)
        soft = z / (1 + size)
        functions = [soft, np.clip(2 * z, -1, 1), np.clip(_SHARPEST * z, -1, 1), size / (1 + size)]
        if self.width == 1:  # the loss of a shifted Gaussian is linear
            functions.append(np.clip(z, -_FAR, _FAR))
        functions += [(rows[None, :, k] == value).astype(np.float32) for k, value in self.indicated]
        functions += [self._crossed(rows, functions[:4])]
        functions += [(rows == value).sum(axis=1, dtype=np.float32)[None] for value in self.tallied]
        functions.append(np.ones((1, len(rows)), dtype=np.float32))
        return np.concatenate(functions).T

    def _crossed(self, rows: Array, functions: Sequence[Values]) -> Values:
        """Return the functions of each released number apart for each value of the coordinate before it."""
        parts = [np.empty((0, len(rows)), dtype=np.float32)]
        for coordinate, value in self.indicated:
            for place in np.flatnonzero(self.continuous == coordinate + 1):
                here = (rows[:, coordinate] == value).astype(np.float32)
                parts.append(np.stack([function[place] * here for function in functions]))
        return np.concatenate(parts)

    def _terms(self, rows: Array) -> Array:
        """Return the continuous coordinates and the differences, shape (terms, calls)."""
        columns = rows.T
        with np.errstate(over="ignore", invalid="ignore"):
            steps = columns[self.differences + 1] - columns[self.differences]
        return np.concatenate([columns[self.continuous], steps])


def _rarer(column: Array, values: Array) -> Array:
    """Return all values but the most frequent one."""
    counts = np.array([np.count_nonzero(column == value) for value in values])
    return np.delete(values, int(counts.argmax()))
