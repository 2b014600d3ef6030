"""Logarithms of sums, of logistic functions and of Gamma, in numpy alone.

`scipy.special` has them too, but takes longer to import than numpy and the rest of a hunt together.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["expit", "log_expit", "log_gamma", "logit", "logsumexp", "xlogy"]

Array = NDArray[np.float64]

_SHIFT = 9
"""Smaller arguments are moved up by this integer, where Stirling's series is accurate."""

_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
"""The coefficients of Stirling's series of the log-gamma function."""

_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def expit(x: ArrayLike) -> Array:
    """Return 1 / (1 + e^-x), to a few units of the last place also where it is small; float32 stays float32.

    Examples
    --------
    >>> expit(np.array([0.0, -800.0])).tolist()
    [0.5, 0.0]
    """
    values = np.asarray(x)
    with np.errstate(under="ignore"):
        small = np.exp(-np.abs(values))
        result: Array = np.where(values >= 0, 1, small) / (1 + small)
    return result


def log_expit(x: ArrayLike) -> Array:
    """Return log(1 / (1 + e^-x)) without cancellation.

    Examples
    --------
    >>> log_expit([-1000.0]).tolist()
    [-1000.0]
    """
    values = np.asarray(x, dtype=np.float64)
    with np.errstate(under="ignore"):
        result: Array = np.minimum(values, 0.0) - np.log1p(np.exp(-np.abs(values)))
    return result


def logit(p: ArrayLike) -> Array:
    """Return log(p / (1 - p)) for p strictly between 0 and 1."""
    values = np.asarray(p, dtype=np.float64)
    result: Array = np.log(values) - np.log1p(-values)
    return result


def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """Return x log y, 0 where x is 0."""
    factor, value = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    result: Array = factor * np.log(np.where(factor == 0, 1.0, value))
    return result


def logsumexp(values: ArrayLike, axis: int | None = None, b: ArrayLike = 1.0) -> Array:
    """Return the logarithm of the sum of `b` times the exponentials of `values`; minus infinity of no or zero terms.

    Parameters
    ----------
    values : array_like
        Logarithms; plus infinity is no one of them.
    axis : int, optional
        Along which to sum; by default over all.
    b : array_like
        Factors, at least 0.

    Examples
    --------
    >>> float(logsumexp([-1e5, -1e5]) + 1e5)
    0.6931471805...
    """
    logs = np.where(np.asarray(b) > 0, np.asarray(values, dtype=np.float64), -np.inf)
    top = np.max(logs, axis=axis, keepdims=True, initial=-np.inf)
    finite = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore", under="ignore"):
        total = np.log(np.sum(np.asarray(b) * np.exp(logs - finite), axis=axis))
    result: Array = total + (finite.reshape(()) if axis is None else np.squeeze(finite, axis=axis))
    return result


def log_gamma(x: ArrayLike) -> Array:
    """Return the logarithm of Gamma at positive numbers, to 1e-13 relative or absolute.

    Stirling's series at x + 9, with an error below 1e-13 there, less the logarithm of x (x + 1) ... (x + 8).

    Examples
    --------
    >>> log_gamma([0.5, 5.0]).round(12).tolist()
    [0.572364942925, 3.178053830348]
    """
    values = np.asarray(x, dtype=np.float64)
    is_small = values < _SHIFT
    base = np.where(is_small, values, 1.0)
    product = np.ones(values.shape)
    for k in range(_SHIFT):
        product = product * (base + k)
    large = np.where(is_small, values + _SHIFT, values)
    inverse = 1 / large
    square = inverse * inverse
    series = np.zeros(values.shape)
    for coefficient in reversed(_STIRLING):
        series = series * square + coefficient
    stirling = (large - 0.5) * np.log(large) - large + _HALF_LOG_TWO_PI + series * inverse
    result: Array = stirling - np.where(is_small, np.log(product), 0.0)
    return result
