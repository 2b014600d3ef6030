"""Read and validate the records that the commands print with ``--json``.

The records may come from another version or another program. A record of an unknown kind, or with a missing or invalid
field, is rejected with its file and line number.
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

LARGEST = 1e300  # no command prints a larger number, and float64 may not represent it


@dataclass(frozen=True)
class Field:
    """The accepted values of a field: a description and a predicate."""

    accepted: str
    accepts: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _one_of(*words: str) -> Field:
    return Field(f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words)


def _tells(consequence: dict[str, Any]) -> bool:
    return all(isinstance(consequence.get(name), str) for name in ("item", "text"))


def _is_bound(value: Any) -> bool:
    """Return whether a value is an object with the fields of a bound."""
    if not isinstance(value, dict):
        return False
    words = all(isinstance(value.get(name), str) for name in ("quantity", "label"))
    return words and all(NUMBER.accepts(value.get(name)) for name in ("lower", "upper", "allowed"))


TEXT = Field("a string", lambda value: isinstance(value, str))
TEXT_OR_NULL = Field("a string or null", lambda value: value is None or isinstance(value, str))
COUNT = Field("a count", lambda value: _is_number(value) and isinstance(value, int) and value >= 0)
NUMBER = Field('a number, "inf", "-inf" or null', lambda value: value in (None, "inf", "-inf") or _is_number(value))
FLAG = Field("true or false", lambda value: isinstance(value, bool))
TEXTS = Field(
    "a list of strings", lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value)
)
CONSEQUENCES = Field(
    "a list of objects with an item and a text",
    lambda value: isinstance(value, list) and all(isinstance(one, dict) and _tells(one) for one in value),
)
BOUNDS = Field("a list of bounds", lambda value: isinstance(value, list) and all(map(_is_bound, value)))
OBJECT_OR_NULL = Field("an object or null", lambda value: value is None or isinstance(value, dict))
OUTCOME = _one_of(*Outcome)


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of record; each kind has one object.

    Parameters
    ----------
    name, plural : str
        Noun for the kind.
    marks : collection of str
        Fields that identify the kind: no kind further down the list has all of them.
    needs : Mapping
        Required fields and their accepted values.
    may_have : Mapping
        Optional fields; null or empty if absent.
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
    {"argument": TEXT_OR_NULL, "errata": TEXTS, "prose_steps": COUNT, "proof": TEXTS},
)
STATEMENT = Kind(
    "statement",
    "statements",
    ("statement",),
    {"statement": TEXT, "source": TEXT, "item": TEXT, "kind": TEXT}
    | _DECIDED
    | {"seconds": NUMBER, "as_expected": FLAG},
    {"witness": OBJECT_OR_NULL, "detail": TEXT_OR_NULL, "prose_steps": COUNT},
)
ERRATUM = Kind(
    "erratum",
    "errata",
    ("erratum_of",),
    {"erratum_of": TEXT, "source": TEXT, "item": TEXT, "class": TEXT, "printed": OUTCOME, "corrected": OUTCOME}
    | {"witness": OBJECT_OR_NULL, "evidence": TEXT, "as_expected": FLAG},
    dict.fromkeys(("severity", "location", "text", "answer", "detail"), TEXT_OR_NULL) | {"consequences": CONSEQUENCES},
)
HUNT = Kind(
    "hunt",
    "hunts",
    ("target", "replay"),
    {
        "target": TEXT,
        "claim": TEXT,
        "verdict": _one_of("violated", "not refuted", "undecided", "holds"),
        "epsilon_lower": NUMBER,
    }
    | {"delta_lower": NUMBER, "rho_lower": NUMBER, "evidence": TEXT, "scope": TEXT, "alpha": NUMBER}
    | {"e_value_log10": NUMBER, "calls": COUNT, "seconds": NUMBER, "witness": OBJECT_OR_NULL, "replay": TEXT},
    {
        "epsilon_upper": NUMBER,
        "bounds": BOUNDS,
        "also_refutes": TEXTS,
        "renyi_epsilon_lower": NUMBER,
        "stopped": TEXT_OR_NULL,
        "notes": TEXTS,
        "power": OBJECT_OR_NULL,
    },
)
FINDING = Kind(
    "finding",
    "findings",
    ("library", "law"),
    {"library": TEXT, "version": TEXT_OR_NULL, "mechanism": TEXT, "law": TEXT, "claim": TEXT_OR_NULL}
    | {"finding": _one_of(*FINDING_KINDS), "claimed": NUMBER, "certified": NUMBER, "evidence": TEXT_OR_NULL}
    | {"scope": TEXT_OR_NULL, "alpha": NUMBER, "calls": COUNT, "seconds": NUMBER, "witness": OBJECT_OR_NULL}
    | {"expected": TEXT_OR_NULL, "as_expected": FLAG},
    {"detail": TEXT_OR_NULL, "power": OBJECT_OR_NULL},
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
    """A validated record: its kind and its fields, with None or an empty list for absent optional fields."""

    kind: Kind
    record: dict[str, Any]


def line_of(value: object) -> Line:
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
    kind = next((kind for kind in KINDS if all(mark in value for mark in kind.marks)), None)
    if kind is None:
        raise UsageError(
            "unrecognized record: expected the output of dpassay verify, list, show, hunt or assay with --json"
        )
    for name, wanted in kind.needs.items():
        if name not in value:
            raise UsageError(f"the {kind.name} has no field {name!r}")
        _check(kind, name, wanted, value[name])
    record = dict(value)
    for name, wanted in kind.may_have.items():
        if name in value and value[name] is not None:
            _check(kind, name, wanted, value[name])
        else:
            record[name] = None if wanted.accepts(None) else []
    return Line(STATEMENT, _verified(record)) if kind is SHOWN else Line(kind, record)


def _check(kind: Kind, name: str, wanted: Field, value: Any) -> None:
    if not wanted.accepts(value):
        given = json.dumps(value)
        shown = given if len(given) <= 40 else f"{given[:40]}..."
        raise UsageError(f"{name} of the {kind.name} must be {wanted.accepted}, got {shown}")


def _verified(shown: dict[str, Any]) -> dict[str, Any]:
    """Convert a record of `show` to a record of `verify`."""
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
    """Yield the records of a file.

    Raises
    ------
    UsageError
        If a line is not a valid record (the message names file and line), or the file has no record.
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
            raise UsageError(f"{path}, line {number}: invalid JSON: {error}") from None
        count += 1
    if not count:
        raise UsageError(f"{path} contains no record")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not valid JSON")
