"""Rigorous real arithmetic: balls, each of which contains the number that it encloses.

Every quantity is an ``arb`` of python-flint (F. Johansson's Arb), a midpoint with a radius that encloses the
true value at the current working precision. A comparison is *decided* only when two balls separate; the
precision is doubled until they do or the limit is reached. There are no tolerances.

Quantities to be compared are passed as thunks (`Real`), so that they can be computed anew at each precision.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from flint import acb, arb, ctx, fmpq

from dpassay.arguments import UsageError
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Scope, Undecided, Verdict, Violated

__all__ = [
    "ATTAINED",
    "FAR",
    "Exact",
    "Real",
    "UndecidedError",
    "at_least",
    "at_most",
    "ball",
    "enclosure",
    "exact",
    "float_lower",
    "float_upper",
    "is_at_most",
    "less_than",
    "log_normal_cdf",
    "log_normal_sf",
    "max_balls",
    "midpoint",
    "normal_cdf",
    "normal_pdf",
    "normal_quantile",
    "precision",
    "refine",
    "reversed_hazard",
    "scaled_normal_sf",
    "sum_balls",
]

T = TypeVar("T")

Exact = int | float | Fraction
"""A parameter, exact by convention: a float is a dyadic rational."""

Real = Callable[[], arb]
"""A real number: a procedure that encloses it at the current working precision."""

ATTAINED = Fraction(1, 2**60)
"""The relative slack with which a bound that is attained is compared (equality cannot be decided by balls)."""

START_BITS = 64
ATTAINED_BITS = 96  # a slack of 2^-60 is never decided below
LIMIT_BITS = 1024


class UndecidedError(ArithmeticError):
    """Raised when an enclosure cannot be made as narrow as asked within the precision limit."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute inside the block with `bits` bits of working precision."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def exact(name: str, value: Exact) -> Fraction:
    """Return `value` as an exact rational number.

    Raises
    ------
    UsageError
        If `value` is NaN, infinite or not a number; `name` is the parameter to blame.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError(f"{name} must be finite, got {value!r}")
        return Fraction(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return Fraction(int(value))  # a numpy integer would wrap around later
    raise UsageError(f"{name} must be an int, a float or a Fraction, got {value!r}")


def ball(value: Exact | arb) -> arb:
    """Enclose an exact number at the current precision; a ball passes through unchanged."""
    if isinstance(value, arb):
        return value
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("a truth value is not a number")
    return arb(value)


def sum_balls(terms: Iterable[arb]) -> arb:
    """Add balls from left to right; the sum of none is 0."""
    total = arb(0)
    for term in terms:
        total = total + term
    return total


def max_balls(values: Any) -> arb:
    """Enclose the largest of some numbers; minus infinity if there are none."""
    largest = arb.neg_inf()
    for value in values:
        largest = largest.max(value)
    return largest


# --- outward-rounded floats at the edge ---------------------------------------------------------------------


def float_lower(x: arb) -> float:
    """Return a float64 that does not exceed any number in the ball (-inf for an indeterminate one)."""
    return -math.inf if x.is_nan() else _rounded(x.lower(), -math.inf)


def float_upper(x: arb) -> float:
    """Return a float64 that is not below any number in the ball (+inf for an indeterminate one)."""
    return math.inf if x.is_nan() else _rounded(x.upper(), math.inf)


def _rounded(end: arb, direction: float) -> float:
    # `end` is the ball of one endpoint: exact midpoint, radius 0. The conversion to float64 rounds to nearest.
    value = float(end)
    if not end.is_finite():
        return value
    if not math.isfinite(value):
        return value if (value > 0) == (direction > 0) else math.copysign(np.finfo(float).max, value)
    difference = arb(value) - end
    sound = difference >= 0 if direction > 0 else difference <= 0
    return value if sound else math.nextafter(value, direction)


def midpoint(x: arb) -> float:
    """Return the midpoint as a float64, for display and for search; it certifies nothing."""
    return float(x.mid())


# --- the normal distribution --------------------------------------------------------------------------------


def normal_pdf(x: arb) -> arb:
    """Density of the standard normal distribution."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def normal_cdf(x: arb) -> arb:
    """Distribution function of the standard normal distribution, with full relative accuracy in both tails."""
    return (-x / arb(2).sqrt()).erfc() / 2


FAR = 100
"""Where `scaled_normal_sf` takes over from erfc, which loses twice the bits of x, and underflows in the end."""


def scaled_normal_sf(x: arb) -> arb:
    """Enclose e^(x^2/2) Phi(-x) for positive x, accurate relative to itself however large x is.

    By Tricomi's function U: erfc(t) = e^(-t^2) U(1/2, 1/2, t^2)/sqrt(pi) (DLMF 7.11.5).
    """
    return (x * x / 2).hypgeom_u(arb(1) / 2, arb(1) / 2) / (2 * arb.pi().sqrt())


def log_normal_cdf(x: arb) -> arb:
    """Logarithm of the normal cdf, with full relative accuracy in the tails.

    It is log1p on the right and log of erfc on the left; deep in the left tail, where erfc is no longer kept apart
    from 0, the square is taken out (`scaled_normal_sf`).

    Examples
    --------
    >>> float_upper(log_normal_cdf(ball(-40)))
    -804.6084420137532
    """
    root = arb(2).sqrt()
    if x < -FAR:
        return scaled_normal_sf(-x).log() - x * x / 2
    if x > 0:
        return (-(x / root).erfc() / 2).log1p()
    return ((-x / root).erfc() / 2).log()


def reversed_hazard(x: arb) -> arb:
    """Ratio of density and distribution function of the standard normal distribution; it is decreasing."""
    if x < -FAR:
        return 1 / ((2 * arb.pi()).sqrt() * scaled_normal_sf(-x))  # the exponentials cancel
    return (-x * x / 2 - (2 * arb.pi()).log() / 2 - log_normal_cdf(x)).exp()


def log_normal_sf(x: arb) -> arb:
    """Logarithm of the normal survival function."""
    return log_normal_cdf(-x)


def log_abs_normal_cdf_upper(x: arb, y: arb) -> arb:
    """Logarithm of an upper bound on the modulus of the normal cdf at the complex numbers x + iy.

    The cdf has complex zeros, so the modulus itself may have no finite logarithm on a wide ball.
    """
    z = acb(x, y)
    value: acb = (-z / arb(2).sqrt()).erfc() / 2
    return arb(value.abs_upper()).log()


def normal_quantile(p: arb) -> arb:
    """Inverse of the normal cdf, for p in (0, 1)."""
    half: arb = (1 - 2 * p).erfinv() if p > arb(1) / 4 else (2 * p).erfcinv()
    return -arb(2).sqrt() * half


# --- decisions ----------------------------------------------------------------------------------------------


def refine(decide: Callable[[], T | None], *, start: int = START_BITS, limit: int = LIMIT_BITS) -> T | None:
    """Call `decide` at doubled precision until it returns a decision; None when the limit is reached."""
    bits = start
    while bits <= limit:
        with precision(bits):
            found = decide()
        if found is not None:
            return found
        bits *= 2
    return None


def is_at_most(left: Real, right: Real, sides: str, *, limit: int = LIMIT_BITS) -> bool:
    """Return whether ``left <= right``, by balls that separate.

    Parameters
    ----------
    left, right : callable
        Enclose the two sides.
    sides : str
        The two sides in words, for the error.
    limit : int
        Largest working precision, bits.

    Raises
    ------
    UndecidedError
        If they do not separate within the limit: the sides may be equal.
    """

    def decide() -> bool | None:
        a, b = left(), right()
        return True if a <= b else False if a > b else None

    found = refine(decide, limit=limit)
    if found is None:
        raise UndecidedError(f"{sides} do not separate at {limit} bits")
    return found


def at_most(left: Real, right: Real, *, slack: Fraction = Fraction(0), limit: int = LIMIT_BITS) -> Verdict:
    """Decide ``left <= right``, or ``left <= right + slack |right|`` for a bound that is attained.

    Parameters
    ----------
    left, right : Real
        The truth and its bound.
    slack : Fraction
        Relative allowance; 0, or `ATTAINED` where equality is possible.
    limit : int
        Largest working precision in bits.

    Returns
    -------
    Verdict
        With `tightness` right / left where both are positive.
    """
    note(left, right)

    def decide() -> Verdict | None:
        a, b = left(), right()
        bound = b + ball(slack) * abs(b)
        if a <= bound:
            return Holds(evidence=Evidence.ENCLOSED, slack=slack, tightness=_ratio(b, a))
        if a > bound:
            detail = f"{_show(a)} (certified), but at most {_show(b)} is allowed"
            return Violated(evidence=Evidence.ENCLOSED, slack=slack, detail=detail, tightness=_ratio(b, a))
        return None

    verdict = refine(decide, start=ATTAINED_BITS if slack else START_BITS, limit=limit)
    return verdict if verdict is not None else _undecided(left, right, limit)


def at_least(left: Real, right: Real, *, slack: Fraction = Fraction(0), limit: int = LIMIT_BITS) -> Verdict:
    """Decide ``left >= right``, the reverse of `at_most`, without a tightness.

    Parameters
    ----------
    left, right : callable
        Enclose the two sides.
    slack : Fraction
        Relative slack of an attained bound.
    limit : int
        Largest working precision, bits.
    """
    return at_most(right, left, slack=slack, limit=limit).without_tightness()


def less_than(left: Real, right: Real, *, limit: int = LIMIT_BITS) -> Verdict:
    """Decide ``left < right`` strictly."""
    note(left, right)

    def decide() -> Verdict | None:
        a, b = left(), right()
        if a < b:
            return Holds(evidence=Evidence.ENCLOSED, tightness=_ratio(b, a))
        if a >= b:
            detail = f"{_show(a)} (certified), but less than {_show(b)} is required"
            return Violated(evidence=Evidence.ENCLOSED, detail=detail)
        return None

    verdict = refine(decide, limit=limit)
    return verdict if verdict is not None else _undecided(left, right, limit)


def enclosure(value: Real, *, relative_bits: int = 40, limit: int = LIMIT_BITS) -> arb:
    """Enclose a number with relative radius at most 2^-relative_bits.

    Raises
    ------
    UndecidedError
        If the precision limit is reached first (the number may be 0).
    """
    bits = max(START_BITS, relative_bits + 16)
    while bits <= limit:
        with precision(bits):
            x = value()
        if x.is_finite() and x.rel_accuracy_bits() >= relative_bits:
            return x
        bits = bits * 3 // 2
    raise UndecidedError(f"no enclosure with {relative_bits} accurate bits within {limit} bits of precision")


def _ratio(bound: arb, truth: arb) -> float | None:
    if truth > 0 and bound > 0 and truth.is_finite():
        return float((bound / truth).mid())
    return None


def _show(x: arb) -> str:
    return str(x.str(12, radius=False))


def _undecided(left: Real, right: Real, limit: int) -> Verdict:
    with precision(limit):
        detail = f"{_show(left())} and {_show(right())} do not separate at {limit} bits"
    return Undecided(evidence=Evidence.ENCLOSED, scope=Scope.POINTS, detail=detail)
