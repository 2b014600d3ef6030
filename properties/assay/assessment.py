"""Findings compared with the expected failures: the lines of a report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpassay.properties.assay.expected import FINE, ExpectedFailure, covering
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.kinds import FindingKind, FindingSeverity
from dpassay.properties.assay.suite import CheckResult, Plan
from dpassay.properties.contract import FindingRecord
from dpassay.properties.records import plain

__all__ = ["Assessment", "assess", "not_found"]


@dataclass(frozen=True)
class Assessment:
    """A finding with its library, mechanism and law.

    Parameters
    ----------
    library, version : str
        The library; the version is None where it is not known.
    mechanism, law : str
        Names, or the globs of an expected failure that matches nothing.
    finding : Finding
        The finding.
    alpha : float or None
        Bound on the probability of a false alarm of this line; None if the check is not sampled.
    seconds : float
        Duration of the check.
    expected : str or None
        Reason and upstream issue of the matching expected failure, if any.
    severity : str or None
        Severity of the finding, if the entry states it.
    as_expected : bool
        False for a finding without an entry, and for an entry whose finding did not appear.
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
    severity: FindingSeverity | None = None

    def record(self) -> FindingRecord:
        """Return the record of the line."""
        found = self.finding
        return FindingRecord(
            library=self.library,
            version=self.version,
            mechanism=self.mechanism,
            law=self.law,
            claim=found.claim,
            finding=found.kind,
            severity=self.severity,
            claimed=plain(found.claimed),
            certified=plain(found.certified),
            evidence=found.evidence,
            scope=found.scope,
            alpha=self.alpha,
            calls=found.calls,
            seconds=round(self.seconds, 3),
            witness=plain(found.witness),
            expected=self.expected,
            as_expected=self.as_expected,
            power=plain(found.power),
            detail=found.detail,
        )


def assess(plan: Plan, results: Sequence[CheckResult], entries: Sequence[ExpectedFailure]) -> list[Assessment]:
    """Return a line for each check, case by case, and one for each entry that matches nothing.

    A check without a result was interrupted. A case is an error if every law that was checked turned out not to
    apply, so that nothing was tested. A check for which there was no time has no result, and fails no run. An entry is
    judged if all checks that it covers were run: its finding must then appear in at least one of its lines; otherwise
    each of these lines is unexpected.
    """
    found = {(result.check.mechanism, result.check.law.name): result for result in results}
    lines = {}
    for check in plan.checks:
        place = (check.mechanism, check.law.name)
        result = found.get(place) or CheckResult(check, Finding(FindingKind.UNDECIDED, "interrupted"))
        lines[place] = _line(plan, result, entries)
    _mark_untested(plan, lines)
    strangers = []
    for entry in entries:
        covered = _covered(plan, entry)
        if not covered:
            strangers.append(_stranger(plan, entry))
        elif (
            entry.occasional is None
            and all(place in lines and lines[place].finding.kind is not FindingKind.NOT_RUN for place in covered)
            and not any(lines[place].finding.kind == entry.finding for place in covered)
        ):
            for place in covered:
                lines[place] = _missed(lines[place], entry)
    return [*lines.values(), *strangers]


def not_found(
    plan: Plan, results: Sequence[CheckResult], entries: Sequence[ExpectedFailure]
) -> frozenset[tuple[str, str]]:
    """Return the mechanisms and laws of the entries whose finding did not appear.

    Parameters
    ----------
    plan : Plan
        The plan.
    results : sequence of CheckResult
        The results so far.
    entries : sequence of ExpectedFailure
        The expected failures of the version.
    """
    found = {(result.check.mechanism, result.check.law.name): result.finding.kind for result in results}
    missing = set[tuple[str, str]]()
    for entry in entries:
        covered = _covered(plan, entry)
        if entry.occasional is None and not any(found.get(place) == entry.finding for place in covered):
            missing.update(covered)
    return frozenset(missing)


def _covered(plan: Plan, entry: ExpectedFailure) -> list[tuple[str, str]]:
    return [place for place in plan.names if entry.covers(*place)]


def _line(plan: Plan, result: CheckResult, entries: Sequence[ExpectedFailure]) -> Assessment:
    check, finding = result.check, result.finding
    entry, excess = covering(entries, check.mechanism, check.law.name, finding)
    if excess is not None:
        finding = replace(finding, detail=f"{excess}; {finding.detail}")
    return Assessment(
        plan.library,
        plan.version,
        check.mechanism,
        check.law.name,
        finding if finding.claim is not None else replace(finding, claim=check.claim),
        check.settings.alpha if check.law.sampled and check.reason is None else None,
        result.seconds,
        None if entry is None else str(entry),
        finding.kind in FINE or finding.kind is FindingKind.NOT_RUN or entry is not None,
        None if entry is None else entry.severity,
    )


def _mark_untested(plan: Plan, lines: dict[tuple[str, str], Assessment]) -> None:
    """Turn the lines of each untested case into errors."""
    for mechanism in dict.fromkeys(name for name, _ in plan.names):
        places = [place for place in plan.names if place[0] == mechanism]
        if all(place in lines and lines[place].finding.kind is FindingKind.NOT_APPLICABLE for place in places):
            for place in places:
                detail = f"not tested: {lines[place].finding.detail}"
                finding = replace(lines[place].finding, kind=FindingKind.ERROR, detail=detail)
                lines[place] = replace(lines[place], finding=finding, as_expected=False)


def _stranger(plan: Plan, entry: ExpectedFailure) -> Assessment:
    finding = Finding(FindingKind.NOT_APPLICABLE, "the expected failure matches no mechanism and law of this library")
    return Assessment(
        plan.library, plan.version, entry.mechanism, entry.law, finding, expected=str(entry), as_expected=False
    )


def _missed(line: Assessment, entry: ExpectedFailure) -> Assessment:
    """Return the line, marked as lacking the finding of an entry."""
    detail = f"expected: {entry.finding}; found: {line.finding.detail}"
    return replace(line, finding=replace(line.finding, detail=detail), expected=str(entry), as_expected=False)
