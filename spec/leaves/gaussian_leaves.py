"""Leaves of Gaussian noise: orthogonal coordinates, and one common factor.

The probability of a_i . z + k_i >= 0 for all i depends on the covariances G_ij = a_i . a_j alone. Rows that are
orthogonal are independent. If G_ij = l_i l_j for i != j and l_i^2 < G_ii, then
a_i . z = l_i x + (G_ii - l_i^2)^(1/2) e_i with independent standard normal x, e_1, e_2, ..., and the probability is

    E[ prod_i Phi((l_i x + k_i) / (G_ii - l_i^2)^(1/2)) ],

a Gaussian race. Two rows always have such a factor, a comparison of one noise or one sum with several others as well.
A row with bounds on both sides is a difference of two such probabilities.
"""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.leaves.model import Constraint, Noise

__all__ = ["NoCommonFactorError", "gaussian_probability"]

Form = dict[Noise, Fraction]
Row = tuple[Form, Fraction]
"""a . z + k >= 0."""


class NoCommonFactorError(ArithmeticError):
    """Raised when covariances of three constraints or more are not explained by one factor."""


@dataclass
class _Band:
    """low <= a . z <= high, for one direction a."""

    form: Form
    low: Fraction | None = None
    high: Fraction | None = None

    def choices(self) -> list[tuple[int, Row]]:
        """Return the band as a signed sum of half-spaces."""
        if self.low is None:
            assert self.high is not None
            return [(1, ({noise: -value for noise, value in self.form.items()}, self.high))]
        above = [(1, (self.form, -self.low))]
        return above if self.high is None else [*above, (-1, (self.form, -self.high))]


def gaussian_probability(constraints: Sequence[Constraint]) -> arb:
    """Enclose the probability that standard normal noises obey all constraints.

    Raises
    ------
    NoCommonFactorError
        If three constraints or more are dependent without one common factor.
    """
    bands = _bands(constraints)
    if any(band.low is not None and band.high is not None and band.low >= band.high for band in bands):
        return arb(0)
    total = arb(0)
    for choice in itertools.product(*(band.choices() for band in bands)):
        sign = math.prod(one for one, _ in choice)
        total = total + sign * _orthant([row for _, row in choice])
    return total


def _bands(constraints: Sequence[Constraint]) -> list[_Band]:
    """Join constraints on the same direction."""
    bands: dict[frozenset[tuple[Noise, Fraction]], _Band] = {}
    for constraint in constraints:
        form = constraint.form.noise
        scale = form[min(form, key=lambda noise: noise.position)]
        direction = {noise: value / scale for noise, value in form.items()}
        band = bands.setdefault(frozenset(direction.items()), _Band(direction))
        end = -constraint.form.constant / scale
        if scale > 0:
            band.low = end if band.low is None else max(band.low, end)
        else:
            band.high = end if band.high is None else min(band.high, end)
    return list(bands.values())


def _dot(left: Mapping[Noise, Fraction], right: Mapping[Noise, Fraction]) -> Fraction:
    return sum((value * right.get(noise, Fraction(0)) for noise, value in left.items()), Fraction(0))


def _orthant(rows: Sequence[Row]) -> arb:
    """Enclose the probability that all rows hold, independent blocks apart."""
    total, left = arb(1), list(rows)
    while left:
        block = [left.pop()]
        for row in block:  # grows while it is read
            linked = [other for other in left if _dot(row[0], other[0])]
            block += linked
            left = [other for other in left if other not in linked]
        total = total * _block(block)
    return total


def _block(rows: Sequence[Row]) -> arb:
    if len(rows) == 1:
        ((form, constant),) = rows
        return normal_cdf(ball(constant) / ball(_dot(form, form)).sqrt())
    hurdles: Counter[tuple[int, Fraction, int, Fraction]] = Counter()
    for (form, constant), (sign, square) in zip(rows, _loadings(rows), strict=True):
        rest = _dot(form, form) - square
        if rest <= 0:
            raise NoCommonFactorError("a constraint is the common factor itself")
        hurdles[sign, square / rest, (constant > 0) - (constant < 0), constant**2 / rest] += 1
    race = GaussianRace(
        *(Hurdle.of(_root(sign, slope), _root(side, offset), count)
          for (sign, slope, side, offset), count in hurdles.items())
    )  # fmt: skip
    return race.log_expectation().exp()


def _loadings(rows: Sequence[Row]) -> list[tuple[int, Fraction]]:
    """Return sign and square of the loading of each row on the common factor."""
    forms = [form for form, _ in rows]
    if len(forms) == 2:
        shared = _dot(forms[0], forms[1])
        ratio = _between(_dot(forms[0], forms[0]), _dot(forms[1], forms[1]), shared)
        return [(1, ratio), ((shared > 0) - (shared < 0), shared**2 / ratio)]
    first = [_dot(forms[0], form) for form in forms]
    third = _dot(forms[1], forms[2])
    square = first[1] * first[2] / third if third else Fraction(0)
    if square <= 0 or not all(first[1:]):
        raise NoCommonFactorError("the covariances of the constraints have no common factor")
    for i, j in itertools.combinations(range(1, len(forms)), 2):
        if _dot(forms[i], forms[j]) * square != first[i] * first[j]:
            raise NoCommonFactorError("the covariances of the constraints have no common factor")
    return [(1, square), *((1 if value > 0 else -1, value**2 / square) for value in first[1:])]


def _between(own: Fraction, other: Fraction, shared: Fraction) -> Fraction:
    """Return a square of the first loading with which both rests are positive: shared^2/other < square < own."""
    return abs(shared) if shared**2 / other < abs(shared) < own else (shared**2 / other + own) / 2


def _root(sign: int, square: Fraction) -> arb:
    """Enclose sign square^(1/2)."""
    return sign * ball(square).sqrt()
