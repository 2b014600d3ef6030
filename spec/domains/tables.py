"""Rectangular tables of positive rationals: likelihoods, mechanisms on bit strings, scores of several rounds."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.domains.base import Domain

__all__ = ["RationalTables", "Table"]

Table = tuple[tuple[Fraction, ...], ...]
"""A table by rows, all of one length."""


@dataclass(frozen=True)
class RationalTables(Domain):
    """Tables of `rows` rows and up to `columns` columns with entries in [low, high].

    Parameters
    ----------
    rows : tuple of int
        The numbers of rows that are allowed.
    columns : int
        The largest number of columns, at least 1.
    low, high : Fraction
        Bounds of every entry, both included.
    """

    rows: tuple[int, ...]
    columns: int
    low: Fraction
    high: Fraction

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a table."""
        return (
            isinstance(value, tuple)
            and len(value) in self.rows
            and len({len(row) for row in value}) == 1
            and 1 <= len(value[0]) <= self.columns
            and all(isinstance(x, Fraction) and self.low <= x <= self.high for row in value for x in row)
        )
