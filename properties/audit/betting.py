"""The bet: an e-process against (epsilon, delta)-differential privacy, from predictions of the side.

Each call draws a side, left with probability ``weight``, runs the mechanism on that side's input and shows the
outcome x. A *prediction* is the logit of the probability a(x) that x came from the left, fixed before the side
is drawn. Under epsilon-DP no prediction beats the logit of the weight by more than epsilon, so the factor

    a(x) / c(x) on the left,   (1 - a(x)) / (1 - c(x)) on the right,   logit c = logit a clipped to logit w -+ epsilon

has expectation at most 1: it is the growth-optimal bet lambda(x) = 2 (a (w + (1 - w) e^-epsilon) - w)_+ and its
mirror image, written without cancellation. For delta > 0 a fee delta lambda_max / 2 is paid on every call for each
direction that is bet on; where delta is small, both in one factor are worth both fees.

Since a factor depends on the outcome through its prediction alone, predictions are rounded to a fixed list of
levels, and the wealth against *every* (epsilon, delta) follows from the number of left and right calls at each
level (`Ledger`). Ledgers of batches, workers and days add up.

Ville's inequality: wealth that reaches 1/alpha at any stopping time refutes the claim at level alpha.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, logsumexp

from dpassay.claims import UsageError, require_at_least

__all__ = [
    "CAP_FRACTIONS",
    "ERROR_PER_CALL",
    "LEVELS",
    "Direction",
    "Ledger",
    "last_refuted",
    "log_factors",
    "log_wealth",
    "to_levels",
]

Array = NDArray[np.float64]
Direction = Literal["both", "left over right", "right over left"]

CAP_FRACTIONS = (1.0, 1 / 8, 1 / 64)
"""For delta > 0: the declared lambda_max, as fractions of the largest one; a lower one pays a lower fee."""

_SMALL_DELTA, _FIRST_SHARE = 1e-3, 15 / 16
"""For a delta this small fees hardly count, and the bet on both directions at the largest cap has this share."""

_FINEST, _RATIO, _HALF = 2.0**-9, 2.0**-7, 1242
LEVELS: Array = _FINEST * np.sinh(_RATIO * np.arange(-_HALF, _HALF + 1))
"""The logits to which predictions are rounded: steps of 2^-16 about 0, of 2^-7 relative beyond, up to +-16."""

ERROR_PER_CALL = 2.0**-34
"""Bounds the float error of a logarithm of wealth, per call: fewer than 2^12 levels, each logarithm below 2^6 and
within 2^-44, summed in any order at 2^-53 relative to the sum of the terms so far."""


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
    weight: float = 0.5,
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
    weight : float
        Probability of the left side, in (0, 1).
    direction : {"both", "left over right", "right over left"}
        Which inequality is bet against; "both" with delta > 0 needs a weight of 1/2.
    cap_fraction : float
        lambda_max as a fraction of the largest one, 2 (1 - w) / (e^epsilon + delta (1 - w)); used if delta > 0.

    Returns
    -------
    left, right : ndarray
        Logarithms; the mean of the factors under any law that obeys the claim is at most 1.

    Raises
    ------
    UsageError
        For parameters outside their domain, or both directions with delta > 0 and a weight other than 1/2.
    """
    if not 0 < weight < 1:
        raise UsageError(f"weight must lie strictly between 0 and 1, got {weight!r}")
    slack = np.asarray(delta, dtype=np.float64)
    if not np.all((slack >= 0) & (slack <= 1)):
        raise UsageError(f"delta must lie in [0, 1], got {delta!r}")
    bound = np.asarray(epsilon, dtype=np.float64)
    if not np.all(bound >= 0):
        raise UsageError(f"epsilon must be at least 0, got {epsilon!r}")
    guess = np.asarray(logits, dtype=np.float64)
    centre = math.log(weight) - math.log1p(-weight)
    if direction == "right over left":
        right, left = log_factors(
            -guess, bound, slack, weight=1 - weight, direction="left over right", cap_fraction=cap_fraction
        )
        return left, right
    if not slack.any():
        allowed = np.minimum(guess, centre + bound)
        if direction == "both":
            allowed = np.maximum(allowed, centre - bound)
        return log_expit(guess) - log_expit(allowed), log_expit(-guess) - log_expit(-allowed)
    require_at_least("cap_fraction", cap_fraction, 0)
    if direction == "both":
        if weight != 0.5:
            raise UsageError(f"weight must be 1/2 for both directions with delta > 0, got {weight!r}")
        return _factors_with_both_fees(guess, bound, slack, min(cap_fraction, 1.0))
    return _factors_with_fee(guess, bound, slack, weight, min(cap_fraction, 1.0))


def _factors_with_both_fees(guess: Array, bound: Array, delta: Array, fraction: float) -> tuple[Array, Array]:
    # The stake u lies on the side that is believed the less likely; u + both fees must not exceed 1.
    discount = np.exp(-bound)
    cap = fraction / (1 + delta * discount)
    fee = delta * discount * cap
    trust = np.abs(guess)
    stake = (1 - fee) * (np.exp(log_expit(trust)) - np.exp(np.minimum(log_expit(-trust) + bound, 1.0)))
    stake = np.clip(stake, 0, cap)
    with np.errstate(divide="ignore"):
        right_guess, wrong_guess = np.log1p(stake * discount - fee), np.log1p(np.maximum(-fee - stake, -1.0))
    left_believed = guess >= 0
    return np.where(left_believed, right_guess, wrong_guess), np.where(left_believed, wrong_guess, right_guess)


def _factors_with_fee(guess: Array, bound: Array, delta: Array, weight: float, fraction: float) -> tuple[Array, Array]:
    # In terms of the stake on the right, u = lambda e^epsilon / (2 (1 - w)): the cap is U with U + fee <= 1.
    discount = np.exp(-bound)
    cap = fraction / (1 + delta * discount * (1 - weight))
    fee = delta * discount * (1 - weight) * cap
    odds = bound + math.log(weight) - math.log1p(-weight)
    stake = (1 - fee) * (np.exp(log_expit(guess)) - np.exp(np.minimum(log_expit(-guess) + odds, 1.0)))
    stake = np.clip(stake, 0, cap)
    gain = stake * discount * (1 - weight) / weight
    with np.errstate(divide="ignore"):
        return np.log1p(gain - fee), np.log1p(np.maximum(-fee - stake, -1.0))


@dataclass
class Ledger:
    """The number of left and of right calls at each level of prediction: all that the wealth depends on.

    Parameters
    ----------
    left, right : ndarray of int, shape (len(LEVELS),)
        Counts.
    """

    left: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(LEVELS), dtype=np.int64))
    right: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(LEVELS), dtype=np.int64))

    @property
    def calls(self) -> int:
        """How many calls were bet on."""
        return int(self.left.sum() + self.right.sum())

    def record(self, levels: NDArray[np.int64], is_left: NDArray[np.bool_]) -> None:
        """Enter a batch whose levels were fixed by what came before it."""
        self.left += np.bincount(levels[is_left], minlength=len(LEVELS))
        self.right += np.bincount(levels[~is_left], minlength=len(LEVELS))

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(self.left + other.left, self.right + other.right)


def log_wealth(ledger: Ledger, epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Array:
    """Return the logarithm of the wealth against each claim (epsilon, delta), rounded down.

    For delta = 0 one process bets on both directions; for delta > 0 it is a mixture over directions (left over
    right, right over left, both) and over `CAP_FRACTIONS`. Sides are drawn with probability 1/2.

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
    used = np.flatnonzero(ledger.left + ledger.right)
    logits, left, right = LEVELS[used], ledger.left[used], ledger.right[used]
    result = np.empty(eps.shape)

    def process(which: NDArray[np.bool_], direction: Direction, fraction: float) -> Array:
        on_left, on_right = log_factors(
            logits, eps[which][:, None], dlt[which][:, None], direction=direction, cap_fraction=fraction
        )
        return _weighted(on_left, left) + _weighted(on_right, right)

    pure = dlt == 0
    if pure.any():
        result[pure] = process(pure, "both", 1.0)
    if not pure.all():
        directions: Sequence[Direction] = ("both", "left over right", "right over left")
        parts = np.array([process(~pure, way, fraction) for way in directions for fraction in CAP_FRACTIONS])
        first = np.where(dlt[~pure] <= _SMALL_DELTA, _FIRST_SHARE, 1 / len(parts))
        shares = np.vstack([first, np.tile((1 - first) / (len(parts) - 1), (len(parts) - 1, 1))])
        result[~pure] = logsumexp(parts, axis=0, b=shares) - ERROR_PER_CALL
    rounded: Array = result - ERROR_PER_CALL * ledger.calls
    return rounded


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
