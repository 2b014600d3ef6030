"""Pictures of the report: errata as pairs of bars, findings of a library on a logarithmic axis.

They repeat numbers of the records; the places of marks are rounded to whole units of the picture.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.properties.assay.kinds import FindingKind

__all__ = ["Axis", "Bars", "Spans", "bars_of", "spans_of"]

WIDTH = 360
"""Units of the longest bar and of the axis: with the names beside them a picture fits the narrowest window."""

MOST_SPANS = 40
"""Findings of one picture at most, those with the largest factor first: more cannot be read."""

WIDEST_DECADES = 12.0
"""Decades of an axis at most: numbers beyond are drawn at its ends, so that the others stay apart."""

_ALLOWED = re.compile(r"(?:^|= )(\S+) \((?:certified|exact)\), but at most (\S+) is allowed$")
"""The form in which a verdict states the certified number and the one that the published claim allows."""

_WRONG = (FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER)


@dataclass(frozen=True)
class Bars:
    """An erratum at its witness: what the published claim allows, and the certified truth, each with its bar.

    Parameters
    ----------
    name, anchor : str
        The item, and the place of the erratum on the page.
    claimed, certified : str
        The numbers as the verdict states them.
    claimed_width, certified_width : int
        The bars, the larger one as long as the picture is wide: each pair has a scale of its own.
    """

    name: str
    anchor: str
    claimed: str
    certified: str
    claimed_width: int
    certified_width: int


@dataclass(frozen=True)
class Span:
    """A finding: its claimed and its certified number, and their places on the axis."""

    name: str
    anchor: str
    claimed: float
    certified: float
    claimed_place: int
    certified_place: int


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis: its first and last power of ten, and the ticks with their places."""

    low: int
    high: int

    def place(self, value: float) -> int:
        """Return the place of a number; those beyond the ends, zero and infinity at the ends."""
        if value <= 0:
            return 0
        if math.isinf(value):
            return WIDTH
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(WIDTH * min(max(share, 0.0), 1.0))

    @property
    def ticks(self) -> list[tuple[int, str]]:
        """At most five ticks: place and label."""
        step = max(1, math.ceil((self.high - self.low) / 4))
        powers = range(self.low, self.high + 1, step)
        return [(self.place(10.0**power), f"1e{power}" if abs(power) > 3 else f"{10.0**power:g}") for power in powers]


@dataclass(frozen=True)
class Spans:
    """The findings of a library whose certified number differs from the claimed one, on one axis."""

    axis: Axis
    spans: Sequence[Span]
    left_out: int


def bars_of(rows: Iterable[Any]) -> list[Bars]:
    """Return the pairs of bars of those errata that count and whose verdict states two numbers.

    Parameters
    ----------
    rows : iterable of Row
        Errata of a document.
    """
    found = []
    for row in rows:
        severity = row.record.severity
        numbers = _ALLOWED.search(row.detail or "")
        if numbers is None or (severity is not None and not severity.counts):
            continue
        certified, claimed = (_value(text) for text in numbers.groups())
        largest = max(certified or 0.0, claimed or 0.0)
        if claimed is None or certified is None or not 0 < largest < math.inf:
            continue
        widths = [round(WIDTH * max(value, 0.0) / largest) for value in (claimed, certified)]
        found.append(Bars(row.record.item, row.anchor, numbers[2], numbers[1], *widths))
    return found


def spans_of(rows: Iterable[Any]) -> Spans | None:
    """Return the findings of a library with a wrong number; None if there are none.

    Parameters
    ----------
    rows : iterable of Row
        Findings of a library.
    """
    wrong = [row for row in rows if row.record.finding in _WRONG]
    numbers = [(row, _number(row.record.claimed), _number(row.record.certified)) for row in wrong]
    known = [
        (row, claimed, certified)
        for row, claimed, certified in numbers
        if claimed is not None and certified is not None and claimed != certified and min(claimed, certified) >= 0
    ]
    if not known:
        return None
    known.sort(key=lambda one: _factor(one[1], one[2]), reverse=True)
    shown = known[:MOST_SPANS]
    axis = _axis_of([value for _, *values in shown for value in values])
    spans = [
        Span(f"{row.record.mechanism}, {row.record.law}", row.anchor, a, b, axis.place(a), axis.place(b))
        for row, a, b in shown
    ]
    return Spans(axis, spans, len(known) - len(shown))


def _axis_of(values: Iterable[float]) -> Axis:
    powers = [math.log10(value) for value in values if 0 < value < math.inf] or [0.0]
    high = math.ceil(max(powers))
    low = math.floor(max(min(powers), high - WIDEST_DECADES))
    return Axis(low, max(high, low + 1))


def _factor(claimed: float, certified: float) -> float:
    """Return the factor between two numbers; infinite if one of them is zero or infinite."""
    low, high = sorted((claimed, certified))
    return math.inf if low == 0 or math.isinf(high) else high / low


def _number(value: Any) -> float | None:
    """Return a number of a record, which writes infinity as text; None for others."""
    return _value(value) if isinstance(value, str) else None if value is None else float(value)


def _value(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:  # another notation: there is no bar for it
        return None
    return None if math.isnan(value) else value
