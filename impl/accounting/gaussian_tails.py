r"""The standard normal distribution function in the log domain, and its increments without cancellation.

For negative y, Phi(y) = e(y) exp(-y^2/2) with e(y) = erfcx(|y|/sqrt 2)/2 between 0 and 1/2, so that log Phi is a
square, whose differences are exact to rounding by (a^2 - b^2) = (a - b)(a + b), plus a slowly varying
:func:`mantissa`. Everything here is built on that split; nothing takes 1 - Phi.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.lazy import special

__all__ = ["hazard", "log_cdf", "log_cdf_gain", "log_cdf_step", "mantissa"]

Array = NDArray[np.float64]

_SQRT_HALF = math.sqrt(0.5)
_LOG_SQRT_TAU = 0.5 * math.log(2 * math.pi)
_SQRT_TAU = math.sqrt(2 * math.pi)

# Gauss-Legendre nodes on [0, 1]. The hazard is analytic up to 2.8 from the real line, so that on an interval of
# length 1/4 the rule of 5 nodes is wrong by less than 50**-10 relatively.
_LEGENDRE = np.polynomial.legendre.leggauss(5)
_NODES = (_LEGENDRE[0] + 1) / 2
_WEIGHTS = _LEGENDRE[1] / 2
_LONGEST_QUADRATURE = 0.25
_FAR = 8.0  # beyond it 1 - Phi is below 2^-53: log Phi(y) is -(1 - Phi(y)) in float64


def mantissa(y: Array) -> Array:
    """Return log Phi(y) + min(y, 0)^2 / 2, to a few units in the last place (absolute, for negative y)."""
    tail = special.erfcx(np.abs(y) * _SQRT_HALF) / 2
    positive = y > 0
    if not positive.any():
        return np.asarray(np.log(tail))
    return np.where(positive, np.log1p(-tail * np.exp(-np.square(y) / 2)), np.log(tail))


def log_cdf(y: Array) -> Array:
    """Return log Phi(y)."""
    return mantissa(y) - np.square(np.minimum(y, 0)) / 2


def log_cdf_step(y: Array, step: Array, *, start: Array | None = None) -> Array:
    """Return log Phi(y + step) - log Phi(y), either sign of `step`, without cancelling the squares.

    Parameters
    ----------
    y, step : ndarray
        Start and length of the step; they broadcast.
    start : ndarray, optional
        `mantissa(y)`, if known already.

    Returns
    -------
    ndarray
        Error of a few 2^-53 times (1 + the sum of the sizes of the parts); the relative error of a *small* step
        is not bounded, see :func:`log_cdf_gain` for that.
    """
    end = y + step
    low, low_end = np.minimum(y, 0), np.minimum(end, 0)
    moved = np.where((y <= 0) & (end <= 0), step, low_end - low)
    square = moved * (low + low_end) / 2
    return np.asarray(mantissa(end) - (mantissa(y) if start is None else start) - square)


def hazard(y: Array) -> Array:
    """Return phi(y)/Phi(y), the derivative of log Phi, to a few units in the last place."""
    tail = special.erfcx(np.abs(y) * _SQRT_HALF) / 2
    density = np.exp(-np.square(y) / 2)
    return np.where(y > 0, density / (1 - tail * density), 1 / tail) / _SQRT_TAU


def log_cdf_gain(y: Array, step: Array) -> Array:
    """Return log(log Phi(y + step) - log Phi(y)) for a positive `step`, however small step and result are.

    Short steps integrate the hazard (all terms positive); long ones subtract, which then cancels at most a few
    bits; far in the upper tail both work on 1 - Phi, with its exponential factor taken out.

    Returns
    -------
    ndarray
        Absolute error below 2^-40, that is, a relative one of the gain; -inf where `step` is 0.
    """
    y, step = np.broadcast_arrays(y, step)
    by_quadrature = step * np.maximum(y, 1) <= _LONGEST_QUADRATURE
    result = np.empty(y.shape)
    if by_quadrature.any():
        result[by_quadrature] = _log_gain_by_quadrature(y[by_quadrature], step[by_quadrature])
    rest = ~by_quadrature
    if rest.any():
        result[rest] = _log_gain_by_difference(y[rest], step[rest])
    return result


def _log_gain_by_quadrature(y: Array, step: Array) -> Array:
    # hazard(y + s) = phi(y + s) / Phi(y + s); the exponential phi(max(y, 0)) stays outside the sum.
    total = np.zeros(y.shape)
    base = np.maximum(y, 0)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        point = y + step * node
        tail = special.erfcx(np.abs(point) * _SQRT_HALF) / 2
        density = np.exp(-np.square(point) / 2)
        relative = np.exp((base - point) * (base + point) / 2)
        total += weight * np.where(point > 0, relative / (1 - tail * density), np.exp(-np.square(base) / 2) / tail)
    with np.errstate(divide="ignore"):
        return np.log(step) + np.log(total) - np.square(base) / 2 - _LOG_SQRT_TAU


def _log_gain_by_difference(y: Array, step: Array) -> Array:
    far = y > _FAR
    with np.errstate(divide="ignore"):
        near = np.log(log_cdf_step(np.where(far, 0.0, y), step))
    if not far.any():
        return near
    start = np.where(far, y, _FAR)
    end = start + step
    shrink = np.exp(-step * (start + step / 2))
    upper = special.erfcx(start * _SQRT_HALF) / 2 - shrink * special.erfcx(end * _SQRT_HALF) / 2
    return np.where(far, np.log(upper) - np.square(start) / 2, near)
