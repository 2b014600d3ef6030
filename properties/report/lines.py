"""Read and validate the records that the commands print with ``--json``.

The records may come from another version or another program. A record of an unknown kind, or with a missing or invalid
field, is rejected with its file and line number.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from dpassay.arguments import UsageError
from dpassay.properties.contract import (
    SCHEMA,
    ErratumRecord,
    FindingRecord,
    HuntRecord,
    ItemRecord,
    MechanismRecord,
    Record,
    ShownStatementRecord,
    StatementRecord,
)

__all__ = ["NOUNS", "read_lines", "record_of"]

MARKS: dict[type[Record], tuple[str, ...]] = {
    ShownStatementRecord: ("statement", "sentence"),
    StatementRecord: ("statement",),
    ErratumRecord: ("erratum_of",),
    HuntRecord: ("target", "replay"),
    FindingRecord: ("library", "law"),
    ItemRecord: ("covered_by",),
    MechanismRecord: ("exact_distribution",),
}
"""The fields that identify the kind of a record: no kind further down has all of them."""

NOUNS: dict[type[Record], str] = {
    ShownStatementRecord: "shown statement",
    StatementRecord: "statement",
    ErratumRecord: "erratum",
    HuntRecord: "hunt",
    FindingRecord: "finding",
    ItemRecord: "item",
    MechanismRecord: "mechanism",
}


def record_of(value: object) -> Record:
    """Return the record of a JSON object.

    Raises
    ------
    UsageError
        If the kind is unknown, or a field is missing or has an invalid value.
    """
    if not isinstance(value, dict):
        raise UsageError("not a JSON object")
    if value.get("schema") != SCHEMA:
        raise UsageError(f"schema must be {SCHEMA}, got {value.get('schema')!r}")
    kind = next((kind for kind, marks in MARKS.items() if all(mark in value for mark in marks)), None)
    if kind is None:
        raise UsageError(
            "unrecognized record: expected the output of dpassay verify, list, show, hunt or assay with --json"
        )
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"invalid record of a{'n' if NOUNS[kind][0] in 'ei' else ''} {NOUNS[kind]}: "
                         f"{error}{_given(value, str(error))}") from None  # fmt: skip


def _given(record: dict[str, Any], message: str) -> str:
    """Return the value of the field that a message names, shortened; empty if it names none."""
    named = re.search(r"at `\$\.(\w+)", message)
    if named is None or named[1] not in record:
        return ""
    text = json.dumps(record[named[1]])
    return f", got {text if len(text) <= 40 else f'{text[:40]}...'}"


def read_lines(path: Path) -> Iterator[Record]:
    """Yield the records of a file.

    Raises
    ------
    UsageError
        If the file cannot be read, a line is not a valid record (the message names it), or there is no record.
    """
    count = 0
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror}; expected a file of JSON lines") from None
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            yield record_of(json.loads(raw.decode("utf-8"), parse_constant=_refuse))
        except UsageError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: invalid JSON: {error}") from None
        count += 1
    if not count:
        raise UsageError(f"{path} contains no record")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not valid JSON")
