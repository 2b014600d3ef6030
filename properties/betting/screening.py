"""Screening: few calls on each of many pairs, to choose the pairs that are worth a game.

Tournaments by successive halving (Jamieson, Talwalkar 2016). Each input of a group of pairs is sampled a few times;
the pairs whose samples differ most go to the next round and are sampled four times as often; the best of the last
round are named. Samples are shared by all pairs of an input. They choose where to bet and are never bet on, so that
the choice costs no error probability.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.drawing.draws import Draw
from dpassay.properties.log_domain import expit, xlogy
from dpassay.properties.outcomes.batch import Outcomes

__all__ = ["EventEvidence", "Point", "Screening", "evidence_beyond"]

Array = NDArray[np.float64]
Pair = tuple[Array, Array]
Point = tuple[float, float]
"""(epsilon, delta): one point of the curve that a claim implies."""

_FIRST_GROUP = 16
"""Pairs of the first tournament; groups double, so that early finalists cost few calls."""

_LARGEST_GROUP = 1024
"""Pairs of a tournament at most."""

_FIRST_SAMPLES = 8
"""Samples of each side in the first round of a tournament: with fewer, some tail of some of thirty features separates
most pairs by chance."""

_MORE_SAMPLES = 4
"""The factor by which samples grow from round to round."""

_KEPT_PART = 8
"""One of this many pairs reaches the next round: a larger number saves calls and loses more good pairs by chance."""

_FINALISTS = 4
"""A tournament ends with at most this many pairs."""

_SHARE = 0.2
"""The share of all calls that is spent on screening, halved with each pass through the pairs."""

_CLEAR = 4.0
"""Nats of evidence beyond the claim with which a second finalist is named."""

_MOST_NUMBERS = 1 << 22
"""Numbers in the inputs that are kept for the next pass: more keep more pairs and take more memory."""

_MOST_COORDINATES = 64
"""Coordinates of an outcome that are compared: more find signals in long outcomes and take more time."""

_AT_ONCE = 1 << 20
"""Numbers compared at once: it bounds the memory."""

_ORDINARY = 0.01
"""The weight of evidence against equality beside evidence beyond the claim: it orders pairs that show none of the
latter."""

_LARGEST_EPSILON = 700.0
"""Beyond this epsilon e^-epsilon is no float64; from 37 on no share exceeds the one allowed."""

_RAISED = "<raises>"


@dataclass
class _Tournament:
    """A group of pairs, the inputs that they share, and the samples of the inputs."""

    pairs: list[Pair]
    samples: int = 0
    wanted: int = _FIRST_SAMPLES
    inputs: dict[bytes, Array] = field(default_factory=dict)
    outcomes: dict[bytes, list[Outcomes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keep(self.pairs)

    @property
    def cost(self) -> int:
        """Calls of the next round."""
        return len(self.inputs) * (self.wanted - self.samples)

    def keep(self, pairs: list[Pair]) -> None:
        """Go on with some of the pairs."""
        self.pairs = pairs
        self.inputs = {data.tobytes(): data for pair in pairs for data in pair}
        self.outcomes = {key: self.outcomes.get(key, []) for key in self.inputs}


class Screening:
    """Chooses pairs out of many.

    Parameters
    ----------
    pairs : iterator of (left, right)
        Candidates, the simplest first; taken as they are needed.
    points : sequence of (epsilon, delta)
        Points of the curve that the claim implies; a difference counts as far as it exceeds one of them.
    seed : int
        Determines every random number.
    ignored : frozenset of str
        Features of the outcomes that are not compared.
    """

    def __init__(
        self, pairs: Iterator[Pair], points: list[Point], *, seed: int, ignored: frozenset[str] = frozenset()
    ) -> None:
        self.calls = 0
        self._coming, self._points, self._seed, self._ignored = pairs, points, seed, ignored
        self._kept: list[Pair] = []
        self._pass, self._group, self._rounds = 0, _FIRST_GROUP, 0
        self._tournament: _Tournament | None = None
        self._near: list[Pair] = []
        self._was_near = self._raised = False

    def look_near(self, pairs: Iterable[Pair]) -> None:
        """Let pairs have the next tournament, before the next of those that are still to come."""
        self._near += pairs

    def due(self, calls: int) -> tuple[Draw, ...]:
        """Return the draws of the next round, none if the screening has used its share of this number of calls."""
        if self._tournament is None:
            self._tournament = self._next_tournament()
        tournament = self._tournament
        if tournament is None or self.calls + tournament.cost > _SHARE * 0.5**self._pass * calls:
            return ()
        self._rounds += 1
        children = np.random.SeedSequence(self._seed, spawn_key=((1 << 32) - 1, self._rounds))
        size = tournament.wanted - tournament.samples
        return tuple(
            Draw(data, size, seed, one_by_one=self._raised)
            for data, seed in zip(tournament.inputs.values(), children.spawn(len(tournament.inputs)), strict=True)
        )

    def observe(self, results: list[Outcomes | None]) -> list[Pair]:
        """Enter the results of a round; return the pairs to play on, the best first, when a tournament ends."""
        tournament = self._tournament
        assert tournament is not None
        self.calls += tournament.cost
        size = tournament.wanted - tournament.samples
        # of many outcomes an exception hides all others; the next rounds tell how many calls raise
        self._raised = self._raised or any(result is None for result in results)
        for known, result in zip(tournament.outcomes.values(), results, strict=True):
            known.append(Outcomes.of([_RAISED] * size) if result is None else result)
        tournament.samples = tournament.wanted
        beyond, ordinary = self._evidence(tournament)
        order = np.argsort(-(beyond + _ORDINARY * ordinary), kind="stable")
        if len(tournament.pairs) > _FINALISTS:
            kept = max(_FINALISTS, len(tournament.pairs) // _KEPT_PART)
            tournament.keep([tournament.pairs[k] for k in order[:kept]])
            tournament.wanted = _MORE_SAMPLES * tournament.samples
            return []
        self._tournament = None
        return [tournament.pairs[k] for place, k in enumerate(order) if place == 0 or beyond[k] >= _CLEAR]

    def _next_tournament(self) -> _Tournament | None:
        if self._near and not self._was_near:  # in turns: variations never keep others from their tournament
            near, self._near, self._was_near = self._near, [], True
            return _Tournament(near, wanted=_FIRST_SAMPLES)
        self._was_near = False
        group = list(itertools.islice(self._coming, self._group))
        if not group and self._kept:  # the next pass looks longer at each
            self._pass += 1
            self._coming, self._kept = iter(self._kept), []
            group = list(itertools.islice(self._coming, self._group))
        if not group:
            return None
        self._group = min(2 * self._group, _LARGEST_GROUP)
        if (len(self._kept) + len(group)) * 2 * max(len(right) for _, right in group) <= _MOST_NUMBERS:
            self._kept += group
        return _Tournament(group, wanted=_FIRST_SAMPLES * _MORE_SAMPLES**self._pass)

    def _evidence(self, tournament: _Tournament) -> tuple[Array, Array]:
        """Return, for each pair, the evidence beyond the claim and against equality, of the most telling event."""
        index = {key: k for k, key in enumerate(tournament.inputs)}
        left, right = (np.array([index[pair[side].tobytes()] for pair in tournament.pairs]) for side in (0, 1))
        joined = Outcomes.joined([part for parts in tournament.outcomes.values() for part in parts])
        shape = len(index), tournament.samples
        beyond, ordinary = np.zeros(len(left)), np.zeros(len(left))
        evidences = [EventEvidence(self._points, tournament.samples), EventEvidence([(0.0, 0.0)], tournament.samples)]
        for values, ordered in _compared(joined, self._ignored):
            table = values.reshape(shape)
            step = max(1, _AT_ONCE // (2 * tournament.samples))
            for start in range(0, len(left), step):
                rows = slice(start, start + step)
                counts = _event_counts(table[left[rows]], table[right[rows]], ordered=ordered)
                for best, evidence in zip((beyond, ordinary), evidences, strict=True):
                    best[rows] = np.maximum(best[rows], evidence.of(*counts).max(axis=1))
        return beyond, ordinary


class EventEvidence:
    """The largest evidence beyond any of some points, by the occurrences of an event on both sides.

    Of few samples there are far more events than different counts of them, which a table then holds. The table grows
    with the square of the samples, and the events with the samples.

    Parameters
    ----------
    points : list of (epsilon, delta)
        The points.
    samples : int
        Number of samples of a side.
    """

    def __init__(self, points: list[Point], samples: int) -> None:
        self._points, self._samples = points, samples
        self._table: Array | None = None

    def of(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Array:
        """Return the evidence of each event.

        Parameters
        ----------
        left, right : ndarray of int, of one shape
            Occurrences on each side.
        """
        if self._table is None and (self._samples + 1) ** 2 <= left.size:
            counts = np.arange(self._samples + 1.0)
            self._table = self._largest(counts[:, None], counts[None, :])
        if self._table is not None:
            return np.asarray(self._table[left, right])
        return self._largest(left.astype(np.float64), right.astype(np.float64))

    def _largest(self, left: Array, right: Array) -> Array:
        return np.asarray(
            np.max([evidence_beyond(left, right, self._samples, *point) for point in self._points], axis=0)
        )


def _compared(outcomes: Outcomes, ignored: frozenset[str]) -> Iterator[tuple[Array, bool]]:
    """Yield numbers to compare samples by: the features, whose order means something, and symbols as codes."""
    for name, values in outcomes.features.items():
        if name not in ignored:
            yield values, True
    if outcomes.rows.ndim == 2:
        width = outcomes.rows.shape[1]
        for k in np.unique(np.linspace(0, width - 1, min(width, _MOST_COORDINATES)).astype(int)):
            yield outcomes.rows[:, k].astype(np.float64), True
    codes: dict[object, int] = {}
    symbols = np.array([codes.setdefault(atom, len(codes)) for atom in outcomes.atoms()], dtype=np.float64)
    if len(codes) < len(outcomes):
        yield symbols, False


def _event_counts(left: Array, right: Array, *, ordered: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how often each event occurred on each side: single values, and tails where the order means something.

    Parameters
    ----------
    left, right : ndarray of shape (pairs, samples)
        The observations on each side; NaN counts as a value above all others.
    ordered : bool
        Whether tails are events.

    Returns
    -------
    tuple of two ndarrays of shape (pairs, events)
    """
    merged = np.concatenate([left, right], axis=1)
    order = np.argsort(merged, axis=1, kind="stable")
    ranked = np.take_along_axis(merged, order, axis=1)
    from_left = np.cumsum(order < left.shape[1], axis=1)
    from_right = np.arange(1, merged.shape[1] + 1) - from_left
    same = (ranked[:, 1:] == ranked[:, :-1]) | (np.isnan(ranked[:, 1:]) & np.isnan(ranked[:, :-1]))
    ends = np.concatenate([~same, np.ones((len(ranked), 1), dtype=np.bool_)], axis=1)

    def events(cumulative: NDArray[np.intp]) -> NDArray[np.intp]:
        below = np.where(ends, cumulative, 0)
        before = np.maximum.accumulate(below, axis=1)[:, :-1]
        single = np.where(ends, cumulative, 0)
        single[:, 1:] = np.where(ends[:, 1:], cumulative[:, 1:] - before, 0)
        if not ordered:
            return single
        above = np.where(ends, left.shape[1] - cumulative, 0)
        return np.concatenate([single, below, above], axis=1)

    return events(from_left), events(from_right)


def evidence_beyond(left: Array, right: Array, samples: int, epsilon: float, delta: float) -> Array:
    """Return how far counts of an event exceed (epsilon, delta)-DP, in nats, the larger of the two directions.

    The log-likelihood ratio of the share of the left side among the occurrences against the largest share that the
    claim allows, e^epsilon / (1 + e^epsilon), after delta times the number of samples was taken off.

    Parameters
    ----------
    left, right : ndarray
        Occurrences among `samples` samples of each side.
    samples : int
        Number of samples of a side.
    epsilon, delta : float
        The claim, nats and probability.
    """
    return np.maximum(
        _one_sided(left, right, samples, epsilon, delta), _one_sided(right, left, samples, epsilon, delta)
    )


def _one_sided(many: Array, few: Array, samples: int, epsilon: float, delta: float) -> Array:
    excess = np.maximum(many - delta * samples, 0.0)
    total = np.maximum(excess + few, 1e-300)
    bound = min(epsilon, _LARGEST_EPSILON)
    allowed = expit(bound)
    share = excess / total
    gain = xlogy(excess, share / allowed) + xlogy(few, np.maximum(1 - share, 1e-300) / expit(-bound))
    return np.where(share > allowed, gain, 0.0)
