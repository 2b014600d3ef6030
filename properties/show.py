"""One statement or mechanism, for a human reader."""

from typing import Any

from dpassay.claims import UsageError
from dpassay.impl.catalogue import entries
from dpassay.properties.mechanisms import mechanism_record
from dpassay.properties.records import SCHEMA, plain
from dpassay.properties.verify import verify_errata, verify_statement
from dpassay.spec.statement import Statement, all_statements

__all__ = ["show_record", "statement_words"]


def show_record(name: str) -> dict[str, Any]:
    """Return what there is to say about a statement (by name or item name) or a mechanism (by place).

    Statements are verified afresh in the quick profile, so that evidence and scope are those of this machine.

    Raises
    ------
    UsageError
        If nothing has that name.
    """
    statements = [one for one in all_statements() if name in {one.name, *(row.name for row in one.items)}]
    if statements:
        exact = [one for one in statements if one.name == name]
        return _statement_record((exact or statements)[0])
    for entry in entries():
        if name in {entry.where, entry.where.partition(":")[2]}:
            return mechanism_record(entry)
    raise UsageError(f"there is no statement, item or mechanism {name!r}; `dpassay list` shows what there is")


def _statement_record(statement: Statement) -> dict[str, Any]:
    report = verify_statement(statement)
    return {
        "schema": SCHEMA,
        "statement": statement.name,
        **statement_words(statement),
        "source": str(statement.source),
        "verdict": str(report.outcome),
        "evidence": report.evidence.label,
        "scope": report.scope.label,
        "cases": report.cases,
        "undecided": report.undecided,
        "tightness": plain(report.tightness),
        "argument": report.detail or None,
        "errata": [_erratum_line(record.record()) for record in verify_errata([statement])],
    }


def statement_words(statement: Statement) -> dict[str, Any]:
    """Return what a statement says, over what, of which items, and where it stands in the code."""
    return {
        "sentence": statement.sentence,
        "quantifiers": [f"{name}: {domain.sentence}" for name, domain in statement.quantifiers.items()],
        "items": [f"{row.item} ({row.name}, {row.kind})" for row in (*statement.items, *statement.also)],
        "where": statement.where,
    }


def _erratum_line(record: dict[str, Any]) -> str:
    return (
        f"{record['item']} ({record['class']}): {record['text']}; as printed {record['printed']}, "
        f"corrected {record['corrected']} at {record['witness']}"
    )
