"""Exact ex-post losses of AboveThreshold with Gaussian noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.accounting.gaussian_products import LARGEST_RATIO, Factor, lifted_loss, rounded_up
from dpassay.impl.accounting.gaussian_tails import log_cdf_gain
from dpassay.impl.validation import broadcast, real_array

__all__ = ["gaussian_above_threshold_all_below_loss", "gaussian_above_threshold_loss"]

Array = NDArray[np.float64]


def gaussian_above_threshold_loss(
    halting_time: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    sensitivity: ArrayLike,
) -> Array:
    r"""Return the largest privacy loss of the outcome "halted at time t", rounded up.

    With x the noise of the threshold in standard deviations and Delta the sensitivity, the loss is log N(Delta)/N(0),

        N(u) = E[Phi((sigma_X x + rho - high + u)/sigma_Z)^(t-1) Phi((-sigma_X x - rho + low + u)/sigma_Z)],

    attained where every query before the last lies at `high` and the last at `low`, and all move by Delta.

    Parameters
    ----------
    halting_time : array_like of int
        t, the number of queries asked, at least 1.
    threshold : array_like
        The public threshold rho, any finite number.
    sigma_threshold, sigma_query : array_like
        Standard deviations of the noise of the threshold (drawn once) and of each query, positive; at least 2^-20 of
        each other and of the distances between threshold, low and high.
    low, high : array_like
        Ends of the interval that all queries lie in.
    sensitivity : array_like
        Largest change of each query between neighbours, at least 0; more than high - low counts as that.

    Returns
    -------
    ndarray
        Loss in nats, of the broadcast shape; never below the truth, and above it by less than 1e-9 of itself
        where high - low and the distance of rho from both are at most 10^3 of the smaller standard deviation.

    Raises
    ------
    UsageError
        If an argument is out of its domain.
    ArithmeticError
        If the quadrature does not resolve an integrand, which takes sigma_threshold above 10^4 sigma_query.

    Notes
    -----
    Lebensold, Precup and Balle 2024, Thm 17 corrected: the printed first factor contains rho - (high - low),
    which is right only for low = 0 and breaks the invariance under shifts, and the logarithm is missing. Thm 10
    of the same paper also has the wrong sign in the second factor.

    Examples
    --------
    >>> round(float(gaussian_above_threshold_loss(10, 1.5, 0.15, 0.26, 1, 2, 0.1)), 6)
    4.545318
    """
    times, rho, sigma_x, sigma_z, bottom, top, step = _arguments(
        "halting_time", halting_time, threshold, sigma_threshold, sigma_query, low, high, sensitivity
    )
    shape, times, rho, sigma_x, sigma_z, bottom, top, step = (
        times.shape,
        *_flat(times, rho, sigma_x, sigma_z, bottom, top, step),
    )
    loss = np.zeros(times.shape)
    at_once = (times == 1) & (step > 0)
    total = np.hypot(sigma_x, sigma_z)
    loss[at_once] = rounded_up(np.exp(log_cdf_gain(((bottom - rho) / total)[at_once], (step / total)[at_once])))
    later = (times > 1) & (step > 0)
    if later.any():
        slope, lift = (sigma_x / sigma_z)[later], (step / sigma_z)[later]
        kept_below = Factor(times[later] - 1, ((rho - top) / sigma_z)[later], slope, lift)
        came_above = Factor(np.ones_like(lift), ((bottom - rho) / sigma_z)[later], -slope, lift)
        loss[later] = lifted_loss(kept_below, came_above)
    return loss.reshape(shape)


def gaussian_above_threshold_all_below_loss(
    stream_length: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    sensitivity: ArrayLike,
) -> Array:
    r"""Return the largest privacy loss of the outcome "a stream of k queries ended without halting", rounded up.

    The loss is log Pr[M <= G + Delta] - log Pr[M <= G], M the largest of k query noises and G = rho - high + the
    noise of the threshold; attained where all queries lie at `high` and move down by Delta. It is integrated over
    the noise that is the larger on its own scale, which keeps the integrand smooth: over M, or over the threshold.

    Parameters
    ----------
    stream_length : array_like of int
        k, at least 1.
    threshold, sigma_threshold, sigma_query, low, high, sensitivity : array_like
        As for :func:`gaussian_above_threshold_loss`.

    Returns
    -------
    ndarray
        Loss in nats, with the accuracy of :func:`gaussian_above_threshold_loss`.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Notes
    -----
    Lebensold, Precup and Balle 2024 treat infinite streams only; a finite one has this outcome too, and it must
    be charged. `low` matters only as a cap on the sensitivity.

    Examples
    --------
    >>> round(float(gaussian_above_threshold_all_below_loss(3, 0.5, 0.15, 0.26, 0, 1, 0.1)), 5)
    1.37186
    """
    lengths, rho, sigma_x, sigma_z, bottom, top, step = _arguments(
        "stream_length", stream_length, threshold, sigma_threshold, sigma_query, low, high, sensitivity
    )
    shape, lengths, rho, sigma_x, sigma_z, _, top, step = (
        lengths.shape,
        *_flat(lengths, rho, sigma_x, sigma_z, bottom, top, step),
    )
    loss = np.zeros(lengths.shape)
    one = (lengths == 1) & (step > 0)
    total = np.hypot(sigma_x, sigma_z)
    loss[one] = rounded_up(np.exp(log_cdf_gain(((rho - top) / total)[one], (step / total)[one])))
    steep = (lengths > 1) & (step > 0) & (sigma_x >= sigma_z)
    if steep.any():
        ones = np.ones(int(steep.sum()))
        field = Factor(lengths[steep] - 1, 0 * ones, ones)
        margin = ((rho - top) / sigma_x)[steep]
        threshold_noise = Factor(ones, margin, -(sigma_z / sigma_x)[steep], (step / sigma_x)[steep])
        loss[steep] = lifted_loss(field, threshold_noise)
    flat = (lengths > 1) & (step > 0) & (sigma_x < sigma_z)
    if flat.any():
        margin = ((rho - top) / sigma_z)[flat]
        kept_below = Factor(lengths[flat], margin, (sigma_x / sigma_z)[flat], (step / sigma_z)[flat])
        loss[flat] = lifted_loss(kept_below)
    return loss.reshape(shape)


def _arguments(
    count_name: str,
    count: ArrayLike,
    threshold: ArrayLike,
    sigma_threshold: ArrayLike,
    sigma_query: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    sensitivity: ArrayLike,
) -> tuple[Array, ...]:
    bottom, top = real_array("low", low), real_array("high", high)
    counts, rho, sigma_x, sigma_z, bottom, top, step = broadcast(
        **{count_name: real_array(count_name, count, low=1, integer=True)},
        threshold=real_array("threshold", threshold),
        sigma_threshold=real_array("sigma_threshold", sigma_threshold, low=0, strict=True),
        sigma_query=real_array("sigma_query", sigma_query, low=0, strict=True),
        low=bottom,
        high=top,
        sensitivity=real_array("sensitivity", sensitivity, low=0),
    )
    if not bool(np.all(bottom <= top)):
        raise UsageError(f"low must not exceed high, got low={low!r}, high={high!r}")
    span = np.maximum(top, rho) - np.minimum(bottom, rho)
    if bool(np.any(np.maximum(span, np.maximum(sigma_x, sigma_z)) > LARGEST_RATIO * np.minimum(sigma_x, sigma_z))):
        raise UsageError(
            "sigma_threshold and sigma_query must be at least 2^-20 of each other and of the distances between "
            f"threshold, low and high, got sigma_threshold={sigma_threshold!r}, sigma_query={sigma_query!r}, "
            f"threshold={threshold!r}, low={low!r}, high={high!r}"
        )
    return counts, rho, sigma_x, sigma_z, bottom, top, np.minimum(step, top - bottom)


def _flat(*arrays: Array) -> tuple[Array, ...]:
    return tuple(np.ravel(array) for array in arrays)
