"""Privacy parameters of noisy histograms: `size` counts change (l0 sensitivity), each by at most the linf sensitivity.

Laplace noise has scale linf/epsilon on every count, Gaussian noise standard deviation linf sigma: sigma is a
multiplier, and neither depends on how many counts there are in all.

Notes
-----
Cesar and Rogers 2020, Section 6: Lemmas 6.2 and 6.3.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.impl.accounting.composition import BACK_OFF, UNDERFLOW, sum_upper
from dpassay.impl.accounting.conversions import probabilistic_epsilon_of_affine_rdp
from dpassay.impl.accounting.pure_composition import response_epsilon
from dpassay.impl.validation import broadcast, real_array, require_count
from dpassay.lazy import special

__all__ = [
    "equal_variance_multiplier",
    "gaussian_histogram_epsilon",
    "gaussian_histogram_multiplier",
    "gaussian_histogram_zcdp",
    "laplace_histogram_delta",
    "laplace_histogram_epsilon",
]

Array = NDArray[np.float64]

_ROUNDING = 1 + 2.0**-36  # logarithms of factorials are wrong by some 2^-50 of their size
_LARGEST = 20_000


def laplace_histogram_delta(epsilon: ArrayLike, base: float, size: int) -> Array:
    """Return delta at epsilon >= 0 of `size` counts with Laplace noise of scale linf/base, rounded up.

    The optimal composition of `size` base-DP mechanisms: the mean, over the number j of truthful of `size` randomised
    responses, of (1 - e^(epsilon - (2 j - size) base))_+. It is attained by responses, not by Laplace noise.

    Parameters
    ----------
    epsilon : array_like
        Nats, at least 0.
    base : float
        Nats for one count, at least 0.
    size : int
        l0 sensitivity, from 1 to 20000.

    Returns
    -------
    ndarray
        delta; relative error below 2^-35 while epsilon stays a thousandth of size base below it, and delta above
        1e-287. It is 0 from size base on, and nowhere else.

    Examples
    --------
    >>> round(float(laplace_histogram_delta(0.3, 1.0, 1)), 6)
    0.368026
    """
    levels = real_array("epsilon", epsilon, low=0)
    step = float(real_array("base", base, low=0))
    count = require_count("size", size)
    real_array("size", size, high=_LARGEST)
    truthful = np.arange(count + 1)
    log_choose = special.gammaln(count + 1) - special.gammaln(truthful + 1) - special.gammaln(count - truthful + 1)
    log_weight = log_choose - count * np.log1p(np.exp(-step)) - (count - truthful) * step
    whole = np.asarray(sum_upper([count * Fraction(step)]))
    levels = np.where(levels < whole, np.maximum(levels - BACK_OFF * whole, 0.0), levels)
    excess = levels[..., None] - (2 * truthful - count) * step
    positive: NDArray[np.bool_] = np.asarray(excess < 0, dtype=np.bool_)
    with np.errstate(divide="ignore"):
        log_hinge = np.log(-np.expm1(np.where(positive, excess, 0.0)))
    terms = np.where(positive, log_weight + log_hinge, -np.inf)
    some = positive.any(axis=-1, keepdims=True)  # without a positive hinge the sum is 0
    total = np.where(np.squeeze(some, axis=-1), special.logsumexp(np.where(some, terms, 0.0), axis=-1), -np.inf)
    return np.where(levels < whole, np.minimum(np.exp(total) * _ROUNDING + UNDERFLOW, 1.0), 0.0)


def laplace_histogram_epsilon(delta: ArrayLike, base: float, size: int) -> Array:
    """Return the smallest epsilon at which `size` counts with Laplace noise keep delta, rounded up.

    The inverse of :func:`laplace_histogram_delta`, and the curve of
    :func:`dpassay.impl.accounting.pure_composition.response_epsilon`: at most size base, but for rounding. delta may
    be anything in [0, 1].

    Examples
    --------
    >>> round(float(laplace_histogram_epsilon(1e-6, 0.1, 25)), 4)
    2.0791
    """
    targets = real_array("delta", delta, low=0, high=1)
    step = float(real_array("base", base, low=0))
    count = require_count("size", size)
    if step == 0:
        return np.zeros_like(targets)
    return np.array([response_epsilon(count, step, float(x)) for x in targets.flat]).reshape(targets.shape)


def gaussian_histogram_zcdp(sigma: ArrayLike, size: ArrayLike) -> Array:
    """Return rho = size/(2 sigma^2), rounded up."""
    scales, counts = broadcast(
        sigma=real_array("sigma", sigma, low=0, strict=True), size=real_array("size", size, low=1, integer=True)
    )
    return np.asarray(counts / 2 / np.square(scales) * (1 + 2.0**-50))


def gaussian_histogram_epsilon(delta: ArrayLike, sigma: ArrayLike, size: ArrayLike) -> Array:
    """Return size/(2 sigma^2) + sqrt(2 size log(1/delta))/sigma for delta in (0, 1], rounded up.

    Lemma 6.3, the conversion of zCDP; the exact epsilon, smaller, is that of
    :func:`dpassay.impl.accounting.gaussian.gaussian_epsilon` at sensitivity sqrt(size).
    """
    return probabilistic_epsilon_of_affine_rdp(gaussian_histogram_zcdp(sigma, size), 0.0, delta)


def gaussian_histogram_multiplier(epsilon: ArrayLike, delta: ArrayLike, size: ArrayLike) -> Array:
    """Return the sigma at which :func:`gaussian_histogram_epsilon` is epsilon > 0, rounded up.

    Examples
    --------
    >>> round(float(gaussian_histogram_multiplier(2.0790566, 1e-6, 25)), 4)
    13.1005
    """
    levels, deltas, counts = broadcast(
        epsilon=real_array("epsilon", epsilon, low=0, strict=True),
        delta=real_array("delta", delta, low=0, high=1, strict=True),
        size=real_array("size", size, low=1, integer=True),
    )
    log_inverse = -np.log(deltas)
    root = levels / (np.sqrt(log_inverse + levels) + np.sqrt(log_inverse))  # of rho
    return np.asarray(np.sqrt(counts / 2) / root * (1 + 2.0**-44))


def equal_variance_multiplier(epsilon: ArrayLike) -> Array:
    """Return sigma = sqrt(2)/epsilon, at which Gaussian and Laplace noise have the same variance."""
    return np.asarray(np.sqrt(2.0) / real_array("epsilon", epsilon, low=0, strict=True))
