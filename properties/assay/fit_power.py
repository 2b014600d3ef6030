"""The power of a goodness-of-fit test: the smallest distortion of a distribution that it detects on average.

Let p be the probabilities of the cells and T a statistic of the test with mean 0 and deviation 1. The distorted
distribution q is p tilted by e^(s T), normalised. The mean gain of the bet that tilts by theta is

    g = theta E_q T - log E_p e^(theta T),

which is the relative entropy of q to p at theta = s. The distortion is detected on average if n calls times the
largest g over the `THETAS` of the test reach the evidence needed, or if the bet that learns the k cells does: its mean
log wealth is at least n KL(q, p) - (k - 1)/2 log n - log k (Krichevsky and Trofimov 1981). Its size is the total
variation of q to p. The power is the largest of these sizes over all statistics and both signs: a tilt along any of
them is detected if it is as large.

A test is weak if it does not detect a total variation of 1/4. That is the distance of a Laplace distribution to
another of twice the scale: the densities e^-x / 2 and e^(-x/2) / 4 cross at x = 2 log 2, within which the masses are
3/4 and 1/2.
"""

import numpy as np
from numpy.typing import NDArray

from dpassay.lazy import special

__all__ = ["THETAS", "WEAK_DISTORTION", "WIDENING", "smallest_distortion"]

Array = NDArray[np.float64]

WIDENING = 2.0**-20
"""Relative error allowed for each probability of the null."""

THETAS = tuple(0.005 * 1.5**k for k in range(14))
"""The tilts of the bets, in both signs."""

WEAK_DISTORTION = 0.25
"""Total variation that a test must detect in order not to be weak."""

_LARGEST_TILT = 64.0
"""The largest tilt of the null along a statistic that is considered."""

_STEPS = 40
"""Bisections for the smallest tilt that is seen: along a statistic that is huge on a cell of tiny probability a
tilt of 1e-6 moves everything there."""


def smallest_distortion(probabilities: Array, statistics: Array, *, calls: int, needed: float) -> float:
    """Return the smallest total variation at which a tilt along any statistic is detected on average.

    Parameters
    ----------
    probabilities : ndarray, shape (cells,)
        Probabilities of the null, up to a common factor near 1.
    statistics : ndarray, shape (statistics, cells)
        Statistics with mean 0 and deviation 1; rows of 0 are ignored.
    calls : int
        Number of draws.
    needed : float
        Log wealth that refutes, nats.

    Returns
    -------
    float
        At most 1. A tilt that is never detected counts with its largest total variation. Without a statistic the
        distribution has one symbol only; a second symbol of probability 1 / calls is observed once on average.
    """
    rows = [sign * row for row in statistics if row.any() for sign in (1.0, -1.0)]
    if not rows:
        return 1 / calls
    p = probabilities / probabilities.sum()
    return max(_along(p, row, calls, needed) for row in rows)


def _along(p: Array, statistic: Array, calls: int, needed: float) -> float:
    """Return the total variation of the smallest tilt along a statistic that is seen on average."""
    thetas = np.array(THETAS)
    log_norms = special.logsumexp(np.outer(thetas, statistic), b=p * (1 + WIDENING), axis=1)

    regret = (len(p) - 1) / 2 * np.log(calls) + np.log(len(p))

    def is_seen(tilt: float) -> bool:
        q = _tilted(p, statistic, tilt)
        learnt = calls * float(special.rel_entr(q, p * (1 + WIDENING)).sum()) - regret
        return bool(max(calls * float(np.max(thetas * (q @ statistic) - log_norms)), learnt) >= needed)

    low, high = 0.0, _LARGEST_TILT
    for _ in range(_STEPS if is_seen(high) else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return float(np.abs(_tilted(p, statistic, high) - p).sum() / 2)


def _tilted(p: Array, statistic: Array, tilt: float) -> Array:
    weights: Array = p * np.exp(tilt * (statistic - statistic.max()))
    return np.asarray(weights / weights.sum())
