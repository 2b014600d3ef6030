"""Verdicts: the result of a decision, with its evidence and scope.

A verdict has three values and no truth value: an undecided case is not a pass, and code that uses a verdict as a
Boolean raises.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Never

from dpassay.arguments import UsageError, shown

__all__ = ["Evidence", "Holds", "Outcome", "Scope", "Undecided", "Verdict", "Violated", "conjunction"]


class _Ranked(StrEnum):
    """Words in ascending order: comparison and `min` go by definition, not by the alphabet."""

    @property
    def _rank(self) -> int:
        return list(type(self)).index(self)

    def __lt__(self, other: str) -> bool:
        return self._rank < type(self)(other)._rank

    def __le__(self, other: str) -> bool:
        return self._rank <= type(self)(other)._rank

    def __gt__(self, other: str) -> bool:
        return self._rank > type(self)(other)._rank

    def __ge__(self, other: str) -> bool:
        return self._rank >= type(self)(other)._rank


class Evidence(_Ranked):
    """The kind of argument for a verdict, from the weakest to the strongest."""

    SAMPLED = "sampled"
    """An e-value, with the error level that it certifies."""
    ENCLOSED = "enclosed"
    """Ball arithmetic at a point."""
    EXACT = "exact"
    """Rational enumeration of a finite object."""
    BOX = "box"
    """Ball arithmetic at every point of a box of parameters."""
    SYMBOLIC = "symbolic"
    """An identity or a sign derived by computer algebra."""


class Scope(_Ranked):
    """The range of a verdict, from the narrowest to the widest."""

    SAMPLES = "samples"
    POINTS = "points"
    BOX = "box"
    ALL = "all"


class Outcome(StrEnum):
    """The three values of a verdict."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Common part of `Holds`, `Violated` and `Undecided`.

    Parameters
    ----------
    evidence : Evidence
        The weakest evidence of the argument.
    scope : Scope
        The range of the verdict; a single decided case is `POINTS`.
    detail : str
        The comparison, as text.
    tightness : float, optional
        bound / bounded quantity in this case; at least 1 if the bound holds.
    slack : Fraction
        Relative slack of the comparison of an attained bound; 0 if there was none.
    witness : Mapping
        Parameters of the case, if the argument chose them.
    prose_steps : int
        Number of steps that are not machine-checked.
    """

    evidence: Evidence
    scope: Scope = Scope.POINTS
    detail: str = ""
    tightness: float | None = None
    slack: Fraction = Fraction(0)
    witness: Mapping[str, Any] = field(default_factory=dict)
    prose_steps: int = 0

    @property
    def outcome(self) -> Outcome:
        """The value of the verdict."""
        raise NotImplementedError

    def __bool__(self) -> Never:
        raise TypeError("a verdict has three values; compare verdict.outcome with Outcome.HOLDS")

    def without_tightness(self) -> "Verdict":
        """Return a copy that says nothing of tightness: the comparison is not a bound that could be tight."""
        return replace(self, tightness=None)


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
    """The claim is neither established nor refuted; `detail` states the reason."""

    @property
    def outcome(self) -> Outcome:
        """`Outcome.UNDECIDED`."""
        return Outcome.UNDECIDED


def conjunction(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on "all of these".

    Violated if any is violated, else undecided if any is undecided, else holds with the weakest evidence, the
    narrowest scope, the largest slack and the best (smallest) tightness among them, and the sum of the prose steps.

    Raises
    ------
    UsageError
        If there are none, because a claim about nothing is a mistake of the caller, or one is no verdict.
    """
    parts = list(verdicts)
    if not parts:
        raise UsageError("a conjunction needs at least one verdict")
    for number, part in enumerate(parts, 1):
        if not isinstance(part, Verdict):
            raise UsageError(f"the parts of a conjunction must be verdicts, got {shown(part)} as part {number}")
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
        prose_steps=sum(part.prose_steps for part in parts),
    )
