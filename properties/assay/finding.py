"""Findings of laws about cases of a library; there are eight kinds.

*violation*: the certified privacy loss of a mechanism exceeds the claim of the library. *unsound number*: an
accountant, calibrator or converter states less than the certified value. *wrong answer*: the result is private but
not what the library documents, or an invalid argument is accepted silently. *error*: a mistake in the adapter, so that
the library was not tested, or a check that raised. *ok*: no fault found, with the power of the check. *undecided* and
*not applicable*: no result. *not run*: no result either, because the time of the run did not allow the check, or not
at the depth that it needs. Violations, unsound numbers and wrong answers are always certified.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from dpassay.arguments import UsageError
from dpassay.impl.libraries.remote import RemoteCase
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.sufficiency import MOST_SAMPLED_PAIRS
from dpassay.spec.verdict import Evidence, Scope

__all__ = [
    "FURTHER",
    "UNANSWERED",
    "Finding",
    "Law",
    "Numbers",
    "Settings",
    "Turn",
    "distance_between",
    "factor_between",
    "weakness_of",
    "with_beside",
    "without_answer",
]

FURTHER = "further"
"""Key of a witness: pairs of the claimed and the certified number of faults beside the one that is told.

An expected failure must excuse each of them: what is known to be wrong must not hide what is worse.
"""

UNANSWERED = "unanswered"
"""Key of a witness: the questions of a list that the library did not answer, beside those that it answered wrongly.

No expected failure excuses them: what is known to be wrong must not hide what was not asked.
"""


def factor_between(claimed: float, certified: float) -> float:
    """Return the ratio of two numbers, the larger one over the smaller.

    Parameters
    ----------
    claimed, certified : float
        The numbers.

    Returns
    -------
    float
        At least 1; infinite if the signs differ, or if only one of the two is 0, infinite or NaN.
    """
    if claimed == certified:
        return 1.0
    low, high = sorted((abs(claimed), abs(certified)))
    return high / low if low > 0 and claimed * certified > 0 and low < math.inf else math.inf


def distance_between(claimed: float, certified: float) -> tuple[float, float]:
    """Return how far two numbers are apart: by which factor, and then by how much.

    Parameters
    ----------
    claimed, certified : float
        The numbers.
    """
    return factor_between(claimed, certified), abs(claimed - certified)


Numbers = tuple[float | None, float | None]
"""The number that a library claims, and the certified one; None where there is none."""


def without_answer(questions: Sequence[str], reasons: Sequence[str]) -> str:
    """Return words on the questions of a list that were not answered, to add to a detail; empty without any.

    Parameters
    ----------
    questions : sequence of str
        The questions.
    reasons : sequence of str
        Why, as far as it is known: mistakes of the adapter, and lost workers.
    """
    if not questions:
        return ""
    return f"; no answer to {'; '.join(questions)}" + (f" ({'; '.join(reasons)})" if reasons else "")


@dataclass(frozen=True)
class Finding:
    """The finding of one law about one case.

    Parameters
    ----------
    kind : FindingKind
        Kind of the finding.
    detail : str
        Explanation, one line.
    claim : str, optional
        The claim, in the form of the command line if it has one.
    claimed, certified : float, optional
        The number that the library states, and the certified number.
    evidence, scope : Evidence and Scope, optional
        As for a verdict.
    calls : int
        Number of outcomes drawn or questions asked.
    witness : dict, optional
        The witness: arguments, or two inputs and an event.
    power : mapping, optional
        For "ok": the smallest detectable violation in the parameters of the claim, the smallest detectable
        distortion of a distribution, or the number of decided points (``points``, at least 1) and of those that the
        limits left out (``late``).
    is_weak : bool
        Whether the finding is undecided only because the test had too few calls: more of them may decide it.
    is_lasting : bool
        Whether the finding is undecided by something that was observed, which no later pass cures: the library ended
        or blocked its process, a check was refused, or outcomes repeat.
    """

    kind: FindingKind
    detail: str
    claim: str | None = None
    claimed: float | None = None
    certified: float | None = None
    evidence: Evidence | None = None
    scope: Scope | None = None
    calls: int = 0
    witness: dict[str, Any] | None = None
    power: Mapping[str, Any] | None = None
    is_weak: bool = False
    is_lasting: bool = False

    def __post_init__(self) -> None:
        if self.kind not in list(FindingKind):
            raise UsageError(f"kind must be one of {', '.join(FindingKind)}, got {self.kind!r}")
        object.__setattr__(self, "kind", FindingKind(self.kind))
        if self.is_weak and self.kind not in {FindingKind.UNDECIDED, FindingKind.NOT_RUN}:
            raise UsageError(f"is_weak must be False where a test has a result, got {self.kind} ({self.detail})")
        if self.is_lasting and (self.is_weak or self.kind is not FindingKind.UNDECIDED):
            raise UsageError(f"is_lasting must be False for what may be decided, got {self.kind} ({self.detail})")
        if self.kind is FindingKind.OK and (not self.power or self.power.get("points") == 0):
            raise UsageError(
                f"power must state the detectable violation of an ok finding, got {self.power!r} ({self.detail})"
            )


@dataclass(frozen=True)
class Settings:
    """Limits of a law on one case.

    Parameters
    ----------
    alpha : float
        Bound on the probability of a false alarm of this law on this case.
    seed : int
        Determines all random numbers, together with `calls`.
    calls : int
        Maximum number of outcomes that a sampled law draws, or a law of coordinates from each of them.
    seconds : float
        Time limit; a law that reaches it ends as undecided, or with what it has certified. May be infinite.
    confirms : bool
        Whether a law that computes may draw outcomes to confirm the fault that it found.
    pairs : int
        Maximum number of pairs on which a hunt plays.
    depth : int
        Factor on the numbers of points and parameters that a law asks about, at least 1; sampled laws draw as many
        outcomes as `calls` says.
    is_least : bool
        Whether the time allows no more than a test that is just not weak.
    """

    alpha: float
    seed: int
    calls: int
    seconds: float
    confirms: bool = True
    pairs: int = MOST_SAMPLED_PAIRS
    depth: int = 1
    is_least: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie strictly between 0 and 1, got {self.alpha!r}")
        if self.calls < 1:
            raise UsageError(f"calls must be at least 1, got {self.calls!r}")
        if not self.seconds > 0:
            raise UsageError(f"seconds must be positive, got {self.seconds!r}")
        if self.depth < 1 or self.pairs < 1:
            raise UsageError(f"depth and pairs must be at least 1, got {self.depth!r} and {self.pairs!r}")


class Turn(IntEnum):
    """Order of laws in a run: those that find most in the shortest time come first."""

    FIRST = 0
    COMPUTED = 1
    FITTED = 2
    SAMPLED = 3


@dataclass(frozen=True)
class Law:
    """A property that every case to which it applies must have.

    Parameters
    ----------
    name : str
        Unique; letters, digits and underscores.
    sentence : str
        The property, in one sentence.
    applies : callable
        Takes the case; returns None if the law applies to it, otherwise the reason why it does not.
    check : callable
        Takes the case and the settings and returns the finding.
    sampled : bool
        Whether a finding can be a false alarm; such a law gets a share of the level of the run.
    turn : Turn, optional
        Place in the order of a run; by default that of computed or of sampled laws.
    hunts : bool
        Whether the law hunts on pairs, so that fewer pairs need fewer calls.
    deepens : bool
        Whether more calls or a greater depth may find more; False for a law that asks a fixed list of questions.
    """

    name: str
    sentence: str
    applies: Callable[[RemoteCase], str | None]
    check: Callable[[RemoteCase, Settings], Finding]
    sampled: bool = True
    turn: Turn | None = None
    hunts: bool = False
    deepens: bool = True

    @property
    def place(self) -> Turn:
        """Place of the law in the order of a run."""
        return self.turn if self.turn is not None else Turn.SAMPLED if self.sampled else Turn.COMPUTED


def weakness_of(finding: Finding) -> tuple[float, float]:
    """Return a figure that is smaller for a more powerful pass: its weakness, and the negative number of points.

    Parameters
    ----------
    finding : Finding
        A pass, or a finding without power, which counts as one without weakness and points.
    """
    power = finding.power or {}
    weakness = power.get("weakness")
    return (float(weakness) if weakness is not None else 0.0, -float(power.get("points", 0)))


def with_beside(
    told: Finding, numbers: Sequence[Numbers], unanswered: Sequence[str], reasons: Sequence[str] = ()
) -> Finding:
    """Return a fault with what is beside it in its witness, which an expected failure must excuse, too.

    Parameters
    ----------
    told : Finding
        The fault that is told.
    numbers : sequence of pairs
        The claimed and the certified numbers of other faults.
    unanswered, reasons : sequence of str
        Questions without an answer, and why, as for `without_answer`.
    """
    beside = {FURTHER: _extremes(numbers), UNANSWERED: list(unanswered)}
    witness = {**(told.witness or {}), **{key: value for key, value in beside.items() if value}}
    return replace(told, detail=told.detail + without_answer(unanswered, reasons), witness=witness or None)


def _extremes(numbers: Sequence[Numbers]) -> list[Numbers]:
    """Return the worst of the numbers of several faults: an entry that excuses these excuses all.

    Of those that are not complete, these are one without a claimed number and the smallest claimed one; of the others
    the farthest on each side; and of all one that is NaN.
    """
    unknown = [pair for pair in numbers if pair[0] is None]
    named = [(claimed, certified) for claimed, certified in numbers if claimed is not None]
    wild = [pair for pair in named if any(one is not None and math.isnan(one) for one in pair)]
    alone = [pair for pair in named if pair[1] is None and pair not in wild]
    both = [(a, b) for a, b in named if b is not None and not (math.isnan(a) or math.isnan(b))]
    sides = ([pair for pair in both if pair[0] < pair[1]], [pair for pair in both if pair[0] > pair[1]])
    farthest = [max(side, key=lambda pair: distance_between(*pair)) for side in sides if side]
    return [*unknown[:1], *wild[:1], *sorted(alone, key=lambda pair: pair[0])[:1], *farthest]
