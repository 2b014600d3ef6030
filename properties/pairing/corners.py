"""Worst pairs of selection and of sparse vector: corners of the range of the answers."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.spec.ball import Exact, Real
from dpassay.spec.distributions.selection import SelectionDistribution, selection_rate
from dpassay.spec.theorems.foundations.noisy_max_values import corner_of_selection, selection_corner_loss

__all__ = ["bounded_selection_loss", "corner_pair", "corner_range", "selection_corners"]

Array = NDArray[np.float64]

WIDE = 16.0
"""Where a relation has no bounds, answers this many scales of the noise away stand for infinitely far ones."""


def bounded_selection_loss(mechanism: Any, epsilon: Exact, distribution: type[SelectionDistribution]) -> Real:
    """Return the exact largest loss of noisy max on answers in [low, high], with noise for `epsilon`."""
    low, high, step = Fraction(mechanism.low), Fraction(mechanism.high), Fraction(mechanism.sensitivity)
    corner = corner_of_selection(low, high, step, mechanism.size)
    rate = selection_rate(epsilon, mechanism.sensitivity)
    return lambda: selection_corner_loss(corner, rate, distribution.log_report_probability)


def corner_range(relation: VectorNeighbours, mechanism: Any, centre: float, reach: float) -> tuple[float, float]:
    """Return the range that relation and mechanism accept; where it has no end, one is `reach` away from `centre`.

    Parameters
    ----------
    relation : VectorNeighbours
        The relation, with its range.
    mechanism : object
        The mechanism, with `low` and `high`.
    centre : float
        A point of the range.
    reach : float
        Positive distance.
    """
    low, high = max(relation.low, mechanism.low), min(relation.high, mechanism.high)
    return low if math.isfinite(low) else centre - reach, high if math.isfinite(high) else centre + reach


def corner_pair(
    relation: VectorNeighbours,
    ends: tuple[float, float],
    falls: NDArray[np.bool_],
    *,
    rise: bool = True,
    fall: bool = True,
) -> Pair:
    """Return the pair where the answers marked fall to the low end, while all others rise to the high end.

    Without `rise` or `fall` those answers stay at their end: for relations whose answers all move the same way.

    Parameters
    ----------
    relation : VectorNeighbours
        The relation that the pair obeys.
    ends : (float, float)
        The low and the high end of the range.
    falls : array of bool, shape (n,)
        The answers that fall.
    rise, fall : bool
        Whether the answers move that are to rise, or to fall.
    """
    low, high = ends
    step = min(relation.largest_step, high - low)
    right = np.where(falls, low, high)
    left = right + step * np.where(falls, float(fall), -float(rise))
    return left, right


def selection_corners(mechanism: Any, relation: NeighbourRelation) -> Iterator[Pair]:
    """Yield the worst pair of noisy max: one answer falls to the bottom, its rivals rise to the top."""
    if isinstance(relation, VectorNeighbours):
        ends = corner_range(relation, mechanism, 0.0, WIDE * mechanism.sensitivity / mechanism.epsilon)
        falls = np.arange(relation.size) == relation.size - 1
        yield corner_pair(relation, ends, falls)
        yield corner_pair(relation, ends, falls, rise=False)
        yield corner_pair(relation, ends, falls, fall=False)
