"""Findings held against what was expected: the lines of a report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpassay.properties.assay.expected import FINE, ExpectedFailure, covering
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.suite import Plan, Result
from dpassay.properties.records import SCHEMA, plain

__all__ = ["Assessment", "assess"]


@dataclass(frozen=True)
class Assessment:
    """A finding in its place.

    Parameters
    ----------
    library, version : str
        The library; the version is None where it is not known.
    mechanism, law : str
        Names, or the globs of an entry of the expected failures that fits nothing.
    finding : Finding
        What was found.
    alpha : float or None
        Probability of a false alarm of this line; None where it cannot be one.
    seconds : float
        How long it took.
    expected : str or None
        The entry's reason and upstream issue, where there is an entry.
    as_expected : bool
        False for a finding without an entry and for an entry without its finding.
    """

    library: str
    version: str | None
    mechanism: str
    law: str
    finding: Finding
    alpha: float | None = None
    seconds: float = 0.0
    expected: str | None = None
    as_expected: bool = True

    def record(self) -> dict[str, Any]:
        """Return the line for machines."""
        found = self.finding
        return {
            "schema": SCHEMA,
            "library": self.library,
            "version": self.version,
            "mechanism": self.mechanism,
            "law": self.law,
            "claim": found.claim,
            "finding": found.kind,
            "claimed": plain(found.claimed),
            "certified": plain(found.certified),
            "evidence": found.evidence,
            "scope": found.scope,
            "alpha": self.alpha,
            "calls": found.calls,
            "seconds": round(self.seconds, 3),
            "witness": plain(found.witness),
            "expected": self.expected,
            "as_expected": self.as_expected,
            "detail": found.detail,
        }


def assess(plan: Plan, results: Sequence[Result], entries: Sequence[ExpectedFailure]) -> list[Assessment]:
    """Return a line for each check, case by case, and one for each entry that fits nothing.

    A check without a result was interrupted. An entry is judged if all that it covers was run: then its finding must
    appear in at least one of its lines; otherwise each of them is not as expected.
    """
    found = {(result.check.mechanism, result.check.law.name): result for result in results}
    lines = {}
    for check in plan.checks:
        place = (check.mechanism, check.law.name)
        result = found.get(place) or Result(check, Finding("undecided", "interrupted"))
        lines[place] = _line(plan, result, entries)
    strangers = []
    for entry in entries:
        covered = [place for place in plan.names if entry.covers(*place)]
        if not covered:
            strangers.append(_stranger(plan, entry))
        elif all(place in lines for place in covered) and not any(
            lines[place].finding.kind == entry.finding for place in covered
        ):
            for place in covered:
                lines[place] = _missed(lines[place], entry)
    return [*lines.values(), *strangers]


def _line(plan: Plan, result: Result, entries: Sequence[ExpectedFailure]) -> Assessment:
    check, finding = result.check, result.finding
    entry = covering(entries, check.mechanism, check.law.name, finding.kind)
    return Assessment(
        plan.library,
        plan.version,
        check.mechanism,
        check.law.name,
        finding if finding.claim is not None else replace(finding, claim=check.claim),
        check.settings.alpha if check.law.sampled and check.reason is None else None,
        result.seconds,
        None if entry is None else str(entry),
        finding.kind in FINE or entry is not None,
    )


def _stranger(plan: Plan, entry: ExpectedFailure) -> Assessment:
    finding = Finding("not applicable", "an expected failure names no mechanism and law of this library")
    return Assessment(
        plan.library, plan.version, entry.mechanism, entry.law, finding, expected=str(entry), as_expected=False
    )


def _missed(line: Assessment, entry: ExpectedFailure) -> Assessment:
    """Return the line as one where an entry's finding should have appeared."""
    detail = f"expected: {entry.finding}; found: {line.finding.detail}"
    return replace(line, finding=replace(line.finding, detail=detail), expected=str(entry), as_expected=False)
