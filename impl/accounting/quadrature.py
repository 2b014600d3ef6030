"""The trapezoidal rule in the log domain, vectorised; the step is halved until two results agree."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_trapezoid"]

Array = NDArray[np.float64]

_MOST_INTERVALS = 2**21
_NODES_AT_ONCE = 2**19
_AGREEMENT = 2.0**-22


def log_trapezoid(
    log_integrand: Callable[[NDArray[np.intp], Array], Array], left: Array, right: Array, intervals: int = 96
) -> Array:
    """Return the logarithms of integrals of analytic functions that have vanished at both ends.

    On such a function the rule converges geometrically: halving the step squares the error. Two steps that agree to
    2^-22 therefore leave the finer one wrong by about 2^-44, relatively.

    Parameters
    ----------
    log_integrand : callable
        From indices of integrals, shape (n,), and abscissas, shape (n, points), to logarithms of that shape.
    left, right : ndarray
        Ends of the integrals, shape (integrals,).
    intervals : int
        Even number of intervals to begin with; no bump of an integrand may be narrower than a few of them.

    Returns
    -------
    ndarray
        Logarithms of the integrals, shape (integrals,).

    Raises
    ------
    ArithmeticError
        If 2^21 intervals are not enough, which means an edge a million times sharper than the window is wide.
    """
    result = np.empty(left.shape)
    pending = np.arange(left.size)
    while pending.size:
        if intervals > _MOST_INTERVALS:
            raise ArithmeticError(f"the quadrature did not converge with {_MOST_INTERVALS} intervals")
        rows = max(1, _NODES_AT_ONCE // intervals)
        settled = np.empty(pending.size, dtype=bool)
        for begin in range(0, pending.size, rows):
            part = slice(begin, begin + rows)
            index = pending[part]
            step = (right[index] - left[index]) / intervals
            values = log_integrand(index, left[index, None] + step[:, None] * np.arange(intervals + 1))
            top = values.max(axis=1)
            weights = np.exp(values - top[:, None])
            fine, coarse = weights.sum(axis=1), 2 * weights[:, ::2].sum(axis=1)
            result[index] = top + np.log(fine * step)
            settled[part] = np.abs(coarse - fine) <= _AGREEMENT * fine
        pending = pending[~settled]
        intervals *= 2
    return result
