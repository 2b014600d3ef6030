"""Exact numbers of the library: compared, drawn, and as floats, for its adapter."""

from __future__ import annotations

from fractions import Fraction

import sympy
from tmlt.core.utils.exact_number import ExactNumber

__all__ = ["exactly", "nearest_float", "random_fraction"]


def nearest_float(number):
    """Return the float64 number next to an exact one.

    `ExactNumber.to_float` moves a rounded number by 1e-15, ten times that and so on until it is on the asked side:
    of a delta near 1e-10 too few digits are left to compare.
    """
    return float(sympy.N(ExactNumber(number).expr, 40))


def exactly(words, found, exact):
    """Return a comparison of exact numbers."""
    same = ExactNumber(found) == ExactNumber(exact)
    return f"{words}: {found} in place of {exact}", 1.0, float(same), 1.0


def random_fraction(random, low=1, high=9):
    """Return a fraction whose numerator is drawn from a range, and whose denominator is at most six."""
    return Fraction(random.randint(low, high), random.randint(1, 6))
