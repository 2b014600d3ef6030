"""Regressors of a vector of numbers: bounded functions of its coordinates and of the differences of neighbours.

For noise of Laplace's kind the log ratio of the sides is a sum over coordinates of bounded, nearly sign-like terms;
where a mechanism releases running sums the terms belong to the differences of neighbouring coordinates. A coordinate
with few values, such as a bit or the place of a hit, has an indicator for each.
"""

import math
from collections.abc import Hashable
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

_NOTHING = -1
"""Stands before the first coordinate, in a list of coordinates whose difference from the next one is looked at."""

_TIMES_THE_PLACE = math.inf
"""Stands for the place in a list of its values."""

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
        Coordinates with many values; those of them whose difference from the next coordinate is looked at, and -1 for
        the first coordinate by itself.
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
        if differences.size and differences[0] == 0:  # the first term of a running sum
            differences = np.concatenate([[_NOTHING], differences])
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
        alone = 2 * kinds + len(values)
        grouped += [alone] * len(self._ordered)
        alone += 1
        factors = [value for _, factors in self._crossings for value in factors]
        different = sorted(set(factors))
        count = len(self._crossed_kinds)
        grouped += [alone + count * different.index(value) + kind for value in factors for kind in range(count)]
        alone += count * len(different)
        return grouped + list(range(alone, alone + len(self.tallied) + 1))

    def meanings(self) -> list[tuple[Hashable, int | None]]:
        """Return for each regressor what it means whatever its coordinate is, and the coordinate; None for all.

        The others than functions of one coordinate, or of the step to it, and the constant have no meaning (None).
        """
        found: list[tuple[Hashable, int | None]] = []
        for kind in range(3 + len(self.levels)):
            found += [(("number", kind), int(k)) for k in self.continuous]
            found += [(("step", kind), int(k) + 1) for k in self.differences]
        if self.width == 1:
            found += [("linear", int(k)) for k in self.continuous]
        found += [(("value", value), k) for k, value in self.indicated]
        rest = len(self.groups()) - len(found) - 1
        return found + [(None, -1)] * rest + [("constant", None)]

    def discrete(self) -> list[int]:
        """Return the coordinates with few values."""
        return [k for k in range(self.width) if k not in set(self.continuous.tolist())]

    def named(self) -> list[tuple[int, list[int]]]:
        """Return the coordinates that may name the place of the number behind them, with columns of that number."""
        terms = len(self.continuous) + len(self.differences)
        return [
            (int(self.continuous[number]) - 1, [kind * terms + number for kind in self._crossed_kinds])
            for number, _ in self._crossings
        ]

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
        functions += [_within(rows[None, :, k], values) for k, values in self._ordered]
        functions.append(self._crossed(rows, smooth))
        functions += [(rows == value).sum(axis=1, dtype=np.float32)[None] for value in self.tallied]
        functions.append(np.ones((1, len(rows)), dtype=np.float32))
        return np.concatenate(functions).T

    def _crossed(self, rows: Array, functions: Values) -> Values:
        """Return functions of a number times its place, and apart for each value of the place.

        What every step before a hit tells adds up: then the log ratio is the place times a function of the number.
        Where answers move in different directions, the place tells which way the number moves.
        """
        parts = [np.empty((0, len(rows)), dtype=np.float32)]
        for number, factors in self._crossings:
            own = functions[self._crossed_kinds, number]
            place = rows[:, self.continuous[number] - 1]
            for factor in factors:
                if factor == _TIMES_THE_PLACE:
                    weight = _within(place, [value for value in factors if value != _TIMES_THE_PLACE])
                else:
                    weight = (place == factor).astype(np.float32)
                parts.append(own * weight)
        return np.concatenate(parts)

    def signs(self) -> NDArray[np.bool_]:
        """Return which regressors are like signs: of continuous coordinates and differences, and of ordered values.

        Noise whose scale is far above what the data move tells little more.
        """
        terms = len(self.continuous) + len(self.differences)
        chosen = np.zeros(len(self.groups()), dtype=np.bool_)
        chosen[3 * terms : 4 * terms] = True
        start = (3 + len(self.levels) + (self.width == 1)) * terms + len(self.indicated)
        end = start + len(self._ordered)
        chosen[start:end] = True
        crossed = sum(len(factors) for _, factors in self._crossings) * len(self._crossed_kinds)
        chosen[end : end + crossed] = self._crossed_kinds == [3]
        return chosen

    @property
    def _ordered(self) -> list[tuple[int, list[float]]]:
        """The coordinates with several indicators, and their values: each has its size for a regressor, too."""
        found: dict[int, list[float]] = {}
        for coordinate, value in self.indicated:
            found.setdefault(coordinate, []).append(value)
        return [(coordinate, values) for coordinate, values in found.items() if len(values) > 1]

    @property
    def _crossings(self) -> list[tuple[int, list[float]]]:
        """The continuous coordinates behind one with indicators, which may be their place, and their factors.

        The first factor is the place itself, the others are indicators of its values.
        """
        found = []
        for number, coordinate in enumerate(self.continuous.tolist()):
            values = [value for place, value in self.indicated if place == coordinate - 1]
            if values:
                found.append((number, [_TIMES_THE_PLACE, *values]))
        return found

    @property
    def _crossed_kinds(self) -> list[int]:
        """The functions that are crossed: all of a single number, of several that which is most like a sign."""
        return list(range(3 + len(self.levels))) if len(self.continuous) == 1 else [3]

    def _terms(self, rows: Array) -> Array:
        """Return the continuous coordinates and the differences, shape (terms, calls)."""
        columns, count = rows.T, len(self.continuous)
        terms = np.empty((count + len(self.differences), len(rows)))
        terms[:count] = columns[self.continuous]
        with np.errstate(over="ignore", invalid="ignore"):
            for step, coordinate in zip(terms[count:], self.differences.tolist(), strict=True):  # without copies
                np.subtract(columns[coordinate + 1], 0.0 if coordinate == _NOTHING else columns[coordinate], out=step)
        return terms


def _within(column: Array, values: list[float]) -> Values:
    """Return where numbers lie among some values, from -1 to 1."""
    reach = np.ptp(values) or 1.0
    return np.clip((column - np.median(values)) / reach, -1, 1).astype(np.float32)


def _rarer(column: Array, values: Array) -> Array:
    """Return all values but the most frequent one."""
    counts = np.array([np.count_nonzero(column == value) for value in values])
    return np.delete(values, int(counts.argmax()))
