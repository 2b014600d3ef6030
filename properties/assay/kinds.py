"""The kinds and severities of findings; `dpassay.properties.assay.finding` explains the kinds."""

from enum import StrEnum

__all__ = ["FindingKind", "FindingSeverity"]


class FindingKind(StrEnum):
    """Kind of a finding."""

    OK = "ok"
    VIOLATION = "violation"
    UNSOUND_NUMBER = "unsound number"
    WRONG_ANSWER = "wrong answer"
    NOT_APPLICABLE = "not applicable"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"
    ERROR = "error"


class FindingSeverity(StrEnum):
    """Severity of a finding, as its expected failure states it."""

    CRITICAL = "critical"
    """A privacy loss in documented use."""
    THEORETICAL = "theoretical"
    """A privacy loss that needs unusual parameters or the lowest bits of float64."""
    NEGLIGIBLE = "negligible"
    """An accepted invalid argument, a sound number that is not tight, or a fault without a privacy loss."""
