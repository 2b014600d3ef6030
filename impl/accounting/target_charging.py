"""Accounts of target charging: the privacy of calls that run until their targets have been hit tau times.

Every call is (epsilon, delta_i)-DP with a target of quality q (Cohen and Lyu 2023); the accounts differ in how they
bound the number of calls of the data holder, and in how they compose those. With r = (1 + alpha) tau/q:

- *theorem*: Thm B.4 with the 2 that its print lacks, at the best alpha and split of delta;
- *chernoff*: the same with the Chernoff tail exp(-tau (alpha - ln(1 + alpha))) before it is simplified;
- *exact*: the smallest over whole R of the exact composition of R calls, at delta less the binomial tail
  Pr[Bin(R, q) <= tau - 1]: calls beyond R count as failures.

The last is never the worst and within some percent of the optimal adversary; it is the default wherever its R is
within reach, and the account says what it used.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive, require_probability
from dpassay.impl.accounting.pure_composition import (
    LARGEST_COUNT,
    advanced_composition_epsilon,
    response_delta,
    response_epsilon,
)
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.validation import require_count
from dpassay.lazy import special

__all__ = [
    "METHODS",
    "ChargingAccount",
    "chernoff_tail",
    "holder_calls_tail",
    "largest_hits",
    "mixed_calls",
    "one_shot_top_k_account",
    "raw_chernoff_tail",
    "target_charging_account",
    "target_charging_delta",
    "target_hits_needed",
]

Array = NDArray[np.float64]
Tail = Callable[[float, Array], Array]

METHODS = ("exact", "chernoff", "theorem")

LARGEST_HITS = 1e50
"""The largest number of hits or of targets that is accepted."""

_UP = 1 + 1e-12
_GRID = 400
_WINDOW = 12  # whole numbers scanned around the best of a grid: the curve has the parity of R in it


@dataclass(frozen=True)
class ChargingAccount:
    """A guarantee of target charging and its derivation.

    Parameters
    ----------
    epsilon, delta : float
        The interaction is (epsilon, delta)-DP; epsilon in nats.
    method : str
        One of `METHODS`.
    calls : float
        Number of composed calls of the data holder; whole for the exact method.
    """

    epsilon: float
    delta: float
    method: str
    calls: float


def target_charging_account(
    hits: int,
    epsilon: float,
    quality: float,
    delta: float,
    *,
    delta_of_calls: float = 0.0,
    targets: int = 1,
    method: str | None = None,
) -> ChargingAccount:
    """Return a guarantee of target charging at a given delta.

    Parameters
    ----------
    hits : int
        tau, at which the interaction halts; at least 1.
    epsilon : float
        Largest privacy parameter of a call, in nats, positive.
    quality : float
        Smallest quality q of a target, in (0, 1]; it must be that of the same epsilon.
    delta : float
        The delta of the whole, in (0, 1).
    delta_of_calls : float
        tau_delta, the budget for the sum of the delta_i of the calls; below `delta`/`targets`.
    targets : int
        Number of targets counted at once, k of Lem 2.7; the interaction then halts when the least counter reaches
        tau, and the delta of charging one of them enters k times. That is delta' + tau_delta: targets of one call
        may need different errors E^b in their decompositions.
    method : str, optional
        One of `METHODS`; the best valid one by default.

    Returns
    -------
    ChargingAccount
        epsilon on the safe side; for the exact method within a relative 1e-6 of the best over all R.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, or the exact method is asked for beyond its reach.
    """
    _require(hits, epsilon, quality, targets)
    allowed = _allowance(delta, delta_of_calls, targets)
    chosen = [_account(name, hits, epsilon, quality, allowed, asked=method is not None) for name in _names(method)]
    best = min((account for account in chosen if account is not None), key=lambda account: account.epsilon)
    return ChargingAccount(best.epsilon, delta, best.method, best.calls)


def target_charging_delta(
    hits: int,
    epsilon: float,
    quality: float,
    total: float,
    *,
    delta_of_calls: float = 0.0,
    targets: int = 1,
) -> float:
    """Return the delta of target charging at epsilon' = `total` by the exact method, rounded up, at most 1.

    Parameters
    ----------
    hits : int
        tau, the number of hits at which the interaction halts; at least 1.
    epsilon : float
        Largest privacy parameter of a call, nats, positive.
    quality : float
        Smallest quality q of a target at that epsilon, in (0, 1].
    total : float
        epsilon', the privacy parameter of the whole, nats.
    delta_of_calls : float
        Budget for the sum of the delta_i of the calls.
    targets : int
        Number of targets that are counted at once.
    """
    _require(hits, epsilon, quality, targets)
    require_at_least("total", total, 0)
    require_probability("delta_of_calls", delta_of_calls)
    last = math.ceil(hits / quality + 40 * math.sqrt(hits) / quality + 40 / quality)
    if last > LARGEST_COUNT:
        raise UsageError(f"hits/quality must be below {LARGEST_COUNT} for the exact method, got {hits!r}/{quality!r}")

    def delta_with(calls: int) -> float:
        return response_delta(calls, epsilon, total) + float(holder_calls_tail(calls, hits, quality))

    _, single = _smallest(delta_with, hits, last)
    return min(1.0, targets * (single + delta_of_calls) * _UP)


# --- tails --------------------------------------------------------------------------------------------------


def holder_calls_tail(calls: Array | int, hits: int, quality: float) -> Array:
    """Return Pr[Bin(calls, q) <= tau - 1], rounded up: the probability that the data holder needs more calls.

    Vectorised in `calls`; an incomplete beta function, good to a relative 1e-11.
    """
    trials = np.asarray(calls, dtype=np.float64)
    below = np.minimum(hits, trials)
    tail = np.where(trials < hits, 1.0, special.betaincc(below, trials - below + 1, quality))
    return np.asarray(np.minimum(1.0, tail * (1 + 1e-11)))


def chernoff_tail(hits: float, slack: Array) -> Array:
    """Return delta*(tau, alpha) = exp(-alpha^2 tau/(2 (1 + alpha)))."""
    return np.asarray(np.exp(-slack * slack * hits / (2 * (1 + slack))) * _UP)


def raw_chernoff_tail(hits: float, slack: Array) -> Array:
    """Return exp(-tau (alpha - ln(1 + alpha))), with a series where the difference cancels."""
    return np.asarray(np.exp(-hits * _raw_exponent(slack)) * _UP)


def _raw_exponent(slack: Array) -> Array:
    """Return alpha - ln(1 + alpha), rounded down."""
    low = np.minimum(slack, 1e-3)
    series = low**2 * (1 / 2 - low * (1 / 3 - low * (1 / 4 - low * (1 / 5 - low / 6))))
    return np.asarray(np.where(slack < 1e-3, series, slack - np.log1p(slack)) * (1 - 1e-12))


def target_hits_needed(slack: float, delta: float) -> int:
    """Return the least whole tau whose raw Chernoff tail at alpha = `slack` is at most `delta` (Rem B.5).

    Raises
    ------
    UsageError
        If `slack` is not positive or `delta` not in (0, 1), or more than `LARGEST_HITS` would be needed.
    """
    require_positive("slack", slack)
    _require_delta("delta", delta)
    exponent = float(_raw_exponent(np.array(slack)))
    needed = -math.log(delta) / exponent * _UP if exponent else math.inf
    if not needed <= LARGEST_HITS:
        raise UsageError(f"slack must not be so small that more than {LARGEST_HITS:g} hits are needed, got {slack!r}")
    return max(1, math.ceil(needed))


# --- what is offered on top ---------------------------------------------------------------------------------


def mixed_calls(epsilons: Sequence[float], qualities: Sequence[float]) -> tuple[float, float]:
    """Return the (epsilon, q) that is charged for calls of several kinds: the largest and the smallest (Rem B.6).

    The kinds must be fixed before the interaction begins: a maximum over what was asked depends on the transcript.

    Raises
    ------
    UsageError
        If there are none, or one is out of its domain.
    """
    if not epsilons or not qualities:
        raise UsageError("epsilons and qualities must hold at least one number each")
    for epsilon in epsilons:
        require_positive("epsilons", epsilon)
    for quality in qualities:
        require_quality("qualities", quality)
    return max(epsilons), min(qualities)


def one_shot_top_k_account(
    k: int, epsilon: float, delta: float, *, delta_of_candidates: float = 0.0
) -> ChargingAccount:
    """Return a guarantee for the release of the k best of (epsilon, delta_i)-DP candidates (Lem 2.6).

    k hits at (2 epsilon, q = 1/(e^(2 epsilon) + 1)); `delta_of_candidates` is the sum of the delta_i.

    Parameters
    ----------
    k : int
        Number of released candidates, at least 1.
    epsilon : float
        Privacy parameter of each candidate, nats, positive.
    delta : float
        Delta of the whole, in (0, 1).
    delta_of_candidates : float
        Sum of the delta_i of the candidates.
    """
    require_count("k", k)
    require_positive("epsilon", epsilon)
    quality = float(not_prior_quality(2 * epsilon))
    return target_charging_account(k, 2 * epsilon, quality, delta, delta_of_calls=delta_of_candidates)


def largest_hits(
    total: float, delta: float, epsilon: float, quality: float, *, delta_of_calls: float = 0.0, targets: int = 1
) -> int:
    """Return the largest tau whose guarantee at `delta` is at most `total`; 0 if one hit exceeds it.

    Parameters
    ----------
    total : float
        Privacy parameter of the whole, nats.
    delta : float
        Delta of the whole, in (0, 1).
    epsilon : float
        Largest privacy parameter of a call, nats, positive.
    quality : float
        Smallest quality q of a target at that epsilon, in (0, 1].
    delta_of_calls : float
        Budget for the sum of the delta_i of the calls.
    targets : int
        Number of targets that are counted at once.
    """
    require_at_least("total", total, 0)

    def fits(hits: int) -> bool:
        account = target_charging_account(
            hits, epsilon, quality, delta, delta_of_calls=delta_of_calls, targets=targets
        )
        return account.epsilon <= total

    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def require_quality(name: str, value: float) -> float:
    """Return `value` if it lies in (0, 1]; raise `UsageError` naming `name` otherwise."""
    if not 0 < value <= 1:
        raise UsageError(f"{name} must lie in (0, 1], got {value!r}")
    return value


# --- the methods --------------------------------------------------------------------------------------------


def _require(hits: int, epsilon: float, quality: float, targets: int) -> None:
    for name, count in (("hits", hits), ("targets", targets)):
        if require_count(name, count) > LARGEST_HITS:
            raise UsageError(f"{name} must be at most {LARGEST_HITS:g}, got {count!r}")
    require_positive("epsilon", epsilon)
    require_quality("quality", quality)


def _require_delta(name: str, delta: float) -> None:
    if not 0 < delta < 1:
        raise UsageError(f"{name} must lie in (0, 1), got {delta!r}")


def _allowance(delta: float, delta_of_calls: float, targets: int) -> float:
    _require_delta("delta", delta)
    require_probability("delta_of_calls", delta_of_calls)
    allowed = float(Fraction(delta) / targets - Fraction(delta_of_calls)) * (1 - 2.0**-50)
    if allowed <= 0:
        raise UsageError(f"delta_of_calls must be below delta/targets={delta / targets!r}, got {delta_of_calls!r}")
    return allowed


def _names(method: str | None) -> tuple[str, ...]:
    if method is None:
        return METHODS
    if method not in METHODS:
        raise UsageError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return (method,)


def _account(
    name: str, hits: int, epsilon: float, quality: float, delta: float, *, asked: bool
) -> ChargingAccount | None:
    if name == "exact":
        return _exact(hits, epsilon, quality, delta, asked=asked)
    tail = chernoff_tail if name == "theorem" else raw_chernoff_tail
    total, calls = _best_slack(hits, epsilon, quality, delta, tail)
    return ChargingAccount(total, delta, name, calls)


def _best_slack(hits: int, epsilon: float, quality: float, delta: float, tail: Tail) -> tuple[float, float]:
    """Return the least epsilon' over alpha with its r: on a grid that zooms in; any alpha is valid."""
    log_inverse = -math.log(delta)
    low = (log_inverse + math.sqrt(log_inverse**2 + 2 * hits * log_inverse)) / hits
    grid, best, calls = low * np.geomspace(1e-2, 1e2, _GRID), math.inf, math.inf
    for _ in range(3):
        rest = delta - tail(hits, grid)
        good = rest > 0
        if not bool(good.any()):
            break
        with np.errstate(over="ignore"):  # infinite is an answer
            r = (1 + grid[good]) * hits / quality * _UP
            total = np.minimum(advanced_composition_epsilon(r, epsilon, rest[good]), r * epsilon * _UP)
        at = int(np.argmin(total))
        if total[at] < best:
            best, calls = float(total[at]), float(r[at])
        place = int(np.flatnonzero(good)[at])
        grid = np.linspace(grid[max(place - 1, 0)], grid[min(place + 1, _GRID - 1)], _GRID)
    return best, calls


def _exact(hits: int, epsilon: float, quality: float, delta: float, *, asked: bool) -> ChargingAccount | None:
    first = _first_calls(hits, quality, delta)
    if first is None:
        if asked:
            raise UsageError(f"hits/quality must be below {LARGEST_COUNT} for the exact method")
        return None
    last = _first_calls(hits, quality, delta * 1e-6) or first

    def epsilon_with(calls: int) -> float:
        left = delta - float(holder_calls_tail(calls, hits, quality))
        return response_epsilon(calls, epsilon, left) if left > 0 else math.inf

    calls, total = _smallest(epsilon_with, first, last)
    return ChargingAccount(total, delta, "exact", float(calls))


def _first_calls(hits: int, quality: float, delta: float) -> int | None:
    """Return the least R with a tail below `delta`; None if it is beyond `LARGEST_COUNT`."""
    low, high = hits - 1, hits
    if hits > LARGEST_COUNT:
        return None
    while float(holder_calls_tail(high, hits, quality)) >= delta:
        low, high = high, 2 * high
        if high > LARGEST_COUNT:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(holder_calls_tail(middle, hits, quality)) < delta else (middle, high)
    return high


def _smallest(value: Callable[[int], float], first: int, last: int) -> tuple[int, float]:
    """Return the whole number of [first, last] with the least value that a zooming search finds, and the value."""
    known: dict[int, float] = {}

    def at(calls: int) -> float:
        if calls not in known:
            known[calls] = value(calls)
        return known[calls]

    low, high = first, max(first, last)
    while high - low > 2 * _WINDOW:
        grid = sorted({low + (high - low) * step // 10 for step in range(11)})
        place = grid.index(min(grid, key=at))
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    for calls in range(max(first, low - 2), high + 3):
        at(calls)
    best = min(known, key=known.__getitem__)
    return best, known[best]
