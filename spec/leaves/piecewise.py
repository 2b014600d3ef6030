"""Piecewise exponential polynomials: sums of t^k e^(r t) between rational kinks, with unequal rates.

The densities of Laplace, exponential and uniform noise and the indicator of a half-line are of this kind; products,
affine substitutions and integrals over one of two variables stay in it. `distributions.piecewise_exponential` is the
special case of one common rate, where products of thousands of factors are polynomials in e^(-rate t).

Coefficients are balls, or `ExponentialSum` for exact results. Powers are integers and rates rational in both cases, so
that a rate 0 is recognised.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Generic, TypeVar

from flint import arb

from dpassay.spec.ball import ball
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.model import NoiseKind

__all__ = [
    "Lift",
    "Piecewise",
    "Terms",
    "add_to",
    "antiderivative",
    "density",
    "lift_ball",
    "product",
    "substituted",
    "value_at",
]

C = TypeVar("C", arb, ExponentialSum)

Lift = Callable[[Fraction, Fraction], C]
"""Makes the coefficient c e^b of rationals c and b."""

Terms = dict[tuple[int, Fraction], C]
"""The function sum c t^k e^(r t), by (k, r)."""

ZERO, ONE = Fraction(0), Fraction(1)


def lift_ball(coefficient: Fraction, exponent: Fraction) -> arb:
    """Enclose coefficient e^exponent at the working precision."""
    return ball(coefficient) * ball(exponent).exp() if exponent else ball(coefficient)


def add_to(terms: Terms[C], key: tuple[int, Fraction], value: C) -> None:
    """Add a coefficient to a term in place."""
    terms[key] = terms[key] + value if key in terms else value


def product(left: Terms[C], right: Terms[C]) -> Terms[C]:
    """Multiply two exponential polynomials."""
    result: Terms[C] = {}
    for (k, r), x in left.items():
        for (m, s), y in right.items():
            add_to(result, (k + m, r + s), x * y)
    return result


def substituted(terms: Terms[C], slope: Fraction, offset: Fraction, lift: Lift[C]) -> Terms[C]:
    """Return the function of v that arises from t = slope v + offset.

    Parameters
    ----------
    terms : Terms
        The function of t.
    slope, offset : Fraction
        Coefficients of t.
    lift : Lift
        Makes coefficients.
    """
    result: Terms[C] = {}
    for (k, r), x in terms.items():
        for i in range(k + 1):
            factor = comb(k, i) * slope**i * offset ** (k - i)
            if factor:
                add_to(result, (i, r * slope if slope else ZERO), x * lift(factor, r * offset))
    return result


def antiderivative(terms: Terms[C], lift: Lift[C]) -> Terms[C]:
    """Return an antiderivative without a constant of integration: 0 at the infinite end where the terms decay."""
    result: Terms[C] = {}
    for (k, r), x in terms.items():
        if r == 0:
            add_to(result, (k + 1, r), x * lift(Fraction(1, k + 1), ZERO))
            continue
        factor = 1 / r
        for j in range(k, -1, -1):
            add_to(result, (j, r), x * lift(factor, ZERO))
            factor *= Fraction(-j) / r
    return result


def value_at(terms: Terms[C], point: Fraction, lift: Lift[C]) -> C:
    """Evaluate at a rational."""
    total = lift(ZERO, ZERO)
    for (k, r), x in terms.items():
        total = total + x * lift(point**k, r * point)
    return total


@dataclass(frozen=True, eq=False)
class Piecewise(Generic[C]):
    """A function on the real line, an exponential polynomial on each piece; equal to itself only.

    Parameters
    ----------
    kinks : tuple of Fraction
        Where one piece ends and the next begins, rising.
    parts : tuple of Terms
        One more than there are kinks; an empty one is the function 0.
    """

    kinks: tuple[Fraction, ...]
    parts: tuple[Terms[C], ...]

    def index_at(self, point: Fraction) -> int:
        """Return the number of the piece that contains `point`, or begins there."""
        return bisect_right(self.kinks, point)

    def part_at(self, point: Fraction) -> Terms[C]:
        """Return the part on the piece that contains `point`, or begins there."""
        return self.parts[self.index_at(point)]

    def composed(self, slope: Fraction, offset: Fraction, lift: Lift[C]) -> "Piecewise[C]":
        """Return t -> self(slope t + offset), for a slope that is not 0."""
        kinks = tuple((kink - offset) / slope for kink in self.kinks)
        parts = tuple(substituted(part, slope, offset, lift) for part in self.parts)
        return Piecewise(kinks, parts) if slope > 0 else Piecewise(kinks[::-1], parts[::-1])

    def times(self, other: "Piecewise[C]") -> "Piecewise[C]":
        """Multiply pointwise."""
        kinks = tuple(sorted({*self.kinks, *other.kinks}))
        return Piecewise(
            kinks, tuple(product(self.part_at(at), other.part_at(at)) for at in inner_points(kinks))
        )  # fmt: skip

    def integral(self, lift: Lift[C]) -> C:
        """Integrate over the real line.

        Raises
        ------
        ArithmeticError
            If the function does not decay at an infinite end.
        """
        total = lift(ZERO, ZERO)
        ends = (None, *self.kinks, None)
        for index, part in enumerate(self.parts):
            if part:
                whole = antiderivative(part, lift)
                total = total + _end(whole, ends[index + 1], 1, lift) - _end(whole, ends[index], -1, lift)
        return total


def _end(whole: Terms[C], point: Fraction | None, side: int, lift: Lift[C]) -> C:
    if point is not None:
        return value_at(whole, point, lift)
    if any(side * r >= 0 for _, r in whole):
        raise ArithmeticError("the integrand does not decay")
    return lift(ZERO, ZERO)


def inner_points(kinks: tuple[Fraction, ...]) -> list[Fraction]:
    """Return a point inside each piece, from left to right."""
    if not kinks:
        return [ZERO]
    middles = [(low + high) / 2 for low, high in pairwise(kinks)]
    return [kinks[0] - 1, *middles, kinks[-1] + 1]


def density(kind: NoiseKind, lift: Lift[C]) -> Piecewise[C]:
    """Return the density of a standard noise.

    Raises
    ------
    KeyError
        If it is not piecewise exponential.
    """
    half, one = lift(Fraction(1, 2), ZERO), lift(ONE, ZERO)
    if kind is NoiseKind.LAPLACE:
        return Piecewise((ZERO,), ({(0, ONE): half}, {(0, -ONE): half}))
    if kind is NoiseKind.EXPONENTIAL:
        return Piecewise((ZERO,), ({}, {(0, -ONE): one}))
    if kind is NoiseKind.UNIFORM:
        return Piecewise((ZERO, ONE), ({}, {(0, ZERO): one}, {}))
    raise KeyError(kind)
