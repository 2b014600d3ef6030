"""Validation of arguments for mechanisms and bounds; errors are `UsageError` and name the argument."""

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError

__all__ = [
    "broadcast",
    "real_array",
    "require_count",
    "require_interval",
    "require_noise",
    "require_open_probability",
    "require_range",
    "require_vector",
]

Array = NDArray[np.float64]

LARGEST_WHOLE = 1e50  # the modes of integrands with far larger powers are not found


def require_count(name: str, value: Any, low: int = 1) -> int:
    """Return `value` if it is an integer of at least `low`; raise `UsageError` naming `name` otherwise."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise UsageError(f"{name} must be an integer, at least {low}, got {value!r}")
    return int(value)


def require_open_probability(name: str, value: Any) -> float:
    """Return `value` if it lies in (0, 1); raise `UsageError` naming `name` otherwise."""
    try:
        inside = bool(0 < value < 1)
    except (TypeError, ValueError):
        inside = False
    if not inside:
        raise UsageError(f"{name} must lie in (0, 1), got {value!r}")
    return float(value)


def require_range(low: float, high: float) -> None:
    """Raise `UsageError` unless low and high are finite and low <= high."""
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise UsageError(f"low and high must be finite, low <= high, got low={low!r}, high={high!r}")


def require_interval(low: float, high: float) -> None:
    """Raise `UsageError` unless low <= high; either may be infinite."""
    if not low <= high:
        raise UsageError(f"low and high must be numbers, low <= high, got low={low!r}, high={high!r}")


def require_noise(**scales: float) -> None:
    """Raise `UsageError` unless every named scale of noise is a finite positive float64.

    Extreme parameters, each in its domain, can make a scale of 0, which hides nothing, or an infinite one.
    """
    for name, scale in scales.items():
        if not 0 < scale < math.inf:
            raise UsageError(f"epsilon and sensitivity must make {name} finite and positive, got {name}={scale!r}")


def require_vector(name: str, data: ArrayLike, size: int, low: float = -math.inf, high: float = math.inf) -> Array:
    """Return `data` as a float64 vector of `size` finite coordinates in [low, high].

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    data : array_like
        The argument.
    size : int
        Number of coordinates.
    low, high : float
        Bounds of every coordinate, included.

    Raises
    ------
    UsageError
        If the shape is another, or a coordinate is not finite or leaves [low, high].
    """
    try:
        vector = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be a vector of numbers, got {data!r}") from None
    if vector.shape != (size,):
        raise UsageError(f"{name} must have shape ({size},), got {vector.shape}")
    if not bool(np.all(np.isfinite(vector))):
        raise UsageError(f"{name} must be finite, got {vector!r}")
    if not bool(np.all((vector >= low) & (vector <= high))):
        raise UsageError(f"{name} must lie in [{low:g}, {high:g}], got {vector!r}")
    return vector


def real_array(
    name: str,
    value: ArrayLike,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    strict: bool = False,
    integer: bool = False,
) -> Array:
    """Return `value` as a float64 array of finite numbers in [low, high].

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : array_like
        What was given.
    low, high : float
        Accepted interval, ends included.
    strict : bool
        Whether `low` itself is refused.
    integer : bool
        Whether the numbers must be whole, and no larger than `LARGEST_WHOLE`.

    Raises
    ------
    UsageError
        If any element is outside, not a number, or not whole where it must be.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be a number or an array of numbers, got {value!r}") from None
    if integer:
        high = min(high, LARGEST_WHOLE)
    good = np.isfinite(array) & (array > low if strict else array >= low) & (array <= high)
    if integer:
        good &= array == np.floor(array)
    if not bool(np.all(good)):
        kind = "whole" if integer else "finite"
        bounds = f"{'above' if strict else 'at least'} {low:g} and at most {high:g}"
        raise UsageError(f"{name} must be {kind}, {bounds}, got {float(array[~good].flat[0])!r}")
    return array


def broadcast(**arrays: Array) -> tuple[Array, ...]:
    """Broadcast the named arrays against each other; raise `UsageError` naming their shapes if they do not fit."""
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise UsageError(f"the shapes of the arguments do not broadcast: {shapes}") from None
