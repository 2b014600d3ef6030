"""Render the results of a run as one self-contained HTML page; it needs neither a network nor scripts."""

import base64
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.contract import (
    CoverageKind,
    ErratumRecord,
    FindingRecord,
    HuntRecord,
    ItemRecord,
    MechanismRecord,
    Record,
    StatementRecord,
    as_dictionary,
)
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.notions.bounds import bounds_of_record, bounds_text
from dpassay.properties.report.lines import NOUNS
from dpassay.properties.report.pictures import Bars, Spans, bars_of, spans_of
from dpassay.properties.report.results import PLURALS, ReportedRecord, Results
from dpassay.properties.show import statement_words
from dpassay.spec.sources import SOURCES
from dpassay.spec.statement import Severity, all_statements
from dpassay.spec.verdict import Evidence, Outcome, Scope

__all__ = ["Origin", "render"]

GOOD, BAD, OPEN = "good", "bad", "open"
LOOKS: dict[str, str] = {
    Outcome.HOLDS: GOOD,
    Outcome.VIOLATED: BAD,
    FindingKind.OK: GOOD,
    FindingKind.VIOLATION: BAD,
    FindingKind.UNSOUND_NUMBER: BAD,
    FindingKind.WRONG_ANSWER: BAD,
    FindingKind.ERROR: BAD,
}
"""Style of a verdict or finding; all others have the style `OPEN`."""


@dataclass(frozen=True)
class Origin:
    """Provenance of the results of a page.

    Parameters
    ----------
    facts : sequence of (label, value)
        Versions, seed, profile, start and duration.
    command : str
        Command that writes the page again.
    version : str
        Version of dpassay.
    """

    facts: Sequence[tuple[str, str]]
    command: str
    version: str


@dataclass(frozen=True)
class Row:
    """One row of a table: a result, its anchor on the page, and its name."""

    result: ReportedRecord
    anchor: str
    name: str

    @property
    def record(self) -> Any:
        """The record, of the kind that `result` states."""
        return self.result.record

    @property
    def noun(self) -> str:
        """The kind of the record in words."""
        return NOUNS[self.result.kind]

    @property
    def detail(self) -> str | None:
        """The one-line explanation of the record, if any."""
        return getattr(self.record, "detail", None)

    @property
    def witness(self) -> dict[str, Any]:
        """The witness of the record without its snippet, which repeats it; empty if there is none."""
        found = getattr(self.record, "witness", None)
        fields: dict[str, Any] = as_dictionary(found) if found else {}
        return {name: value for name, value in fields.items() if name != "snippet"}

    @property
    def as_expected(self) -> bool:
        """True if the result is as expected."""
        return self.result.as_expected


@dataclass(frozen=True)
class Mark:
    """A statement in the strip of its document: its name, its tightness and the place of its mark."""

    name: str
    value: float
    place: int
    height: int


@dataclass(frozen=True)
class Chapter:
    """The results of one document."""

    key: str
    title: str
    url: str
    anchor: str
    statements: Sequence[Row]
    errata: Sequence[Row]
    items: Sequence[Row]

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return [*self.statements, *self.errata, *self.items]

    @property
    def bars(self) -> list[Bars]:
        """The errata with a claimed and a certified number, as pairs of bars."""
        return bars_of(self.errata)

    @property
    def tightness(self) -> list["Mark"]:
        """The marks of the statements whose tightness is known, the tightest first."""
        known = [row for row in self.statements if isinstance(row.record.tightness, int | float)]
        stacked: Counter[int] = Counter()
        marks = []
        for row in sorted(known, key=lambda row: float(row.record.tightness)):
            decades = math.log10(min(max(float(row.record.tightness), 1.0), 100.0))
            place = round(20 + 300 * decades)
            height = max(6, 30 - 4 * stacked[place // 8])
            stacked[place // 8] += 1
            marks.append(Mark(row.name, row.record.tightness, place, height))
        return marks

    @property
    def uncovered(self) -> int:
        """Number of items without coverage."""
        return sum(row.record.covered_by is CoverageKind.NONE for row in self.items)


@dataclass(frozen=True)
class Assay:
    """The findings of one version of a library, for laws that apply and laws that do not."""

    title: str
    anchor: str
    applied: Sequence[Row]
    not_applicable: Sequence[Row]

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return [*self.applied, *self.not_applicable]

    @property
    def spans(self) -> Spans | None:
        """The findings with a wrong number, on one axis."""
        return spans_of(self.applied)


NAMES: dict[type[Record], tuple[str, ...]] = {  # the fields that name a record of each kind
    StatementRecord: ("statement",),
    ErratumRecord: ("erratum_of", "item"),
    HuntRecord: ("target", "claim"),
    FindingRecord: ("library", "version", "mechanism", "law"),
    ItemRecord: ("source", "name"),
    MechanismRecord: ("where",),
}


class _Anchors:
    """Readable identifiers, unique on the page: the second of two equal ones gets a number."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def make(self, *words: str) -> str:
        anchor = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip("-") for word in words)
        self._given[anchor] += 1
        # no other anchor contains "~"
        return anchor if self._given[anchor] == 1 else f"{anchor}~{self._given[anchor]}"


def render(results: Results, origin: Origin) -> str:
    """Return the page: unexpected results first, then the counts, then every record of the run.

    Parameters
    ----------
    results : Results
        Results of the run.
    origin : Origin
        Provenance of the results.

    Returns
    -------
    str
        HTML; a function of `results` and `origin` only.
    """
    anchors = _Anchors()
    rows = {kind: _rows(results, kind, anchors) for kind in NAMES}
    told = _told(rows[StatementRecord])
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    return (
        _environment()
        .get_template("page.html")
        .render(
            results=results,
            origin=origin,
            counts={plural: len(results.of(kind)) for kind, plural in PLURALS.items()},
            unexpected=[row for kind in rows for row in rows[kind] if not row.as_expected],
            verdicts=_counts(rows[StatementRecord], "verdict", Outcome),
            reach=_reach(rows[StatementRecord]),
            chapters=_chapters(rows, anchors),
            severities=sorted(Counter(row.record.severity or "not stated" for row in rows[ErratumRecord]).items()),
            counted=[severity for severity in Severity if severity.counts],
            hunts=rows[HuntRecord],
            hunt_verdicts=_counts(rows[HuntRecord], "verdict", HuntVerdict),
            assays=_assays(rows[FindingRecord], anchors),
            finding_kinds=FindingKind,
            mechanisms=[row for row in rows[MechanismRecord] if not row.record.broken],
            mutants=[row for row in rows[MechanismRecord] if row.record.broken],
            told=told,
            places={row.record.where: row.anchor for row in rows[MechanismRecord]}
            | {said["where"]: anchor for anchor, said in told.items()},
            style=Markup(style),  # noqa: S704 -- our own files
            script=Markup(script),  # noqa: S704
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "short": _short, "look": _look, "words": _words, "blocks": _blocks}
    environment.filters["dictionary"] = as_dictionary
    environment.filters["bounds"] = lambda record: bounds_text(bounds_of_record(record))
    return environment


def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which the page allows this text, and no other, to style it or to run in it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _rows(results: Results, kind: type[Record], anchors: _Anchors) -> list[Row]:
    rows = []
    for result in results.of(kind):
        words = [word for name in NAMES[kind] if (word := getattr(result.record, name))]
        rows.append(Row(result, anchors.make(NOUNS[kind], *words), ", ".join(words)))
    return rows


def _counts(rows: Iterable[Row], field: str, words: Iterable[str]) -> list[tuple[str, int]]:
    counts = Counter(getattr(row.record, field) for row in rows)
    return [(str(word), counts[word]) for word in words]


def _reach(rows: Sequence[Row]) -> dict[str, Any]:
    """Return, for the statements that hold, how many there are of each evidence and scope, the strongest first."""
    holding = [row.record for row in rows if row.record.verdict == Outcome.HOLDS]
    evidences = _labels([str(one) for one in reversed(Evidence)], (record.evidence for record in holding))
    scopes = _labels([str(one) for one in reversed(Scope)], (record.scope for record in holding))
    counts = Counter((record.evidence, record.scope) for record in holding)
    return {
        "scopes": scopes,
        "lines": [(evidence, [counts[evidence, scope] for scope in scopes]) for evidence in evidences],
        "totals": [sum(counts[evidence, scope] for evidence in evidences) for scope in scopes],
    }


def _labels(known: Sequence[str], given: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*known, *given]))


def _chapters(rows: dict[type[Record], list[Row]], anchors: _Anchors) -> list[Chapter]:
    """Return the documents that lines speak of: those of the bibliography in its order, then others as they come."""
    kinds = (StatementRecord, ErratumRecord, ItemRecord)
    given = {row.record.source for kind in kinds for row in rows[kind]}
    others = dict.fromkeys(row.record.source for kind in kinds for row in rows[kind])
    chapters = []
    for key in [*(key for key in SOURCES if key in given), *(key for key in others if key not in SOURCES)]:
        source = SOURCES.get(key)
        parts = ([row for row in rows[kind] if row.record.source == key] for kind in kinds)
        title = key if source is None else f"{source.authors} ({source.year}). {source.title}. {source.venue}"
        chapters.append(Chapter(key, title, "" if source is None else source.url, anchors.make("source", key), *parts))
    return chapters


def _assays(rows: Sequence[Row], anchors: _Anchors) -> list[Assay]:
    libraries: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        libraries.setdefault((row.record.library, row.record.version), []).append(row)
    assays = []
    for (library, version), found in libraries.items():
        title = f"{library} {version or '(version unknown)'}"
        applied = [row for row in found if not _is_beside_the_point(row)]
        hidden = [row for row in found if _is_beside_the_point(row)]
        assays.append(Assay(title, anchors.make("library", library, version or ""), applied, hidden))
    return assays


def _is_beside_the_point(row: Row) -> bool:
    # an entry of the expected failures that fits nothing is "not applicable" too, and must be seen
    return bool(row.record.finding == FindingKind.NOT_APPLICABLE) and row.as_expected


def _told(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Return the sentence of each statement by its anchor: from its own record, or from the registry."""
    known = {statement.name: statement for statement in all_statements()}
    unknown: dict[str, Any] = {"sentence": "", "quantifiers": [], "items": [], "where": "", "errata": []}
    told = {}
    for row in rows:
        if row.result.shown is not None:
            told[row.anchor] = {field: getattr(row.result.shown, field) for field in unknown}
        else:
            told[row.anchor] = unknown | (statement_words(known[row.name]) if row.name in known else {})
    return told


def _number(value: Any, digits: int | None = None) -> str:
    """Return a number as a cell, a dash if it is unknown; whole, or rounded to some digits.

    Only what is not certified may be rounded: a lower bound that is rounded up is none.
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return repr(value) if digits is None else f"{value:.{digits}g}"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _look(word: str) -> str:
    return LOOKS.get(word, OPEN)


def _words(row: Row) -> str:
    """Return the unexpected parts of a row, in words."""
    record = row.record
    if row.result.kind is StatementRecord:
        open_cases = f" ({record.undecided} of {record.cases} cases undecided)" if record.undecided else ""
        return f"{record.verdict}{open_cases}"
    if row.result.kind is ErratumRecord:
        return f"{record.erratum_class}: as published {record.printed}, corrected {record.corrected}"
    if row.result.kind is HuntRecord:
        return f"{record.verdict}{', ' if record.stopped else ''}{record.stopped or ''}"
    if row.result.kind is FindingRecord:
        return str(record.finding)
    return "not covered, without a reason"


def _blocks(sentence: str) -> list[tuple[str, str]]:
    """Return the paragraphs of a sentence: those set in by the author are formulas."""
    return [
        ("formula", block) if block.startswith("  ") else ("text", " ".join(block.split()))
        for block in re.split(r"\n\s*\n", sentence.rstrip())
    ]
