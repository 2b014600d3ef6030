"""Comparisons that the relations of diffprivlib share: bounds on a number, and the distance of arrays."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["apart", "at_least", "at_most"]

_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""


def at_most(words, value, bound):
    """Return the comparison of a number with an upper bound, up to rounding."""
    return words, -math.inf, float(value), bound + _ROUNDING * abs(bound)


def at_least(words, value, bound):
    """Return the comparison of a number with a lower bound, up to rounding."""
    return words, bound - _ROUNDING * abs(bound), float(value), math.inf


def apart(words, found, exact, slack=1e-8):
    """Return the comparison of arrays: the greatest distance of two entries, relative to one that is above 1.

    That of arrays of different shapes is infinite. An entry that is large, such as an end that stands for infinity,
    takes nothing from the comparison of the others.
    """
    found, exact = np.asarray(found, dtype=float), np.asarray(exact, dtype=float)
    distance = np.max(np.abs(found - exact) / (1 + np.abs(exact))) if found.shape == exact.shape else math.inf
    return words, 0.0, float(distance), slack
