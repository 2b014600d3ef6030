"""Exact numbers of the library as floats, for its adapter."""

from __future__ import annotations

import sympy
from tmlt.core.utils.exact_number import ExactNumber

__all__ = ["nearest_float"]


def nearest_float(number):
    """Return the float64 number next to an exact one.

    `ExactNumber.to_float` moves a rounded number by 1e-15, ten times that and so on until it is on the asked side:
    of a delta near 1e-10 too few digits are left to compare.
    """
    return float(sympy.N(ExactNumber(number).expr, 40))
