"""Renyi DP of AboveThreshold with Gaussian noise: three bounds of increasing strength.

All need queries bounded from below (by `low`) and none a bound from above; all hold for infinite and for finite
streams and for queries chosen adaptively.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.accounting.gaussian_products import LARGEST_RATIO, SAFETY, Factor, log_expectation
from dpassay.impl.accounting.gaussian_tails import log_cdf_gain
from dpassay.impl.accounting.quadrature import log_trapezoid
from dpassay.impl.validation import broadcast, real_array

__all__ = [
    "above_threshold_affine_rdp",
    "above_threshold_rdp",
    "above_threshold_rdp_by_halting_time",
    "above_threshold_rdp_printed",
]

Array = NDArray[np.float64]

_REACH = 9.4  # standard deviations; e^(-9.4^2/2) is e^-44
_WIDEST_STEP = 0.4
_FARTHEST = 256.0
_POINTS_AT_ONCE = 256


def above_threshold_rdp(
    alpha: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    sensitivity: ArrayLike,
) -> Array:
    r"""Return a bound on the Renyi divergence of order alpha for any noise scales, rounded up.

    With w = Delta/sigma_X, s = 2 Delta/sigma_Z and v(x) = (sigma_X x + rho - low)/sigma_Z,

        alpha w^2/2 + log E[(Phi(-v(x))/Phi(-v(x) - s))^(alpha-1)] / (alpha - 1),   x ~ N((alpha - 1) w, 1).

    Parameters
    ----------
    alpha : array_like
        Order, above 1.
    threshold : array_like
        The public threshold rho.
    sigma_threshold, sigma_query : array_like
        Standard deviations of the noise of the threshold and of the queries, positive.
    low : array_like
        Lower end of the range of all queries.
    sensitivity : array_like
        Largest change of each query between neighbours, at least 0.

    Returns
    -------
    ndarray
        Divergence in nats, of the broadcast shape; relative error below 2^-30, upward. Where (alpha - 1) s
        sigma_X/sigma_Z is above 256, orders that no conversion ends up with, the log-ratio is replaced by its bound
        s sqrt(2/pi) + s^2/2 + s max(v, 0), whose expectation is elementary.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Notes
    -----
    Not in the literature. Shifting the threshold noise of one input by Delta makes every step below the threshold
    dominated; the halting step then costs the ratio above, whose power is increasing in v because the hazard of the
    normal is, and the probabilities of halting telescope to at most 1. No moment of the halting time is needed, as it
    is in Zhu and Wang 2020 (Lebensold, Precup and Balle 2024, Thms 6 and 7).

    Examples
    --------
    >>> round(float(above_threshold_rdp(10, 0, 0.3, 0.3 * 3**0.5, 0, 0.1)), 5)
    1.62867
    """
    orders, rho, sigma_x, sigma_z, bottom, delta = _arguments(
        alpha, threshold, sigma_threshold, sigma_query, low, sensitivity
    )
    result = np.empty(orders.size)
    flat = [np.ravel(array) for array in (orders, rho, sigma_x, sigma_z, bottom, delta)]
    reach = (flat[0] - 1) * 2 * flat[5] * flat[2] / np.square(flat[3])
    by_reach = np.argsort(reach)  # so that the points of one pass need about the same number of nodes
    near = by_reach[reach[by_reach] <= _FARTHEST]
    for begin in range(0, near.size, _POINTS_AT_ONCE):
        rows = near[begin : begin + _POINTS_AT_ONCE]
        result[rows] = _divergence(flat[0][rows], flat[2][rows], flat[5][rows], _log_moment(*(a[rows] for a in flat)))
    far = by_reach[near.size :]
    result[far] = _divergence(flat[0][far], flat[2][far], flat[5][far], _log_moment_bound(*(a[far] for a in flat)))
    return result.reshape(orders.shape)


def _divergence(alpha: Array, sigma_x: Array, sensitivity: Array, log_moment: Array) -> Array:
    moment = np.where(sensitivity > 0, np.maximum(log_moment, 0) * (1 + SAFETY) + 2.0**-40, 0.0)
    return np.asarray((alpha * np.square(sensitivity / sigma_x) / 2 + moment / (alpha - 1)) * (1 + SAFETY))


def _log_moment(alpha: Array, rho: Array, sigma_x: Array, sigma_z: Array, low: Array, sensitivity: Array) -> Array:
    lift, slope = 2 * sensitivity / sigma_z, sigma_x / sigma_z
    mean = (alpha - 1) * sensitivity / sigma_x
    reach = (alpha - 1) * lift * slope  # the log-ratio grows no faster than lift * slope: the mode is that near

    def log_integrand(index: NDArray[np.intp], x: Array) -> Array:
        k = index[:, None]
        v = (sigma_x[k] * x + (rho[k] - low[k])) / sigma_z[k]
        ratio = np.exp(log_cdf_gain(-v - lift[k], lift[k])) if lift.any() else np.zeros_like(v)
        return (alpha[k] - 1) * ratio - np.square(x - mean[k]) / 2

    left, right = mean - _REACH, mean + reach + _REACH
    # The log-ratio is convex, so that no bump of the integrand is narrower than the normal weight's.
    intervals = 2 * int(np.ceil((right - left).max() / (2 * _WIDEST_STEP)))
    return np.asarray(log_trapezoid(log_integrand, left, right, intervals) - 0.5 * np.log(2 * np.pi))


def _log_moment_bound(
    alpha: Array, rho: Array, sigma_x: Array, sigma_z: Array, low: Array, sensitivity: Array
) -> Array:
    lift, slope = 2 * sensitivity / sigma_z, sigma_x / sigma_z
    power = (alpha - 1) * lift
    centre = ((alpha - 1) * sensitivity + (rho - low)) / sigma_z  # of v, whose variance is slope^2
    constant = (alpha - 1) * (lift * np.sqrt(2 / np.pi) + np.square(lift) / 2)
    return np.asarray(constant + np.logaddexp(0, power * centre + np.square(power * slope) / 2))


def above_threshold_rdp_by_halting_time(
    alpha: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    sensitivity: ArrayLike,
) -> Array:
    r"""Return the bound through the moments of the halting time T, at the best exponent gamma found, rounded up.

        gamma/(gamma - 1) alpha Delta^2/(2 sigma_X^2) + 2 alpha Delta^2/sigma_Z^2
        + log E[E[T|x]^gamma] / (gamma (alpha - 1)),

    where E[T|x] <= 1/Phi((low - rho - sigma_X x)/sigma_Z). The moment is integrated, not bounded again; it is finite
    for gamma < (sigma_Z/sigma_X)^2 only.

    Parameters
    ----------
    alpha, threshold, sigma_threshold, sigma_query, low, sensitivity : array_like
        As for :func:`above_threshold_rdp`, which is sharper.

    Returns
    -------
    ndarray
        Divergence in nats; infinite where sigma_query <= sigma_threshold.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Notes
    -----
    Zhu and Wang 2020, as Lebensold, Precup and Balle 2024, Thm 6. Every gamma gives a valid bound; 96 of them, in
    geometric progression, are tried.
    """
    arrays = _arguments(alpha, threshold, sigma_threshold, sigma_query, low, sensitivity)
    orders, rho, sigma_x, sigma_z, bottom, delta = (np.ravel(array) for array in arrays)
    result = np.full(orders.shape, np.inf)
    finite = np.flatnonzero(sigma_z > sigma_x)
    for place in finite:
        slope = sigma_x[place] / sigma_z[place]
        gamma = 1 + (slope**-2 - 1) * np.geomspace(2.0**-20, 0.98, 96)
        excess = Factor(-gamma, np.full(96, (bottom[place] - rho[place]) / sigma_z[place]), np.full(96, -slope))
        log_moment = log_expectation(excess, least_curvature=1 - gamma * slope**2)
        terms = (
            gamma / (gamma - 1) * orders[place] * (delta[place] / sigma_x[place]) ** 2 / 2
            + 2 * orders[place] * (delta[place] / sigma_z[place]) ** 2
            + log_moment / (gamma * (orders[place] - 1))
        )
        result[place] = terms.min() * (1 + SAFETY)
    return result.reshape(arrays[0].shape)


def above_threshold_affine_rdp(
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    sensitivity: ArrayLike,
) -> tuple[Array, Array]:
    r"""Return A and B such that alpha A + B/(alpha - 1) bounds the Renyi divergence of every order.

    A = Delta^2/sigma_X^2 + 2 Delta^2/sigma_Z^2 and B = log(1 + 2 sqrt(3) pi (1 + 9 r^2) e^(r^2))/2 with
    r = max(rho - low, 0)/sigma_X.

    Parameters
    ----------
    threshold, sigma_threshold, sigma_query, low, sensitivity : array_like
        As for :func:`above_threshold_rdp`.

    Raises
    ------
    UsageError
        If an argument is out of its domain, or sigma_query < sqrt(3) sigma_threshold (but for rounding).

    Notes
    -----
    Zhu and Wang 2020, as Lebensold, Precup and Balle 2024, Thm 7, moved from low = 0 to any `low`. The bound on a
    moment of the halting time behind it fails for r < 0.3552, yet the conclusion follows from the bound of
    :func:`above_threshold_rdp`, with room to spare (a scalar inequality, proved in the specification).
    """
    _, rho, sigma_x, sigma_z, bottom, delta = _arguments(
        2.0, threshold, sigma_threshold, sigma_query, low, sensitivity
    )
    if not bool(np.all(sigma_z >= np.sqrt(3) * sigma_x * (1 - 2.0**-50))):
        raise UsageError(
            "sigma_query must be at least sqrt(3) sigma_threshold, "
            f"got sigma_query={sigma_query!r} and sigma_threshold={sigma_threshold!r}"
        )
    r_squared = np.square(np.maximum(rho - bottom, 0) / sigma_x)
    log_moment = np.logaddexp(0, np.log(2 * np.sqrt(3) * np.pi) + np.log1p(9 * r_squared) + r_squared)
    linear = np.square(delta / sigma_x) + 2 * np.square(delta / sigma_z)
    return linear * (1 + SAFETY), log_moment / 2 * (1 + SAFETY)


def above_threshold_rdp_printed(
    alpha: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    sensitivity: ArrayLike,
) -> Array:
    """Return the closed-form bound on the Renyi divergence of order alpha, rounded up.

    Parameters, conditions, source and caveat as for :func:`above_threshold_affine_rdp`.

    Parameters
    ----------
    alpha : array_like
        Orders, above 1.
    threshold, sigma_threshold, sigma_query, low, sensitivity : array_like
        As for :func:`above_threshold_affine_rdp`; all arguments are broadcast against each other.
    """
    orders = real_array("alpha", alpha, low=1, strict=True)
    linear, constant = above_threshold_affine_rdp(threshold, sigma_threshold, sigma_query, low, sensitivity)
    return np.asarray(orders * linear + constant / (orders - 1))


def _arguments(
    alpha: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    sensitivity: ArrayLike,
) -> tuple[Array, ...]:
    arrays = broadcast(
        alpha=real_array("alpha", alpha, low=1, strict=True),
        threshold=real_array("threshold", threshold),
        sigma_threshold=real_array("sigma_threshold", sigma_threshold, low=0, strict=True),
        sigma_query=real_array("sigma_query", sigma_query, low=0, strict=True),
        low=real_array("low", low),
        sensitivity=real_array("sensitivity", sensitivity, low=0),
    )
    _, rho, sigma_x, sigma_z, bottom, _ = arrays
    span = np.maximum(np.abs(rho / 2 - bottom / 2) * 2, np.maximum(sigma_x, sigma_z))
    if bool(np.any(span > LARGEST_RATIO * np.minimum(sigma_x, sigma_z))):
        raise UsageError(
            "sigma_threshold and sigma_query must be at least 2^-20 of each other and of the distance between "
            f"threshold and low, got sigma_threshold={sigma_threshold!r}, sigma_query={sigma_query!r}, "
            f"threshold={threshold!r}, low={low!r}"
        )
    return arrays
