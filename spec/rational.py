"""Exact decisions between rational numbers, including equality.

A float is refused: a computed one carries the rounding of its computation, so that nothing about it is exact. Infinity
is accepted, as the value of an unbounded ratio.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Rational

import numpy as np

from dpassay.arguments import UsageError, shown
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


def at_most_exact(truth: Ratio, bound: Ratio, what: str) -> Verdict:
    """Decide ``truth <= bound``, with the tightness bound / truth where both are positive.

    Raises
    ------
    UsageError
        If a side is a finite float, NaN, or no number.

    Examples
    --------
    >>> at_most_exact(Fraction(1, 3), Fraction(1, 3), "delta").outcome
    <Outcome.HOLDS: 'holds'>
    """
    truth, bound = _required(truth, what), _required(bound, f"the bound on {what}")
    note(lambda: ball(truth), lambda: ball(bound))
    tightness = _quotient(bound, truth) if truth > 0 and bound > 0 else None
    if truth <= bound:
        return Holds(evidence=Evidence.EXACT, tightness=tightness)
    detail = f"{what} = {float(truth):.12g} (exact), but at most {float(bound):.12g} is allowed"
    return Violated(evidence=Evidence.EXACT, detail=detail, tightness=tightness)


def below_exact(smaller: Ratio, larger: Ratio, what: str) -> Verdict:
    """Decide ``smaller < larger`` strictly.

    Raises
    ------
    UsageError
        As `at_most_exact` does.
    """
    smaller, larger = _required(smaller, what), _required(larger, f"the bound on {what}")
    note(lambda: ball(smaller), lambda: ball(larger))
    if smaller < larger:
        return Holds(evidence=Evidence.EXACT)
    detail = f"{what} = {float(smaller):.12g} (exact), but less than {float(larger):.12g} is required"
    return Violated(evidence=Evidence.EXACT, detail=detail)


def equal_exact(left: object, right: object, what: str) -> Verdict:
    """Decide whether two exact objects (rationals, finite distributions, lists of them) are equal.

    Raises
    ------
    UsageError
        If one is a finite float or NaN, or a container of one.
    """
    for side in (left, right):
        _refuse_floats(side, what)
    if isinstance(left, int | Fraction) and isinstance(right, int | Fraction):
        note(lambda: ball(Fraction(left)), lambda: ball(Fraction(right)), equality=True)
    if left == right:
        return Holds(evidence=Evidence.EXACT)
    return Violated(evidence=Evidence.EXACT, detail=f"{what}: {left} differs from {right}")


def _required(value: object, what: str) -> Ratio:
    """Return a number as a rational, or an infinity as it is."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))  # an integer of numpy would wrap around
    _refuse_floats(value, what)
    if isinstance(value, float):
        return value
    raise UsageError(f"{what} must be {_ACCEPTED}, got {shown(value)}")


_ACCEPTED = "an int, a Fraction or infinite, to be decided exactly"


def _refuse_floats(value: object, what: str) -> None:
    if isinstance(value, float | np.floating) and not np.isinf(value):
        raise UsageError(
            f"{what} must be {_ACCEPTED}, got the float {value!r}, which may have been rounded; Fraction(x) makes a "
            "parameter x exact, and at_most compares balls"
        )
    if isinstance(value, Mapping):
        value = (*value.keys(), *value.values())
    if isinstance(value, list | tuple | set | frozenset):
        for member in value:
            _refuse_floats(member, what)


def _quotient(bound: Ratio, truth: Ratio) -> float | None:
    if isinstance(bound, Fraction) and isinstance(truth, Fraction):
        return float(bound / truth)
    return math.inf if isinstance(truth, Fraction) else None


def show_ratio(ratio: Ratio) -> str:
    """Write e^epsilon as a rational, with epsilon in nats."""
    if not isinstance(ratio, Fraction):
        return "inf"
    return f"{ratio} (log {math.log(ratio.numerator) - math.log(ratio.denominator):.6g})"
