"""Pins: points at which a second derivation gives the sides of the inequalities of a statement.

A bound that holds with room to spare stays true when a term of it is loosened, or tightened a little. A pin fixes the
value: at its point the bound agrees with a reference that is computed in another way, or the ratio of bound and truth
lies in a stated window of less than 1 %, or the bound is attained. Then a change of the bound in either direction is
seen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from typing import Any

from flint import arb, ctx

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, Real, ball, refine
from dpassay.spec.proof.recording import Comparison, recorded
from dpassay.spec.verdict import Evidence, Holds, Undecided, Verdict, Violated, conjunction

__all__ = ["AGREEMENT", "Known", "Pin", "Reference"]

AGREEMENT = Fraction(1, 2**40)
"""Default relative tolerance for the agreement with a reference value."""

WIDEST = Fraction(1, 100)
"""The largest relative width of a window."""

START_BITS = 128

Reference = Exact | arb | None
"""A value from a second derivation; None where a comparison is left unpinned."""

References = Callable[..., Reference | Iterable[Reference]]
Known = dict[tuple[int, int], Sequence[Reference]]
"""Reference values by the address of what computes them, and the precision."""


@dataclass(frozen=True)
class Pin:
    """A point of the domain of a statement with reference values for the inequalities decided there.

    The inequalities are those that the statement decides at the point, ``smaller <= larger``, in its own order.
    Without references and window the pin says that each of them is attained: both sides agree. Their number is fixed
    as well, by the references or by `count`: where a statement decides too little, nothing else would disagree.

    Parameters
    ----------
    at : Mapping
        Values of the quantifiers.
    by : str
        The second derivation, in words.
    smaller, larger, both : callable, optional
        Take the values of the quantifiers, or nothing; return the reference of that side (of both sides, where the
        bound is attained), or one for each inequality.
    tightness : (exact number, exact number), optional
        The window of larger / smaller, the same for every inequality; its relative width is at most 1 %.
    within : Fraction
        Relative agreement with the references, at most 1 %.
    count : int
        How many inequalities the statement decides at the point, where there are no references.

    Raises
    ------
    UsageError
        If the window is empty or wide, the agreement is not in (0, 1/100], or there are no inequalities to count.
    """

    at: Mapping[str, Any]
    by: str
    smaller: References | None = field(default=None, kw_only=True)
    larger: References | None = field(default=None, kw_only=True)
    both: References | None = field(default=None, kw_only=True)
    tightness: tuple[Exact, Exact] | None = field(default=None, kw_only=True)
    within: Fraction = field(default=AGREEMENT, kw_only=True)
    count: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 < self.within <= WIDEST:
            raise UsageError(f"within must lie in (0, {WIDEST}], got {self.within!r}")
        if self.count < 1:
            raise UsageError(f"count must be at least 1, got {self.count!r}")
        if self.tightness is not None:
            low, high = self.tightness
            if not 0 < low <= high <= low * (1 + WIDEST):
                raise UsageError(f"tightness must be a window of relative width at most {WIDEST}, got [{low}, {high}]")

    def check(self, claim: Callable[..., Verdict]) -> Verdict:
        """Decide the claim at the point, and compare each of its inequalities with the reference values.

        Returns
        -------
        Verdict
            The claim's own verdict if it does not hold; `Violated` where a side is off.
        """
        return self.judge(*self.measure(claim))

    def measure(self, claim: Callable[..., Verdict]) -> tuple[Verdict, list[Comparison]]:
        """Return the claim's verdict and its inequalities at the point; sides are computed once per precision."""
        with recorded() as comparisons:
            verdict = claim(**self.at)
        inequalities = [each for each in comparisons if not each.equality]
        return verdict, [Comparison(_remembered(each.smaller), _remembered(each.larger)) for each in inequalities]

    def judge(self, verdict: Verdict, comparisons: Sequence[Comparison], known: Known | None = None) -> Verdict:
        """Decide the measured values; tests may plant a fault before this step.

        Parameters
        ----------
        verdict : Verdict
            The claim's own.
        comparisons : sequence of Comparison
            Its inequalities.
        known : dict, optional
            Remembers the reference values from one call to the next. The pin itself remembers none: what they are
            computed with may be replaced in a test.
        """
        if not isinstance(verdict, Holds):
            return verdict
        checks: list[Verdict] = []
        for check in self._checks(comparisons, {} if known is None else known):
            if isinstance(check, Violated):
                return check.without_tightness()
            checks.append(check.without_tightness())
        if not checks:
            return Violated(evidence=Evidence.EXACT, detail="the pin says nothing of any inequality")
        return conjunction([verdict, *checks])

    def _checks(self, sides: Sequence[Comparison], known: Known) -> Iterable[Verdict]:
        if self.smaller is self.larger is self.both is None and len(sides) != self.count:
            detail = f"{self.count} inequalities are pinned, but {len(sides)} decided"
            yield Violated(evidence=Evidence.EXACT, detail=detail)
        if self.tightness is not None:
            yield from (_in_window(each, *self.tightness) for each in sides)
        elif self.smaller is self.larger is self.both is None:
            yield from (_agrees(each.larger, each.smaller, self.within, "attained bound") for each in sides)
        for name in ("larger", "smaller"):
            for references in filter(None, (getattr(self, name), self.both)):
                evaluated = partial(self._evaluated, references, known)
                yield from self._against(evaluated, [getattr(each, name) for each in sides], f"the {name} side")

    def _against(
        self, evaluated: Callable[[], Sequence[Reference]], values: list[Real], what: str
    ) -> Iterable[Verdict]:
        references = evaluated()
        if len(references) != len(values):
            detail = f"{what}: {len(references)} references for {len(values)} inequalities"
            yield Violated(evidence=Evidence.EXACT, detail=detail)
            return
        for index, (value, reference) in enumerate(zip(values, references, strict=True)):
            if reference is not None:
                yield _agrees(
                    value, partial(_reference, evaluated, index), self.within, f"{what} of inequality {index + 1}"
                )

    def _evaluated(self, references: References, known: Known) -> Sequence[Reference]:
        key = id(references), ctx.prec
        if key not in known:
            asks = any(p.default is Parameter.empty for p in signature(references).parameters.values())
            value = references(**self.at) if asks else references()
            known[key] = list(value) if isinstance(value, Iterable) else [value]
        return known[key]


def _reference(evaluated: Callable[[], Sequence[Reference]], index: int) -> arb:
    reference = evaluated()[index]
    if reference is None:
        raise UsageError(f"the reference of inequality {index + 1} depends on the precision")
    return ball(reference)


def _remembered(value: Real) -> Real:
    at_precision: dict[int, arb] = {}

    def remembered() -> arb:
        if ctx.prec not in at_precision:
            at_precision[ctx.prec] = value()
        return at_precision[ctx.prec]

    return remembered


def _agrees(value: Real, reference: Real, within: Fraction, what: str) -> Verdict:
    def decide() -> Verdict | None:
        found, known = value(), reference()
        gap, allowed = abs(found - known), ball(within) * abs(known)
        if gap <= allowed:
            return Holds(evidence=Evidence.ENCLOSED)
        return _off(what, found, known) if gap > allowed else None

    verdict = refine(decide, start=START_BITS)
    return _open(what) if verdict is None else verdict


def _in_window(sides: Comparison, low: Exact, high: Exact) -> Verdict:
    def decide() -> Verdict | None:
        ratio = sides.larger() / sides.smaller()
        if ball(low) <= ratio <= ball(high):
            return Holds(evidence=Evidence.ENCLOSED)
        off = ratio < ball(low) or ratio > ball(high)
        return _off("bound / truth", ratio, ball(low).union(ball(high))) if off else None

    verdict = refine(decide, start=START_BITS)
    return _open("bound / truth") if verdict is None else verdict


def _off(what: str, found: arb, known: arb) -> Verdict:
    detail = f"{what} is {found.str(12, radius=False)}, but {known.str(12)} by the second derivation"
    return Violated(evidence=Evidence.ENCLOSED, detail=detail)


def _open(what: str) -> Verdict:
    return Undecided(evidence=Evidence.ENCLOSED, detail=f"{what}: no enclosure narrow enough for the pin")
