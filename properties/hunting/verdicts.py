"""Verdicts of a hunt, and the reasons why its sampling stopped."""

from enum import StrEnum

__all__ = ["Float64Policy", "HuntVerdict", "Questions", "StopReason"]


class HuntVerdict(StrEnum):
    """The verdict of a hunt on a claim."""

    VIOLATED = "violated"
    NOT_REFUTED = "not refuted"
    """Consistent with the claim, which is not a proof."""
    UNDECIDED = "undecided"
    """Nothing was refuted, and nothing was tested that a pass could rest on; the notes give the reason."""
    HOLDS = "holds"
    """Certified, for exact output distributions only."""


class Float64Policy(StrEnum):
    """The consequence of a violation in float64 beside the verdict on the ideal mechanism."""

    FAIL = "fail"
    """The exit status, or an assertion, fails."""
    WARN = "warn"
    IGNORE = "ignore"
    """It is not looked for."""


class Questions(StrEnum):
    """The questions that samples are to answer."""

    BOTH = "ideal and float64"
    """The ideal mechanism, in real arithmetic, and its low-order bits in float64, each with its part of the level."""
    IDEAL = "ideal"
    """The ideal mechanism alone."""
    FLOATS = "floats"
    """One question on the floats as they are, down to their lowest bits."""
    VALUES = "values"
    """One question on the floats as they are, without their lowest bits."""


class StopReason(StrEnum):
    """The reason why the sampling of a hunt ended."""

    CALLS = "calls"
    BUDGET = "budget"
    REFUTED = "refuted"
    """The claim was refuted and the bounds were sharpened."""
    INTERRUPTED = "interrupted"
    CALL_TIMEOUT = "call timeout"
    WORKERS_LOST = "workers lost"

    @property
    def is_failure(self) -> bool:
        """Return whether the target or the machine ended the sampling: "not refuted" then says nothing."""
        return self in {StopReason.CALL_TIMEOUT, StopReason.WORKERS_LOST}

    @property
    def cuts_short(self) -> bool:
        """Return whether the sampling ended before its limits."""
        return self.is_failure or self is StopReason.INTERRUPTED
