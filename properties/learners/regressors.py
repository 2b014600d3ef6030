"""Regressors of a vector of numbers: bounded functions of its coordinates and of the differences of neighbours.

For noise of Laplace's kind the log ratio of the sides is a sum over coordinates of bounded, nearly sign-like terms;
where a mechanism releases running sums the terms belong to the differences of neighbouring coordinates. A coordinate
with few values, such as a bit or the place of a hit, has an indicator for each.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Regressors"]

Array = NDArray[np.float64]
Values = NDArray[np.float32]

FEW_VALUES = 12
"""A coordinate with at most this many values is discrete, with an indicator for each value."""

MOST_INDICATORS = 128
"""With more indicators than this none is used: each costs time and has a weight to learn."""

_FAR = 8.0
"""Scaled values are clipped here, so that outliers of heavy tails do not rule the linear weight."""

_LARGEST = 1e6
"""Scaled values and levels are clipped here: they are kept in float32."""

_SHARPEST = 8.0
"""The slope of the ramps at the levels, per scale: a steeper one tells steps apart and smooth slopes less well."""

_STEPS = (0.5, 0.1, 0.3, 0.7, 0.9, 0.03, 0.97)
"""Quantiles at which a single number has ramps; several coordinates have one at the first of them only."""


@dataclass(frozen=True)
class Regressors:
    """The regressors of a regression: fitted to the first vectors, and fixed from then on.

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
    centre, spread : ndarray, shape (terms,)
        Median of each continuous term, and of its distance from it.
    levels : ndarray, shape (levels, terms)
        Where each standardised term has steps.
    """

    width: int
    continuous: NDArray[np.intp]
    differences: NDArray[np.intp]
    indicated: tuple[tuple[int, float], ...]
    tallied: Array
    centre: Array = field(default_factory=lambda: np.empty(0))
    spread: Array = field(default_factory=lambda: np.empty(0))
    levels: Array = field(default_factory=lambda: np.empty((0, 0)))

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
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large becomes infinite, and is clipped below
            centre = np.median(terms, axis=1)
            spread = np.median(np.abs(terms - centre[:, None]), axis=1)
            centre, spread = np.nan_to_num(centre), np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
            scaled = (terms - centre[:, None]) / spread[:, None]
        shares = _STEPS if len(continuous) == 1 else _STEPS[:1]  # a single number is looked at more closely
        levels = np.quantile(scaled, shares, axis=1, method="lower")
        return cls(
            rows.shape[1],
            continuous,
            differences,
            chosen,
            tallied,
            centre,
            spread,
            np.clip(np.nan_to_num(levels), -_LARGEST, _LARGEST),  # numbers are clipped there, too
        )

    def groups(self) -> list[int]:
        """Return for each regressor which group it belongs to: those of a group mean the same of other coordinates."""
        parts = [len(self.continuous), len(self.differences)]
        kinds = 3 + len(self.levels) + (self.width == 1)
        grouped = [2 * kind + part for kind in range(kinds) for part in (0, 1) for _ in range(parts[part])]
        values = sorted({value for _, value in self.indicated})
        grouped += [2 * kinds + values.index(value) for _, value in self.indicated]
        places = sum(coordinate == self._place for coordinate, _ in self.indicated)
        crossed = (3 + len(self.levels)) * (places + (places > 0))
        alone = 2 * kinds + len(values)
        return grouped + list(range(alone, alone + crossed + len(self.tallied) + 1))

    def of(self, rows: Array) -> Values:
        """Return the values of the regressors, shape (calls, regressors), each a function of its own row."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self._terms(rows)
            scaled -= self.centre[:, None]
            scaled /= self.spread[:, None]
            z = np.clip(scaled.astype(np.float32), -_LARGEST, _LARGEST)
        kinds, terms = 3 + len(self.levels), len(z)
        smooth = np.empty((kinds, terms, len(rows)), dtype=np.float32)  # filled in place: a copy takes as long
        size = np.abs(z)
        beyond = 1 + size
        np.divide(z, beyond, out=smooth[0])
        np.divide(size, beyond, out=smooth[1])
        np.clip(2 * z, -1, 1, out=smooth[2])
        for ramp, level in zip(smooth[3:], self.levels.astype(np.float32), strict=True):
            np.subtract(z, level[:, None], out=ramp)
            np.multiply(ramp, _SHARPEST, out=ramp)
            np.clip(ramp, -1, 1, out=ramp)
        functions = [smooth.reshape(kinds * terms, len(rows))]
        if self.width == 1:  # the loss of a shifted Gaussian is linear
            functions.append(np.clip(z, -_FAR, _FAR))
        functions += [(rows[None, :, k] == value).astype(np.float32) for k, value in self.indicated]
        functions.append(self._crossed(rows, smooth))
        functions += [(rows == value).sum(axis=1, dtype=np.float32)[None] for value in self.tallied]
        functions.append(np.ones((1, len(rows)), dtype=np.float32))
        return np.concatenate(functions).T

    def _crossed(self, rows: Array, functions: Values) -> Values:
        """Return the functions of a single number apart for each value of the coordinate before it, and times it.

        What every step before a hit tells adds up: then the log ratio is the place times a function of the number.
        """
        parts = [np.empty((0, len(rows)), dtype=np.float32)]
        values = [value for coordinate, value in self.indicated if coordinate == self._place]
        if values:
            middle, reach = np.median(values), np.ptp(values) or 1.0
            place = np.clip((rows[:, self._place] - middle) / reach, -1, 1).astype(np.float32)
            parts.append(np.stack([function[0] * place for function in functions]))
        for coordinate, value in self.indicated:
            if coordinate == self._place:
                here = (rows[:, coordinate] == value).astype(np.float32)
                parts.append(np.stack([function[0] * here for function in functions]))
        return np.concatenate(parts)

    @property
    def _place(self) -> int:
        """The coordinate before a single number, which may be its place."""
        return int(self.continuous[0]) - 1 if len(self.continuous) == 1 else -1

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
