"""The bounds of a bettor that knows both output distributions: the yardstick of the auditor's benchmark."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, log_expit

from dpassay.properties.pairing.registry import exact_distribution, pair_distribution
from dpassay.spec.ball import precision

__all__ = ["growth", "masses", "optimal_bound", "shifted_laplace"]

Array = NDArray[np.float64]

_SURE = 700.0  # the logit of an outcome that only one side has


def masses(mechanism: object, left: Array, right: Array) -> tuple[Array, Array] | None:
    """Return the probabilities of the cells that the white-box search tells apart, None if they are unknown."""
    with precision(80):
        one, other = exact_distribution(mechanism, left), exact_distribution(mechanism, right)
        distributions = (
            (one, other) if one is not None and other is not None else pair_distribution(mechanism, left, right)
        )
        if distributions is None:
            return None
        cells = dict.fromkeys([*distributions[0].outcomes, *distributions[1].outcomes])
        p, q = (
            [math.exp(float(distribution.log_probability(cell).mid())) for cell in cells]
            for distribution in distributions
        )
    return np.array(p), np.array(q)


def growth(p: Array, q: Array, epsilon: float) -> float:
    """Return the growth per call of the best bet against pure epsilon-DP, in nats; sides are drawn by a fair coin."""
    possible = p + q > 0
    p, q = p[possible], q[possible]
    with np.errstate(divide="ignore"):
        guess = np.clip(np.log(p) - np.log(q), -_SURE, _SURE)
    bounded = np.clip(guess, -epsilon, epsilon)
    gain = expit(guess) * (log_expit(guess) - log_expit(bounded))
    gain += expit(-guess) * (log_expit(-guess) - log_expit(-bounded))
    return float((p + q) @ gain / 2)


def shifted_laplace(count: int, scale: float) -> tuple[Array, Array]:
    """Return the probabilities of cells of the loss where `count` Laplace variables move by 1.

    The loss of one is 1/s or -1/s on the two outer rays and linear between; its cells are added by convolution.
    """
    half = 128
    edges = np.linspace(0.0, 1.0, 2 * half + 1)  # the outcomes between the two centres
    below = 1 - 0.5 * np.exp(-edges / scale)
    left = np.diff(np.concatenate([[0.0], below, [1.0]]))  # left of 0, each cell between, right of 1
    total = np.ones(1)
    for _ in range(count):
        total = np.convolve(total, left)
    return total, total[::-1].copy()


def optimal_bound(p: Array, q: Array, calls: int, alpha: float) -> float:
    """Return the epsilon that the best bettor refutes on average after this number of calls on this pair."""

    def missing(epsilon: float) -> float:
        return calls * growth(p, q, epsilon) + math.log(alpha)

    if missing(0.0) <= 0:
        return 0.0
    return 50.0 if missing(50.0) > 0 else float(brentq(missing, 0.0, 50.0))
