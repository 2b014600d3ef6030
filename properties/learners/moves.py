"""A learner that all pairs of a campaign share: it sees outcomes relative to what moves between the two inputs.

What one pair teaches holds for others if it is said in the right terms: a coordinate whose answer goes up tells the
left side as one that goes down tells the right side, whichever coordinate it is. A regression on sums of the
coordinates' regressors, each times the move of its coordinate, has a few weights where a single pair has many, and
all calls of all pairs to learn them from. Outcomes that lie between the two values of what moves are counted apart:
one-sided noise and clamping show there, on few outcomes.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.combining import CombiningLearner
from dpassay.properties.learners.logistic import CHUNK, StreamingLogistic, weighted_sums
from dpassay.properties.learners.regressors import Regressors
from dpassay.properties.learners.structural import logits_of_counts
from dpassay.properties.log_domain import expit, log_expit, logit, logsumexp
from dpassay.properties.outcomes.batch import Outcomes

__all__ = ["CommonLearner", "MovesView", "unit_of"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]
Term = tuple[Hashable, list[tuple[int, float]]]
"""A common regressor: its meaning, and the columns of a pair's own regressors with their factors."""

Named = tuple[Hashable, list[tuple[Array, int, int | None]]]
"""One for places that outcomes name: its meaning, and the factors by place, the coordinate of the outcome that names
it, and the column of a number that stands there, or None."""

_MOST = 48
"""Common regressors at most: outcomes with more meanings bring no further ones."""

_PRECISIONS = (1.0, 30.0, 1e3, 3e4)
"""Prior precisions of the common weights: a high one learns faint signals with less noise, a low one strong signals in
few calls."""

_FAR_BEHIND, _FIRST_REVIEW = 8.0, 2048
"""A prior is left out if it is this many nats behind the best, after this many calls."""

_PLENTY, _STRIDE, _SMALL_LOSS, _SILENT = 1 << 16, 4, 1 / 100, 1.0
"""After this many calls every fourth call is learnt from, if that loses at most this part of what was won, or if no
more nats than this were won: a faint signal is then found later."""

_FULLY = frozenset({"in the mean", "all", "apart"})
_ROUGHLY = frozenset({("number", kind) for kind in range(4)})
"""The parts of the moves whose regressors are all taken, and what is taken of others: more costs time."""

_MOST_MOVING = 64
"""Coordinates that move whose ends are looked at."""

_NO_MOVE = 1e-6
"""Smaller moves than this part of the largest one are none."""

_CLASSES = 3
"""Outcomes at the lower end of what moves, inside, and at the upper end."""


class CommonLearner:
    """Predictions that all pairs of a campaign learn and use: of outcomes relative to the moves of their inputs.

    Parameters
    ----------
    unit : float
        The largest move of a coordinate between the inputs of a pair; 0 if nothing moves.
    """

    def __init__(self, unit: float) -> None:
        self.unit = unit
        # the number of the first coordinate, where outcomes name places: 1 once the last one is met
        self.first_place = 0
        self._slots: dict[Hashable, int] = {}
        self._precisions = list(_PRECISIONS)
        self._logistic = StreamingLogistic([precision * np.eye(_MOST) for precision in _PRECISIONS])
        self._scores = np.zeros(1 + len(_PRECISIONS))  # of knowing nothing, and of each prior
        self._seen, self._review_at = 0, _FIRST_REVIEW
        self._counts = np.zeros((_CLASSES, 2), dtype=np.int64)  # of the right and the left side, by the move
        self._won = 0.0

    def columns_of(self, meanings: Sequence[Hashable]) -> NDArray[np.intp]:
        """Return the places of common regressors; new ones get one while there is room, else -1."""
        for meaning in meanings:
            if meaning not in self._slots and len(self._slots) < _MOST:
                self._slots[meaning] = len(self._slots)
        return np.array([self._slots.get(meaning, -1) for meaning in meanings], dtype=np.intp)

    def opinions(self, values: NDArray[np.float32], columns: NDArray[np.intp]) -> Array:
        """Return the logits under each prior, shape (priors, calls)."""
        return np.array([weighted_sums(values, weights[columns]) for weights in self._logistic.weights])

    def mixed(self, opinions: Array) -> Array:
        """Return the mixture of the priors and of knowing nothing, each by its likelihood on all pairs."""
        shares = np.exp(self._scores - logsumexp(self._scores))
        chances = np.full(opinions.shape[1], shares[0] / 2)
        for share, own in zip(shares[1:].tolist(), opinions, strict=True):  # a product may round by other calls
            chances += share * expit(own)
        return np.asarray(logit(np.clip(chances, 1e-12, 1 - 1e-12)))

    def learn(self, values: NDArray[np.float32], columns: NDArray[np.intp], opinions: Array, is_left: Sides) -> None:
        """Score the priors on a batch, and learn from it.

        Parameters
        ----------
        values : ndarray, shape (calls, regressors)
            The common regressors that the pair has.
        columns : ndarray
            Their places among all common regressors.
        opinions : ndarray, shape (priors, calls)
            What was predicted before the sides were known.
        is_left : ndarray of bool
            The sides.
        """
        self._scores[0] -= len(is_left) * math.log(2)
        self._scores[1:] += log_expit(np.where(is_left, opinions, -opinions)).sum(axis=1)
        self._scores -= self._scores.max()
        leader = int(np.argmax(self._scores[1:]))
        won = float(self._scores[1 + leader] - self._scores[0])
        self._seen += len(is_left)
        stride = 1
        if self._seen > _PLENTY:
            loss = self._logistic.effective_weights(leader) * _STRIDE / 2
            stride = _STRIDE if loss < _SMALL_LOSS * won or won < _SILENT else 1
        self._logistic.learn(lambda part: values[part], is_left, leader=leader, stride=stride, columns=columns)
        if self._seen >= self._review_at:
            self._review_at = 2 * self._seen
            for prior in reversed(range(len(self._precisions))):
                if self._scores[1 + prior] < -_FAR_BEHIND and len(self._precisions) > 1:
                    self._logistic.drop_prior(prior)
                    del self._precisions[prior]
                    self._scores = np.delete(self._scores, 1 + prior)

    def event_logits(self) -> Array:
        """Return the logits of the left side of an upward move for each class of events."""
        return np.asarray(logits_of_counts(self._counts[:, 0], self._counts[:, 1]))

    def heard(self) -> float:
        """Return how far the counts of events are trusted, rather than the regression, by their record."""
        return float(expit(np.array(self._won)))

    def count(self, events: NDArray[np.int8], is_left: Sides, gain: float) -> None:
        """Count the events of a batch, shape (classes, calls); `gain`: what their prediction won beyond others."""
        self._won += gain
        for row, own in zip(self._counts, events, strict=True):
            ahead = is_left[own != 0] == (own[own != 0] > 0)
            row += [np.count_nonzero(~ahead), np.count_nonzero(ahead)]


@dataclass
class _Batch:
    """A batch between the bet and the lesson: its regressors, and the opinions that were bet on."""

    outcomes: Outcomes
    positions: NDArray[np.intp]
    values: NDArray[np.float32]
    columns: NDArray[np.intp]
    opinions: Array
    others: Array
    events: NDArray[np.int8]
    by_event: Array


class MovesView:
    """The common learner as a single pair sees it.

    Parameters
    ----------
    common : CommonLearner
        What is shared.
    left, right : ndarray
        The inputs.
    """

    def __init__(self, common: CommonLearner, left: Array, right: Array) -> None:
        self._common = common
        same = len(left) == len(right)
        moves = right - left if same else np.empty(0)
        with np.errstate(all="ignore"):  # where nothing moves, or numbers are infinite, there is nothing to tell
            self._moves = np.nan_to_num(np.clip(moves / common.unit, -1, 1))
            self._of_numbers = _moves_of_numbers(left, right, common.unit)
        self._direction = self._of_numbers["in the mean"]
        self._low: Array = np.minimum(left, right) if same else moves
        self._high: Array = np.maximum(left, right) if same else moves
        self._sign = np.sign(self._moves)
        self._learner: CombiningLearner | None = None
        self._first_place = 0
        self._terms: list[Term] = []
        self._named: list[Named] = []
        self._last: _Batch | None = None

    def logits(self, outcomes: Outcomes, learner: CombiningLearner | None) -> Array:
        """Predict the left side; 0 for outcomes that are not numbers."""
        batch = self._asked(outcomes, learner)
        result = batch.others.copy()
        told = batch.by_event != 0
        heard = self._common.heard()
        result[told] = logit(heard * expit(batch.by_event[told]) + (1 - heard) * expit(batch.others[told]))
        return result

    def observe(self, outcomes: Outcomes, is_left: Sides, learner: CombiningLearner | None) -> None:
        """Teach the common learner a batch that has been bet on."""
        batch = self._asked(outcomes, learner)
        self._last = None
        told = batch.by_event != 0
        ahead = np.where(is_left[told], 1.0, -1.0)
        gain = log_expit(ahead * batch.by_event[told]) - log_expit(ahead * batch.others[told])
        self._common.count(batch.events, is_left, float(gain.sum()))
        if batch.positions.size:
            self._common.learn(batch.values, batch.columns, batch.opinions, is_left[batch.positions])

    def _asked(self, outcomes: Outcomes, learner: CombiningLearner | None) -> _Batch:
        if self._last is None or self._last.outcomes is not outcomes:
            positions, values, columns = self._values(outcomes, learner)
            others = np.zeros(len(outcomes))
            opinions = self._common.opinions(values, columns)
            if positions.size:
                others[positions] = self._common.mixed(opinions)
            events = self._events(outcomes)
            logits = self._common.event_logits()[:, None] * events
            strongest = np.abs(logits).argmax(axis=0)
            by_event = np.take_along_axis(logits, strongest[None], axis=0)[0]
            self._last = _Batch(outcomes, positions, values, columns, opinions, others, events, by_event)
        return self._last

    # --- common regressors --------------------------------------------------------------------------------------

    def _values(
        self, outcomes: Outcomes, learner: CombiningLearner | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]:
        """Return the positions of numeric outcomes, their common regressors and the places of these."""
        nothing = np.empty(0, dtype=np.intp), np.empty((0, 0), dtype=np.float32), np.empty(0, dtype=np.intp)
        if self._learner is None and learner is not None and (self._sign.any() or any(self._of_numbers.values())):
            self._learner = learner  # another one may come later, with other regressors
            self._begin(learner)
        if self._learner is None or self._learner.regressors is None:
            return nothing
        regressors, rows = self._learner.regressors, self._learner.rows_of(outcomes)
        parts = []
        for start in range(0, len(rows.positions), CHUNK):
            chunk = slice(start, start + CHUNK)
            own = rows.values(regressors, chunk)
            parts.append(self._combined(own, rows.rows[chunk]))
        if not parts:
            return nothing
        columns = self._common.columns_of([meaning for meaning, _ in [*self._terms, *self._named]])
        values = np.concatenate(parts)
        kept = columns >= 0
        return rows.positions, values[:, kept] if not kept.all() else values, columns[kept]

    def _begin(self, learner: CombiningLearner) -> None:
        """Choose the common regressors: sums of a pair's own ones, and of the moves of named places."""
        regressors, width = learner.regressors, learner.width
        assert regressors is not None
        count = len(self._moves)
        joined = width == count > 1 and len(regressors.tallied) > 0
        if count in regressors.tallied or any(value == count for _, value in regressors.indicated):
            self._common.first_place = 1
        self._first_place = self._common.first_place
        self._terms = [] if joined else self._terms_of(regressors, width)
        if count > 1:
            places = regressors.discrete() if joined or width != count else []
            self._named = self._named_of(regressors, places, joined=joined)

    def _terms_of(self, regressors: Regressors, width: int) -> list[Term]:
        factors: list[tuple[str, Array]] = []
        if width <= 1:
            alike = len(set(self._of_numbers.values())) == 1  # the same move of all says the same
            chosen = {"in the mean": self._direction} if alike else self._of_numbers
            factors = [(name, np.array([move])) for name, move in chosen.items()]
        elif width == len(self._moves):
            factors = self._parts()
        found: dict[Hashable, list[tuple[int, float]]] = {}
        for column, (meaning, coordinate) in enumerate(regressors.meanings()):
            if meaning is not None and coordinate is None:
                found[meaning] = [(column, self._direction)]
            elif meaning is not None and coordinate is not None:
                for part, factor in factors:
                    if factor[coordinate] and (part in _FULLY or meaning in _ROUGHLY):
                        found.setdefault((part, meaning), []).append((column, float(factor[coordinate])))
        return list(found.items())

    def _named_of(self, regressors: Regressors, places: list[int], *, joined: bool) -> list[Named]:
        found: dict[Hashable, list[tuple[Array, int, int | None]]] = {}
        for part, factor in self._parts():
            for k in places:
                found.setdefault((part, "place", None if joined else k), []).append((factor, k, None))
            for place, columns in regressors.named():
                for kind, column in enumerate(columns):
                    found.setdefault((part, "at the place", kind), []).append((factor, place, column))
        return list(found.items())

    def _parts(self) -> list[tuple[str, Array]]:
        """Return the common part of the moves and what is left: noise that coordinates share hides the first only."""
        mean = float(self._moves.mean())
        parts = [("all", np.full(len(self._moves), mean)), ("apart", self._moves - mean)]
        return [(name, part) for name, part in parts if np.abs(part).max() > _NO_MOVE]

    def _combined(self, own: NDArray[np.float32], rows: Array) -> NDArray[np.float32]:
        result = np.zeros((len(self._terms) + len(self._named), len(own)), dtype=np.float32)
        term = np.empty(len(own), dtype=np.float32)
        for total, (_, columns) in zip(result, self._terms, strict=False):
            for column, weight in columns:
                np.multiply(own[:, column], np.float32(weight), out=term)
                np.add(total, term, out=total)
        moves: dict[tuple[int, int], Array] = {}
        for total, (_, parts) in zip(result[len(self._terms) :], self._named, strict=True):
            for factor, place, number in parts:
                key = id(factor), place
                if key not in moves:
                    moves[key] = _at(factor, rows[:, place] - self._first_place)
                moved = moves[key]
                np.add(total, moved if number is None else moved * own[:, number], out=total, casting="same_kind")
        return result.T

    # --- events -------------------------------------------------------------------------------------------------

    def _events(self, outcomes: Outcomes) -> NDArray[np.int8]:
        """Return for each class which way what moves there goes, -1, 0 or 1, shape (classes, calls)."""
        events = np.zeros((_CLASSES, len(outcomes)), dtype=np.int8)
        rows = outcomes.rows
        moving = np.flatnonzero(self._sign)
        if rows.dtype == object or not moving.size or rows.dtype.kind not in "fiub":
            return events
        if rows.ndim == 2 and rows.shape[1] != len(self._moves):
            return events
        votes = np.zeros((_CLASSES, len(outcomes)))
        for k in moving[:_MOST_MOVING].tolist():
            column = rows if rows.ndim == 1 else rows[:, k]
            low, high, sign = self._low[k], self._high[k], self._sign[k]
            within = np.flatnonzero((column >= low) & (column <= high))
            if within.size:
                found = column[within]
                votes[np.where(found == low, 0, np.where(found == high, 2, 1)), within] += sign
        return np.asarray(np.sign(votes), dtype=np.int8)


def _moves_of_numbers(left: Array, right: Array, unit: float) -> dict[str, float]:
    """Return how far some numbers of the inputs move, which a mechanism may release, in units."""
    if len(left) == len(right):
        mean = (right - left).sum() / max(len(left), 1)
    else:
        mean = right.sum() - left.sum() or np.float64(len(right) - len(left))
    largest, smallest = (end(right) - end(left) if len(left) and len(right) else 0.0 for end in (np.max, np.min))
    moves = np.nan_to_num(np.clip(np.array([mean, largest, smallest]) / unit, -1, 1))
    return dict(zip(("in the mean", "largest", "smallest"), moves.tolist(), strict=True))


def _at(factor: Array, index: Array) -> Array:
    """Return the factor with each number, 0 where there is none."""
    is_place = (index >= 0) & (index < len(factor)) & (index == np.floor(index))
    return np.where(is_place, factor[np.where(is_place, index, 0).astype(np.intp)], 0.0)


def unit_of(pairs: Sequence[tuple[Array, Array]]) -> float:
    """Return the largest finite move of a coordinate, the largest change of the sum where records come or go."""
    moves = [
        np.abs(right - left).max(initial=0.0) if len(left) == len(right) else abs(right.sum() - left.sum()) or 1.0
        for left, right in pairs
    ]
    return float(max((move for move in moves if np.isfinite(move)), default=0.0))
