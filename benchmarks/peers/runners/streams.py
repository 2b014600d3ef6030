"""Outcomes of the sparse vector rows as DP-Sniper's own mechanisms release them: a number for every answer.

Ours are the places of the hits, padded with 0, and the numbers released there. A linear classifier can do less with
places than with a number for every answer, so DP-Sniper gets what its published runs had.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.broken.sparse_vector import ReleasesTestedAnswer, ThirdAndFourth
from dpassay.impl.mechanisms.laplace_sparse_vector import LaplaceSparseVector, NumericSparseVector

__all__ = ["encode", "flags_of", "spread"]

Array = NDArray[np.float64]


def flags_of(mechanism: Any) -> tuple[float, ...]:
    """Return the numbers that stand for something else, which the published runs hand to the classifier as flags."""
    match mechanism:
        case ThirdAndFourth(parts=(third, fourth)):
            return (*flags_of(fourth), *flags_of(third))
        case ReleasesTestedAnswer():
            return _marks(mechanism)
        case NumericSparseVector():
            return ()
        case LaplaceSparseVector() if mechanism.most_hits < mechanism.size:
            return _marks(mechanism)[1:]
    return ()


def encode(mechanism: Any, outcomes: Array) -> Array:
    """Return a number for every answer, shape (outcomes, answers), if this is a sparse vector row; else `outcomes`."""
    match mechanism:
        case ThirdAndFourth(parts=(third, fourth)):
            ours = outcomes[:, : 2 * third.most_hits], outcomes[:, 2 * third.most_hits :]
            return np.concatenate([encode(third, ours[0]), encode(fourth, ours[1])], axis=1)
        case ReleasesTestedAnswer() | NumericSparseVector():
            return spread(outcomes[:, ::2], outcomes[:, 1::2], mechanism.size, *_marks(mechanism))
        case LaplaceSparseVector():
            return spread(outcomes, 1.0, mechanism.size, *_marks(mechanism))
    return outcomes


def _marks(mechanism: Any) -> tuple[float, float]:
    """Return what stands for an answer that is no hit, and for one after the end."""
    match mechanism:
        case ReleasesTestedAnswer():
            return -1000.0, -2000.0
        case NumericSparseVector():
            return 0.0, -1000.0
    return 0.0, -1.0


def spread(places: Array, numbers: Array | float, size: int, below: float, after: float) -> Array:
    """Return a number for every answer.

    Parameters
    ----------
    places : array, shape (outcomes, hits)
        From 1, ascending, padded with 0; the stream ends with the last of them if there is no padding.
    numbers : array or float
        What is released at the places.
    size : int
        How many answers there are.
    below, after : float
        What stands for an answer that is no hit, and for one after the end.

    Examples
    --------
    >>> spread(np.array([[2.0], [0.0]]), 1.0, 3, 0.0, -1.0).tolist()
    [[0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]
    """
    answers = np.full((len(places), size + 1), below)
    np.put_along_axis(answers, places.astype(np.intp), np.broadcast_to(numbers, places.shape), axis=1)
    answers, last = answers[:, 1:], places[:, -1:]
    answers[(last > 0) & (np.arange(1, size + 1) > last)] = after
    return answers
