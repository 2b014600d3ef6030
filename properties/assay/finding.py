"""What a law says of a case of a library: a finding, one of six kinds that are never mixed.

A *violation* is a mechanism whose certified loss exceeds the claim that the library makes for it; an *unsound
number* an accountant, calibrator or converter that states less than the certified truth; a *wrong answer* is private,
but not what it says it computes, or it is nonsense accepted silently. Only what is certified is a finding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dpassay.claims import UsageError
from dpassay.impl.libraries.remote import RemoteCase

__all__ = ["FINDING_KINDS", "Finding", "FindingKind", "Law", "Settings"]

FindingKind = Literal["ok", "violation", "unsound number", "wrong answer", "not applicable", "undecided"]

FINDING_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)


@dataclass(frozen=True)
class Finding:
    """What one law found about one case.

    Parameters
    ----------
    kind : str
        One of `FINDING_KINDS`.
    detail : str
        One line for a human reader.
    claim : str, optional
        The claim at issue, in the words of the command line where it has some.
    claimed, certified : float, optional
        The figure that the library states, and the certified one that it is held against.
    evidence, scope : str, optional
        As for a verdict: how it is known, and how far it reaches.
    calls : int
        Outcomes drawn, or questions asked.
    witness : dict, optional
        What shows it: arguments, or two inputs and an event.
    """

    kind: FindingKind
    detail: str
    claim: str | None = None
    claimed: float | None = None
    certified: float | None = None
    evidence: str | None = None
    scope: str | None = None
    calls: int = 0
    witness: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.kind not in FINDING_KINDS:
            raise UsageError(f"kind must be one of {', '.join(FINDING_KINDS)}, got {self.kind!r}")


@dataclass(frozen=True)
class Settings:
    """What a law may spend on one case.

    Parameters
    ----------
    alpha : float
        Probability of a false alarm that this law may have on this case.
    seed : int
        Determines every random number, together with `calls`.
    calls : int
        Outcomes that a sampled law may draw. What it finds depends on these, never on the time.
    seconds : float
        A ceiling: a law that reaches it ends as undecided, or with what it has certified by then. May be infinite.
    """

    alpha: float
    seed: int
    calls: int
    seconds: float

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie strictly between 0 and 1, got {self.alpha!r}")
        if self.calls < 1:
            raise UsageError(f"calls must be at least 1, got {self.calls!r}")
        if not self.seconds > 0:
            raise UsageError(f"seconds must be positive, got {self.seconds!r}")


@dataclass(frozen=True)
class Law:
    """A property that every case of some sort must have.

    Parameters
    ----------
    name : str
        Unique; letters, digits and underscores.
    sentence : str
        What must hold.
    applies : callable
        Takes the case; returns None if the law applies to it, and otherwise the reason why not.
    check : callable
        Takes the case and the settings and returns the finding.
    sampled : bool
        Whether a finding may be a false alarm: then it takes a share of the level of the run.
    """

    name: str
    sentence: str
    applies: Callable[[RemoteCase], str | None]
    check: Callable[[RemoteCase, Settings], Finding]
    sampled: bool = True
