"""Bisection for the smallest accepted number, with a result on the safe side."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["smallest_accepted"]

Array = NDArray[np.float64]


def smallest_accepted(
    accept: Callable[[Array], NDArray[np.bool_]],
    rejected: Array,
    accepted: Array,
    *,
    geometric: bool = False,
    parts: int = 2,
) -> Array:
    """Return, elementwise, the accepted end of the final interval of a bisection.

    Parameters
    ----------
    accept : callable
        Elementwise predicate that holds from some point on; where it does not behave so, the result is still accepted,
        only not the smallest. Called with the shape of the ends, and an axis of `parts` - 1 before it if `parts` > 2.
    rejected, accepted : ndarray
        Lower ends, and upper ends that are accepted already; same shape.
    geometric : bool
        Divide ratios instead of differences (positive ends), until they are within 2^-44 of 1.
    parts : int
        Into how many parts each call divides the intervals. More than 2 pay where `accept` costs as much for several
        points as for one.

    Returns
    -------
    ndarray
        Points at which `accept` holds, or the given `accepted` ones.
    """
    low, high = np.array(rejected, dtype=np.float64), np.array(accepted, dtype=np.float64)
    shares = np.arange(1, parts, dtype=np.float64).reshape(-1, *(1,) * low.ndim) / parts
    for _ in range(1100):  # no interval of float64 survives more halvings
        width = high - low
        if bool(np.all(width <= (2.0**-44 * low if geometric else 2.0**-50 * high))):
            break
        points = low * (high / low) ** shares if geometric else low + width * shares
        good = accept(points) if parts > 2 else accept(points[0])[None]
        reached = good.any(axis=0)
        first = np.argmax(good, axis=0)
        everything = np.concatenate([low[None], points, high[None]])
        upper = np.where(reached, first + 1, parts)
        low = np.take_along_axis(everything, upper[None] - 1, axis=0)[0]
        high = np.take_along_axis(everything, upper[None], axis=0)[0]
    return high
