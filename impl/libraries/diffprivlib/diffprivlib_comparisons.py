"""Comparisons that the relations of diffprivlib share: bounds on a number, and the distance of arrays and of draws.

A relation of a fit or an answer compares many numbers, of which some protect the records and others do not. The former
are marked, and are also asked as a relation of their own.
"""

from __future__ import annotations

import math

import numpy as np

from dpassay.impl.libraries.references import near

__all__ = [
    "DRAWS",
    "accounted",
    "apart",
    "at_least",
    "at_most",
    "charged",
    "compared",
    "enough",
    "far",
    "protecting",
    "protects",
    "spends",
    "understates",
]

DRAWS = 4000
"""The number of draws of one random state that are compared with a distribution."""

_FALSE_ALARM = 1e-12
"""The probability that draws from the true distribution are found apart from it."""

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


# --- numbers that protect the records -----------------------------------------------------------------------


class _Spends(tuple):
    __slots__ = ()


class _Protects(tuple):
    __slots__ = ()


class _Understates(tuple):
    __slots__ = ()


def spends(row):
    """Mark the comparison of a number that costs privacy above its bound, such as an epsilon."""
    return _Spends(row)


def protects(row):
    """Mark the comparison of a number that costs privacy below its bound, such as a sensitivity."""
    return _Protects(row)


def understates(row):
    """Mark the comparison of a number that an accountant states as a bound, and that is none below its own bound."""
    return _Understates(row)


def enough(words, found, exact, slack=1e-8):
    """Return the marked comparison of sensitivities with exact ones: the most by which one is smaller, as in `apart`.

    Numbers that do not belong to each other are left to `apart`.
    """
    found, exact = np.asarray(found, dtype=float), np.asarray(exact, dtype=float)
    missing = np.max((exact - found) / (1 + np.abs(exact)), initial=0.0) if found.shape == exact.shape else 0.0
    return spends((f"{words}, missing", 0.0, float(missing), slack))


def charged(words, total, epsilon):
    """Return the marked comparison of the total of an accountant with what was spent."""
    return understates((f"{words}: account", *near(total, epsilon)))


def protecting(relations):
    """Return the relations of those comparisons that protect the records, for `unsafe` on either side."""
    return {f"{words}: what protects the records": _of(one, _Spends, _Protects) for words, one in relations.items()}


def accounted(relations):
    """Return the relations of those comparisons of what accountants state, for `understated`."""
    return {f"{words}: what is accounted": _of(one, _Understates) for words, one in relations.items()}


def _of(relation, *marks):
    """Return the relation of comparisons with one of these marks, on the side of the mark alone."""

    def rows(random):
        for row in relation(random):
            if isinstance(row, marks):
                words, low, value, high = row
                yield (words, -math.inf, value, high) if isinstance(row, _Spends) else (words, low, value, math.inf)

    return rows


# --- distances of draws -------------------------------------------------------------------------------------


def far(draws):
    """Return the distance from the truth that the distribution function of independent draws does not reach.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz (with the constant of Massart 1990) it is above d with a
    probability of at most 2 exp(-2 n d^2).
    """
    return math.sqrt(math.log(2 / _FALSE_ALARM) / (2 * draws))


def compared(words, cells, *alternatives):
    """Compare the distribution functions of cells that were drawn, and of the nearest of their probabilities."""
    size = len(alternatives[0])
    cells = (
        np.clip(np.asarray(cells, dtype=int), -1, size) + 1
    )  # what lies outside is in a cell that has probability 0
    drawn = np.cumsum(np.bincount(cells, minlength=size + 2) / len(cells))
    distances = [np.max(np.abs(drawn - np.cumsum([0.0, *one, 0.0]))) for one in alternatives]
    yield f"{words}: distance of distribution functions", 0.0, float(min(distances)), far(len(cells))
