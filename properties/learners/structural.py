"""Learners of structural events: events that continuous noise never shows, or that one side alone has shown.

Released inputs, ties, NaN, infinities, words, exceptions, exact values and lattices of floats, and values beyond all
of the other side. Such events may be rare and tell the side for certain, beside an ordinary signal that is stronger in
all and within the claim; a mixture by log-loss over all outcomes forgets the learners that see them. Here no learner
retires, and each kind has a share of the wealth of its own: its gain is evidence beyond the claim.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.atoms import AtomLearner
from dpassay.properties.learners.supports import SupportLearner
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT
from dpassay.properties.outcomes.symbols import STRUCTURAL, Outcomes

__all__ = ["EventLearner", "StructuralLearners"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

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
        self._learners = (EventLearner(ignored), AtomLearner(), SupportLearner(ignored))

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

    def logit(self) -> float:
        """Return the logit of the left side at the next occurrence."""
        right, left = self.sides
        chance = (left + 0.5) / (left + right + 1)
        count = max(left, right)
        if min(left, right) == 0 and count:
            # a side's alone: the likelihood of the counts is 1/2; else 4^-count C(2 count, count), about
            odds = _ONE_SIDED / (1 - _ONE_SIDED) * np.sqrt(np.pi * count) / 2
            alone = odds / (1 + odds)
            rarer = alone * _SLIP / (count + 1) + (1 - alone) * min(chance, 1 - chance)
            chance = 1 - rarer if left else rarer
        return float(np.log(chance) - np.log1p(-chance))


class EventLearner:
    """Predicts by the counts of structural events: values of features that are rare, or words of outcomes.

    Parameters
    ----------
    ignored : frozenset of str
        Features that are not looked at.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self.names = ["structural events"]
        self._features = [name for name in (*STRUCTURAL, LOWEST_BIT) if name not in ignored]
        self._counts: dict[Hashable, _Counts] = {}

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict by the event that says most; 0 for an outcome without any."""
        logits = np.zeros(len(outcomes))
        for event, places in self._events(outcomes):
            known = self._counts.get(event)
            if known is not None:
                own = known.logit()
                logits[places[np.abs(logits[places]) < abs(own)]] = own
        return {self.names[0]: logits}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: object) -> None:
        """Count the events of a batch on each side."""
        del won
        for event, places in self._events(outcomes):
            if event in self._counts or len(self._counts) < _MOST_EVENTS:
                counts = self._counts.setdefault(event, _Counts()).sides
                left = int(np.count_nonzero(is_left[places]))
                counts[1] += left
                counts[0] += len(places) - left

    def _events(self, outcomes: Outcomes) -> Iterator[tuple[Hashable, NDArray[np.intp]]]:
        """Yield the events of a batch with the outcomes in which they occur."""
        for name in self._features:
            values = outcomes.features.get(name)
            if values is not None:
                yield from _places_of_values(name, values)
        if outcomes.rows.dtype == object:
            words: dict[Hashable, list[int]] = {}
            for place, atom in enumerate(outcomes.atoms()):
                if not isinstance(atom, (int, float)):
                    words.setdefault(_form_of(atom), []).append(place)
            for word, places in words.items():
                yield ("word", word), np.array(places)


def _places_of_values(name: str, values: Array) -> Iterator[tuple[Hashable, NDArray[np.intp]]]:
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return
    order = known[np.argsort(values[known], kind="stable")]
    starts = np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0)
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield (name, float(values[order[start]])), order[start:end]


def _form_of(atom: Hashable) -> Hashable:
    """Return a word as it is, a vector of numbers by its length alone: its numbers are looked at elsewhere."""
    if isinstance(atom, tuple) and all(isinstance(part, (int, float)) for part in atom):
        return ("numbers", len(atom))
    return atom
