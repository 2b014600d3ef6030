"""Expected failures: known findings of a library, which do not fail a run.

The file ``expected_failures.toml`` beside the adapter lists them. Each entry names a mechanism and a law (globs), the
affected versions, the kind of finding, a reason and the upstream report. An entry whose finding does not appear is
unexpected, like a finding without an entry: the library was fixed, or the harness no longer detects the fault.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from dpassay.claims import UsageError
from dpassay.impl.libraries.registry import parse_specifier, read_table, require_fields
from dpassay.properties.assay.kinds import FindingKind, FindingSeverity

__all__ = ["FINE", "ExpectedFailure", "covering", "load_expected"]


FINE: frozenset[FindingKind] = frozenset({FindingKind.OK, FindingKind.NOT_APPLICABLE})
"""Kinds of finding that need no entry."""

_FAILURE_FIELDS = ("mechanism", "law", "versions", "finding", "reason", "upstream")


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
    """

    mechanism: str
    law: str
    versions: str
    finding: FindingKind
    reason: str
    upstream: str
    severity: FindingSeverity | None = None

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
    entries = [_read(path, entry) for entry in read_table(path, {"failure": list}).get("failure", [])]
    return [entry for entry in entries if entry.speaks_of(version)]


def _read(path: Path, entry: dict[str, str]) -> ExpectedFailure:
    require_fields(path, "failure", entry, dict.fromkeys((*_FAILURE_FIELDS, "severity"), str))
    missing = [name for name in _FAILURE_FIELDS if name not in entry]
    if missing:
        raise UsageError(f"{path}: the failure of {entry.get('mechanism')!r} lacks {', '.join(missing)}")
    parse_specifier(entry["versions"], f"{path}: ")
    kind = next((kind for kind in FindingKind if kind == entry["finding"] and kind not in FINE), None)
    if kind is None:
        accepted = ", ".join(kind for kind in FindingKind if kind not in FINE)
        raise UsageError(f"{path}: finding must be one of {accepted}, got {entry['finding']!r}")
    severity = entry.get("severity")
    if severity is not None and severity not in list(FindingSeverity):
        raise UsageError(f"{path}: severity must be one of {', '.join(FindingSeverity)}, got {severity!r}")
    known = None if severity is None else FindingSeverity(severity)
    return ExpectedFailure(**{**entry, "finding": kind, "severity": known})  # type: ignore[arg-type]


def covering(
    entries: Sequence[ExpectedFailure], mechanism: str, law: str, kind: FindingKind
) -> ExpectedFailure | None:
    """Return the first entry that expects this kind of finding for a mechanism and a law, or None.

    Parameters
    ----------
    entries : sequence of ExpectedFailure
        The entries.
    mechanism, law : str
        Names of the case and the law.
    kind : FindingKind
        Kind of the finding.
    """
    return next((entry for entry in entries if entry.finding == kind and entry.covers(mechanism, law)), None)
