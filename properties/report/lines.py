"""The lines that the commands print with ``--json``, read again and checked: what kind each is, and that it is whole.

A page may be made of lines that another version or another program wrote, so nothing of them is taken on trust: a
line of no known kind, or one that lacks a field of its kind, is refused with its file and number.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpassay.claims import UsageError
from dpassay.properties.assay.finding import FINDING_KINDS
from dpassay.properties.records import SCHEMA
from dpassay.spec.sources import SOURCES
from dpassay.spec.verdict import Outcome

__all__ = ["KINDS", "Line", "line_of", "read_lines"]

LARGEST = 1e300  # a number beyond is none that a command prints, and float64 may not hold it


@dataclass(frozen=True)
class Field:
    """What a field of a line may hold: in words, and as a test."""

    accepted: str
    accepts: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _one_of(*words: str) -> Field:
    return Field(f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words)


TEXT = Field("a string", lambda value: isinstance(value, str))
TEXT_OR_NULL = Field("a string or null", lambda value: value is None or isinstance(value, str))
COUNT = Field("a count", lambda value: _is_number(value) and isinstance(value, int) and value >= 0)
NUMBER = Field('a number, "inf", "-inf" or null', lambda value: value in (None, "inf", "-inf") or _is_number(value))
FLAG = Field("true or false", lambda value: isinstance(value, bool))
TEXTS = Field(
    "a list of strings", lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value)
)
OBJECT_OR_NULL = Field("an object or null", lambda value: value is None or isinstance(value, dict))
OUTCOME = _one_of(*Outcome)


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of line; there is one object for each.

    Parameters
    ----------
    name, plural : str
        What it is called.
    marks : collection of str
        Fields that no line of a kind further down the list has together.
    needs : Mapping
        Fields that every line has, and what they may hold.
    may_have : Mapping
        Fields that are null, or empty, where a line lacks them.
    """

    name: str
    plural: str
    marks: Collection[str]
    needs: Mapping[str, Field]
    may_have: Mapping[str, Field] = field(default_factory=dict)


_DECIDED = {
    "verdict": OUTCOME,
    "evidence": TEXT,
    "scope": TEXT,
    "cases": COUNT,
    "undecided": COUNT,
    "tightness": NUMBER,
}

SHOWN = Kind(  # becomes a statement
    "shown statement",
    "shown statements",
    ("statement", "sentence"),
    {"statement": TEXT, "sentence": TEXT, "quantifiers": TEXTS, "source": TEXT, "items": TEXTS, "where": TEXT}
    | _DECIDED,
    {"argument": TEXT_OR_NULL, "errata": TEXTS},
)
STATEMENT = Kind(
    "statement",
    "statements",
    ("statement",),
    {"statement": TEXT, "source": TEXT, "item": TEXT, "kind": TEXT}
    | _DECIDED
    | {"seconds": NUMBER, "as_expected": FLAG},
    {"witness": OBJECT_OR_NULL, "detail": TEXT_OR_NULL},
)
ERRATUM = Kind(
    "erratum",
    "errata",
    ("erratum_of",),
    {"erratum_of": TEXT, "source": TEXT, "item": TEXT, "class": TEXT, "printed": OUTCOME, "corrected": OUTCOME}
    | {"witness": OBJECT_OR_NULL, "evidence": TEXT, "as_expected": FLAG},
    {"text": TEXT_OR_NULL, "detail": TEXT_OR_NULL},
)
HUNT = Kind(
    "hunt",
    "hunts",
    ("target", "replay"),
    {"target": TEXT, "claim": TEXT, "verdict": _one_of("violated", "not refuted", "holds"), "epsilon_lower": NUMBER}
    | {"delta_lower": NUMBER, "rho_lower": NUMBER, "evidence": TEXT, "scope": TEXT, "alpha": NUMBER}
    | {"e_value_log10": NUMBER, "calls": COUNT, "seconds": NUMBER, "witness": OBJECT_OR_NULL, "replay": TEXT},
    {"epsilon_upper": NUMBER, "stopped": TEXT_OR_NULL, "notes": TEXTS},
)
FINDING = Kind(
    "finding",
    "findings",
    ("library", "law"),
    {"library": TEXT, "version": TEXT_OR_NULL, "mechanism": TEXT, "law": TEXT, "claim": TEXT_OR_NULL}
    | {"finding": _one_of(*FINDING_KINDS), "claimed": NUMBER, "certified": NUMBER, "evidence": TEXT_OR_NULL}
    | {"scope": TEXT_OR_NULL, "alpha": NUMBER, "calls": COUNT, "seconds": NUMBER, "witness": OBJECT_OR_NULL}
    | {"expected": TEXT_OR_NULL, "as_expected": FLAG},
    {"detail": TEXT_OR_NULL},
)
ITEM = Kind(
    "item",
    "items",
    ("covered_by",),
    {
        "source": TEXT,
        "item": TEXT,
        "name": TEXT,
        "kind": TEXT,
        "covered_by": TEXT,
        "where": TEXTS,
        "reason": TEXT_OR_NULL,
    },
)
MECHANISM = Kind(
    "mechanism",
    "mechanisms",
    ("exact_distribution",),
    {"where": TEXT, "claims": TEXTS, "neighbours": TEXT, "exact_distribution": FLAG, "broken": FLAG}
    | {"fault": TEXT_OR_NULL, "caught_by": TEXTS, "sources": TEXTS},
)

KINDS = (SHOWN, STATEMENT, ERRATUM, HUNT, FINDING, ITEM, MECHANISM)


@dataclass(frozen=True)
class Line:
    """One line: its kind and its fields, with None or an empty list for those that it may lack."""

    kind: Kind
    record: dict[str, Any]


def line_of(value: object) -> Line:
    """Return the line that an object is.

    Raises
    ------
    UsageError
        If it is of no known kind, or a field of its kind is missing or holds what it must not.
    """
    if not isinstance(value, dict):
        raise UsageError("this is no JSON object")
    if value.get("schema") != SCHEMA:
        raise UsageError(f"schema is {value.get('schema')!r}, {SCHEMA} is accepted")
    kind = next((kind for kind in KINDS if all(mark in value for mark in kind.marks)), None)
    if kind is None:
        raise UsageError("this is no line that verify, list, show, hunt or assay prints with --json")
    for name, wanted in kind.needs.items():
        if name not in value:
            raise UsageError(f"the {kind.name} has no field {name!r}")
        _check(kind, name, wanted, value[name])
    record = dict(value)
    for name, wanted in kind.may_have.items():
        if name in value and value[name] is not None:
            _check(kind, name, wanted, value[name])
        else:
            record[name] = [] if wanted is TEXTS else None
    return Line(STATEMENT, _verified(record)) if kind is SHOWN else Line(kind, record)


def _check(kind: Kind, name: str, wanted: Field, value: Any) -> None:
    if not wanted.accepts(value):
        given = json.dumps(value)
        shown = given if len(given) <= 40 else f"{given[:40]}..."
        raise UsageError(f"the {kind.name} has {name} {shown}; {wanted.accepted} is accepted")


def _verified(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what `show` says of a statement in the words of `verify`, which leave nothing of it out."""
    keys = {str(source): key for key, source in SOURCES.items()}
    return shown | {
        "source": keys.get(shown["source"], shown["source"]),
        "item": shown["items"][0] if shown["items"] else "",
        "kind": "",
        "seconds": None,
        "witness": None,
        "detail": shown["argument"],
        "as_expected": shown["verdict"] == Outcome.HOLDS and shown["undecided"] == 0,
    }


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file.

    Raises
    ------
    UsageError
        If a line is none, naming file and line, or the file holds none: what wrote it may have failed.
    """
    count = 0
    for number, raw in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            yield line_of(json.loads(raw.decode("utf-8"), parse_constant=_refuse))
        except UsageError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: this is no JSON: {error}") from None
        count += 1
    if not count:
        raise UsageError(f"{path} holds no line")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not in JSON")
