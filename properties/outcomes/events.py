"""Events: sets of outcomes in words that a reader understands and a replay can evaluate.

Examples of such words:

    outcome in {0, 3, None}        argmax(outcome) > 2.0        outcome[0] in (-1.5, 2.0]
    outcome[0] <= 0.0 and outcome[1] > 1.0        not (outcome <= 0.0 or outcome > 1.0)
    outcome['total'] >= 3.5    outcome.count == 4.0    words(outcome['label'])[0] in {'high'}
"""

import math
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.libraries.plain import written
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import OUTCOME
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
    "described",
    "mirrored",
    "parse_event",
    "union",
]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]


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
