"""The bet that a failure is more probable than is allowed: an e-process on trials that fail or do not.

If every trial fails with probability at most s, given the past, then for any p > s the product of the factors

    p / s for a failure,      (1 - p) / (1 - s) for a success

is a supermartingale, because the mean factor grows with the probability of a failure and is 1 at s. The wealth against
s is the mean of these products over a fixed grid of alternatives p, those up to s with wealth 0. Both facts are
statements of :mod:`dpassay.spec.theorems.auditing.failure_bets`.

The wealth refutes all smaller s as well: if it exceeds 1, some p > s has a product above 1, the share of failures lies
above s, and the product grows as s falls. So the largest s that is refuted is a lower confidence bound at any time.

>>> round(lower_bound(30, 100, level=1e-6), 3)
0.092
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.properties.log_domain import logsumexp

__all__ = ["detectable", "log_wealth", "lower_bound", "trials_needed"]

_LOG_ODDS = np.arange(-9.0, 9.25, 0.5)
"""Log odds of the alternatives: the best of them is missed by at most a quarter, and their number costs 3.6 nats."""

_STEPS = 60
"""Bisections of a probability."""


@lru_cache(maxsize=1)
def _alternatives() -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-_LOG_ODDS)))


def log_wealth(failures: int, trials: int, allowed: float) -> float:
    """Return the logarithm of the wealth against a probability of failure of at most `allowed`; rounded down.

    Parameters
    ----------
    failures, trials : int
        What was observed.
    allowed : float
        The probability s, in (0, 1).

    Raises
    ------
    UsageError
        If an argument is out of its domain.
    """
    if not (0 <= failures <= trials and 0 < allowed < 1):
        raise UsageError(f"failures must lie between 0 and trials, got {failures!r} of {trials!r} at {allowed!r}")
    return _log_wealth(float(failures), float(trials), allowed)


def _log_wealth(failures: float, trials: float, allowed: float) -> float:
    every = _alternatives()
    some = every[every > allowed]
    if not some.size:
        return -math.inf
    products = failures * np.log(some / allowed) + (trials - failures) * np.log((1 - some) / (1 - allowed))
    return float(logsumexp(products)) - math.log(every.size) - 2.0**-40 * (1 + trials)


def lower_bound(failures: int, trials: int, *, level: float) -> float:
    """Return the lower confidence bound on the probability of a failure, at any time, at confidence 1 - level."""
    low, high, needed = 0.0, failures / trials if trials else 0.0, math.log(1 / level)
    for _ in range(_STEPS if failures else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if middle > 0 and log_wealth(failures, trials, middle) >= needed else (low, middle)
    return low


def detectable(trials: int, allowed: float, *, level: float) -> float:
    """Return the smallest probability of failure whose mean number of failures refutes `allowed`; at most 1.

    Parameters
    ----------
    trials : int
        Number of trials.
    allowed : float
        The probability that is allowed.
    level : float
        Level of the test.
    """
    low, high, needed = allowed, 1.0, math.log(1 / level)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _log_wealth(middle * trials, trials, allowed) >= needed else (middle, high)
    return high


def trials_needed(allowed: float, found: float, *, level: float) -> int:
    """Return the number of trials after which a probability of failure `found` is detected on average.

    Parameters
    ----------
    allowed, found : float
        The probability that is allowed, and a larger one.
    level : float
        Level of the test.

    Raises
    ------
    UsageError
        If `found` is not larger than `allowed`.
    """
    if not 0 < allowed < found < 1:
        raise UsageError(f"found must lie between allowed and 1, got {found!r} and {allowed!r}")
    needed, trials = math.log(1 / level), 1
    while _log_wealth(found * trials, trials, allowed) < needed:
        trials = math.ceil(trials * 1.05) if trials > 20 else trials + 1
    return trials
