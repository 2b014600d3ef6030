"""The results of a run, by kind of record, and the unexpected ones among them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dpassay.properties.hunting.result import UNDECIDED
from dpassay.properties.records import SCHEMA
from dpassay.properties.report.lines import ERRATUM, FINDING, HUNT, ITEM, MECHANISM, STATEMENT, Kind, Line, line_of

__all__ = ["SECTIONS", "Result", "Results"]

SECTIONS = (STATEMENT, ERRATUM, HUNT, FINDING, ITEM, MECHANISM)


@dataclass(frozen=True)
class Result:
    """One record and whether it is as expected.

    Parameters
    ----------
    kind : Kind
        Kind of the record.
    record : dict
        Fields of the record.
    as_expected : bool
        The field of the same name, if the record has it. A hunt is unexpected if it found a violation, was
        interrupted or is void; an item is unexpected if it has neither coverage nor a reason.
    """

    kind: Kind
    record: dict[str, Any]
    as_expected: bool


def _judged(line: Line) -> Result:
    record = line.record
    if line.kind is HUNT:
        cut_short = record["stopped"] == "interrupted" or record["verdict"] == UNDECIDED
        return Result(line.kind, record, record["verdict"] != "violated" and not cut_short)
    if line.kind is ITEM:
        return Result(line.kind, record, record["covered_by"] != "none" or bool(record["reason"]))
    return Result(line.kind, record, bool(record.get("as_expected", True)))


@dataclass
class Results:
    """All records of a run, in order of arrival.

    Parameters
    ----------
    results : list of Result
        The records.
    not_run : tuple of str
        Names of the statements, and of the statements of the errata, without a result after an interruption.
    interrupted : bool
        Whether the keyboard ended the run.
    """

    results: list[Result] = field(default_factory=list)
    not_run: tuple[str, ...] = ()
    interrupted: bool = False

    def add(self, lines: Iterable[Line]) -> None:
        """Add records."""
        self.results.extend(map(_judged, lines))

    def add_records(self, records: Iterable[dict[str, Any]]) -> None:
        """Add records in the form that the commands print."""
        self.add(map(line_of, records))

    def of(self, kind: Kind) -> list[Result]:
        """Return the results of one kind."""
        return [result for result in self.results if result.kind is kind]

    @property
    def unexpected(self) -> list[Result]:
        """The unexpected results, by kind."""
        return [result for kind in SECTIONS for result in self.of(kind) if not result.as_expected]

    @property
    def as_expected(self) -> bool:
        """True if the run was completed and everything is as expected."""
        return not self.interrupted and not self.not_run and not self.unexpected

    def summary(self) -> dict[str, Any]:
        """Return the number of records of each kind and the number of unexpected ones."""
        counts = {kind.plural: len(self.of(kind)) for kind in SECTIONS}
        return {
            "schema": SCHEMA,
            **counts,
            "not_run": len(self.not_run),
            "unexpected": len(self.unexpected),
            "interrupted": self.interrupted,
            "as_expected": self.as_expected,
        }
