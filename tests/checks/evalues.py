"""Is the mean of nonnegative values at most 1? An anytime-valid answer, by betting against it.

If independent values X >= 0 have mean at most m, every factor 1 + b (X/m - 1) with 0 <= b < 1 has mean at most 1, and
so has the mean of the products over a few fixed b. By Ville's inequality wealth that ever reaches 1/alpha refutes m at
level alpha, whenever one looks: the largest m refuted is a lower confidence bound, valid at all times at once.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from dpassay.arguments import UsageError
from dpassay.impl.validation import real_array

__all__ = ["log_wealth_against_mean", "lower_bound_on_mean"]

Array = NDArray[np.float64]
BETS = (1 / 2, 1 / 8, 1 / 32, 1 / 128, 1 / 512)


def log_wealth_against_mean(values: ArrayLike, mean: float = 1.0) -> float:
    """Return the largest log-wealth, over all prefixes of the values, against a mean of at most `mean`.

    Raises
    ------
    UsageError
        If a value is negative or not finite, or `mean` not positive.
    """
    numbers = real_array("values", values, low=0.0).ravel()
    if not (math.isfinite(mean) and mean > 0):
        raise UsageError(f"mean must be a finite positive number, got {mean!r}")
    bets = np.array(BETS)[:, None]
    paths = np.cumsum(np.log1p(bets * (numbers / mean - 1)), axis=1)
    wealth: Array = logsumexp(paths, axis=0) - math.log(len(BETS))
    return float(np.max(wealth, initial=0.0))


def lower_bound_on_mean(values: ArrayLike, alpha: float, *, steps: int = 40) -> float:
    """Return a lower confidence bound on the mean of independent nonnegative values, valid at all times at once.

    Wealth falls as the mean that is bet against grows; the bound is found by bisection, to 2^-`steps` of the sample
    mean, and rounded down.
    """
    goal = -math.log(alpha)
    low, high = 0.0, float(np.mean(real_array("values", values, low=0.0)))
    for _ in range(steps):
        middle = (low + high) / 2
        if middle > 0 and log_wealth_against_mean(values, middle) >= goal:
            low = middle
        else:
            high = middle
    return low
