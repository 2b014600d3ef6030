"""The half-width T of truncated Gaussian noise for a given delta: Cesar and Rogers 2020, Alg 2, eq (10)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.accounting.gaussian_tails import log_cdf, log_cdf_gain
from dpassay.impl.accounting.search import smallest_accepted
from dpassay.impl.validation import broadcast, real_array
from dpassay.lazy import special

__all__ = ["truncation_delta", "truncation_half_width"]

Array = NDArray[np.float64]

_ROUNDING = 1 + 2.0**-36
_SQRT_HALF = np.sqrt(0.5)


def truncation_delta(half_width: ArrayLike, sigma: ArrayLike, linf: ArrayLike = 1.0, size: ArrayLike = 1) -> Array:
    r"""Return an upper bound on the probability that one of `size` changed counts identifies its data set.

    size (Phi(T/s) - Phi((T - linf)/s))/(2 Phi(T/s) - 1) with s = linf sigma, in the form Phi(-T/s) (e^g - 1) with g
    the gain of log Phi over 1/sigma; the printed form subtracts from 1 and is noise below 1e-16.

    Parameters
    ----------
    half_width : array_like
        T, in units of the counts, at least linf/2.
    sigma : array_like
        Noise multiplier, positive.
    linf : array_like
        l_infinity sensitivity, positive.
    size : array_like
        l0 sensitivity, at least 1.

    Returns
    -------
    ndarray
        delta, in (0, size]; relative error below 2^-34 down to 1e-300.
    """
    widths, scales, steps, counts = broadcast(
        half_width=real_array("half_width", half_width, low=0, strict=True),
        sigma=real_array("sigma", sigma, low=0, strict=True),
        linf=real_array("linf", linf, low=0, strict=True),
        size=real_array("size", size, low=1, integer=True),
    )
    if bool(np.any(widths < steps / 2)):
        raise UsageError(f"half_width must be at least linf/2, got {half_width!r} for linf {linf!r}")
    t = widths / (steps * scales)
    with np.errstate(under="ignore"):
        gain = np.exp(log_cdf_gain(-t, 1 / scales))
        singular = np.exp(log_cdf(-t) + np.log(np.expm1(np.minimum(gain, 700.0))))
    delta = counts * singular / special.erf(t * _SQRT_HALF) * _ROUNDING
    return np.asarray(np.minimum(np.maximum(delta, np.finfo(np.float64).tiny), counts))


def truncation_half_width(delta: ArrayLike, sigma: ArrayLike, linf: ArrayLike = 1.0, size: ArrayLike = 1) -> Array:
    """Return the smallest T >= linf/2 at which :func:`truncation_delta` is at most delta, rounded up.

    Parameters
    ----------
    delta : array_like
        In (0, size): beyond it eq (10) has no solution above linf/2.
    sigma, linf, size : array_like
        As for :func:`truncation_delta`.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.

    Examples
    --------
    >>> round(float(truncation_half_width(1e-6, 5.0)), 5)
    24.29378
    """
    targets, scales, steps, counts = broadcast(
        delta=real_array("delta", delta, low=0, strict=True),
        sigma=real_array("sigma", sigma, low=0, strict=True),
        linf=real_array("linf", linf, low=0, strict=True),
        size=real_array("size", size, low=1, integer=True),
    )
    if bool(np.any(targets >= counts)):
        raise UsageError(f"delta must lie in (0, size), got {delta!r} for size {size!r}")

    def accept(widths: Array) -> NDArray[np.bool_]:
        return truncation_delta(widths, scales, steps, counts) <= targets

    least = steps / 2
    # beyond linf + s x the tail is below e^(-x^2/2)/2, and the normaliser above 1/2 for x >= 1
    enough = steps * (1 + scales * (2 + np.sqrt(2 * np.log(counts / targets))))
    return smallest_accepted(accept, least, np.asarray(enough))
