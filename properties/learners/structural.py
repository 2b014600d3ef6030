"""Learners of structural events: events that continuous noise never shows, or that one side alone has shown.

Released inputs, ties, NaN, infinities, words, exceptions, exact values and lattices of floats, and values beyond all
of the other side. Such events may be rare and tell the side for certain, beside an ordinary signal that is stronger in
all and within the claim; a mixture by log-loss over all outcomes forgets the learners that see them. Here no learner
retires, and each kind has a share of the wealth of its own: its gain is evidence beyond the claim.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.libraries.plain import Record
from dpassay.properties.learners.atoms import AtomLearner, Codes, codes_of_numbers
from dpassay.properties.learners.supports import SupportLearner
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.columns import CODE
from dpassay.properties.outcomes.flattening import NUMBER
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT
from dpassay.properties.outcomes.structural_features import STRUCTURAL
from dpassay.properties.outcomes.symbols import comparable
from dpassay.properties.outcomes.type_names import TYPE

__all__ = ["EventLearner", "LowOrderLearner", "StructuralLearners", "logits_of_counts"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]
Event = tuple[str, Hashable]

_SCANNED = 1 << 16
"""Outcomes of a batch, and of those before it, among which values that came twice are looked for: more find rarer ones
and take longer to sort."""

KINDS = ("events", "exact values", "supports")
"""The kinds of structural evidence, each with wealth of its own."""

_MOST_EVENTS = 4096
"""Events that are counted: more find rarer events and take more memory."""

_SLIP = 1 / 4
"""The chance that a one-sided event occurs on the other side next, times the calls seen: it limits the loss if it
does."""

_ONE_SIDED = 1 / 2
"""The prior probability that an event occurs on one side only. Otherwise its odds have the prior Beta(1/2, 1/2) of
Krichevsky and Trofimov."""


class StructuralLearners:
    """One prediction for each of `KINDS`.

    Parameters
    ----------
    ignored : frozenset of str
        Features that bring none.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self._learners = (EventLearner(ignored), ExactValueLearner(), SupportLearner(ignored))

    def logits(self, outcomes: Outcomes) -> list[Array]:
        """Predict the logit of the left side for each kind, 0 where it has seen nothing telling."""
        return [
            np.asarray(next(iter(learner.opinions(outcomes).values()), np.zeros(len(outcomes))))
            for learner in self._learners
        ]

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Learn from a batch that has been bet on."""
        for learner in self._learners:
            learner.observe(outcomes, is_left, {})


@dataclass
class _Counts:
    """Counts of an event on the right and on the left side."""

    sides: list[int] = field(default_factory=lambda: [0, 0])


def logits_of_counts(right: NDArray[np.int64], left: NDArray[np.int64]) -> Array:
    """Return the logits of the left side at the next occurrences of events that came so often from each side."""
    chances = (left + 0.5) / (left + right + 1)
    count = np.maximum(left, right)
    # a side's alone: the likelihood of the counts is 1/2; else 4^-count C(2 count, count), about
    odds = _ONE_SIDED / (1 - _ONE_SIDED) * np.sqrt(np.pi * count) / 2
    alone = np.where(np.minimum(left, right) == 0, odds / (1 + odds), 0.0)
    rarer = alone * _SLIP / (count + 1) + (1 - alone) * np.minimum(chances, 1 - chances)
    chances = np.where(alone > 0, np.where(left > 0, 1 - rarer, rarer), chances)
    return np.asarray(np.log(chances) - np.log1p(-chances))


class ExactValueLearner:
    """Predicts by the counts of exact values: of all while they are few, else of those that were seen twice.

    Continuous noise never returns a value again, so that a value that comes back is an event, however rare it is.
    """

    def __init__(self) -> None:
        self.names = ["exact values"]
        self._atoms = AtomLearner()
        self._known: Codes = np.empty(0, dtype=np.uint64)
        self._counts = np.zeros((2, 0), dtype=np.int64)  # of the right and of the left side
        self._recent: Codes = np.empty(0, dtype=np.uint64)
        self._recent_is_left: Sides = np.empty(0, dtype=np.bool_)

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict by the counts of each value, 0 for one that is not known."""
        if self._atoms.names:
            return {self.names[0]: self._atoms.opinions(outcomes)["atoms"]}
        codes = codes_of_numbers(outcomes) if self._known.size else None
        logits = np.zeros(len(outcomes))
        if codes is not None:
            places, hits = _places_in(self._known, codes)
            logits[hits] = logits_of_counts(*self._counts)[places[hits]]
        return {self.names[0]: logits}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Count the known values of a batch, and look for values that came twice."""
        self._atoms.observe(outcomes, is_left, won)
        looked_at = outcomes if self._known.size else outcomes.taken(np.arange(min(len(outcomes), _SCANNED)))
        codes = None if self._atoms.names else codes_of_numbers(looked_at)
        if codes is None:
            return
        self._count(codes, is_left[: len(codes)])
        scanned = np.concatenate([self._recent, codes[:_SCANNED]])
        scanned_is_left = np.concatenate([self._recent_is_left, is_left[:_SCANNED]])
        values, counts = np.unique(scanned, return_counts=True)
        again = np.setdiff1d(values[counts > 1], self._known)
        if again.size and self._known.size + again.size <= _MOST_EVENTS:
            self._known, order = np.sort(joined := np.concatenate([self._known, again])), np.argsort(joined)
            self._counts = np.concatenate([self._counts, np.zeros((2, again.size), dtype=np.int64)], axis=1)[:, order]
            new = np.isin(scanned, again)
            self._count(scanned[new], scanned_is_left[new])
        self._recent, self._recent_is_left = scanned[-_SCANNED:], scanned_is_left[-_SCANNED:]

    def _count(self, codes: Codes, is_left: Sides) -> None:
        places, hits = _places_in(self._known, codes)
        for row, side in enumerate((~is_left, is_left)):
            self._counts[row] += np.bincount(places[hits & side], minlength=self._known.size)


def _places_in(known: Codes, codes: Codes) -> tuple[NDArray[np.intp], Sides]:
    """Return where each code stands among the known ones, and whether it is one of them."""
    if not known.size:
        return np.zeros(len(codes), dtype=np.intp), np.zeros(len(codes), dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, codes), known.size - 1)
    return places, known[places] == codes


class EventLearner:
    """Predicts by the counts of structural events: values of features that are rare, or words of outcomes.

    Parameters
    ----------
    ignored : frozenset of str
        Features that are not looked at.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self.names = ["structural events"]
        self._features = [name for name in (*STRUCTURAL, LOWEST_BIT, CODE.format(TYPE)) if name not in ignored]
        self._counts: dict[Event, _Counts] = {}

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict by the event that says most; 0 for an outcome without any."""
        logits = np.zeros(len(outcomes))
        known = [(event, places) for event, places in self._events(outcomes) if event in self._counts]
        if known:
            right, left = np.array([self._counts[event].sides for event, _ in known]).T
            for (_, places), own in zip(known, logits_of_counts(right, left).tolist(), strict=True):
                logits[places[np.abs(logits[places]) < abs(own)]] = own
        return {self.names[0]: logits}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: object) -> None:
        """Count the events of a batch on each side."""
        del won
        for event, places in self._events(outcomes):
            most = _MOST_EVENTS * (1 if event[0] == "word" else 2)  # words with numbers inside may be new every time
            if event in self._counts or len(self._counts) < most:
                counts = self._counts.setdefault(event, _Counts()).sides
                left = int(np.count_nonzero(is_left[places]))
                counts[1] += left
                counts[0] += len(places) - left

    def _events(self, outcomes: Outcomes) -> Iterator[tuple[Event, NDArray[np.intp]]]:
        """Yield the events of a batch with the outcomes in which they occur."""
        yield from _events_of_features(self._features, outcomes)
        if outcomes.rows.dtype == object:
            yield from _events_of_words(outcomes)


class LowOrderLearner:
    """Predicts by the lowest bits of outcomes and by nothing else: by their counts, or by those of one side alone."""

    def __init__(self) -> None:
        self._counts = _LowestBits()
        self._support = SupportLearner(features=(LOWEST_BIT,))

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict the logit of the left side, by the part that says most."""
        counted, beyond = (next(iter(part.opinions(outcomes).values())) for part in (self._counts, self._support))
        return np.where(np.abs(counted) >= np.abs(beyond), counted, beyond)

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Learn from a batch that has been bet on."""
        self._counts.observe(outcomes, is_left, {})
        self._support.observe(outcomes, is_left, {})


class _LowestBits(EventLearner):
    def __init__(self) -> None:
        super().__init__(frozenset(STRUCTURAL))

    def _events(self, outcomes: Outcomes) -> Iterator[tuple[Event, NDArray[np.intp]]]:
        return _events_of_features(self._features, outcomes)


def _events_of_features(names: Iterable[str], outcomes: Outcomes) -> Iterator[tuple[Event, NDArray[np.intp]]]:
    for name in names:
        values = outcomes.features.get(name)
        if values is not None:
            yield from _places_of_values(name, values)


def _events_of_words(outcomes: Outcomes) -> Iterator[tuple[Event, NDArray[np.intp]]]:
    """Yield words and forms of outcomes; those of the same outcome are found once."""
    different, kinds = outcomes.structured
    found: dict[Event, list[NDArray[np.intp]]] = {}
    order = np.argsort(kinds, kind="stable")
    starts = np.searchsorted(kinds[order], np.arange(len(different) + 1))
    groups = [(symbol, order[start:end]) for symbol, start, end in zip(different, starts, starts[1:], strict=False)]
    # numbers, and vectors and arrays of them
    groups += [(outcomes.rows[place], np.array([place])) for place in order[: starts[0]].tolist()]
    for symbol, places in groups:
        atom = comparable(symbol)
        if isinstance(atom, str | bytes):
            found.setdefault(("word", atom), []).append(places)
        if not isinstance(atom, int | float):
            found.setdefault(("form", _form_of(atom)), []).append(places)
    for event, parts in found.items():
        yield event, np.concatenate(parts)


def _places_of_values(name: str, values: Array) -> Iterator[tuple[Event, NDArray[np.intp]]]:
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return
    order = known[np.argsort(values[known], kind="stable")]
    starts = np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0)
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield (name, float(values[order[start]])), order[start:end]


@lru_cache(maxsize=1 << 14)
def _form_of(atom: Hashable) -> Hashable:
    """Return an outcome without the numbers in it; a vector of numbers has its length for a form.

    Numbers are looked at elsewhere; with them inside, an outcome with a rare key or word would be new every time.
    """
    if isinstance(atom, str):
        return NUMBER.sub("#", atom)
    if isinstance(atom, tuple):
        if all(isinstance(part, int | float) for part in atom):
            return ("numbers", len(atom))
        return tuple(map(_form_of_part, atom))
    if isinstance(atom, Record):
        return Record(atom.kind, tuple((accessor, _form_of_part(part)) for accessor, part in atom.parts))
    return atom


def _form_of_part(part: Hashable) -> Hashable:
    return "<number>" if isinstance(part, int | float) else _form_of(part)
