"""Pairs next to a pair, and outcomes that are the same up to rounding."""

import math
from typing import Any

import numpy as np

from dpassay.impl.libraries.plain import Record
from dpassay.neighbours import AnyNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.outcomes.flattening import NUMBER
from dpassay.properties.outcomes.symbols import comparable

__all__ = ["agree_but_for_rounding", "pairs_next_to"]

_CLOSE_BY = 8
"""Pairs next to a pair: a difference that rounding makes at random on half of them shows on all with chance 1/256."""

_NEXT_TO = 2.0**-20
"""Largest distance of these pairs: far above the rounding of the data, far below what a threshold is missed by."""

_ROUNDED = 1e-6
"""Relative distance of outcomes up to which rounding may account for it."""


def pairs_next_to(pair: Pair, relation: AnyNeighbours, seed: int) -> list[Pair]:
    """Return pairs next to a pair, both sides moved alike, within the bounds of the relation.

    Parameters
    ----------
    pair : (left, right)
        The pair.
    relation : AnyNeighbours
        The relation of numbers.
    seed : int
        Of the moves.
    """
    low, high = (getattr(relation, name, end) for name, end in (("low", -math.inf), ("high", math.inf)))
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(_CLOSE_BY):
        step = _NEXT_TO * rng.uniform(-1, 1, max(map(len, pair)))
        left, right = (np.clip(side + step[: len(side)], low, high) for side in pair)
        found.append((left, right))
    return found


def agree_but_for_rounding(one: Any, two: Any) -> bool:
    """Return whether two outcomes, as symbols, are the same up to rounding, also of numbers inside of their parts."""
    if isinstance(one, tuple) and isinstance(two, tuple):
        return len(one) == len(two) and all(map(agree_but_for_rounding, one, two))
    if isinstance(one, Record) and isinstance(two, Record):
        named = [[accessor for accessor, _ in record.parts] for record in (one, two)]
        parts = ((a, b) for (_, a), (_, b) in zip(one.parts, two.parts, strict=False))
        return one.kind == two.kind and named[0] == named[1] and all(agree_but_for_rounding(*both) for both in parts)
    if isinstance(one, str) and isinstance(two, str):
        numbers = [tuple(map(float, NUMBER.findall(text))) for text in (one, two)]
        return NUMBER.sub("#", one) == NUMBER.sub("#", two) and agree_but_for_rounding(*numbers)
    if isinstance(one, float) and isinstance(two, float) and math.isfinite(one) and math.isfinite(two):
        return abs(one - two) <= _ROUNDED * (1 + abs(one))
    return comparable(one) == comparable(two)
