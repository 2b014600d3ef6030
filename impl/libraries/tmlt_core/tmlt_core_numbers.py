"""Exact numbers of the library: compared, drawn, and as floats, for its adapter."""

from __future__ import annotations

import math
from fractions import Fraction

import sympy
from tmlt.core.utils.exact_number import ExactNumber

__all__ = ["agrees", "exactly", "nearest_float", "protected", "random_fraction"]


def nearest_float(number):
    """Return the float64 number next to an exact one.

    `ExactNumber.to_float` moves a rounded number by 1e-15, ten times that and so on until it is on the asked side:
    of a delta near 1e-10 too few digits are left to compare.
    """
    return float(sympy.N(ExactNumber(number).expr, 40))


def exactly(words, found, exact):
    """Return a comparison of exact numbers, as floats that are equal only if they are."""
    one, other = ExactNumber(found), ExactNumber(exact)
    value, bound = nearest_float(one), nearest_float(other)
    if value == bound and one != other:
        value = math.nextafter(value, -math.inf if one < other else math.inf)
    return f"{words}: {found} in place of {exact}", bound, value, bound


def protected(words, holds):
    """Return the comparison of a fact that protects the records: it is below its bounds where it does not hold."""
    return words, 1.0, float(holds), 1.0


def agrees(words, holds):
    """Return the comparison of a fact that does not, in a relation that is unsafe below: it is above its bounds."""
    return words, 0.0, 1.0 - float(holds), 0.0


def random_fraction(random, low=1, high=9):
    """Return a fraction whose numerator is drawn from a range, and whose denominator is at most six."""
    return Fraction(random.randint(low, high), random.randint(1, 6))
