"""The outcomes of a batch taken apart: which are structured, and the numbers in each.

Most structured outcomes come again and again: what follows from one is found once for all that are the same.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.flattening import Flat, flattened
from dpassay.properties.outcomes.symbols import floats_of, numbers_of, shape_of, size_of

__all__ = ["Parts"]

Array = NDArray[np.float64]


class Parts:
    """The numbers and the structured outcomes of a batch, each computed when it is asked for.

    Parameters
    ----------
    rows : ndarray
        The outcomes: an array of numbers of shape (n,) or (n, k), or of plain values of shape (n,).
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows = rows

    @property
    def are_plain(self) -> bool:
        """Return whether the outcomes are plain values, not rows of an array of numbers."""
        return self.rows.dtype == object

    @cached_property
    def structured(self) -> tuple[list[Hashable], NDArray[np.intp]]:
        """The different structured outcomes, and which of them each outcome is; -1 for numbers."""
        if not self.are_plain:
            return [], np.full(len(self.rows), -1, dtype=np.intp)
        different: list[Hashable] = []
        words: dict[str, int] = {}
        others: dict[str, int] = {}
        kinds = []
        for symbol in self.rows.tolist():
            kind = -1
            if type(symbol) is str:
                kind = words.setdefault(symbol, len(different))
            elif shape_of(symbol) is None:  # values that are equal may differ: -0.0 and 0.0
                kind = others.setdefault(repr(symbol), len(different))
            if kind == len(different):
                different.append(symbol)
            kinds.append(kind)
        return different, np.array(kinds, dtype=np.intp)

    @cached_property
    def flats(self) -> list[Flat]:
        """The different structured outcomes, flattened."""
        return [flattened(symbol) for symbol in self.structured[0]]

    def numeric(self) -> NDArray[np.intp]:
        """Return the positions of the numbers and of the vectors and arrays of numbers."""
        return np.flatnonzero(self.structured[1] < 0)

    def by_outcome(self, of_structured: Sequence[int], of_numbers: Callable[[Any], int]) -> NDArray[np.intp]:
        """Return a number for each outcome, from those of the different structured ones and a function of others."""
        own = np.array([*of_structured, 0], dtype=np.intp)[self.structured[1]]
        places = self.numeric()
        own[places] = [of_numbers(symbol) for symbol in self.rows[places].tolist()]
        return own

    @cached_property
    def largest(self) -> int:
        """The most numbers and characters in one outcome."""
        if self.rows.ndim == 2:
            return int(self.rows.shape[1])
        if not self.are_plain:
            return 1
        sizes = map(size_of, self.structured[0]), map(size_of, self.rows[self.numeric()])
        return max((size for part in sizes for size in part), default=1)

    @cached_property
    def _leaves(self) -> list[list[float]]:
        """The numbers of each plain value."""
        flats = self.flats
        pairs = zip(self.rows.tolist(), self.structured[1].tolist(), strict=True)
        return [flats[kind].leaves if kind >= 0 else floats_of(symbol) for symbol, kind in pairs]

    def numbers(self) -> tuple[Array, NDArray[np.intp]]:
        """Return all numbers in the outcomes, and which outcome each belongs to."""
        if not self.are_plain:
            width = self.rows.shape[1] if self.rows.ndim == 2 else 1
            return np.asarray(self.rows, dtype=np.float64).ravel(), np.repeat(np.arange(len(self.rows)), width)
        if not self.numeric().size and not any(flat.leaves for flat in self.flats):  # of words, for instance
            return np.empty(0), np.empty(0, dtype=np.intp)
        leaves = self._leaves
        owners = np.repeat(np.arange(len(self.rows)), [len(listed) for listed in leaves])
        return np.array([value for listed in leaves for value in listed], np.float64), owners

    def widths(self) -> list[int]:
        """Return how many numbers there are in outcomes with parts, the different ones in order of appearance."""
        if not self.are_plain:
            return [int(self.rows.shape[1])] if self.rows.ndim == 2 else []
        different, firsts = np.unique(self._row_widths, return_index=True)
        return [int(width) for width in different[np.argsort(firsts)]]

    @cached_property
    def _row_widths(self) -> NDArray[np.intp]:
        return self.by_outcome(
            [len(flat.leaves) for flat in self.flats],
            lambda symbol: 0 if isinstance(symbol, (int, float)) else len(numbers_of(symbol)),
        )

    def vectors(self, width: int) -> tuple[NDArray[np.intp], Array]:
        """Return the positions of the outcomes whose parts have this number of numbers, and these numbers."""
        if not self.are_plain:
            fits = self.rows.ndim == 2 and self.rows.shape[1] == width
            positions = np.arange(len(self.rows) if fits else 0)
            return positions, np.asarray(self.rows if fits else np.empty((0, width)), dtype=np.float64)
        positions = np.flatnonzero(self._row_widths == width)
        leaves = self._leaves
        return positions, np.array([leaves[k] for k in positions], np.float64).reshape(len(positions), width)
