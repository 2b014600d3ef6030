"""Renyi, concentrated and approximate DP of the Gaussian mechanism."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.impl.accounting.gaussian_tails import hazard, mantissa
from dpassay.impl.accounting.search import smallest_accepted
from dpassay.impl.validation import broadcast, real_array

__all__ = [
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_rdp",
    "gaussian_zcdp",
]

Array = NDArray[np.float64]

_FARTHEST = 1e150
_ROUNDING = 1 + 2.0**-50  # a product of three rounded factors is wrong by less


def gaussian_zcdp(sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return rho = sensitivity^2 / (2 sigma^2), rounded up; neighbours are at Euclidean distance `sensitivity`.

    Bun and Steinke 2016, Prop. 1.6; the Renyi divergence of order alpha is exactly rho alpha.

    Examples
    --------
    >>> round(float(gaussian_zcdp(2.0)), 12)
    0.125
    """
    ratio = _sensitivity_over_sigma(sigma, sensitivity)
    with np.errstate(over="ignore"):  # infinity is a bound
        rho = np.square(ratio) / 2 * _ROUNDING
    return np.where(ratio > 0, np.maximum(rho, np.finfo(np.float64).tiny), 0.0)


def gaussian_rdp(alpha: ArrayLike, sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return the Renyi divergence of order alpha > 1, alpha sensitivity^2 / (2 sigma^2), rounded up.

    Lebensold, Precup and Balle 2024, section 2.
    """
    orders = real_array("alpha", alpha, low=1, strict=True)
    return orders * gaussian_zcdp(sigma, sensitivity) * _ROUNDING


def gaussian_log_delta(epsilon: ArrayLike, sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    r"""Return log delta for which the Gaussian mechanism is exactly (epsilon, delta)-DP, rounded up.

    With m = sensitivity/sigma and y = m/2 - epsilon/m,

        delta = Phi(y) - e^epsilon Phi(y - m) = Phi(y) (1 - e^-g),
        g = log Phi(y) - epsilon - log Phi(y - m).

    Because e^epsilon = phi(y)/phi(y - m), the squares inside the two logarithms cancel against epsilon on paper,
    and only slowly varying parts are subtracted in float64.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    sigma, sensitivity : array_like
        Standard deviation (positive) and Euclidean sensitivity (at least 0).

    Returns
    -------
    ndarray
        log delta in nats, -inf where the sensitivity is 0. The rounding of g is added to g, and that of log Phi(y) to
        the result: never below the truth, and above it by less than 2^-30 + 2^-48 |log delta| for m from 1e-6 to 100
        and delta down to 1e-300.

    Notes
    -----
    Balle and Wang 2018, Thm 8.

    Examples
    --------
    >>> round(float(np.exp(gaussian_log_delta(1.0, 1.0))), 6)
    0.126937
    """
    losses, ratios = broadcast(
        epsilon=real_array("epsilon", epsilon, low=0), ratio=_sensitivity_over_sigma(sigma, sensitivity)
    )
    result = np.full(losses.shape, -np.inf)
    moving = ratios > 0
    # Beyond _FARTHEST the squares overflow: there a smaller epsilon and the trivial delta 1 are bounds.
    huge = ratios > _FARTHEST
    result[huge] = 0.0
    moving &= ~huge
    result[moving] = _log_delta(np.minimum(losses[moving], _FARTHEST * ratios[moving]), ratios[moving])
    return result


def gaussian_delta(epsilon: ArrayLike, sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return the smallest delta of :func:`gaussian_log_delta`, rounded up; below 1e-308 it loses digits."""
    log_delta = gaussian_log_delta(epsilon, sigma, sensitivity)
    with np.errstate(under="ignore"):
        delta = np.minimum(np.exp(log_delta) * _ROUNDING, 1.0)
    return np.where(log_delta > -np.inf, np.maximum(delta, np.finfo(np.float64).tiny), 0.0)


def gaussian_epsilon(delta: ArrayLike, sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return the smallest epsilon >= 0 for which the Gaussian mechanism is (epsilon, delta)-DP, rounded up.

    Parameters
    ----------
    delta : array_like
        In (0, 1].
    sigma, sensitivity : array_like
        As for :func:`gaussian_log_delta`.

    Returns
    -------
    ndarray
        epsilon in nats; :func:`gaussian_log_delta` is at most log delta there.

    Examples
    --------
    >>> round(float(gaussian_epsilon(1e-5, 1.0)), 4)
    4.3772
    """
    targets, ratios = broadcast(
        delta=real_array("delta", delta, low=0, high=1, strict=True),
        ratio=_sensitivity_over_sigma(sigma, sensitivity),
    )
    log_target = np.log(targets)

    def accept(epsilon: Array) -> NDArray[np.bool_]:
        return gaussian_log_delta(epsilon, 1.0, ratios) <= log_target

    # The tail bound on the privacy loss, itself normal, is an epsilon that is certainly enough.
    with np.errstate(over="ignore"):
        enough = np.square(ratios) / 2 + ratios * np.sqrt(-2 * log_target) + 1e-6 * ratios
    nothing = np.zeros_like(enough)
    return np.where(accept(nothing), 0.0, smallest_accepted(accept, nothing, enough, parts=16))


def _log_delta(epsilon: Array, m: Array) -> Array:
    y = m / 2 - epsilon / m
    upper, lower = mantissa(y), mantissa(y - m)
    by_difference = np.maximum(upper - lower + np.square(np.maximum(y, 0)) / 2, 0)
    rounding = 2.0**-49 * (1 + np.abs(upper) + np.abs(lower))
    # For small m the difference cancels; then integrate its derivative, hazard(s) + s, by Gauss and Legendre. With
    # m (1 + |y|) < 1/4 five nodes are right to 2^-58: only rounding remains.
    short = m * (1 + np.abs(y)) < 0.25
    nodes, weights = np.polynomial.legendre.leggauss(5)
    by_quadrature = np.zeros_like(y)
    for node, weight in zip(nodes, weights, strict=True):
        s = y - m * (1 - node) / 2
        by_quadrature += weight / 2 * m * np.maximum(hazard(s) + s, 0)
    rounding = np.where(short, 2.0**-49 * m * (1 + np.abs(y)), rounding)
    gap = np.where(short, by_quadrature, by_difference) + rounding + 2.0**-51 * (np.square(m) / 2 + epsilon)
    log_cdf = upper - np.square(np.minimum(y, 0)) / 2
    log_delta = log_cdf + np.log(-np.expm1(-gap))
    return np.minimum(log_delta + 2.0**-49 * (1 + np.abs(log_cdf)), 0.0)


def _sensitivity_over_sigma(sigma: ArrayLike, sensitivity: ArrayLike) -> Array:
    sigmas, steps = broadcast(
        sigma=real_array("sigma", sigma, low=0, strict=True),
        sensitivity=real_array("sensitivity", sensitivity, low=0),
    )
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.minimum(steps / sigmas, np.finfo(np.float64).max)
    return np.where(steps > 0, np.maximum(ratio, np.finfo(np.float64).tiny), 0.0)
