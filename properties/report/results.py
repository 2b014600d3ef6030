"""The results of a run: its lines by kind, and which of them are not as expected."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dpassay.properties.records import SCHEMA
from dpassay.properties.report.lines import ERRATUM, FINDING, HUNT, ITEM, MECHANISM, STATEMENT, Kind, Line, line_of
from dpassay.properties.search.result import is_void

__all__ = ["SECTIONS", "Result", "Results"]

SECTIONS = (STATEMENT, ERRATUM, HUNT, FINDING, ITEM, MECHANISM)


@dataclass(frozen=True)
class Result:
    """One line, judged.

    Parameters
    ----------
    kind : Kind
        What it is.
    record : dict
        Its fields.
    as_expected : bool
        As the line says itself. A hunt's line does not: one that found a violation, or that was cut short or is void,
        is not as expected. Neither is an item that nothing covers and that has no reason.
    """

    kind: Kind
    record: dict[str, Any]
    as_expected: bool


def _judged(line: Line) -> Result:
    record = line.record
    if line.kind is HUNT:
        cut_short = record["stopped"] == "interrupted" or is_void(record["stopped"], record["notes"])
        return Result(line.kind, record, record["verdict"] != "violated" and not cut_short)
    if line.kind is ITEM:
        return Result(line.kind, record, record["covered_by"] != "none" or bool(record["reason"]))
    return Result(line.kind, record, bool(record.get("as_expected", True)))


@dataclass
class Results:
    """All lines of a run, in the order in which they came.

    Parameters
    ----------
    results : list of Result
        The lines.
    not_run : tuple of str
        The statements, and the errata by their statements, that an interruption kept from being decided.
    interrupted : bool
        Whether the keyboard ended the run.
    """

    results: list[Result] = field(default_factory=list)
    not_run: tuple[str, ...] = ()
    interrupted: bool = False

    def add(self, lines: Iterable[Line]) -> None:
        """Take lines up."""
        self.results.extend(map(_judged, lines))

    def add_records(self, records: Iterable[dict[str, Any]]) -> None:
        """Take up lines as the commands print them."""
        self.add(map(line_of, records))

    def of(self, kind: Kind) -> list[Result]:
        """Return the results of one kind."""
        return [result for result in self.results if result.kind is kind]

    @property
    def unexpected(self) -> list[Result]:
        """What is not as expected, by kind."""
        return [result for kind in SECTIONS for result in self.of(kind) if not result.as_expected]

    @property
    def as_expected(self) -> bool:
        """Whether the whole run came to its end and everything is as expected."""
        return not self.interrupted and not self.not_run and not self.unexpected

    def summary(self) -> dict[str, Any]:
        """Return how many lines there are of each kind, and how many are not as expected."""
        counts = {kind.plural: len(self.of(kind)) for kind in SECTIONS}
        return {
            "schema": SCHEMA,
            **counts,
            "not_run": len(self.not_run),
            "unexpected": len(self.unexpected),
            "interrupted": self.interrupted,
            "as_expected": self.as_expected,
        }
