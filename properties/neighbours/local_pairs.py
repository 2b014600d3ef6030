"""Variations of a pair of neighbouring inputs: a search around a pair that shows a leak may find a larger one."""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.properties.neighbours.moves import Pair, in_turns, moved, range_of, spread

__all__ = ["variations"]

Array = NDArray[np.float64]

_MOST_POSITIONS = 64
"""Positions of an input that are varied one by one: more find what depends on a position in longer inputs."""

_PARTS = (0.0, 1.0, 0.5, 0.25, 0.75)
"""Where between the lowest and the highest value a record is put."""


def variations(relation: NeighbourRelation, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
    """Yield pairs that differ from a pair in little, without end; some may lie outside of the relation.

    Parameters
    ----------
    relation : NeighbourRelation
        The relation.
    pair : (left, right)
        A pair of the relation.
    rng : numpy.random.Generator
        For the random ones, which come in turns with the others.
    """
    if isinstance(relation, VectorNeighbours):
        return in_turns([_moved_together(relation, pair), _moved_apart(relation, pair), _jolted(relation, pair, rng)])
    return in_turns([_other_records(relation, pair), _redrawn(relation, pair, rng)])


def _steps(relation: VectorNeighbours) -> tuple[float, ...]:
    unit = range_of(relation)[2]
    if relation.integer:
        return (1.0, -1.0) if unit == 1 else (1.0, -1.0, unit, -unit)
    return (unit, -unit, unit / 2, -unit / 2)


def _moved_together(relation: VectorNeighbours, pair: Pair) -> Iterator[Pair]:
    """Move one coordinate, or all, by the same step on both sides; exchange coordinates with the next ones."""
    left, right = pair
    for step in _steps(relation):
        yield left + step, right + step
        for place in spread(relation.size, _MOST_POSITIONS):
            both = left.copy(), right.copy()
            for side in both:
                side[place] += step
            yield both
    for place in spread(relation.size - 1, _MOST_POSITIONS):
        order = np.arange(relation.size)
        order[[place, place + 1]] = place + 1, place
        yield left[order], right[order]


def _moved_apart(relation: VectorNeighbours, pair: Pair) -> Iterator[Pair]:
    """Start from either side, and let one coordinate move in another direction, or not at all."""
    for start, end in (pair, pair[::-1]):
        pattern = np.sign(end - start)
        for place in spread(relation.size, _MOST_POSITIONS):
            for direction in {-1.0, 0.0, 1.0} - {float(pattern[place])}:
                other = pattern.copy()
                other[place] = direction
                yield moved(relation, start, other)


def _jolted(relation: VectorNeighbours, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
    """Move several coordinates at random, on both sides alike."""
    steps = np.array([0.0, *_steps(relation)])
    while True:
        jolt = rng.choice(steps, relation.size)
        yield pair[0] + jolt, pair[1] + jolt


def _other_records(relation: RecordNeighbours, pair: Pair) -> Iterator[Pair]:
    """Put one record that both sides share elsewhere, or the one in which they differ."""
    values = [relation.low + part * (relation.high - relation.low) for part in _PARTS]
    for value in values:
        yield from itertools.chain(_with_shared(pair, value), _with_different(pair, value))


def _redrawn(relation: RecordNeighbours, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
    """Draw a shared record anew."""
    while True:
        places = _shared(pair)
        if not places:
            return
        place = places[int(rng.integers(len(places)))]
        yield _set(pair, place, float(rng.uniform(relation.low, relation.high)))


def _shared(pair: Pair) -> list[tuple[int, int]]:
    """Return the places of the records that both sides share, on the left and on the right."""
    left, right = pair
    first = _first_difference(pair)
    skip_left, skip_right = first + (len(left) >= len(right)), first + (len(right) >= len(left))
    after = zip(range(skip_left, len(left)), range(skip_right, len(right)), strict=True)
    return [*((k, k) for k in range(first)), *after]


def _first_difference(pair: Pair) -> int:
    shorter = min(map(len, pair))
    different = np.flatnonzero(pair[0][:shorter] != pair[1][:shorter])
    return int(different[0]) if different.size else shorter


def _set(pair: Pair, place: tuple[int, int], value: float) -> Pair:
    left, right = pair[0].copy(), pair[1].copy()
    left[place[0]] = right[place[1]] = value
    return left, right


def _with_shared(pair: Pair, value: float) -> Iterator[Pair]:
    places = _shared(pair)
    for k in spread(len(places), _MOST_POSITIONS):
        yield _set(pair, places[k], value)


def _with_different(pair: Pair, value: float) -> Iterator[Pair]:
    first = _first_difference(pair)
    for side in (0, 1):
        if first < len(pair[side]) and len(pair[side]) >= len(pair[1 - side]):
            changed = pair[side].copy()
            changed[first] = value
            yield (changed, pair[1]) if side == 0 else (pair[0], changed)
