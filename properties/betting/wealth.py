"""The wealth that bets on predictions of the side have won, from the counts of calls at each weight and level.

A `Ledger` keeps the counts; the wealth against every (epsilon, delta) follows from them by the factors of
:mod:`dpassay.properties.betting.bets`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.properties.betting.bets import (
    ERROR_PER_CALL,
    LEVELS,
    PROCESSES,
    WEIGHTS,
    BetsWithFee,
    log_factors,
    require_claims,
)
from dpassay.properties.log_domain import expit, log_expit, logsumexp

__all__ = ["Ledger", "best_weight", "joined", "log_wealth", "log_wealths", "process_shares"]

Array = NDArray[np.float64]

_SMALL_DELTA = 1e-3
"""For at most this delta the fees are negligible, and the first process gets most of the wealth."""

_FIRST_SHARE = 15 / 16
"""The share of the first process (both directions at the largest cap) for a small delta: the others keep the rest."""

_WORTH_IT = 1.3
"""Unfair sides must promise this multiple of the growth of fair sides: fair sides serve all claims and directions."""

_REACHES = math.exp(-2)
"""The growth against epsilon + 1 on fair sides must be this part of that against epsilon: otherwise the predictions
barely reach beyond epsilon, and better ones need calls of both sides."""


_MERGED = 9
"""Levels that a rough ledger takes as one, an odd number: more take less time and tell nearby claims apart less."""

# the level 0 is in the middle of its group
_STARTS = np.unique(
    np.maximum(np.arange((len(LEVELS) // 2 - _MERGED // 2) % _MERGED - _MERGED, len(LEVELS), _MERGED), 0)
)
_MIDDLES = (_STARTS + np.append(_STARTS[1:], len(LEVELS)) - 1) // 2
_MIDDLE_OF = np.repeat(_MIDDLES, np.diff(np.append(_STARTS, len(LEVELS))))


@dataclass
class Ledger:
    """The number of left and of right calls at each weight and level of prediction: all that the wealth depends on.

    Parameters
    ----------
    places : ndarray of int, shape (places,)
        In order, the weights and levels with any call: the index of the weight times the number of levels, plus that
        of the level. Few calls have few of them.
    sides : ndarray of int, shape (2, places)
        The calls there of the right and of the left side.
    """

    places: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    sides: NDArray[np.int64] = field(default_factory=lambda: np.empty((2, 0), dtype=np.int64))

    @property
    def calls(self) -> int:
        """The number of calls that were bet on."""
        return int(self.sides.sum())

    @property
    def rows(self) -> NDArray[np.int64]:
        """The index of the weight at each place."""
        return self.places // len(LEVELS)

    @property
    def levels(self) -> NDArray[np.int64]:
        """The index of the level at each place."""
        return self.places % len(LEVELS)

    def at_weight(self, row: int) -> tuple[Array, Array]:
        """Return the left and the right calls at each of `LEVELS` with one of `WEIGHTS`."""
        own = self.rows == row
        both = np.zeros((2, len(LEVELS)))
        both[:, self.levels[own]] = self.sides[:, own]
        return both[1], both[0]

    def record(self, levels: NDArray[np.int64], is_left: NDArray[np.bool_], weight: float = 0.5) -> None:
        """Enter a batch whose weight (one of `WEIGHTS`) and levels were fixed before it."""
        counts = np.bincount(2 * levels + is_left, minlength=2 * len(LEVELS)).reshape(-1, 2)
        used = np.flatnonzero(counts.sum(axis=1))
        joined = self + Ledger(WEIGHTS.index(weight) * len(LEVELS) + used, counts[used].T)
        self.places, self.sides = joined.places, joined.sides

    def rough(self) -> "Ledger":
        """Return about the same ledger with fewer levels, on which wealth takes less time: a guide, no evidence."""
        return _added(self.rows * len(LEVELS) + _MIDDLE_OF[self.levels], self.sides)

    def __add__(self, other: "Ledger") -> "Ledger":
        if not (self.places.size and other.places.size):
            full = self if self.places.size else other
            return Ledger(full.places, full.sides)
        return joined([self, other])


def joined(ledgers: Sequence[Ledger]) -> Ledger:
    """Return the ledger of the calls of all of some ledgers, at least one."""
    places = np.concatenate([ledger.places for ledger in ledgers])
    return _added(places, np.concatenate([ledger.sides for ledger in ledgers], axis=1))


def _added(places: NDArray[np.int64], sides: NDArray[np.int64]) -> Ledger:
    """Return the ledger of calls at places in any order, some of them more than once."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    if not starts.size:
        return Ledger()
    return Ledger(ordered[starts], np.add.reduceat(sides[:, order], starts, axis=1))


def log_wealth(ledger: Ledger, epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Array:
    """Return the logarithm of the wealth against each claim (epsilon, delta), rounded down; see `log_wealths`."""
    wealth: Array = log_wealths([ledger], epsilon, delta)[0]
    return wealth


def log_wealths(ledgers: Sequence[Ledger], epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Array:
    """Return the logarithm of the wealth of each ledger against each claim (epsilon, delta), rounded down.

    For delta = 0 one process bets on both directions; for delta > 0 it is a mixture over directions (left over
    right, right over left, both) and over `CAP_FRACTIONS`; each of them bets on, whatever the weights of the batches
    were.

    Parameters
    ----------
    ledgers : sequence of Ledger
        Games so far. Together they take little more time than one.
    epsilon, delta : array_like, shape (claims,)
        Broadcast against each other.

    Returns
    -------
    ndarray, shape (ledgers, claims)
        Lower bounds on the logarithms, in nats: `ERROR_PER_CALL` is taken off for each call.
    """
    eps, dlt = np.broadcast_arrays(np.atleast_1d(epsilon).astype(float), np.atleast_1d(delta).astype(float))
    require_claims(eps, dlt)
    if not any(ledger.places.size for ledger in ledgers):
        return np.zeros((len(ledgers), *eps.shape))
    result = np.empty((len(ledgers), *eps.shape))
    pure = dlt == 0
    if pure.any():
        result[:, pure] = _pure_log_wealths(ledgers, eps[pure])
    if not pure.all():
        result[:, ~pure] = _mixed_log_wealths(_Counts.of(ledgers), eps[~pure], dlt[~pure])
    rounded: Array = result - ERROR_PER_CALL * np.array([ledger.calls for ledger in ledgers])[:, None]
    return rounded


@dataclass(frozen=True)
class _Counts:
    """The calls of several ledgers at the weights and levels that any of them has.

    Parameters
    ----------
    logits, centres : ndarray, shape (places,)
        Predictions of the left side, and logits of the weights.
    left, right : ndarray, shape (places, ledgers)
        Counts.
    on_left, on_right : ndarray, shape (places,)
        Logarithms of the probabilities of the sides by the predictions.
    """

    logits: Array
    centres: Array
    left: Array
    right: Array
    on_left: Array
    on_right: Array

    @classmethod
    def of(cls, ledgers: Sequence[Ledger]) -> "_Counts":
        used = ledgers[0].places
        if len(ledgers) > 1:
            used = np.unique(np.concatenate([ledger.places for ledger in ledgers]))
        both = np.zeros((2, len(used), len(ledgers)))
        for column, ledger in enumerate(ledgers):
            both[:, np.searchsorted(used, ledger.places), column] = ledger.sides
        rows, levels = used // len(LEVELS), used % len(LEVELS)
        centres = _CENTRES[rows]
        return cls(
            LEVELS[levels] + centres, centres, both[1], both[0], _ON_LEFT[rows, levels], _ON_RIGHT[rows, levels]
        )


_FEW_TERMS = 1 << 13
"""Levels times claims up to which each is computed; beyond, sums from both ends of all levels take less time."""

_CENTRES: Array = np.log(WEIGHTS) - np.log1p(-np.array(WEIGHTS))
_ON_LEFT: Array = log_expit(_CENTRES[:, None] + LEVELS)
_ON_RIGHT: Array = log_expit(-_CENTRES[:, None] - LEVELS)


_NEVER = 1e280
"""Minus the logarithm that stands for that of 0; times any number of calls it is finite."""


def _pure_log_wealths(ledgers: Sequence[Ledger], epsilon: Array) -> Array:
    """Return the sums of the logarithms of `log_factors` for delta = 0."""
    counts = _Counts.of(ledgers)
    if counts.logits.size * epsilon.size > _FEW_TERMS:
        return np.array([_sums_from_both_ends(ledger, epsilon) for ledger in ledgers])
    reach = epsilon[:, None]
    allowed = np.clip(counts.logits, counts.centres - reach, counts.centres + reach)
    on_left = log_expit(allowed)  # on the right it is smaller by the logit
    total: Array = (counts.on_left - on_left) @ counts.left + (counts.on_right - on_left + allowed) @ counts.right
    return total.T


def _sums_from_both_ends(ledger: Ledger, epsilon: Array) -> Array:
    """Return the sums of the logarithms of `log_factors` for delta = 0, by sums from both ends of the levels.

    Only levels beyond epsilon count, and their denominators are all the same: whatever the number of claims, every
    level is looked at once.
    """
    above = np.searchsorted(LEVELS, epsilon, side="right")
    below = np.searchsorted(LEVELS, -epsilon, side="left")
    total = np.zeros(epsilon.shape)
    for row, centre in enumerate(_CENTRES.tolist()):
        if not (ledger.rows == row).any():
            continue
        left, right = ledger.at_weight(row)
        won = left * _ON_LEFT[row] + right * _ON_RIGHT[row]
        for ends, bound in (((above, -1), centre + epsilon), ((below, 1), centre - epsilon)):
            place, way = ends
            gains, lefts, rights = (_sums_to(part, way)[place] for part in (won, left, right))
            with np.errstate(invalid="ignore"):  # no call lies beyond an infinite epsilon
                fair = lefts * log_expit(bound) + rights * log_expit(-bound)
            total += gains - np.where(lefts + rights > 0, fair, 0.0)
    return total


def _sums_to(values: Array, way: int) -> Array:
    """Return for each k the sum of the first k values (way 1), or of all but the first k (way -1)."""
    if way > 0:
        return np.concatenate([[0.0], np.cumsum(values)])
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])


def _total(counts: _Counts, on_left: Array, on_right: Array) -> Array:
    """Return the sums of the logarithms of the factors, shape (ledgers, claims)."""
    least = -_NEVER  # no call at a factor of 0 counts for nothing
    total: Array = np.maximum(on_left, least) @ counts.left + np.maximum(on_right, least) @ counts.right
    return total.T


def _mixed_log_wealths(counts: _Counts, epsilon: Array, delta: Array) -> Array:
    """Return the logarithm of the mixture over directions and caps, for positive delta, shape (ledgers, claims)."""
    bets = BetsWithFee.on(counts.logits, epsilon[:, None], delta[:, None], expit(counts.centres))
    parts = np.array([_total(counts, *bets.factors(*process)) for process in PROCESSES])
    mixed: Array = logsumexp(parts, axis=0, b=process_shares(delta)[:, None, :]) - ERROR_PER_CALL
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
    counts = np.sum([ledger.at_weight(row) for row in range(len(WEIGHTS))], axis=0)
    used = np.flatnonzero(counts.sum(axis=0))
    p, q = (count[used] / max(int(count.sum()), 1) for count in counts)
    growths = []
    for weight in WEIGHTS:
        logits = LEVELS[used] + math.log(weight) - math.log1p(-weight)
        on_left, on_right = log_factors(logits, epsilon[:, None], weight=weight)
        growths.append(weight * (on_left @ p) + (1 - weight) * (on_right @ q))
    return np.array(growths)
