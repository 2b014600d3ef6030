"""Accuracy of Laplace noise on many queries that share a budget."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.impl.accounting.advanced_composition import best_share
from dpassay.impl.validation import broadcast, real_array

__all__ = ["largest_laplace_error", "split_budget_error"]

Array = NDArray[np.float64]

_UP = 1 + 2.0**-45


def largest_laplace_error(queries: ArrayLike, scale: ArrayLike, failure: ArrayLike) -> Array:
    """Return the quantile that the largest of several Laplace errors exceeds with probability `failure`.

    scale times -log(1 - (1 - failure)^(1/n)): a little less than the union bound scale log(n/failure).

    Parameters
    ----------
    queries : array_like
        Their number n, whole, at least 1.
    scale : array_like
        Scale of the noise, at least 0.
    failure : array_like
        In (0, 1]; with 1 the answer is 0.

    Returns
    -------
    ndarray
        Rounded up by at most 2^-44 relative, for failure up to 1 - 2^-20, and n up to 10^12.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.

    Notes
    -----
    Gaboardi 2017, S5.
    """
    n, width, chance = broadcast(
        queries=real_array("queries", queries, low=1, integer=True),
        scale=real_array("scale", scale, low=0, high=1e100),
        failure=real_array("failure", failure, low=0, high=1, strict=True),
    )
    with np.errstate(divide="ignore"):
        log_kept = np.log1p(-chance) / n  # log of the chance that one error stays below
    # -log(1 - e^x) for x <= 0: by the form that does not cancel (Maechler 2012)
    near = -np.log(-np.expm1(np.maximum(log_kept, -0.7)))
    far = -np.log1p(-np.exp(np.minimum(log_kept, -0.7)))
    return np.asarray(width * np.where(log_kept > -0.7, near, far) * _UP)


def split_budget_error(
    queries: ArrayLike, epsilon: ArrayLike, failure: ArrayLike, delta: ArrayLike | None = None
) -> Array:
    """Return a bound on the largest error of counting queries that share a budget, at failure probability `failure`.

    Parameters
    ----------
    queries, failure : array_like
        As for :func:`largest_laplace_error`.
    epsilon : array_like
        The whole budget in nats, positive.
    delta : array_like, optional
        In (0, 1): the shares may come from advanced composition then, with noise of order sqrt(n log(1/delta)).

    Returns
    -------
    ndarray
        In counts.
    """
    n, budget = real_array("queries", queries, low=1, integer=True), real_array("epsilon", epsilon, low=0, strict=True)
    shares = budget / n if delta is None else best_share(n, budget, delta)
    return largest_laplace_error(n, 1 / shares, failure)
