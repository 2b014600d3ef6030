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
(:class:`dpassay.properties.betting.wealth.Ledger`). Ledgers of batches, workers and days add up.

Ville's inequality: wealth that reaches 1/alpha at any stopping time refutes the claim at level alpha.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_at_least
from dpassay.properties.log_domain import log_expit

__all__ = [
    "CAP_FRACTIONS",
    "ERROR_PER_CALL",
    "LEVELS",
    "PROCESSES",
    "WEIGHTS",
    "BetsWithFee",
    "Direction",
    "last_refuted",
    "log_factors",
    "require_claims",
    "to_levels",
]

Array = NDArray[np.float64]
Direction = Literal["both", "left over right", "right over left"]

CAP_FRACTIONS = (1.0, 1 / 8, 1 / 64)
"""For delta > 0: the declared lambda_max, as fractions of the largest one; a lower one pays a lower fee."""

_DIRECTIONS: tuple[Direction, ...] = ("both", "left over right", "right over left")
PROCESSES: tuple[tuple[Direction, float], ...] = tuple((way, part) for way in _DIRECTIONS for part in CAP_FRACTIONS)
"""The processes that are mixed for delta > 0: a direction and a fraction of the largest cap."""

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
    values = np.asarray(logits, dtype=np.float64)
    if not values.any():  # of most structural bets
        return np.full(values.shape, _HALF)
    scaled = np.arcsinh(values / _FINEST) / _RATIO
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
    slack, bound = np.asarray(delta, dtype=np.float64), np.asarray(epsilon, dtype=np.float64)
    require_claims(bound, slack)
    guess = np.asarray(logits, dtype=np.float64)
    if slack.any():
        require_at_least("cap_fraction", cap_fraction, 0)
        return BetsWithFee.on(guess, bound, slack, share).factors(direction, min(cap_fraction, 1.0))
    if direction == "right over left":
        right, left = log_factors(-guess, bound, weight=1 - share, direction="left over right")
        return left, right
    centre = np.log(share) - np.log1p(-share)
    allowed = np.minimum(guess, centre + bound)
    if direction == "both":
        allowed = np.maximum(allowed, centre - bound)
    return log_expit(guess) - log_expit(allowed), log_expit(-guess) - log_expit(-allowed)


def require_claims(epsilon: Array, delta: Array) -> None:
    """Raise a `UsageError` unless every epsilon is at least 0 and every delta in [0, 1]."""
    if not np.all((delta >= 0) & (delta <= 1)):
        raise UsageError(f"delta must lie in [0, 1], got {delta!r}")
    if not np.all(epsilon >= 0):
        raise UsageError(f"epsilon must be at least 0, got {epsilon!r}")


@dataclass(frozen=True)
class _Advantage:
    """The bet left over right, or its mirror image, before caps and fees.

    In terms of the stake that a call on the other side loses, u = lambda e^epsilon / (2 (1 - w)).

    Parameters
    ----------
    stakes : ndarray
        The best u without cap and fee; negative where nothing is bet.
    odds : ndarray
        The gain for each unit of u.
    other : ndarray
        Probability of the other side.
    """

    stakes: Array
    odds: Array
    other: Array

    @classmethod
    def of(cls, guess: Array, bound: Array, share: Array) -> "_Advantage":
        centre = np.log(share) - np.log1p(-share)
        stakes = np.exp(log_expit(guess)) - np.exp(np.minimum(log_expit(-guess) + bound + centre, 1.0))
        return cls(stakes, np.exp(-bound - centre), 1 - share)

    def factors(self, cap: Array, fee: Array) -> tuple[Array, Array]:
        """Return the logarithms of the factors where the guess is right and where it is wrong; cap + fee <= 1."""
        stake = np.clip((1 - fee) * self.stakes, 0, cap)
        with np.errstate(divide="ignore"):
            return np.log1p(stake * self.odds - fee), np.log1p(np.maximum(-fee - stake, -1.0))


@dataclass(frozen=True)
class BetsWithFee:
    """The bets of all directions and caps for delta > 0, on the same predictions.

    Parameters
    ----------
    up, down, both : bets
        Left over right, right over left, and whichever the prediction is for.
    is_up : ndarray of bool
        Whether the prediction is for the left side.
    slack : ndarray
        delta e^-epsilon.
    """

    up: _Advantage
    down: _Advantage
    both: _Advantage
    is_up: NDArray[np.bool_]
    slack: Array

    @classmethod
    def on(cls, guess: Array, bound: Array, delta: Array, share: Array) -> "BetsWithFee":
        """Return the bets on predictions.

        Parameters
        ----------
        guess : ndarray
            Predictions of the left side, as logits.
        bound, delta : ndarray
            The claims; they broadcast against the predictions.
        share : ndarray
            Probability of the left side.
        """
        up, down = _Advantage.of(guess, bound, share), _Advantage.of(-guess, bound, 1 - share)
        is_up = guess >= np.log(share) - np.log1p(-share)
        both = _Advantage(np.where(is_up, up.stakes, down.stakes), np.where(is_up, up.odds, down.odds), up.other)
        return cls(up, down, both, is_up, delta * np.exp(-bound))

    def factors(self, direction: Direction, fraction: float) -> tuple[Array, Array]:
        """Return the logarithms of the factors on a left and on a right call; see `log_factors`."""
        if direction == "both":
            cap = fraction / (1 + self.slack)
            # the fee of both directions together is delta (2 (1 - w) + 2 w) / 2, in units of the cap
            won, lost = self.both.factors(cap, self.slack * cap)
            return np.where(self.is_up, won, lost), np.where(self.is_up, lost, won)
        is_left = direction == "left over right"
        bets = self.up if is_left else self.down
        fee_of_cap = self.slack * bets.other
        cap = fraction / (1 + fee_of_cap)
        won, lost = bets.factors(cap, fee_of_cap * cap)
        return (won, lost) if is_left else (lost, won)


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
