"""Calibration: the least noise that keeps a bound below a target; the result is verified."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_loss
from dpassay.impl.accounting.gaussian import gaussian_log_delta
from dpassay.impl.accounting.gaussian_products import LARGEST_RATIO
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.impl.accounting.search import smallest_accepted
from dpassay.impl.validation import broadcast, real_array

__all__ = ["above_threshold_sigma", "gaussian_sigma", "noisy_max_sigma"]

Array = NDArray[np.float64]


def noisy_max_sigma(epsilon: ArrayLike, size: ArrayLike, width: ArrayLike, sensitivity: ArrayLike) -> Array:
    """Return the smallest sigma for which Gaussian report-noisy-max is epsilon-DP, rounded up.

    Parameters
    ----------
    epsilon : array_like
        Target in nats, positive.
    size : array_like of int
        Number of queries, at least 2 (one alone is private without noise).
    width, sensitivity : array_like
        Length of the range of the queries and how far each moves between neighbours, positive.

    Returns
    -------
    ndarray
        sigma, of the broadcast shape, with `gaussian_noisy_max_epsilon(...) <= epsilon`; within 1e-8 of the smallest
        for width/sigma up to 10^3.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Examples
    --------
    >>> round(float(noisy_max_sigma(0.652465, 5, 1, 0.2)), 5)
    1.0
    """
    targets, sizes, widths, steps = broadcast(
        epsilon=real_array("epsilon", epsilon, low=0, strict=True),
        size=real_array("size", size, low=2, integer=True),
        width=real_array("width", width, low=0, strict=True),
        sensitivity=real_array("sensitivity", sensitivity, low=0, strict=True),
    )
    return _smallest(lambda sigma: gaussian_noisy_max_epsilon(sizes, sigma, widths, steps) <= targets, widths / 2**20)


def above_threshold_sigma(
    epsilon: ArrayLike,
    halting_time: ArrayLike,
    threshold: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    sensitivity: ArrayLike,
    noise_ratio: ArrayLike = 3**0.5,
) -> Array:
    """Return the smallest noise of the threshold that keeps the loss of halting by a given time below epsilon.

    The noise of the queries is `noise_ratio` times that of the threshold: the two are scaled together, because in one
    of them alone the loss is not monotone.

    Parameters
    ----------
    epsilon : array_like
        Target in nats, positive.
    halting_time : array_like of int
        The loss of halting grows with time, so the target is met up to this one; at least 1.
    threshold : array_like
        In [low, high]; see Raises.
    low, high : array_like
        Ends of the range of the queries, low < high.
    sensitivity : array_like
        Largest change of each query between neighbours, positive.
    noise_ratio : array_like
        sigma_query / sigma_threshold, positive.

    Returns
    -------
    ndarray
        sigma_threshold, with `gaussian_above_threshold_loss(...) <= epsilon`, rounded up.

    Raises
    ------
    UsageError
        If an argument is out of its domain; in particular if the threshold lies outside [low, high], where more noise
        can mean a larger loss (halting, or not halting, becomes less certain), so that "the smallest sigma" misleads.
    """
    bottom, top = real_array("low", low), real_array("high", high)
    targets, times, rho, bottom, top, steps, ratios = broadcast(
        epsilon=real_array("epsilon", epsilon, low=0, strict=True),
        halting_time=real_array("halting_time", halting_time, low=1, integer=True),
        threshold=real_array("threshold", threshold),
        low=bottom,
        high=top,
        sensitivity=real_array("sensitivity", sensitivity, low=0, strict=True),
        noise_ratio=real_array("noise_ratio", noise_ratio, low=1 / LARGEST_RATIO, high=LARGEST_RATIO),
    )
    if not bool(np.all(bottom < top)):
        raise UsageError(f"low must be below high, got low={low!r}, high={high!r}")
    if not bool(np.all((bottom <= rho) & (rho <= top))):
        raise UsageError(
            f"threshold must lie in [low, high], got {threshold!r} outside [{low!r}, {high!r}]: there the loss is not "
            "monotone in the noise, and no smallest noise can be searched for"
        )

    def accept(sigma: Array) -> NDArray[np.bool_]:
        return gaussian_above_threshold_loss(times, rho, sigma, ratios * sigma, bottom, top, steps) <= targets

    return _smallest(accept, (top - bottom) / 2**20 / np.minimum(ratios, 1))


def gaussian_sigma(epsilon: ArrayLike, delta: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Return the smallest sigma for which the Gaussian mechanism is (epsilon, delta)-DP, rounded up.

    Parameters
    ----------
    epsilon : array_like
        Target in nats, at least 0.
    delta : array_like
        In (0, 1).
    sensitivity : array_like
        Euclidean sensitivity, positive.

    Returns
    -------
    ndarray
        sigma, of the broadcast shape.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Notes
    -----
    The calibration of Balle and Wang 2018, Algorithm 1, by bisection on :func:`gaussian_log_delta`.
    """
    deltas = real_array("delta", delta, low=0, strict=True)
    if not bool(np.all(deltas < 1)):
        raise UsageError(f"delta must lie in (0, 1), got {delta!r}")
    targets, deltas, steps = broadcast(
        epsilon=real_array("epsilon", epsilon, low=0),
        delta=deltas,
        sensitivity=real_array("sensitivity", sensitivity, low=0, strict=True),
    )
    return _smallest(lambda sigma: gaussian_log_delta(targets, sigma, steps) <= np.log(deltas), steps / 2**20)


def _smallest(accept: Callable[[Array], NDArray[np.bool_]], least: Array) -> Array:
    """Bracket a scale between `least` and 2^60 times as much, and close in on it."""
    scales = np.exp2(np.arange(61, dtype=np.float64)).reshape(-1, *(1,) * least.ndim) * least
    good = accept(scales)
    if not bool(np.all(good[-1])):
        raise UsageError("epsilon is too small: noise 2^40 times the scale of the data does not meet it")
    if bool(np.any(good[0])):
        raise UsageError("epsilon is too large: noise 2^-20 times the scale of the data meets it")
    first = np.argmax(good, axis=0)[None]
    below = np.take_along_axis(scales, first - 1, axis=0)[0]
    return smallest_accepted(accept, below, np.take_along_axis(scales, first, axis=0)[0], geometric=True, parts=16)
