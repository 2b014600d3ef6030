"""Events: sets of outcomes in words that a reader understands and a replay can evaluate.

    outcome in {0, 3, None}        argmax(outcome) > 2.0        outcome[0] in (-1.5, 2.0]
    outcome[0] <= 0.0 and outcome[1] > 1.0        not (outcome <= 0.0 or outcome > 1.0)
    outcome['total'] >= 3.5    outcome.count == 4.0    words(outcome['label'])[0] in {'high'}

Candidates come from the past only: thresholds, cells and sets of symbols.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.libraries.plain import written
from dpassay.properties.learners.side_tree import quantile_edges
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.columns import CODE
from dpassay.properties.outcomes.flattening import MISSING, OUTCOME
from dpassay.properties.outcomes.raised import RAISES
from dpassay.properties.outcomes.structural_features import LEFT_VALUES, RIGHT_VALUES
from dpassay.properties.outcomes.symbols import comparable
from dpassay.properties.outcomes.value_words import is_expression, parse_values

__all__ = [
    "AllOf",
    "AnyOf",
    "Event",
    "Interval",
    "NoneOf",
    "Symbols",
    "Words",
    "best_event",
    "described",
    "mirrored",
    "parse_event",
    "union",
]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

_MOST_SYMBOLS = 12
"""Symbols of an event at most: a reader understands few, and more fit the noise."""


@dataclass(frozen=True)
class Interval:
    """The outcomes whose feature lies in (low, high]."""

    feature: str
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == math.nextafter(self.high, -math.inf):
            return f"{self.feature} == {self.high!r}"
        if self.low == -math.inf:
            return f"{self.feature} {_shorter('<=', self.high, '<')}"
        if self.high == math.inf:
            return f"{self.feature} {_shorter('>', self.low, '>=')}"
        return f"{self.feature} in ({self.low!r}, {self.high!r}]"

    def holds(self, outcomes: Outcomes) -> Sides:
        """Tell for each outcome whether it belongs to the event; one without the feature does not."""
        values = outcomes.feature(self.feature)
        if values is None:
            return np.zeros(len(outcomes), dtype=np.bool_)
        member: Sides = (values > self.low) & (values <= self.high)
        return member if self.low > -math.inf else member | (values == -math.inf)


def _shorter(relation: str, bound: float, other: str) -> str:
    """Write a bound, or the next number above it with the other relation if that takes fewer digits."""
    above = math.nextafter(bound, math.inf)
    return f"{other} {above!r}" if len(repr(above)) < len(repr(bound)) else f"{relation} {bound!r}"


@dataclass(frozen=True)
class Symbols:
    """The outcomes in a finite set, or those with a word in such a set at some place."""

    members: tuple[Hashable, ...]
    place: str = OUTCOME

    def __str__(self) -> str:
        members = sorted(map(comparable, self.members), key=_rank)
        return f"{self.place} in {{{', '.join(map(written, members))}}}"

    def holds(self, outcomes: Outcomes) -> Sides:
        """Tell for each outcome whether it belongs to the event."""
        known = set(map(comparable, self.members))
        return np.array([symbol in known for symbol in outcomes.words(self.place)], dtype=np.bool_)


def _rank(member: Hashable) -> tuple[float, str]:
    """Return where a symbol stands in the words of an event: numbers by value, then everything else by its words."""
    return (member if isinstance(member, int | float) else math.inf), written(member)


Simple = Interval | Symbols


@dataclass(frozen=True)
class AllOf:
    """The outcomes in every one of some sets: a box, if they are intervals of different coordinates."""

    members: tuple[Simple, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.members))

    def holds(self, outcomes: Outcomes) -> Sides:
        """Tell for each outcome whether it belongs to the event."""
        member: Sides = np.all([each.holds(outcomes) for each in self.members], axis=0)
        return member


@dataclass(frozen=True)
class AnyOf:
    """The outcomes in at least one of some sets."""

    members: tuple[Simple | AllOf, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.members))

    def holds(self, outcomes: Outcomes) -> Sides:
        """Tell for each outcome whether it belongs to the event."""
        member: Sides = np.any([each.holds(outcomes) for each in self.members], axis=0)
        return member


@dataclass(frozen=True)
class NoneOf:
    """The outcomes in none of some sets: the rest of a partition."""

    members: tuple[Simple | AllOf, ...]

    def __str__(self) -> str:
        return f"not ({' or '.join(map(str, self.members))})"

    def holds(self, outcomes: Outcomes) -> Sides:
        """Tell for each outcome whether it belongs to the event."""
        return ~AnyOf(self.members).holds(outcomes)


Event = Interval | Symbols | AllOf | AnyOf | NoneOf


def union(outcomes: Iterable[Hashable]) -> Event:
    """Return the event of some outcomes, each a single one (a symbol) or the cell of a partition (an event).

    Intervals of one feature that touch are joined.

    Raises
    ------
    UsageError
        If the rest of a partition is joined with events that it was not the rest of, or with all that it was.

    Examples
    --------
    >>> str(union([3, Interval("outcome", -math.inf, 0.0)]))
    'outcome <= 0.0 or outcome in {3}'
    """
    listed = list(outcomes)
    symbols = tuple(outcome for outcome in listed if not isinstance(outcome, Event))
    parts: list[Event] = [outcome for outcome in listed if isinstance(outcome, Event)]
    if symbols or not parts:
        parts.insert(0, Symbols(symbols))
    members = [member for part in parts for member in (part.members if isinstance(part, AnyOf) else (part,))]
    rest = next((member for member in members if isinstance(member, NoneOf)), None)
    if rest is not None:
        return _enlarged(rest, [member for member in members if member is not rest])
    joined = _joined([member for member in members if not isinstance(member, NoneOf)])
    return joined[0] if len(joined) == 1 else AnyOf(tuple(joined))


class Words(str):
    """An event that is no set of symbols and intervals, in words for a reader."""

    __slots__ = ()


def described(outcomes: Iterable[Hashable]) -> str:
    """Return the event of some outcomes in words; those of `Words` are not read by `parse_event`.

    Examples
    --------
    >>> described([Words("outcome[0] + outcome[1] == 1")])
    'outcome[0] + outcome[1] == 1'
    """
    listed = list(outcomes)
    words = [outcome for outcome in listed if isinstance(outcome, Words)]
    others = [outcome for outcome in listed if not isinstance(outcome, Words)]
    return " or ".join([*words, *([str(union(others))] if others or not words else [])])


def _enlarged(rest: NoneOf, added: list[Simple | AllOf | NoneOf]) -> NoneOf:
    """Return the rest of a partition together with cells that it was the rest of."""
    left_out = tuple(member for member in rest.members if member not in added)
    if not left_out or len(left_out) + len(added) != len(rest.members):
        raise UsageError("a complement can only be merged with cells that it excludes")
    return NoneOf(left_out)


def _joined(parts: list[Simple | AllOf]) -> list[Simple | AllOf]:
    """Join the intervals that touch; the joined intervals stand before the other events."""
    intervals = sorted((p for p in parts if isinstance(p, Interval)), key=lambda p: (p.feature, p.low, p.high))
    joined: list[Interval] = []
    for each in intervals:
        if joined and joined[-1].feature == each.feature and each.low <= joined[-1].high:
            joined[-1] = Interval(each.feature, joined[-1].low, max(joined[-1].high, each.high))
        else:
            joined.append(each)
    return [*joined, *(part for part in parts if not isinstance(part, Interval))]


def mirrored(event: Event) -> Event:
    """Return the same event in the words of the pair whose inputs have changed places.

    Examples
    --------
    >>> str(mirrored(Interval("left_values(outcome)", 0.0, math.inf)))
    'right_values(outcome) > 0.0'
    """
    match event:
        case Interval(feature, low, high):
            return Interval({LEFT_VALUES: RIGHT_VALUES, RIGHT_VALUES: LEFT_VALUES}.get(feature, feature), low, high)
        case Symbols():
            return event
        case AllOf() | AnyOf() | NoneOf():
            members: Any = tuple(map(mirrored, event.members))  # of the same kinds as before
            return type(event)(members)


def parse_event(text: str) -> Event:
    """Read an event back from its words.

    Raises
    ------
    UsageError
        If they are not the words of an event.

    Examples
    --------
    >>> parse_event("outcome[2] > 1.5")
    Interval(feature='outcome[2]', low=1.5, high=inf)
    >>> str(parse_event("outcome in {1.0, None}"))
    'outcome in {1, None}'
    >>> parse_event("outcome[0] <= 0.0 and outcome[1] > 1.0").members[1]
    Interval(feature='outcome[1]', low=1.0, high=inf)
    """
    negated = re.fullmatch(r"not \((.*)\)", text, re.DOTALL)
    parts = _parse_parts(negated[1] if negated else text)
    if parts is None:
        raise UsageError(f"event {text!r} is not of the form 'outcome in {{...}}', 'FEATURE > x' or 'FEATURE <= x'")
    if negated:
        return NoneOf(parts)
    return parts[0] if len(parts) == 1 else AnyOf(parts)


def _parse_parts(text: str) -> tuple[Simple | AllOf, ...] | None:
    parts: list[Simple | AllOf] = []
    for words in _split(text, " or "):
        members = [_parse_simple(word) for word in _split(words, " and ")]
        known = tuple(member for member in members if member is not None)
        if len(known) < len(members):
            return None
        parts.append(known[0] if len(known) == 1 else AllOf(known))
    return tuple(parts)


def _split(text: str, separator: str) -> list[str]:
    """Split at a word that stands outside of brackets and quotes: symbols may hold that word themselves."""
    parts, start, depth, quote, position = [], 0, 0, "", 0
    while position < len(text):
        letter = text[position]
        if quote:
            position += letter == "\\"  # whatever is escaped does not end the quotation
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif depth == 0 and text.startswith(separator, position):
            parts.append(text[start:position])
            start = position + len(separator)
            position = start - 1
            depth += separator[-1] in "([{"
        else:
            depth += (letter in "([{") - (letter in ")]}")
        position += 1
    return [*parts, text[start:]]


_NUMBER = r"(-?(?:inf|[0-9][0-9.e+-]*))"


def _parse_simple(text: str) -> Simple | None:
    """Read a feature and a set of its values; the feature may hold brackets, quotes and relations of its own."""
    for separator in (" in {", " in (", " == ", " <= ", " >= ", " < ", " > "):
        feature, *rest = _split(text, separator)
        if len(rest) == 1 and is_expression(feature):
            return (
                _parse_symbols(feature, rest[0]) if separator == " in {" else _parse_range(feature, separator, rest[0])
            )
    return None


def _parse_symbols(place: str, text: str) -> Symbols | None:
    members = parse_values(text.removesuffix("}")) if text.endswith("}") else None
    return None if members is None else Symbols(members, place)


def _parse_range(feature: str, separator: str, text: str) -> Interval | None:
    if separator == " in (":
        match = re.fullmatch(rf"{_NUMBER}, {_NUMBER}\]", text)
        return Interval(feature, float(match[1]), float(match[2])) if match else None
    if not re.fullmatch(_NUMBER, text):
        return None
    bound = float(text)
    below = math.nextafter(bound, -math.inf)
    ends = {"==": (below, bound), "<=": (-math.inf, bound), "<": (-math.inf, below), ">": (bound, math.inf)}
    return Interval(feature, *ends.get(separator.strip(), (below, math.inf)))


# --- choosing -----------------------------------------------------------------------------------------------

Candidate = tuple[Event, int, int, float]
"""An event, its calls on the left and on the right, and the largest epsilon of its outcomes."""

_SPLIT = 256
"""From this number of calls on, every second call proposes events and the others choose among them."""


def best_event(
    outcomes: Outcomes,
    is_left: Sides,
    epsilon: float | Array,
    delta: float,
    ignored: frozenset[str] = frozenset(),
) -> Event:
    """Return the event of the past that speaks most clearly against (epsilon, delta), in either direction.

    It is the one with the largest deviation, in standard errors, of left - e^epsilon right - delta (or the mirror
    image), or a set of symbols that comes within a fifth of it: an exception says more than its type, and that more
    than a number. Half a call is added to each count, so that single calls prove nothing. If each outcome has an
    epsilon of its own, that of an event is the largest one in it. Calls that propose an event do not choose it: among
    many symbols some always look telling.

    Parameters
    ----------
    outcomes : Outcomes
        The outcomes of n calls.
    is_left : array of bool, shape (n,)
        Whether a call was made on the left input.
    epsilon : float or array of shape (n,)
        In nats; an array has one for each outcome.
    delta : float
        In [0, 1].
    ignored : frozenset of str
        Features that no event may mention.
    """
    bounds = np.broadcast_to(np.asarray(epsilon, dtype=np.float64), len(outcomes))
    if len(outcomes) < _SPLIT:
        return _most_telling(_candidates(outcomes, is_left, bounds, ignored), is_left, delta)
    first, second = outcomes.every_other(0), outcomes.every_other(1)
    proposed = _proposals(_candidates(first, is_left[::2], bounds[::2], ignored), is_left[::2], delta)
    return _most_telling(_counted(proposed, second, is_left[1::2]), is_left[1::2], delta)


def _candidates(outcomes: Outcomes, is_left: Sides, bounds: Array, ignored: frozenset[str]) -> Iterator[Candidate]:
    return itertools.chain(_symbol_sets(outcomes, is_left, bounds), _intervals(outcomes, is_left, bounds, ignored))


def _counted(candidates: Iterable[Candidate], outcomes: Outcomes, is_left: Sides) -> Iterator[Candidate]:
    """Count other calls in each event; the words at a place are read once for all sets of them."""
    places: dict[str, tuple[Counter[Hashable], Counter[Hashable]]] = {}
    for event, _, _, bound in candidates:
        if isinstance(event, Symbols):
            if event.place not in places:
                places[event.place] = _word_counts(outcomes.words(event.place), is_left)
            members = set(map(comparable, event.members))
            left, right = (sum(counts[member] for member in members) for counts in places[event.place])
        else:
            hits = event.holds(outcomes)
            left, right = int(np.count_nonzero(hits & is_left)), int(np.count_nonzero(hits & ~is_left))
        yield event, left, right, bound


def _word_counts(words: list[Hashable], is_left: Sides) -> tuple[Counter[Hashable], Counter[Hashable]]:
    """Return how often each word occurs on the left and on the right side."""
    sides = is_left.tolist()
    return Counter(itertools.compress(words, sides)), Counter(itertools.compress(words, (~is_left).tolist()))


def _proposals(candidates: Iterable[Candidate], is_left: Sides, delta: float) -> list[Candidate]:
    """Return every set of symbols, and the most telling interval of each feature."""
    kept: dict[Hashable, Candidate] = {}
    scores: dict[Hashable, float] = {}
    total = _calls_of_sides(is_left)
    for candidate in candidates:
        event = candidate[0]
        key: Hashable = event.feature if isinstance(event, Interval) else event
        score = _score(candidate, total, delta)
        if score > scores.get(key, -math.inf):
            kept[key], scores[key] = candidate, score
    return list(kept.values())


def _most_telling(candidates: Iterable[Candidate], is_left: Sides, delta: float) -> Event:
    best: Event = Interval("outcome", -math.inf, math.inf)
    best_score, total = -math.inf, _calls_of_sides(is_left)
    for candidate in sorted(candidates, key=lambda each: -_plainness(each[0])):
        score = _score(candidate, total, delta)
        says_less = _plainness(candidate[0]) < _plainness(best)
        if score > best_score + (abs(best_score) / 5 if says_less else 0):
            best, best_score = candidate[0], score
    return best


def _plainness(event: Event) -> int:
    """Rank what an event says to a reader: exceptions most, then outcomes themselves, an interval least."""
    if not isinstance(event, Symbols):
        return 0
    if event.place != OUTCOME:
        return 1
    return 3 if all(isinstance(each, str) and each.startswith(RAISES) for each in event.members) else 2


def _calls_of_sides(is_left: Sides) -> tuple[int, int]:
    left = int(np.count_nonzero(is_left))
    return left, len(is_left) - left


def _score(candidate: Candidate, total: tuple[int, int], delta: float) -> float:
    _, left, right, bound = candidate
    return max(_deviation(left, right, total, bound, delta), _deviation(right, left, total[::-1], bound, delta))


def _deviation(a: int, b: int, total: tuple[int, int], epsilon: float, delta: float) -> float:
    ratio = math.exp(min(epsilon, 50.0))
    p, q = (a + 0.5) / (total[0] + 1), (b + 0.5) / (total[1] + 1)
    return (p - ratio * q - delta) / math.sqrt(p / (total[0] + 1) + ratio**2 * q / (total[1] + 1))


def _intervals(outcomes: Outcomes, is_left: Sides, epsilons: Array, ignored: frozenset[str]) -> Iterator[Candidate]:
    words = CODE.partition("{}")[0]
    for feature in outcomes.common_features():
        if feature in ignored or feature.startswith(words):
            continue
        values = outcomes.features[feature]
        edges = quantile_edges(values)
        cells = np.searchsorted(edges, values)
        cells[np.isnan(values)] = len(edges) + 1
        left = np.bincount(cells[is_left], minlength=len(edges) + 2)[:-1]
        right = np.bincount(cells[~is_left], minlength=len(edges) + 2)[:-1]
        largest = np.zeros(len(edges) + 2)
        np.maximum.at(largest, cells, epsilons)
        largest = largest[:-1]
        below_left, below_right, below = np.cumsum(left), np.cumsum(right), np.maximum.accumulate(largest)
        above = np.maximum.accumulate(largest[::-1])[::-1]
        bounds = [-math.inf, *edges.tolist(), math.inf]
        for k, (low, high) in enumerate(itertools.pairwise(bounds)):
            yield Interval(feature, low, high), int(left[k]), int(right[k]), float(largest[k])
            if high < math.inf:  # the whole line is no event worth showing
                yield Interval(feature, -math.inf, high), int(below_left[k]), int(below_right[k]), float(below[k])
            if low > -math.inf:
                rest_left, rest_right = below_left[-1] - below_left[k - 1], below_right[-1] - below_right[k - 1]
                yield Interval(feature, low, math.inf), int(rest_left), int(rest_right), float(above[k])


def _symbol_sets(outcomes: Outcomes, is_left: Sides, epsilons: Array) -> Iterator[Candidate]:
    if outcomes.is_continuous and not outcomes.typed:
        return
    for place in (OUTCOME, *outcomes.worded()):
        yield from _word_sets(place, outcomes.words(place), is_left, epsilons)


def _word_sets(place: str, words: list[Hashable], is_left: Sides, epsilons: Array) -> Iterator[Candidate]:
    left, right = _word_counts(words, is_left)
    bound: dict[Hashable, float] = {}
    for symbol, epsilon in zip(words, epsilons.tolist(), strict=True):
        bound[symbol] = max(epsilon, bound.get(symbol, 0.0))
    bound.pop(MISSING, None)
    for a, b in ((left, right), (right, left)):
        ranked = sorted(bound, key=lambda s: math.exp(min(bound[s], 50.0)) * (b[s] + 0.5) / (a[s] + 0.5))
        likely = [s for s in ranked[:_MOST_SYMBOLS] if a[s] > math.exp(min(bound[s], 50.0)) * b[s]]
        often = [s for s in likely if a[s] > 1]  # seen once, a symbol is as likely noise
        likely = often or likely
        for count in range(1, len(likely) + 1):
            chosen = tuple(likely[:count])
            yield (
                Symbols(chosen, place),
                sum(left[s] for s in chosen),
                sum(right[s] for s in chosen),
                max(bound[s] for s in chosen),
            )
