"""All pairs of a relation over a small finite domain."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import NeighbourRelation, VectorNeighbours

__all__ = ["all_pairs"]

Array = NDArray[np.float64]

_MOST_INPUTS = 1 << 14
"""Inputs of a domain that is listed in full: larger domains are searched instead."""

_MOST_CHANGES = 1 << 16
"""Changes of one input that are listed in full."""


def all_pairs(relation: NeighbourRelation, *, most: int) -> list[tuple[Array, Array]] | None:
    """Return every unordered pair of a finite relation, the simplest inputs first.

    Parameters
    ----------
    relation : NeighbourRelation
        The relation. Only integer vectors between finite bounds have a finite domain.
    most : int
        Largest number of pairs to list.

    Returns
    -------
    list of (left, right) or None
        Inputs as float64 vectors; None if the domain is infinite or has more than `most` pairs.
    """
    if not isinstance(relation, VectorNeighbours) or not relation.integer:
        return None
    if math.isinf(relation.low) or math.isinf(relation.high):
        return None
    low, high = math.ceil(relation.low), math.floor(relation.high)
    if low > high:
        return []
    if (high - low + 1) ** relation.size > _MOST_INPUTS:
        return None
    changes = _changes(relation, high - low)
    if changes is None:
        return None
    pairs = list(itertools.islice(_pairs(_inputs(relation.size, low, high), changes, low, high), most + 1))
    return pairs if len(pairs) <= most else None


def _inputs(size: int, low: int, high: int) -> NDArray[np.int64]:
    """Return every input as a row, those with the smallest numbers first."""
    grid = np.indices((high - low + 1,) * size).reshape(size, -1).T + low
    order = np.lexsort((*grid.T[::-1], np.abs(grid).sum(axis=1)))
    return np.asarray(grid[order], dtype=np.int64)


def _changes(relation: VectorNeighbours, width: int) -> NDArray[np.int64] | None:
    """Return every change that the norms admit, one of each pair of opposites; None if there are too many."""
    reach = int(min(width, relation.largest_step))
    if (2 * reach + 1) ** relation.size > _MOST_CHANGES:
        return None
    grid = np.indices((2 * reach + 1,) * relation.size).reshape(relation.size, -1).T - reach
    sizes = np.abs(grid)
    admitted = (sizes > 0).any(axis=1)
    if relation.l0 is not None:
        admitted &= (sizes > 0).sum(axis=1) <= relation.l0
    if relation.l1 is not None:
        admitted &= sizes.sum(axis=1) <= relation.l1
    if relation.l2 is not None:
        admitted &= (sizes**2).sum(axis=1) <= math.floor(Fraction(relation.l2) ** 2)
    if relation.monotone:
        admitted &= (grid >= 0).all(axis=1) | (grid <= 0).all(axis=1)
    first = np.take_along_axis(grid, np.argmax(grid != 0, axis=1)[:, None], axis=1)[:, 0]
    return np.asarray(grid[admitted & (first > 0)], dtype=np.int64)


def _pairs(
    inputs: NDArray[np.int64], changes: NDArray[np.int64], low: int, high: int
) -> Iterator[tuple[Array, Array]]:
    for left in inputs:
        moved = left + changes
        inside = ((moved >= low) & (moved <= high)).all(axis=1)
        for right in moved[inside]:
            yield left.astype(np.float64), right.astype(np.float64)
