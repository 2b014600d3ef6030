"""Expected failures: what is known of a library, so that only news fails a run.

A file ``expected_failures.toml`` lies beside the adapter; each entry names a mechanism and a law (globs), the versions
that it is about, the kind of finding, a reason and where it was reported. An entry whose finding does not appear is
as unexpected as a finding without an entry: somebody has mended it, or the harness no longer sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from dpassay.claims import UsageError
from dpassay.impl.libraries.registry import parse_specifier, read_table, require_fields
from dpassay.properties.assay.finding import FINDING_KINDS, FindingKind

__all__ = ["FINE", "ExpectedFailure", "covering", "load_expected"]

FINE: frozenset[FindingKind] = frozenset({"ok", "not applicable"})
"""The kinds that need no entry."""

_FAILURE_FIELDS = ("mechanism", "law", "versions", "finding", "reason", "upstream")


@dataclass(frozen=True)
class ExpectedFailure:
    """An entry of the file.

    Parameters
    ----------
    mechanism, law : str
        Names or globs.
    versions : str
        PEP 440 specifier of the versions of the library that show it; empty for all.
    finding : str
        The kind of finding.
    reason : str
        What is wrong, in a line.
    upstream : str
        Where it was reported; ``not reported`` where it was not.
    """

    mechanism: str
    law: str
    versions: str
    finding: FindingKind
    reason: str
    upstream: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.upstream})"

    def speaks_of(self, version: str | None) -> bool:
        """Whether the entry is about this version (None: not a released one, which only entries for all include)."""
        return not self.versions or (
            version is not None and parse_specifier(self.versions).contains(version, prereleases=True)
        )

    def covers(self, mechanism: str, law: str) -> bool:
        """Whether the entry is about this mechanism and law."""
        return _matches(mechanism, self.mechanism) and _matches(law, self.law)


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)  # names of mechanisms may contain brackets


def load_expected(path: Path, version: str | None) -> list[ExpectedFailure]:
    """Return the entries of a file that speak of a version; none if there is no file.

    Raises
    ------
    UsageError
        If the file is no TOML or an entry lacks a field or has a wrong one.
    """
    if not path.is_file():
        return []
    entries = [_read(path, entry) for entry in read_table(path, {"failure": list}).get("failure", [])]
    return [entry for entry in entries if entry.speaks_of(version)]


def _read(path: Path, entry: dict[str, str]) -> ExpectedFailure:
    require_fields(path, "failure", entry, dict.fromkeys(_FAILURE_FIELDS, str))
    missing = [name for name in _FAILURE_FIELDS if name not in entry]
    if missing:
        raise UsageError(f"{path}: the failure of {entry.get('mechanism')!r} lacks {', '.join(missing)}")
    parse_specifier(entry["versions"], f"{path}: ")
    kind = next((kind for kind in FINDING_KINDS if kind == entry["finding"] and kind not in FINE), None)
    if kind is None:
        accepted = ", ".join(kind for kind in FINDING_KINDS if kind not in FINE)
        raise UsageError(f"{path}: finding must be one of {accepted}, got {entry['finding']!r}")
    return ExpectedFailure(**{**entry, "finding": kind})  # type: ignore[arg-type]


def covering(
    entries: Sequence[ExpectedFailure], mechanism: str, law: str, kind: FindingKind
) -> ExpectedFailure | None:
    """Return the first entry that expects this kind of finding of this mechanism and law."""
    return next((entry for entry in entries if entry.finding == kind and entry.covers(mechanism, law)), None)
