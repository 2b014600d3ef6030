"""Verdicts: what became of a claim, and by what argument.

A verdict has three values and no truth value of its own: an undecided case is not a pass, and code that
forgets to look fails loudly.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any, Never

__all__ = ["Evidence", "Holds", "Outcome", "Scope", "Undecided", "Verdict", "Violated", "conjunction"]


class Evidence(IntEnum):
    """How a verdict was reached, from the weakest to the strongest argument."""

    SAMPLED = 1
    """An e-value, with the error level that it certifies."""
    ENCLOSED = 2
    """Ball arithmetic at a point."""
    EXACT = 3
    """Rational enumeration of a finite object."""
    BOX = 4
    """Ball arithmetic at every point of a box of parameters."""
    SYMBOLIC = 5
    """An identity or a sign derived by computer algebra."""

    @property
    def label(self) -> str:
        """The lower-case name used by the command line."""
        return self.name.lower()


class Scope(IntEnum):
    """How far a verdict reaches, from the narrowest to the widest."""

    SAMPLES = 1
    POINTS = 2
    BOX = 3
    ALL = 4

    @property
    def label(self) -> str:
        """The lower-case name used by the command line."""
        return self.name.lower()


class Outcome(StrEnum):
    """The three values."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Common part of `Holds`, `Violated` and `Undecided`.

    Parameters
    ----------
    evidence : Evidence
        The weakest link of the argument.
    scope : Scope
        How far it reaches; a single decided case is `POINTS`.
    detail : str
        What was compared, for a human reader.
    tightness : float, optional
        bound / truth at this case, for statements that bound something; at least 1 where the bound holds.
    slack : Fraction
        Relative allowance with which an attained bound was compared; 0 where there was none.
    witness : Mapping
        Parameters of the case, where the argument itself chose them.
    """

    evidence: Evidence
    scope: Scope = Scope.POINTS
    detail: str = ""
    tightness: float | None = None
    slack: Fraction = Fraction(0)
    witness: Mapping[str, Any] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """Which of the three values this is."""
        raise NotImplementedError

    def __bool__(self) -> Never:
        raise TypeError("a verdict has three values; compare verdict.outcome with Outcome.HOLDS")

    def with_(self, **changes: Any) -> "Verdict":
        """Return a copy with some fields replaced."""
        return replace(self, **changes)


class Holds(Verdict):
    """The claim was established."""

    @property
    def outcome(self) -> Outcome:
        """`Outcome.HOLDS`."""
        return Outcome.HOLDS


class Violated(Verdict):
    """The claim was refuted."""

    @property
    def outcome(self) -> Outcome:
        """`Outcome.VIOLATED`."""
        return Outcome.VIOLATED


class Undecided(Verdict):
    """Neither: the budget or the precision did not suffice. `detail` says which."""

    @property
    def outcome(self) -> Outcome:
        """`Outcome.UNDECIDED`."""
        return Outcome.UNDECIDED


def conjunction(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on "all of these".

    Violated if any is violated, else undecided if any is undecided, else holds with the weakest evidence, the
    narrowest scope, the largest slack and the best (smallest) tightness among them.

    Raises
    ------
    ValueError
        If there are none: a claim about nothing is a mistake of the caller.
    """
    parts = list(verdicts)
    if not parts:
        raise ValueError("a conjunction needs at least one verdict")
    for kind in (Violated, Undecided):
        for part in parts:
            if isinstance(part, kind):
                return part
    ratios = [part.tightness for part in parts if part.tightness is not None]
    return Holds(
        evidence=min(part.evidence for part in parts),
        scope=min(part.scope for part in parts),
        detail="; ".join(dict.fromkeys(part.detail for part in parts if part.detail)),
        tightness=min(ratios, default=None),
        slack=max(part.slack for part in parts),
    )
