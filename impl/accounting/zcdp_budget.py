"""Conversion of a target (epsilon, delta) to a zCDP budget, and its inverse.

rho-zCDP is (rho + 2 sqrt(rho log(1/delta)), delta)-DP; with L = log(1/delta) that is (sqrt(rho) + sqrt(L))^2 - L, so
that epsilon allows sqrt(rho) = sqrt(L + epsilon) - sqrt(L). Written as a quotient, which does not cancel.
"""

import math

from dpassay.arguments import require_at_least, require_positive
from dpassay.impl.validation import require_open_probability

__all__ = ["epsilon_of_rho", "largest_rho"]

_ROUNDING = 2.0**-48


def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho whose conversion at `delta` stays within `epsilon`, rounded down.

    Parameters
    ----------
    epsilon : float
        In nats, positive.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Relative error at most 2^-47.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Examples
    --------
    >>> round(2 * largest_rho(10.0, 1e-6), 6)
    2.706029
    """
    require_positive("epsilon", epsilon)
    level = _level(delta)
    root = epsilon / (math.sqrt(level + epsilon) + math.sqrt(level))
    return root * root * (1 - _ROUNDING)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return rho + 2 sqrt(rho log(1/delta)), the epsilon of rho-zCDP at `delta`, rounded up by at most 2^-47.

    Raises
    ------
    UsageError
        If rho is negative or delta is not in (0, 1).
    """
    require_at_least("rho", rho, 0)
    return (rho + 2 * math.sqrt(rho * _level(delta))) * (1 + _ROUNDING)


def _level(delta: float) -> float:
    return -math.log(require_open_probability("delta", delta))
