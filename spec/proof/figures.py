"""Figures of an erratum: the numbers that the published and the corrected claim give at the witness.

An erratum shows that a published claim fails. A wrong transcription of the published formula fails too, and a slack
correction holds whatever its constants are; therefore both sides state their numbers, and verification compares them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpassay.arguments import UsageError
from dpassay.spec.ball import Real, ball, refine
from dpassay.spec.proof.recording import Comparison
from dpassay.spec.verdict import Evidence, Holds, Undecided, Verdict, Violated, conjunction

__all__ = ["Figure", "Figures"]

START_BITS = 128
COARSEST = Fraction(1, 200)
EXACT_AGREEMENT = Fraction(1, 2**40)
_LINE = re.compile(r"(\S+) (<=|<|>=|>|=|!=) (\S+)")


@dataclass(frozen=True)
class Figure:
    """A number as a text states it: a decimal fraction, known to half a unit of its last digit, or a ratio.

    Parameters
    ----------
    text : str
        Such as ``0.227``, ``9.56e-21``, ``3/2`` or ``0``. A ratio and zero are exact; a decimal fraction has at
        least three significant digits or so: half a unit of its last digit is at most 1/200 of it.

    Raises
    ------
    UsageError
        If the text is no number, or too coarse.
    """

    text: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"-?\d+(/\d+|(\.\d+)?(e-?\d+)?)", self.text):
            raise UsageError(f"a figure must be a decimal fraction or a ratio, got {self.text!r}")
        if self.value and self.uncertainty > COARSEST * abs(self.value):
            raise UsageError(f"a figure must have three significant digits, got {self.text!r}")

    @property
    def value(self) -> Fraction:
        """The number."""
        return Fraction(self.text)

    @property
    def uncertainty(self) -> Fraction:
        """The largest distance of the true number from it."""
        if "/" in self.text or not self.value:
            return EXACT_AGREEMENT * abs(self.value)
        return Fraction(Decimal(1).scaleb(int(Decimal(self.text).as_tuple().exponent))) / 2

    def check(self, number: Real, what: str) -> Verdict:
        """Decide whether a number rounds to the figure."""

        def decide() -> Verdict | None:
            found = number()
            gap, allowed = abs(found - ball(self.value)), ball(self.uncertainty)
            if gap <= allowed:
                return Holds(evidence=Evidence.ENCLOSED)
            if gap > allowed:
                detail = f"{what} is {found.str(12, radius=False)}, and stated as {self.text}"
                return Violated(evidence=Evidence.ENCLOSED, detail=detail)
            return None

        verdict = refine(decide, start=START_BITS)
        if verdict is not None:
            return verdict
        return Undecided(evidence=Evidence.ENCLOSED, detail=f"{what}: no enclosure narrow enough")


@dataclass(frozen=True)
class Figures:
    """The numbers on both sides of each comparison that the two claims of an erratum decide, in their order.

    Parameters
    ----------
    published, corrected : tuple of str
        One line for each comparison, such as ``1.206 > 1.000``, ``0.510 <= 0.600`` or ``3/2 != -1/2``.

    Raises
    ------
    UsageError
        If a line is not of this form.
    """

    published: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for line in (*self.published, *self.corrected):
            _read(line)

    def check(self, published: Sequence[Comparison], corrected: Sequence[Comparison]) -> Verdict:
        """Decide whether the numbers of the two claims are those that are stated, all of them."""
        checks = [
            *_compared(self.published, published, "published claim"),
            *_compared(self.corrected, corrected, "corrected claim"),
        ]
        return conjunction(checks) if checks else Holds(evidence=Evidence.EXACT)


def _read(line: str) -> tuple[Figure, str, Figure]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise UsageError(f"figures must have the form '0.5 <= 0.6', got {line!r}")
    return Figure(match[1]), match[2], Figure(match[3])


def _compared(lines: Sequence[str], comparisons: Sequence[Comparison], what: str) -> Iterable[Verdict]:
    if len(lines) != len(comparisons):
        detail = f"{what}: {len(lines)} lines of figures for {len(comparisons)} comparisons"
        return [Violated(evidence=Evidence.EXACT, detail=detail)]
    numbered = enumerate(zip(lines, comparisons, strict=True), start=1)
    return [_line_agrees(line, each, f"{what}, comparison {k}") for k, (line, each) in numbered]


def _line_agrees(line: str, comparison: Comparison, what: str) -> Verdict:
    left, relation, right = _read(line)
    if comparison.equality != (relation in {"=", "!="}):
        return Violated(evidence=Evidence.EXACT, detail=f"{what} is no {relation!r}")
    return conjunction(
        [
            left.check(comparison.smaller, f"{what}: the left side"),
            right.check(comparison.larger, f"{what}: the right side"),
        ]
    )
