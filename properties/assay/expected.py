"""Expected failures: known findings of a library, which do not fail a run.

The file ``expected_failures.toml`` beside the adapter lists them. Each entry names a mechanism and a law (globs), the
affected versions, the kind of finding, a reason and the upstream report. An entry whose finding does not appear is
unexpected, like a finding without an entry: the library was fixed, or the harness no longer detects the fault.

An entry that states the size of its finding excuses nothing worse: `factor` bounds the ratio of the certified and the
claimed number, `direction` names the side, `least` the smallest number claimed, `accepted` the invalid calls. With a
list of mechanisms or laws, each of them must show the finding. An `occasional` finding need not appear.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import Type, parse_specifier, read_table, require_fields
from dpassay.properties.assay.finding import FURTHER, UNANSWERED, Finding, factor_between
from dpassay.properties.assay.kinds import FindingKind, FindingSeverity

__all__ = ["DIRECTIONS", "FINE", "Direction", "ExpectedFailure", "covering", "load_expected"]


FINE: frozenset[FindingKind] = frozenset({FindingKind.OK, FindingKind.NOT_APPLICABLE})
"""Kinds of finding that need no entry."""

_FAILURES = tuple(kind for kind in FindingKind if kind not in FINE and kind is not FindingKind.NOT_RUN)
"""Kinds of finding that an entry may expect."""

Direction = Literal["below", "above"]
"""Side of the certified number on which the claimed number lies."""

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

_FAILURE_FIELDS = ("mechanism", "law", "versions", "finding", "reason", "upstream")
_SIZES: dict[str, Type] = {"factor": (int, float), "direction": str, "least": (int, float), "accepted": list}


@dataclass(frozen=True)
class ExpectedFailure:
    """An entry of the file of expected failures.

    Parameters
    ----------
    mechanism, law : str
        Names or globs.
    versions : str
        PEP 440 specifier of the affected versions of the library; empty for all.
    finding : str
        The kind of finding.
    reason : str
        Description of the fault, in one line.
    upstream : str
        Where the fault was reported, or ``not reported``.
    severity : str, optional
        Its severity.
    factor : float, optional
        Largest ratio of the certified and the claimed number, the larger one over the smaller, that is excused. May be
        infinite.
    direction : str, optional
        One of `DIRECTIONS`.
    least : float, optional
        Smallest claimed number that is excused, where no number is certified: an epsilon below 0, for instance. No
        entry with a size excuses NaN.
    accepted : tuple of str, optional
        The invalid calls whose acceptance is excused, or the relations that may be broken.
    page : str, optional
        Name of the page that documents the finding.
    common : str, optional
        Reason that a glob covers checks at which the finding need not appear in every run.
    occasional : str, optional
        Reason that the finding appears in some runs only, at greater depth; then the entry asks for nothing.
    """

    mechanism: str
    law: str
    versions: str
    finding: FindingKind
    reason: str
    upstream: str
    severity: FindingSeverity | None = None
    factor: float | None = None
    direction: Direction | None = None
    least: float | None = None
    accepted: tuple[str, ...] | None = None
    page: str | None = None
    common: str | None = None
    occasional: str | None = None

    def __str__(self) -> str:
        return f"{self.reason} ({self.upstream})"

    def speaks_of(self, version: str | None) -> bool:
        """Return whether the entry covers a version; only entries for all versions cover None, which is no release."""
        return not self.versions or (
            version is not None and parse_specifier(self.versions).contains(version, prereleases=True)
        )

    def covers(self, mechanism: str, law: str) -> bool:
        """Return whether the entry covers a mechanism and a law."""
        return _matches(mechanism, self.mechanism) and _matches(law, self.law)

    def excess_of(self, finding: Finding, others: Sequence["ExpectedFailure"] = ()) -> str | None:
        """Return how a finding of the expected kind is worse than expected, or None if it is not.

        Parameters
        ----------
        finding : Finding
            The finding.
        others : sequence of ExpectedFailure
            Other entries for the same check and kind, which may excuse faults beside the one that is told.
        """
        unanswered = (finding.witness or {}).get(UNANSWERED)
        if unanswered:
            return f"worse than expected: no answer to {'; '.join(unanswered)}"
        further = (finding.witness or {}).get(FURTHER, ())
        sizes = [self.excess_of_numbers(finding.claimed, finding.certified)]
        for numbers in further:
            every = [entry.excess_of_numbers(*numbers) for entry in (self, *others)]
            sizes.append(None if None in every else every[0])
        return next(filter(None, sizes), None) or self._excess_of_calls(finding)

    def excess_of_numbers(self, claimed: float | None, certified: float | None) -> str | None:
        """Return how a number lies farther from the certified one than expected, or on another side, or None."""
        if self.least is not None and not (claimed is not None and claimed >= self.least):
            return f"worse than expected: {claimed} is not at least {self.least:.6g}"
        if self.factor is None and self.direction is None:
            return None
        if claimed is None or certified is None:
            return "worse than expected: the finding states no claimed and certified number"
        return self._excess_over(claimed, certified)

    def _excess_over(self, claimed: float, certified: float) -> str | None:
        """Return how a claimed number is farther from the certified one, or on another side, than expected."""
        if math.isnan(claimed):
            return "worse than expected: the number claimed is NaN"
        if claimed == certified:
            return None  # a violation by as little as its bound can show: on neither side, by no factor
        side = "below" if claimed < certified else "above"
        if self.direction not in {None, side}:
            return (
                f"worse than expected: {claimed:.6g} lies {side} the certified {certified:.6g}, not {self.direction}"
            )
        factor = factor_between(claimed, certified)
        if self.factor is not None and not factor <= self.factor:
            return f"worse than expected: by a factor of {factor:.4g}, expected at most {self.factor:.4g}"
        return None

    def _excess_of_calls(self, finding: Finding) -> str | None:
        if self.accepted is None:
            return None
        for what in ("accepted", "broken"):
            further = [words for words in (finding.witness or {}).get(what, ()) if words not in self.accepted]
            if further:
                return f"worse than expected: {'; '.join(further)} {what}, too"
        return None


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)  # names of mechanisms may contain brackets


def load_expected(path: Path, version: str | None) -> list[ExpectedFailure]:
    """Return the entries of a file that cover a version; empty if there is no file.

    Raises
    ------
    UsageError
        If the file is not TOML, or an entry has a missing or invalid field.
    """
    if not path.is_file():
        return []
    tables = read_table(path, {"failure": list}).get("failure", [])
    entries = [_read(path, table) for entry in tables for table in _for_each(entry, "mechanism", "law")]
    return [entry for entry in entries if entry.speaks_of(version)]


def _for_each(entry: Any, *keys: str) -> list[Any]:
    """Return an entry for each of several mechanisms and laws."""
    entries = [entry]
    for key in keys:
        names = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(names, list) and names:
            entries = [{**one, key: name} for one in entries for name in names]
    return entries


def _read(path: Path, entry: dict[str, Any]) -> ExpectedFailure:
    require_fields(
        path,
        "failure",
        entry,
        {**dict.fromkeys((*_FAILURE_FIELDS, "severity", "page", "common", "occasional"), str), **_SIZES},
    )
    missing = [name for name in _FAILURE_FIELDS if name not in entry]
    if missing:
        raise UsageError(f"{path}: the failure of {entry.get('mechanism')!r} lacks {', '.join(missing)}")
    parse_specifier(entry["versions"], f"{path}: ")
    kind = next((kind for kind in FindingKind if kind == entry["finding"] and kind in _FAILURES), None)
    if kind is None:
        accepted = ", ".join(_FAILURES)
        raise UsageError(f"{path}: finding must be one of {accepted}, got {entry['finding']!r}")
    severity = entry.get("severity")
    if severity is not None and severity not in list(FindingSeverity):
        raise UsageError(f"{path}: severity must be one of {', '.join(FindingSeverity)}, got {severity!r}")
    _require_sizes(path, entry)
    known = None if severity is None else FindingSeverity(severity)
    calls = tuple(entry["accepted"]) if "accepted" in entry else None
    return ExpectedFailure(**{**entry, "finding": kind, "severity": known, "accepted": calls})


def _require_sizes(path: Path, entry: dict[str, Any]) -> None:
    if entry.get("direction", DIRECTIONS[0]) not in DIRECTIONS:
        raise UsageError(f"{path}: direction must be one of {', '.join(DIRECTIONS)}, got {entry['direction']!r}")
    if not entry.get("factor", 1) >= 1:
        raise UsageError(f"{path}: factor must be a number of at least 1, got {entry['factor']!r}")
    if math.isnan(entry.get("least", 0)):
        raise UsageError(f"{path}: least must be a number other than NaN, got {entry['least']!r}")
    if not all(isinstance(words, str) for words in entry.get("accepted", ())):
        raise UsageError(f"{path}: accepted must be a list of strings, got {entry['accepted']!r}")


def covering(
    entries: Sequence[ExpectedFailure], mechanism: str, law: str, finding: Finding
) -> tuple[ExpectedFailure | None, str | None]:
    """Return the first entry that excuses a finding, and how the finding is worse than expected if none does.

    Parameters
    ----------
    entries : sequence of ExpectedFailure
        The entries.
    mechanism, law : str
        Names of the case and the law.
    finding : Finding
        The finding.

    Returns
    -------
    entry : ExpectedFailure or None
        The entry; None if no entry excuses the finding.
    excess : str or None
        The excess over the first entry of this kind; None if there is no such entry, or one that excuses the finding.
    """
    alike = [entry for entry in entries if entry.finding == finding.kind and entry.covers(mechanism, law)]
    excess = None
    for entry in alike:
        worse = entry.excess_of(finding, alike)
        if worse is None:
            return entry, None
        excess = excess or worse
    return None, excess
