"""Exact composition of equal pure mechanisms: the hockey-stick curve of repeated randomised response.

r calls that are epsilon-DP are no worse than r randomised responses, of which j truthful ones have the loss
(2 j - r) epsilon. By the lemma of Neyman and Pearson their curve is a maximum over thresholds j,

    delta(epsilon') = max_j (P_j - e^epsilon' Q_j),   P_j, Q_j the binomial tails Pr[at least j truthful],

so that epsilon'(delta) = max_j log((P_j - delta)/Q_j) in closed form. Tails are sums of saddle-point probabilities
(Loader 2000) in the log domain; probabilities are moved to the safe side by a relative 1e-10 + 5e-16 r.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive, require_probability
from dpassay.impl.validation import require_count
from dpassay.lazy import special

__all__ = ["LARGEST_COUNT", "advanced_composition_epsilon", "response_delta", "response_epsilon"]

Array = NDArray[np.float64]

_LEAST = 1e-300  # what a positive delta is rounded up to at least
LARGEST_COUNT = 2_000_000
"""The largest number of calls whose curve is computed exactly."""

_MARGIN = 1e-10  # relative, of results and of a given delta
_TABLE = np.concatenate([
    [0.0],  # unused: the outermost terms need no correction
    [
        math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
        for n in range(1, 16)
    ],
])  # fmt: skip


def response_epsilon(count: int, epsilon: float, delta: float) -> float:
    """Return the least epsilon' with which `count` epsilon-DP calls are (epsilon', delta)-DP, rounded up.

    Parameters
    ----------
    count : int
        Number r of calls, adaptive or not, from 0 to `LARGEST_COUNT`.
    epsilon : float
        Privacy parameter of each, in nats, positive.
    delta : float
        In [0, 1].

    Returns
    -------
    float
        In nats; at most r epsilon (but for rounding), and above the infimum by at most 1e-9 nats and a relative 1e-8
        while delta is above 1e-290.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """
    _require(count, epsilon)
    require_probability("delta", delta)
    if count == 0 or delta == 1:
        return 0.0
    if delta < 1e-290:  # so far in the tail the basic bound is as good, and log-probabilities need no float64 delta
        return count * epsilon * (1 + _MARGIN)
    log_p, log_q = _log_tails(count, epsilon)
    share = math.log(delta) - _MARGIN - log_p  # for the rounding of the logarithms
    reached = share < 0
    if not bool(np.any(reached)):
        return 0.0
    bounds = log_p[reached] + np.log(-np.expm1(share[reached])) - log_q[reached]
    return min(max(float(np.max(bounds)), 0.0) * (1 + _MARGIN), count * epsilon * (1 + _MARGIN))


def response_delta(count: int, epsilon: float, total: float) -> float:
    """Return the delta with which `count` epsilon-DP calls are (total, delta)-DP, rounded up.

    Parameters
    ----------
    count, epsilon
        As in `response_epsilon`.
    total : float
        epsilon', in nats, at least 0.

    Returns
    -------
    float
        In [0, 1]; above the exact delta by at most 1e-9 times the probability that the loss exceeds `total`, or
        1e-300 where it is smaller; 0 from the sum of the epsilons on and nowhere else.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """
    _require(count, epsilon)
    require_at_least("total", total, 0)
    if Fraction(total) >= count * Fraction(epsilon):
        return 0.0
    log_p, log_q = _log_tails(count, epsilon)
    log_ratio = total + log_q - log_p
    reached = log_ratio < 0
    deltas = np.exp(log_p[reached]) * -np.expm1(log_ratio[reached])
    return float(np.max(deltas, initial=_LEAST).clip(max=1.0))


def advanced_composition_epsilon(calls: Array | float, epsilon: float, delta: Array | float) -> Array:
    """Return r epsilon^2/2 + epsilon sqrt(2 r ln(1/delta)), rounded up (Cohen and Lyu 2023, Lem A.4).

    `calls` may be any positive real; `delta` lies in (0, 1]. Vectorised, unchecked.
    """
    with np.errstate(over="ignore"):  # infinite is an answer
        half_square = np.asarray(calls) * epsilon / 2 * epsilon
        bound = half_square + epsilon * np.sqrt(-2 * np.asarray(calls) * np.log(delta))
    return np.asarray(bound * (1 + 1e-14))


def _require(count: int, epsilon: float) -> None:
    if require_count("count", count, low=0) > LARGEST_COUNT:
        raise UsageError(f"count must be at most {LARGEST_COUNT} for the exact curve, got {count!r}")
    require_positive("epsilon", epsilon)


def _log_tails(count: int, epsilon: float) -> tuple[Array, Array]:
    """Return log P_j rounded up and log Q_j rounded down, for the thresholds with a loss of at least 0."""
    truthful = np.arange((count + 1) // 2, count + 1, dtype=np.float64)
    lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    log_pmf = _log_binomial(count, truthful, lie)
    log_p = np.logaddexp.accumulate(log_pmf[::-1])[::-1]
    log_q = np.logaddexp.accumulate((log_pmf - (2 * truthful - count) * epsilon)[::-1])[::-1]
    return log_p + _margin(count), log_q - _margin(count)


def _margin(count: int) -> float:
    """Return how far the logarithm of a probability is moved: a term loses up to 2e-16 for each call."""
    return 1e-10 + 5e-16 * count


def _log_binomial(count: int, successes: Array, failure: float) -> Array:
    """Return the logarithm of the binomial probabilities, successes having probability 1 - `failure`."""
    failures = count - successes
    inner = np.maximum(failures, 1.0)  # no failure at all has a closed form of its own
    size = float(count)
    log_pmf = (
        _stirling_error(np.array([size]))[0] - _stirling_error(successes) - _stirling_error(inner)
        - special.kl_div(successes, size * (1 - failure)) - special.kl_div(inner, size * failure)
        + 0.5 * np.log(size / (2 * math.pi * successes * inner))
    )  # fmt: skip
    result: Array = np.where(failures == 0, size * math.log1p(-failure), log_pmf)
    return result


def _stirling_error(n: Array) -> Array:
    """Return log n! minus Stirling's approximation of it, for whole n >= 1."""
    small = n < 16
    inverse = 1 / np.where(small, 16.0, n) ** 2
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - inverse / 1188) * inverse) * inverse) * inverse) * np.sqrt(
        inverse
    )
    result: Array = np.where(small, _TABLE[np.where(small, n, 1).astype(np.int64)], series)
    return result
