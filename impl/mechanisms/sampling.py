"""Sampling in chunks, which limits the memory of a large sample of a wide mechanism."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.validation import require_count

__all__ = ["in_chunks"]

_NUMBERS_AT_ONCE = 2**20


def in_chunks(draw: Callable[[int], NDArray[Any]], size: int, numbers_per_outcome: int) -> NDArray[Any]:
    """Concatenate draws of at most about a million random numbers each.

    Parameters
    ----------
    draw : callable
        From a number of outcomes to an array with that many rows.
    size : int
        Number of outcomes in all, at least 0.
    numbers_per_outcome : int
        Number of random numbers for one outcome.

    Returns
    -------
    ndarray
        The outcomes, one a row.

    Raises
    ------
    UsageError
        If `size` is not an integer of at least 0.
    """
    require_count("size", size, low=0)
    rows = max(1, _NUMBERS_AT_ONCE // numbers_per_outcome)
    counts = [min(rows, size - begin) for begin in range(0, size, rows)] or [0]
    outcomes: NDArray[Any] = np.concatenate([draw(count) for count in counts])
    return outcomes
