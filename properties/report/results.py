"""The results of a run, by kind of record, and the unexpected ones among them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dpassay.properties.contract import (
    CoverageKind,
    ErratumRecord,
    FindingRecord,
    HuntRecord,
    ItemRecord,
    MechanismRecord,
    Record,
    ReportRecord,
    ShownStatementRecord,
    StatementRecord,
)
from dpassay.properties.hunting.verdicts import HuntVerdict, StopReason
from dpassay.spec.sources import SOURCES
from dpassay.spec.verdict import Outcome

__all__ = ["PLURALS", "ReportedRecord", "Results"]

PLURALS: dict[type[Record], str] = {
    StatementRecord: "statements",
    ErratumRecord: "errata",
    HuntRecord: "hunts",
    FindingRecord: "findings",
    ItemRecord: "items",
    MechanismRecord: "mechanisms",
}
"""The sections of a report, in their order."""


@dataclass(frozen=True)
class ReportedRecord:
    """One record and whether it is as expected.

    Parameters
    ----------
    kind : type
        Class of the record; `StatementRecord` also for a shown statement.
    record : Record
        The record; its fields depend on the kind, and the templates of the page read them by name.
    as_expected : bool
        The field of the same name, if the record has it. A hunt is unexpected if it found a violation, was
        interrupted or is void; an item is unexpected if it has neither coverage nor a reason; a shown statement unless
        it holds without an undecided case.
    shown : ShownStatementRecord or None
        The words of the statement, where the record has them.
    """

    kind: type[Record]
    record: Any
    as_expected: bool
    shown: ShownStatementRecord | None = None


def _judged(record: Record) -> ReportedRecord:
    match record:
        case ShownStatementRecord():
            return _verified(record)
        case HuntRecord():
            cut_short = record.stopped is StopReason.INTERRUPTED or record.verdict is HuntVerdict.UNDECIDED
            return ReportedRecord(HuntRecord, record, record.verdict is not HuntVerdict.VIOLATED and not cut_short)
        case ItemRecord():
            return ReportedRecord(
                ItemRecord, record, record.covered_by is not CoverageKind.NONE or bool(record.reason)
            )
        case StatementRecord() | ErratumRecord() | FindingRecord():
            return ReportedRecord(type(record), record, record.as_expected)
        case _:
            return ReportedRecord(type(record), record, as_expected=True)


def _verified(shown: ShownStatementRecord) -> ReportedRecord:
    keys = {str(source): key for key, source in SOURCES.items()}
    as_expected = shown.verdict is Outcome.HOLDS and not shown.undecided
    statement = StatementRecord(
        statement=shown.statement,
        source=keys.get(shown.source, shown.source),
        item=shown.items[0] if shown.items else "",
        kind="",
        verdict=shown.verdict,
        evidence=shown.evidence,
        scope=shown.scope,
        prose_steps=shown.prose_steps,
        cases=shown.cases,
        undecided=shown.undecided,
        tightness=shown.tightness,
        seconds=None,
        detail=shown.argument,
        as_expected=as_expected,
    )
    return ReportedRecord(StatementRecord, statement, as_expected, shown)


@dataclass
class Results:
    """All records of a run, in order of arrival.

    Parameters
    ----------
    results : list of ReportedRecord
        The records.
    not_run : tuple of str
        Names of the statements, and of the statements of the errata, without a result after an interruption.
    interrupted : bool
        Whether the keyboard ended the run.
    """

    results: list[ReportedRecord] = field(default_factory=list)
    not_run: tuple[str, ...] = ()
    interrupted: bool = False

    def add(self, records: Iterable[Record]) -> None:
        """Add records."""
        self.results.extend(map(_judged, records))

    def of(self, kind: type[Record]) -> list[ReportedRecord]:
        """Return the results of one kind."""
        return [result for result in self.results if result.kind is kind]

    @property
    def unexpected(self) -> list[ReportedRecord]:
        """The unexpected results, by kind."""
        return [result for kind in PLURALS for result in self.of(kind) if not result.as_expected]

    @property
    def as_expected(self) -> bool:
        """True if the run was completed and everything is as expected."""
        return not self.interrupted and not self.not_run and not self.unexpected

    def summary(self, report: str) -> ReportRecord:
        """Return the number of records of each kind and the number of unexpected ones.

        Parameters
        ----------
        report : str
            File of the report.
        """
        return ReportRecord(
            report=report,
            statements=len(self.of(StatementRecord)),
            errata=len(self.of(ErratumRecord)),
            hunts=len(self.of(HuntRecord)),
            findings=len(self.of(FindingRecord)),
            items=len(self.of(ItemRecord)),
            mechanisms=len(self.of(MechanismRecord)),
            not_run=len(self.not_run),
            unexpected=len(self.unexpected),
            interrupted=self.interrupted,
            as_expected=self.as_expected,
        )
