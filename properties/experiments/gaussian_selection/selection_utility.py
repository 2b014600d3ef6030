"""Exact accuracy of a selection with a known output distribution.

Output distributions in float64, to about ten digits: utility is not a privacy claim, so nothing here is rounded to
a safe side. The Gaussian and the Laplace selection integrate over the position m of the winning noisy answer,

    Pr[o] = int f(m - q_o) prod_{i != o} F(m - q_i) dm,

for all o on one grid of positions.
"""

import numpy as np
from numpy.typing import NDArray

from dpassay.lazy import special

__all__ = [
    "accuracy_of_choices",
    "exponential_probabilities",
    "gaussian_max_probabilities",
    "laplace_max_probabilities",
    "permute_and_flip_probabilities",
    "relative_regret",
]

Array = NDArray[np.float64]

GAUSSIAN_REACH = 9.5  # standard deviations; the tail beyond is below 1e-20
GAUSSIAN_STEP = 0.02
LAPLACE_REACH = 45.0  # scales; e^-45 is below 1e-19
LAPLACE_CELL = 1.0  # scales; eight Gauss-Legendre nodes in each are good to 1e-14
LEGENDRE_NODES = 8


def relative_regret(answers: Array) -> Array:
    """Return (q_max - q_o) / q_max, the relative cost of choosing index o (Lebensold et al. 2024, Eq. 39)."""
    best = float(answers.max())
    regret: Array = (best - answers) / best
    return regret


def accuracy_of_choices(answers: Array, choices: NDArray[np.int64]) -> Array:
    """Return 1 - (q_max - q_o) / q_max for every choice o: 1 is the true maximum."""
    accuracy: Array = 1 - relative_regret(answers)[choices]
    return accuracy


def gaussian_max_probabilities(answers: Array, sigma: float) -> Array:
    """Return the probability with which each index wins under noise N(0, sigma^2).

    The trapezoidal rule on an entire integrand: the error falls faster than any power of the step.

    Parameters
    ----------
    answers : array of shape (d,)
        Query answers.
    sigma : float
        Standard deviation, positive.
    """
    scaled = (answers - answers.max()) / sigma
    low, high = -GAUSSIAN_REACH, GAUSSIAN_REACH  # the winner is at least the best answer's noisy value
    grid = np.arange(low, high + GAUSSIAN_STEP, GAUSSIAN_STEP)
    gaps = grid[:, None] - scaled[None, :]
    log_below = special.log_ndtr(gaps)
    log_density = -(gaps**2) / 2 - 0.5 * np.log(2 * np.pi)
    log_terms = log_density - log_below + log_below.sum(axis=1, keepdims=True)
    probabilities: Array = GAUSSIAN_STEP * np.exp(log_terms).sum(axis=0)
    return probabilities


def laplace_max_probabilities(answers: Array, scale: float) -> Array:
    """Return the probability with which each index wins under Laplace noise of that scale.

    Gauss-Legendre between the kinks of the integrand, which sit at the answers.
    """
    scaled = (answers - answers.max()) / scale
    nodes, weights = _cells_between(scaled[scaled > -LAPLACE_REACH])
    gaps = nodes[:, None] - scaled[None, :]
    log_below = np.where(gaps < 0, gaps - np.log(2), np.log1p(-np.exp(-np.abs(gaps)) / 2))
    log_density = -np.abs(gaps) - np.log(2)
    log_terms = log_density - log_below + log_below.sum(axis=1, keepdims=True)
    probabilities: Array = weights @ np.exp(log_terms)
    return probabilities


def _cells_between(kinks: Array) -> tuple[Array, Array]:
    """Place Gauss-Legendre nodes in cells that end at every kink and are at most `LAPLACE_CELL` wide."""
    regular = np.arange(-LAPLACE_REACH, LAPLACE_REACH + LAPLACE_CELL, LAPLACE_CELL)
    edges = np.unique(np.concatenate([regular, kinks]))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    base, base_weights = np.polynomial.legendre.leggauss(LEGENDRE_NODES)
    nodes = middle[:, None] + half[:, None] * base[None, :]
    weights = half[:, None] * base_weights[None, :]
    return nodes.ravel(), weights.ravel()


def exponential_probabilities(answers: Array, epsilon: float, sensitivity: float) -> Array:
    """Return the distribution of the exponential mechanism: proportional to exp(epsilon q / (2 sensitivity))."""
    probabilities: Array = special.softmax(epsilon * answers / (2 * sensitivity))
    return probabilities


def permute_and_flip_probabilities(answers: Array, epsilon: float, sensitivity: float) -> Array:
    """Return the distribution of permute-and-flip [McKennaSheldon2020]_.

    Pr[o] = p_o int_0^1 prod_{i != o} (1 - p_i u) du with p_i = exp(epsilon (q_i - q_max) / (2 sensitivity)): u is
    the share of the others that come before o. The integrand is a polynomial of degree d - 1, which Gauss-Legendre
    with d / 2 nodes integrates exactly.

    References
    ----------
    .. [McKennaSheldon2020] R. McKenna and D. Sheldon. Permute-and-flip: a new mechanism for differentially private
       selection. NeurIPS 2020.
    """
    heads = np.exp(epsilon * (answers - answers.max()) / (2 * sensitivity))
    base, base_weights = np.polynomial.legendre.leggauss(len(answers) // 2 + 1)
    u, weights = (base + 1) / 2, base_weights / 2
    log_tails = np.log1p(-heads[None, :] * u[:, None])
    log_terms = log_tails.sum(axis=1, keepdims=True) - log_tails
    probabilities: Array = heads * (weights @ np.exp(log_terms))
    return probabilities
