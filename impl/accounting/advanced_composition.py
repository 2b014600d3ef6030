"""Advanced composition: the epsilon of a composition, and the largest epsilon of each mechanism in it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.impl.validation import broadcast, real_array

__all__ = ["advanced_composition_epsilon", "best_share"]

Array = NDArray[np.float64]

_UP, _DOWN = 1 + 2.0**-45, 1 - 2.0**-45


def advanced_composition_epsilon(copies: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Array:
    """Return epsilon' such that the composition of epsilon-DP mechanisms is (epsilon', delta)-DP.

    epsilon' = r epsilon^2/2 + epsilon sqrt(2 r log(1/delta)), or r epsilon where that is less.

    Parameters
    ----------
    copies : array_like
        The number r of mechanisms, whole, at least 1.
    epsilon : array_like
        Of each, in nats, at least 0.
    delta : array_like
        In (0, 1].

    Returns
    -------
    ndarray
        epsilon' in nats, rounded up: within 2^-44 relative to the formula.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.

    Notes
    -----
    Cohen and Lyu 2023, Lemma A.4; Gaboardi 2017, S6. By concentrated DP: each costs rho = epsilon^2/2, and rho-zCDP
    implies (rho + 2 sqrt(rho log(1/delta)), delta)-DP.
    """
    r, each, tail = _arguments(copies, epsilon, delta)
    rho = r * each * each / 2
    return np.asarray(np.minimum(rho + 2 * np.sqrt(rho * tail), r * each) * _UP)


def best_share(copies: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Array:
    """Return the largest epsilon of each mechanism for which the composition is (epsilon, delta)-DP.

    By basic composition, epsilon/r, or by `advanced_composition_epsilon`, whichever is larger.

    Parameters
    ----------
    copies, delta : array_like
        As for :func:`advanced_composition_epsilon`.
    epsilon : array_like
        The whole budget in nats, at least 0.

    Returns
    -------
    ndarray
        Rounded down, within 2^-44 relative to the formula.
    """
    r, budget, tail = _arguments(copies, epsilon, delta)
    root_rho = np.where(budget > 0, budget / np.maximum(np.sqrt(tail + budget) + np.sqrt(tail), 1e-300), 0.0)
    return np.asarray(np.maximum(np.sqrt(2 / r) * root_rho, budget / r) * _DOWN)


def _arguments(copies: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> tuple[Array, Array, Array]:
    r, budget, failure = broadcast(
        copies=real_array("copies", copies, low=1, integer=True),
        epsilon=real_array("epsilon", epsilon, low=0, high=1e100),
        delta=real_array("delta", delta, low=0, high=1, strict=True),
    )
    return r, budget, -np.log(failure)
