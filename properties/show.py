"""Records of the command `show`: one statement or mechanism."""

from typing import Any

from dpassay.arguments import UsageError
from dpassay.impl.benchmark_names import address_of, all_names
from dpassay.impl.catalogue import entries, entry_named
from dpassay.properties.contract import ErratumRecord, ShownMechanismRecord, ShownStatementRecord
from dpassay.properties.records import plain
from dpassay.properties.shown_mechanism import shown_mechanism
from dpassay.properties.verify import verify_errata, verify_statement
from dpassay.registry import similar_words
from dpassay.spec.proof.steps import Step, StepKind
from dpassay.spec.statement import Statement, all_statements, find_statement, is_statement

__all__ = ["proof_lines", "show_record", "statement_words"]


def show_record(name: str) -> ShownStatementRecord | ShownMechanismRecord:
    """Return the record of a statement (by name or item name) or of a mechanism (by address or name).

    Mechanisms of the common benchmark have the names of the literature, such as SVT3.

    A statement is verified in the quick profile; evidence and scope are those of this run.

    Raises
    ------
    UsageError
        If no statement, item or mechanism has that name.
    """
    address = address_of(name)
    if address is None and ":" not in name:  # no name of a mechanism alone: those take no import of all statements
        found = _statement_named(name)
        if found is not None:
            return _statement_record(found)
    entry = entry_named(address or name)
    if entry is not None:
        return shown_mechanism(entry)
    raise UsageError(f"NAME {name!r} is not a statement, item or mechanism{_hint(name)}")


def _statement_named(name: str) -> Statement | None:
    """Return the statement of a name, or else the first one of an item with that name."""
    if is_statement(name):
        return find_statement(name)
    return next((one for one in all_statements() if name in {row.name for row in one.items}), None)


def _hint(name: str) -> str:
    """Return the most similar names, in words."""
    known = {one.name for one in all_statements()} | {row.name for one in all_statements() for row in one.items}
    known |= {entry.where.partition(":")[2] for entry in entries()} | set(all_names())
    return similar_words(name, known) or "; `dpassay list` prints all names"


def _statement_record(statement: Statement) -> ShownStatementRecord:
    report = verify_statement(statement)
    return ShownStatementRecord(
        statement=statement.name,
        **statement_words(statement),
        source=str(statement.source),
        verdict=report.outcome,
        evidence=report.evidence,
        scope=report.scope,
        prose_steps=report.prose_steps,
        proof=proof_lines(statement),
        cases=report.cases,
        undecided=report.undecided,
        tightness=plain(report.tightness),
        argument="; ".join(filter(None, (report.detail, report.allowance))) or None,
        errata=[_erratum_line(record.record()) for record in verify_errata([statement])],
    )


def statement_words(statement: Statement) -> dict[str, Any]:
    """Return the sentence, quantifiers, items and code location of a statement."""
    return {
        "sentence": statement.sentence,
        "quantifiers": [f"{name}: {domain.sentence}" for name, domain in statement.quantifiers.items()],
        "items": [f"{row.item} ({row.name}, {row.kind})" for row in (*statement.items, *statement.also)],
        "where": statement.where,
    }


def proof_lines(statement: Statement) -> list[str]:
    """Return the hypotheses and steps of a proof, one line each; empty for a statement without a proof."""
    steps = statement.proof()
    if steps is None:
        return []
    return [
        *(f"[hypothesis] {part.name}: {part.sentence}" for part in steps.hypotheses),
        *(_step_line(step) for step in steps.steps),
    ]


def _step_line(step: Step) -> str:
    given = f" (from: {'; '.join(step.given)})" if step.given and step.kind is not StepKind.CONJUNCTION else ""
    kind = f"{step.kind} {step.cites}" if step.cites else str(step.kind)
    return f"[{kind}] {step.name}: {step.sentence}{given}"


def _erratum_line(record: ErratumRecord) -> str:
    elsewhere = "; ".join(f"{one.item}: {one.text}" for one in record.consequences)
    return (
        f"{record.item} ({record.severity}, {record.erratum_class}; {record.location}): {record.text}; "
        f"as published {record.printed}, corrected {record.corrected} at {record.witness}; "
        f"possible answer of an author: {record.answer}" + (f"; consequences: {elsewhere}" if elsewhere else "")
    )
