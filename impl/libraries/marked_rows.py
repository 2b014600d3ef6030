"""Marks for the comparisons of a relation that protect the records, and relations of those alone.

A relation of a fit or an answer compares many numbers, of which some protect the records and others do not. Those
that are marked are also asked as a relation of their own, for `unsafe` or `understated`. It runs inside workers, and
imports no library.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from random import Random

    Row = tuple[str, float, float, float]
    Relation = Callable[[Random], Iterator[Row]]

__all__ = ["accounted", "protecting", "protects", "spends", "understates"]


class _Spends(tuple):  # type: ignore[type-arg]
    __slots__ = ()


class _Protects(tuple):  # type: ignore[type-arg]
    __slots__ = ()


class _Understates(tuple):  # type: ignore[type-arg]
    __slots__ = ()


def spends(row: Row) -> Row:
    """Mark the comparison of a number that costs privacy above its bound, such as an epsilon."""
    return _Spends(row)


def protects(row: Row) -> Row:
    """Mark the comparison of a number that costs privacy below its bound, such as a sensitivity."""
    return _Protects(row)


def understates(row: Row) -> Row:
    """Mark the comparison of a number that an accountant states as a bound, and that is none below its own bound."""
    return _Understates(row)


def protecting(relations: Mapping[str, Relation]) -> dict[str, Relation]:
    """Return the relations of those comparisons that protect the records, for `unsafe` on either side.

    Each has the side of its mark alone.

    Examples
    --------
    >>> def fit(random):
    ...     yield "mean", 0.9, 1.5, 1.1
    ...     yield spends(("epsilon", 0.9, 1.0, 1.1))
    >>> only = protecting({"fit": fit})["fit: what protects the records"]
    >>> list(only(None))
    [('epsilon', -inf, 1.0, 1.1)]
    """
    return {f"{words}: what protects the records": _of(one, _Spends, _Protects) for words, one in relations.items()}


def accounted(relations: Mapping[str, Relation]) -> dict[str, Relation]:
    """Return the relations of those comparisons of what accountants state, for `understated`."""
    return {f"{words}: what is accounted": _of(one, _Understates) for words, one in relations.items()}


def _of(relation: Relation, *marks: type) -> Relation:
    """Return the relation of comparisons with one of these marks, on the side of the mark alone."""

    def rows(random: Random) -> Iterator[Row]:
        for row in relation(random):
            if isinstance(row, marks):
                words, low, value, high = row
                yield (words, -math.inf, value, high) if isinstance(row, _Spends) else (words, low, value, math.inf)

    return rows
