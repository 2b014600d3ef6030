"""Exact decisions between rational numbers, including equality."""

import math
from fractions import Fraction

from dpassay.spec.ball import ball
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["Ratio", "at_most_exact", "below_exact", "equal_exact", "product", "show_ratio"]

Ratio = Fraction | float
"""A likelihood ratio or e^epsilon: a rational, or ``math.inf`` (the only float)."""


def product(left: Ratio, right: Ratio) -> Ratio:
    """Multiply two positive ratios; float arithmetic would overflow on infinity times a huge rational.

    Examples
    --------
    >>> product(Fraction(10) ** 400, math.inf)
    inf
    """
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    return math.inf


def at_most_exact(truth: Fraction, bound: Fraction, what: str) -> Verdict:
    """Decide ``truth <= bound``, with the tightness bound / truth where both are positive.

    Examples
    --------
    >>> at_most_exact(Fraction(1, 3), Fraction(1, 3), "delta").outcome
    <Outcome.HOLDS: 'holds'>
    """
    note(lambda: ball(truth), lambda: ball(bound))
    tightness = float(bound / truth) if truth > 0 and bound > 0 else None
    if truth <= bound:
        return Holds(evidence=Evidence.EXACT, tightness=tightness)
    detail = f"{what} = {float(truth):.12g} (exact), but at most {float(bound):.12g} is allowed"
    return Violated(evidence=Evidence.EXACT, detail=detail, tightness=tightness)


def below_exact(smaller: Fraction, larger: Fraction, what: str) -> Verdict:
    """Decide ``smaller < larger`` strictly."""
    note(lambda: ball(smaller), lambda: ball(larger))
    if smaller < larger:
        return Holds(evidence=Evidence.EXACT)
    detail = f"{what} = {float(smaller):.12g} (exact), but less than {float(larger):.12g} is required"
    return Violated(evidence=Evidence.EXACT, detail=detail)


def equal_exact(left: object, right: object, what: str) -> Verdict:
    """Decide whether two exact objects (rationals, finite distributions, lists of them) are equal."""
    if isinstance(left, int | Fraction) and isinstance(right, int | Fraction):
        note(lambda: ball(Fraction(left)), lambda: ball(Fraction(right)), equality=True)
    if left == right:
        return Holds(evidence=Evidence.EXACT)
    return Violated(evidence=Evidence.EXACT, detail=f"{what}: {left} differs from {right}")


def show_ratio(ratio: Ratio) -> str:
    """Write e^epsilon as a rational, with epsilon in nats."""
    if not isinstance(ratio, Fraction):
        return "inf"
    return f"{ratio} (log {math.log(ratio.numerator) - math.log(ratio.denominator):.6g})"
