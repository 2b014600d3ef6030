"""A-priori guarantees of AboveThreshold: bounds on its loss up to a probability delta."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.above_threshold_renyi import above_threshold_affine_rdp, above_threshold_rdp
from dpassay.impl.accounting.conversions import best_probabilistic_epsilon, probabilistic_epsilon_of_affine_rdp

__all__ = ["ANTE_BOUNDS", "ante_by_halting_moment", "ante_direct"]

Array = NDArray[np.float64]

LARGEST_ORDER = 1e5  # the best orders of these experiments are 500 to 5000


@cache
def ante_by_halting_moment(
    delta: float, threshold: float, sigma_threshold: float, sigma_query: float, *, low: float, sensitivity: float
) -> float:
    """Return epsilon of (epsilon, delta)-probabilistic DP by the closed form of the paper, at its best order.

    Lebensold, Precup and Balle 2024, Thm 7; needs sigma_query >= sqrt(3) sigma_threshold.

    Parameters
    ----------
    delta : float
        Probability of a larger loss, in (0, 1).
    threshold : float
        The public threshold.
    sigma_threshold, sigma_query : float
        Standard deviations of the noise on the threshold and on the answers.
    low : float
        Least answer.
    sensitivity : float
        Sensitivity of the answers.
    """
    linear, constant = above_threshold_affine_rdp(threshold, sigma_threshold, sigma_query, low, sensitivity)
    return float(probabilistic_epsilon_of_affine_rdp(linear, constant, delta))


@cache
def ante_direct(
    delta: float, threshold: float, sigma_threshold: float, sigma_query: float, *, low: float, sensitivity: float
) -> float:
    """Return epsilon of (epsilon, delta)-probabilistic DP by the sharper bound without moments, at its best order.

    Parameters
    ----------
    delta : float
        Probability of a larger loss, in (0, 1).
    threshold : float
        The public threshold.
    sigma_threshold, sigma_query : float
        Standard deviations of the noise on the threshold and on the answers.
    low : float
        Least answer.
    sensitivity : float
        Sensitivity of the answers.
    """

    def curve(orders: Array) -> Array:
        divergences = np.full(orders.shape, np.inf)
        tried = orders <= LARGEST_ORDER
        noise = (threshold, sigma_threshold, sigma_query)
        divergences[tried] = above_threshold_rdp(orders[tried], *noise, low, sensitivity)
        return divergences

    return best_probabilistic_epsilon(curve, delta)


ANTE_BOUNDS: dict[str, Callable[..., float]] = {"halting_moment": ante_by_halting_moment, "direct": ante_direct}
"""By name: the paper's bound (Thm 7), and the sharper one (Thm 7+)."""
