"""Halting times of AboveThreshold on the slowest stream, with every answer at the lower end of its range.

Given the threshold noise x, the halting time is geometric with success probability Phi(-(sigma_X x + rho - a) /
sigma_Z), so that Pr[T > t] = E_x[Phi((sigma_X x + rho - a) / sigma_Z)^t]. Medians reach 10^30 where the noise is
small: a simulation would need that many steps, the expectation needs none.
"""

import math

import numpy as np

from dpassay.arguments import UsageError, require_positive
from dpassay.lazy import special

__all__ = ["halting_time_quantile", "survival"]

REACH = 10.0  # the normal tail beyond is below 1e-22
NODES = 8001
LARGEST_TIME = 2.0**1000

_X = np.linspace(-REACH, REACH, NODES)
_WEIGHTS = np.exp(-(_X**2) / 2) / math.sqrt(2 * math.pi) * (_X[1] - _X[0])


def survival(time: float, height: float, sigma_threshold: float, sigma_query: float) -> float:
    """Return Pr[T > time] for a stream of answers that lie `height` below the threshold.

    Parameters
    ----------
    time : float
        Number of steps, a float because it may exceed every integer type.
    height : float
        Threshold minus answer; may be negative.
    sigma_threshold, sigma_query : float
        Standard deviations of the two noises.

    Returns
    -------
    float
        To about twelve digits (trapezoidal rule on a smooth integrand).
    """
    return float(_WEIGHTS @ np.exp(time * special.log_ndtr((sigma_threshold * _X + height) / sigma_query)))


def halting_time_quantile(level: float, height: float, sigma_threshold: float, sigma_query: float) -> float:
    """Return the smallest t with Pr[T <= t] >= level; above 2^53 to the precision of a float64.

    Parameters
    ----------
    level : float
        Level of the quantile, in (0, 1).
    height : float
        Threshold minus the answers.
    sigma_threshold, sigma_query : float
        Standard deviations of the noise on the threshold and on the answers.

    Raises
    ------
    UsageError
        If the level is not inside (0, 1), a scale is not positive, or the quantile exceeds 2^1000.
    """
    if not 0 < level < 1:
        raise UsageError(f"level must lie strictly between 0 and 1, got {level!r}")
    require_positive("sigma_threshold", sigma_threshold)
    require_positive("sigma_query", sigma_query)

    def reached(time: float) -> bool:
        return 1 - survival(time, height, sigma_threshold, sigma_query) >= level

    high = 1.0
    while not reached(high):
        high *= 2
        if high > LARGEST_TIME:
            raise UsageError(f"the {level:g} quantile of the halting time exceeds 2^1000 at height={height!r}")
    low = high / 2 if high > 1 else 0.0
    while math.floor((low + high) / 2) > low and math.floor((low + high) / 2) < high:
        middle = float(math.floor((low + high) / 2))
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
