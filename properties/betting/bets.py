"""The bet: an e-process against (epsilon, delta)-differential privacy, from predictions of the side.

Each call draws a side, left with probability ``weight``, runs the mechanism on that side's input and shows the
outcome x. A *prediction* is the logit of the probability a(x) that x came from the left, fixed before the side
is drawn, as the weight is. Under epsilon-DP no prediction beats the logit of the weight by more than epsilon, so the
factor

    a(x) / c(x) on the left,   (1 - a(x)) / (1 - c(x)) on the right,   logit c = logit a clipped to logit w -+ epsilon

has expectation at most 1: it is the growth-optimal bet lambda(x) = 2 (a (w + (1 - w) e^-epsilon) - w)_+ and its
mirror image, written without cancellation. For delta > 0 a fee delta lambda_max / 2 is paid on every call for each
direction that is bet on; where delta is small, both in one factor are worth both fees.

Since a factor depends on the outcome through its prediction alone, predictions (as they would be for fair sides: the
logarithm of the likelihood ratio) are rounded to a fixed list of levels, weights are taken from a fixed list, and the
wealth against *every* (epsilon, delta) follows from the number of left and right calls at each weight and level
(`Ledger`). Ledgers of batches, workers and days add up.

Ville's inequality: wealth that reaches 1/alpha at any stopping time refutes the claim at level alpha.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.claims import UsageError, require_at_least
from dpassay.properties.log_domain import log_expit, logsumexp

__all__ = [
    "CAP_FRACTIONS",
    "ERROR_PER_CALL",
    "LEVELS",
    "PROCESSES",
    "WEIGHTS",
    "Direction",
    "Ledger",
    "best_weight",
    "last_refuted",
    "log_factors",
    "log_wealth",
    "process_shares",
    "to_levels",
]

Array = NDArray[np.float64]
Direction = Literal["both", "left over right", "right over left"]

CAP_FRACTIONS = (1.0, 1 / 8, 1 / 64)
"""For delta > 0: the declared lambda_max, as fractions of the largest one; a lower one pays a lower fee."""

_DIRECTIONS: tuple[Direction, ...] = ("both", "left over right", "right over left")
PROCESSES: tuple[tuple[Direction, float], ...] = tuple((way, part) for way in _DIRECTIONS for part in CAP_FRACTIONS)
"""The processes that are mixed for delta > 0: a direction and a fraction of the largest cap."""

_SMALL_DELTA = 1e-3
"""For at most this delta the fees are negligible, and the first process gets most of the wealth."""

_FIRST_SHARE = 15 / 16
"""The share of the first process (both directions at the largest cap) for a small delta: the others keep the rest."""

_FINEST = 2.0**-9
"""The logit at which the levels change from constant to relative steps."""

_RATIO = 2.0**-7
"""The relative step of the levels beyond: smaller steps round less and make larger ledgers."""

_HALF = 1242
"""The number of positive levels: they reach a logit of 16."""

LEVELS: Array = _FINEST * np.sinh(_RATIO * np.arange(-_HALF, _HALF + 1))
"""The logits to which predictions are rounded: steps of 2^-16 about 0, of 2^-7 relative beyond, up to +-16."""

WEIGHTS = (1 / 2, 1 / 8, 7 / 8)
"""The probabilities of the left side that a batch may have. Where only the left side has outcomes of some kind, the
calls on the right one are the evidence: 1/8 gives 7/4 of the growth of fair sides, and no weight gives more than 2."""

_WORTH_IT = 1.3
"""Unfair sides must promise this multiple of the growth of fair sides: fair sides serve all claims and directions."""

_REACHES = math.exp(-2)
"""The growth against epsilon + 1 on fair sides must be this part of that against epsilon: otherwise the predictions
barely reach beyond epsilon, and better ones need calls of both sides."""

ERROR_PER_CALL = 2.0**-32
"""Bounds the float error of a logarithm of wealth, per call: fewer than 2^13 weights and levels, each logarithm below
2^6 and within 2^-44, summed in any order at 2^-53 relative to the sum of the terms so far; twice that where the
factors' numerators and denominators are summed apart."""


def to_levels(logits: ArrayLike) -> NDArray[np.int64]:
    """Round predictions (logits of the probability of the left side) to indices of `LEVELS`.

    Examples
    --------
    >>> LEVELS[to_levels([0.0])]
    array([0.])
    """
    scaled = np.arcsinh(np.asarray(logits, dtype=np.float64) / _FINEST) / _RATIO
    if np.isnan(scaled).any():
        raise UsageError("logits must be numbers, got NaN")
    return np.rint(np.clip(scaled, -_HALF, _HALF)).astype(np.int64) + _HALF


def log_factors(
    logits: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike = 0.0,
    *,
    weight: ArrayLike = 0.5,
    direction: Direction = "both",
    cap_fraction: float = 1.0,
) -> tuple[Array, Array]:
    """Return the logarithms of the factors of wealth on a left and on a right call.

    Parameters
    ----------
    logits : array_like
        Predictions; shape broadcasts against `epsilon`.
    epsilon, delta : array_like
        The claim, epsilon at least 0. For delta = 0 epsilon may differ from outcome to outcome (an ex-post claim),
        +inf where there is none.
    weight : array_like
        Probability of the left side, in (0, 1); broadcasts like the logits.
    direction : {"both", "left over right", "right over left"}
        Which inequality is bet against.
    cap_fraction : float
        lambda_max as a fraction of the largest one, 2 (1 - w) / (e^epsilon + delta (1 - w)); used if delta > 0. For
        both directions the largest ones are 2 (1 - w) / (e^epsilon + delta) and 2 w / (e^epsilon + delta).

    Returns
    -------
    left, right : ndarray
        Logarithms; the mean of the factors under any distribution that obeys the claim is at most 1.

    Raises
    ------
    UsageError
        For parameters outside their domain.
    """
    share = np.asarray(weight, dtype=np.float64)
    if not np.all((share > 0) & (share < 1)):
        raise UsageError(f"weight must lie strictly between 0 and 1, got {weight!r}")
    slack = np.asarray(delta, dtype=np.float64)
    if not np.all((slack >= 0) & (slack <= 1)):
        raise UsageError(f"delta must lie in [0, 1], got {delta!r}")
    bound = np.asarray(epsilon, dtype=np.float64)
    if not np.all(bound >= 0):
        raise UsageError(f"epsilon must be at least 0, got {epsilon!r}")
    guess = np.asarray(logits, dtype=np.float64)
    centre = np.log(share) - np.log1p(-share)
    if direction == "right over left":
        right, left = log_factors(
            -guess, bound, slack, weight=1 - share, direction="left over right", cap_fraction=cap_fraction
        )
        return left, right
    if not slack.any():
        allowed = np.minimum(guess, centre + bound)
        if direction == "both":
            allowed = np.maximum(allowed, centre - bound)
        return log_expit(guess) - log_expit(allowed), log_expit(-guess) - log_expit(-allowed)
    require_at_least("cap_fraction", cap_fraction, 0)
    fraction = min(cap_fraction, 1.0)
    discount = np.exp(-bound)
    if direction == "both":
        cap = fraction / (1 + slack * discount)
        fee = slack * discount * cap  # of both directions together: delta (2 (1 - w) + 2 w) / 2, in units of the cap
        up = _factors_with_fee(guess, centre, bound, cap, fee)
        down = _factors_with_fee(-guess, -centre, bound, cap, fee)
        return np.where(guess >= centre, up[0], down[1]), np.where(guess >= centre, up[1], down[0])
    cap = fraction / (1 + slack * discount * (1 - share))
    return _factors_with_fee(guess, centre, bound, cap, slack * discount * (1 - share) * cap)


def _factors_with_fee(guess: Array, centre: Array, bound: Array, cap: Array, fee: Array) -> tuple[Array, Array]:
    """Return the factors of a bet left over right.

    In terms of the stake that a right call loses, u = lambda e^epsilon / (2 (1 - w)), below `cap`; cap + fee <= 1.
    """
    stake = (1 - fee) * (np.exp(log_expit(guess)) - np.exp(np.minimum(log_expit(-guess) + bound + centre, 1.0)))
    stake = np.clip(stake, 0, cap)
    gain = stake * np.exp(-bound - centre)
    with np.errstate(divide="ignore"):
        return np.log1p(gain - fee), np.log1p(np.maximum(-fee - stake, -1.0))


def _no_calls() -> NDArray[np.int64]:
    return np.zeros((len(WEIGHTS), len(LEVELS)), dtype=np.int64)


@dataclass
class Ledger:
    """The number of left and of right calls at each weight and level of prediction: all that the wealth depends on.

    Parameters
    ----------
    left, right : ndarray of int, shape (len(WEIGHTS), len(LEVELS))
        Counts.
    """

    left: NDArray[np.int64] = field(default_factory=_no_calls)
    right: NDArray[np.int64] = field(default_factory=_no_calls)

    @property
    def calls(self) -> int:
        """The number of calls that were bet on."""
        return int(self.left.sum() + self.right.sum())

    def record(self, levels: NDArray[np.int64], is_left: NDArray[np.bool_], weight: float = 0.5) -> None:
        """Enter a batch whose weight (one of `WEIGHTS`) and levels were fixed before it."""
        row = WEIGHTS.index(weight)
        self.left[row] += np.bincount(levels[is_left], minlength=len(LEVELS))
        self.right[row] += np.bincount(levels[~is_left], minlength=len(LEVELS))

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(self.left + other.left, self.right + other.right)


def log_wealth(ledger: Ledger, epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Array:
    """Return the logarithm of the wealth against each claim (epsilon, delta), rounded down.

    For delta = 0 one process bets on both directions; for delta > 0 it is a mixture over directions (left over
    right, right over left, both) and over `CAP_FRACTIONS`; each of them bets on, whatever the weights of the batches
    were.

    Parameters
    ----------
    ledger : Ledger
        The game so far.
    epsilon, delta : array_like, shape (claims,)
        Broadcast against each other.

    Returns
    -------
    ndarray, shape (claims,)
        Lower bounds on the logarithms, in nats: `ERROR_PER_CALL` is taken off for each call.
    """
    eps, dlt = np.broadcast_arrays(np.atleast_1d(epsilon).astype(float), np.atleast_1d(delta).astype(float))
    result = np.empty(eps.shape)
    pure = dlt == 0
    if pure.any():
        result[pure] = _pure_log_wealth(ledger, eps[pure])
    if not pure.all():
        result[~pure] = _mixed_log_wealth(ledger, eps[~pure], dlt[~pure])
    rounded: Array = result - ERROR_PER_CALL * ledger.calls
    return rounded


_FEW_TERMS = 1 << 13
"""Levels times claims up to which each is computed; beyond, sums from both ends of all levels take less time."""

_CENTRES: Array = np.log(WEIGHTS) - np.log1p(-np.array(WEIGHTS))
_ON_LEFT: Array = log_expit(_CENTRES[:, None] + LEVELS)
_ON_RIGHT: Array = log_expit(-_CENTRES[:, None] - LEVELS)


def _pure_log_wealth(ledger: Ledger, epsilon: Array) -> Array:
    """Return the sums of the logarithms of `log_factors` for delta = 0, by sums from both ends of the levels.

    Only levels beyond epsilon count, and their denominators are all the same: whatever the number of claims, every
    level is looked at once.
    """
    if not np.all(epsilon >= 0):
        raise UsageError(f"epsilon must be at least 0, got {epsilon!r}")
    used = np.flatnonzero((ledger.left + ledger.right).any(axis=0))
    if used.size * epsilon.size <= _FEW_TERMS:
        return _sum_over_levels(ledger, epsilon, used)
    above = np.searchsorted(LEVELS, epsilon, side="right")
    below = np.searchsorted(LEVELS, -epsilon, side="left")
    total = np.zeros(epsilon.shape)
    for row, centre in enumerate(_CENTRES.tolist()):
        left, right = ledger.left[row].astype(np.float64), ledger.right[row].astype(np.float64)
        if not (left.any() or right.any()):
            continue
        won = left * _ON_LEFT[row] + right * _ON_RIGHT[row]
        for ends, bound in (((above, -1), centre + epsilon), ((below, 1), centre - epsilon)):
            place, way = ends
            gains, lefts, rights = (_sums_to(part, way)[place] for part in (won, left, right))
            with np.errstate(invalid="ignore"):  # no call lies beyond an infinite epsilon
                fair = lefts * log_expit(bound) + rights * log_expit(-bound)
            total += gains - np.where(lefts + rights > 0, fair, 0.0)
    return total


def _sum_over_levels(ledger: Ledger, epsilon: Array, used: NDArray[np.intp]) -> Array:
    """Return the sums of the logarithms of `log_factors` for delta = 0, over the levels that have calls."""
    total = np.zeros(epsilon.shape)
    for row, centre in enumerate(_CENTRES.tolist()):
        left, right = ledger.left[row, used].astype(np.float64), ledger.right[row, used].astype(np.float64)
        if not (left.any() or right.any()):
            continue
        logits = centre + LEVELS[used]
        allowed = np.clip(logits, centre - epsilon[:, None], centre + epsilon[:, None])
        total += (_ON_LEFT[row, used] - log_expit(allowed)) @ left + (
            _ON_RIGHT[row, used] - log_expit(-allowed)
        ) @ right
    return total


def _sums_to(values: Array, way: int) -> Array:
    """Return for each k the sum of the first k values (way 1), or of all but the first k (way -1)."""
    if way > 0:
        return np.concatenate([[0.0], np.cumsum(values)])
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])


def _mixed_log_wealth(ledger: Ledger, epsilon: Array, delta: Array) -> Array:
    """Return the logarithm of the mixture over directions and caps, for positive delta."""
    used = np.nonzero(ledger.left + ledger.right)
    weights, left, right = np.array(WEIGHTS)[used[0]], ledger.left[used], ledger.right[used]
    logits = LEVELS[used[1]] + np.log(weights) - np.log1p(-weights)

    def process(direction: Direction, fraction: float) -> Array:
        on_left, on_right = log_factors(
            logits, epsilon[:, None], delta[:, None], weight=weights, direction=direction, cap_fraction=fraction
        )
        return _weighted(on_left, left) + _weighted(on_right, right)

    parts = np.array([process(way, fraction) for way, fraction in PROCESSES])
    mixed: Array = logsumexp(parts, axis=0, b=process_shares(delta)) - ERROR_PER_CALL
    return mixed


def process_shares(delta: Array) -> Array:
    """Return the shares of `PROCESSES` in the mixture against each positive delta, shape (processes, claims)."""
    first = np.where(delta <= _SMALL_DELTA, _FIRST_SHARE, 1 / len(PROCESSES))
    return np.vstack([first, np.tile((1 - first) / (len(PROCESSES) - 1), (len(PROCESSES) - 1, 1))])


def best_weight(ledger: Ledger, epsilon: float) -> float:
    """Return the weight of `WEIGHTS` at which the evidence against pure epsilon-DP would have grown fastest.

    Fair sides unless another weight would have been better by 3/10: pairs that are alike in both directions gain
    nothing. Fair sides also where the evidence against epsilon + 1 falls off by more than the factor e^2: then the
    predictions hardly reach beyond epsilon, and to learn better ones takes calls of both sides. The sides' own
    frequencies of the levels stand for their distributions, so any calls of the past tell, whatever their weights
    were.
    """
    growths = _growths(ledger, np.array([epsilon, epsilon + 1]))
    best = int(np.argmax(growths[:, 0]))
    better, reaches = growths[best, 0] > _WORTH_IT * max(growths[0, 0], 0.0), growths[0, 1] > _REACHES * growths[0, 0]
    return WEIGHTS[best] if better and reaches else WEIGHTS[0]


def _growths(ledger: Ledger, epsilon: Array) -> Array:
    """Return the growth per call at each weight against each epsilon, shape (len(WEIGHTS), claims)."""
    counts = [side.sum(axis=0) for side in (ledger.left, ledger.right)]
    used = np.flatnonzero(counts[0] + counts[1])
    p, q = (count[used] / max(int(count.sum()), 1) for count in counts)
    growths = []
    for weight in WEIGHTS:
        logits = LEVELS[used] + math.log(weight) - math.log1p(-weight)
        on_left, on_right = log_factors(logits, epsilon[:, None], weight=weight)
        growths.append(weight * (on_left @ p) + (1 - weight) * (on_right @ q))
    return np.array(growths)


def _weighted(logs: Array, counts: NDArray[np.int64]) -> Array:
    """Sum counts times logs, where no call at a factor of 0 counts for nothing."""
    terms = np.where(counts > 0, logs, 0.0)
    total: Array = terms @ counts.astype(np.float64)
    return total


def last_refuted(grid: Sequence[float] | Array, refuted: NDArray[np.bool_], *, start: float = 0.0) -> float:
    """Return the lower confidence bound from a grid of claims of growing weakness.

    It is the last grid point before the first one that stands, `start` if the first one does. (The first point
    that stands is no lower bound: the truth may lie just above its predecessor.)

    Examples
    --------
    >>> last_refuted([0.1, 0.2, 0.3, 0.4], np.array([True, True, False, True]))
    0.2
    """
    standing = np.flatnonzero(~refuted)
    index = int(standing[0]) if standing.size else len(grid)
    return float(grid[index - 1]) if index else start
