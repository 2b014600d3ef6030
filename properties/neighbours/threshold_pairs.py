"""Pairs of neighbours on both sides of given numbers: where a function compares, a fault may begin.

For each number, single values, all values together, sums, means, differences of two values, counts of high records
and numbers of records are brought next to it and moved across it.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.properties.neighbours.moves import (
    Pair,
    in_turns,
    moved,
    range_of,
    reaching,
    record_counts,
    spread,
    unit_vector,
    with_changed_record,
)

__all__ = ["threshold_pairs"]

Array = NDArray[np.float64]

_MOST_POSITIONS = 64
"""Coordinates that are tried at each number: more leave fewer calls for each."""

_MOST_COMBINED = 8
"""Numbers that are tried two by two, the first ones: their pairs grow with the square."""

_MOST_RECORDS = 4096
"""Records of an input at most: an array of more takes longer to build than the calls on it."""

_WIDEST = 2.0**52
"""Numbers beyond it are left out: there a float64 hardly sees a unit."""


def threshold_pairs(relation: NeighbourRelation, numbers: Sequence[float]) -> Iterator[Pair]:
    """Yield pairs around each number, the simplest first; rounding may push one out of the relation.

    Parameters
    ----------
    relation : NeighbourRelation
        The relation.
    numbers : sequence of float
        Possible thresholds, the most telling first.

    Yields
    ------
    Pair
        Some dozens for each number; equal ones may come again.
    """
    finite = [value for value in dict.fromkeys(numbers) if math.isfinite(value) and abs(value) <= _WIDEST]
    if isinstance(relation, VectorNeighbours):
        yield from _around_vectors(relation, finite)
    else:
        yield from _around_records(relation, finite)


def _levels(numbers: Sequence[float], unit: float) -> list[float]:
    """Return the numbers, what is between neighbouring ones, and a step to both sides of each."""
    ordered = sorted(numbers)
    between = [(a + b) / 2 for a, b in itertools.pairwise(ordered)]
    near = [value + sign * step for value in numbers for step in (unit / 2, unit / 16) for sign in (1, -1)]
    return list(dict.fromkeys([*numbers, *between, *near]))


# --- vectors ------------------------------------------------------------------------------------------------


def _around_vectors(relation: VectorNeighbours, numbers: Sequence[float]) -> Iterator[Pair]:
    reached = reaching(relation, 2 * max(map(abs, numbers), default=0.0))
    low, high, unit = range_of(reached)
    inside = [value for value in _levels(numbers, unit) if low - unit <= value <= high + unit]
    return in_turns([
        _single_crossings(reached, inside, _positions(reached, numbers[:_MOST_COMBINED])),
        _sum_crossings(reached, numbers),
        _difference_crossings(reached, numbers),
        _combined_vectors(reached, [value for value in numbers if low <= value <= high][:_MOST_COMBINED]),
        _single_crossings(reached, inside, spread(relation.size, _MOST_POSITIONS)),
    ])  # fmt: skip


def _positions(relation: VectorNeighbours, numbers: Sequence[float]) -> list[int]:
    """Return the first and the last coordinate, and those that a number of the code names."""
    named = [int(value) for value in numbers if value.is_integer() and 0 <= value < relation.size]
    return list(dict.fromkeys([0, relation.size - 1, *named]))


def _single_crossings(relation: VectorNeighbours, levels: Sequence[float], places: Sequence[int]) -> Iterator[Pair]:
    """Move one coordinate, or all, across each level, the others being at rest or at the same level."""
    low, high, unit = range_of(relation)
    zero = min(max(0.0, low), high)
    everywhere = np.ones(relation.size)
    for level in levels:
        for start in _starts(level, unit, integer=relation.integer):
            for place in places:
                one = unit_vector(relation.size, place)
                yield moved(relation, np.where(one > 0, start, zero), one)
            level_everywhere = np.full(relation.size, start)
            yield moved(relation, level_everywhere, everywhere)
            for place, sign in itertools.product(places, (1.0, -1.0)):
                yield moved(relation, level_everywhere, sign * unit_vector(relation.size, place))


def _starts(level: float, unit: float, *, integer: bool) -> list[float]:
    """Return where steps of one unit upwards begin that cross a level, arrive there, or leave from there."""
    starts = [level - unit / 2, level, level - unit]
    if not integer:
        return starts
    step = max(1, math.floor(unit))
    return list(dict.fromkeys(float(math.floor(level)) + k for k in (0, -step, 1, 1 - step, -1)))


def _sum_crossings(relation: VectorNeighbours, numbers: Sequence[float]) -> Iterator[Pair]:
    """Move one coordinate, or all, so that the sum crosses each number: evenly spread, or in few coordinates."""
    low, high, unit = range_of(relation)
    for total in numbers:
        for start in _starts(total, unit, integer=relation.integer):
            even = np.full(relation.size, start / relation.size)
            if relation.integer:
                even = np.floor(even)
                even[: round(start - even.sum())] += 1
            for base in (even, _filled(relation.size, start, low, high)):
                if base.min() >= low and base.max() <= high:
                    yield moved(relation, base, unit_vector(relation.size, int(np.argmin(base))))
                    yield moved(relation, base, np.ones(relation.size))


def _filled(size: int, total: float, low: float, high: float) -> Array:
    """Return as many coordinates at `high` as `total` holds, one with the rest, and the others at 0 or `low`."""
    rest = min(max(0.0, low), high)
    width = max(high - rest, 0.0)
    missing = total - size * rest
    levels = np.clip(missing - width * np.arange(size), 0.0, width) + rest
    return np.asarray(levels)


def _difference_crossings(relation: VectorNeighbours, numbers: Sequence[float]) -> Iterator[Pair]:
    """Move the lead of one coordinate over all others across each number, with one or with two moving."""
    low, high, unit = range_of(relation)
    if relation.size < 2:
        return
    zero = min(max(0.0, low), high)
    first = unit_vector(relation.size, 0)
    against = 2 * first - 1
    for lead in numbers:
        for pattern, step in ((first, unit), (against, 2 * unit)):
            for start in _starts(lead, step, integer=relation.integer):
                yield moved(relation, np.where(first > 0, zero + start + (step - unit), zero + (step - unit)), pattern)
                yield moved(relation, np.where(first > 0, high, high - start), pattern)
                yield moved(relation, np.where(first > 0, high, high - start), -pattern)


def _combined_vectors(relation: VectorNeighbours, numbers: Sequence[float]) -> Iterator[Pair]:
    """Put two different numbers into two coordinates, one of them or both passed by, and move one coordinate."""
    low, high, unit = range_of(relation)
    if relation.size < 2:
        return
    zero = min(max(0.0, low), high)
    for side in (0, 1, -1):
        for one, other in itertools.permutations(numbers, 2):
            base = np.full(relation.size, zero)
            base[:2] = _beside(one, side, unit, integer=relation.integer), other
            if relation.integer:
                base[1] = math.floor(other)
            for sign in (1.0, -1.0):
                yield moved(relation, base, sign * unit_vector(relation.size, 1))


def _beside(number: float, side: int, unit: float, *, integer: bool) -> float:
    """Return the number itself (side 0), or a value beyond it (1) or before it (-1); for integers the nearest one."""
    if not integer:
        return number + side * unit / 2
    return float(math.floor(number) + 1 if side > 0 else math.ceil(number) - 1 if side < 0 else round(number))


# --- records ------------------------------------------------------------------------------------------------


def _around_records(relation: RecordNeighbours, numbers: Sequence[float]) -> Iterator[Pair]:
    least, most = record_counts(relation)
    extra = relation.relation == "add-remove"
    smallest, largest = max(least, 0 if extra else 1), min(most - extra, _MOST_RECORDS)
    if largest < smallest:
        return iter(())
    unit = (relation.high - relation.low) or 1.0
    levels = [value for value in _levels(numbers, unit / 16) if relation.low <= value <= relation.high]
    sizes = list(dict.fromkeys([smallest, largest, (smallest + largest) // 2]))
    return in_turns([
        _level_records(relation, sizes, levels, extra=extra),
        _count_crossings(relation, numbers, smallest, largest, extra=extra),
        _record_sum_crossings(relation, numbers, sizes, extra=extra),
        _combined_records(relation, sizes, levels[:_MOST_COMBINED], extra=extra),
        _level_shares(relation, sizes, levels, extra=extra),
    ])  # fmt: skip


def _level_records(
    relation: RecordNeighbours, sizes: Sequence[int], levels: Sequence[float], *, extra: bool
) -> Iterator[Pair]:
    """Change a record to each level, among low, high and equal records; or from it."""
    for level, n in itertools.product(levels, sizes):
        for other in dict.fromkeys((relation.low, relation.high, level)):
            base = np.full(n, float(other))
            yield with_changed_record(base, level, n if extra else n - 1, extra=extra)
            if n and not extra:
                changed = base.copy()
                changed[-1] = level
                for record in (relation.low, relation.high):
                    yield with_changed_record(changed, record, n - 1, extra=False)


def _count_crossings(
    relation: RecordNeighbours, numbers: Sequence[float], smallest: int, largest: int, *, extra: bool
) -> Iterator[Pair]:
    """Let the number of records, or of high ones among them, cross each number."""
    for value in numbers:
        for k in range(math.floor(value) - 2, math.floor(value) + 3):
            if smallest <= k <= largest:
                for level in (relation.low, relation.high):
                    base = np.full(k, float(level))
                    for record in (relation.high, relation.low):
                        yield with_changed_record(base, record, k if extra else k - 1, extra=extra)
            for n in dict.fromkeys((largest, min(max(2 * k, smallest), largest))):
                if 0 <= k < n + extra:
                    base = np.where(np.arange(n) < k, float(relation.high), float(relation.low))
                    yield with_changed_record(base, relation.high, n if extra else k, extra=extra)


def _record_sum_crossings(
    relation: RecordNeighbours, numbers: Sequence[float], sizes: Sequence[int], *, extra: bool
) -> Iterator[Pair]:
    """Let the sum and the mean of the records cross each number."""
    low, high = float(relation.low), float(relation.high)
    for value, n in itertools.product(numbers, sizes):
        for start in (value - high, value - high / 2, value, value + low):
            filled = _filled(n, start, low, high)
            if n and math.isclose(filled.sum(), start, abs_tol=high - low):
                for record in (high, low):
                    yield with_changed_record(filled, record, n if extra else n - 1, extra=extra)


def _combined_records(
    relation: RecordNeighbours, sizes: Sequence[int], levels: Sequence[float], *, extra: bool
) -> Iterator[Pair]:
    """Let a record at one level come to another one, or leave it."""
    for one, other in itertools.permutations(levels, 2):
        for n in sizes:
            if n >= (1 if extra else 2):
                base = np.full(n, float(relation.low))
                base[0] = one
                yield with_changed_record(base, other, n if extra else n - 1, extra=extra)


def _level_shares(
    relation: RecordNeighbours, sizes: Sequence[int], levels: Sequence[float], *, extra: bool
) -> Iterator[Pair]:
    """Let half of the records be at a level, then move one across it."""
    for level, n in itertools.product(levels, sizes):
        if n:
            base = np.where(np.arange(n) < n // 2, level, float(relation.low))
            for record in dict.fromkeys((level, relation.high, relation.low)):
                yield with_changed_record(base, record, n if extra else n - 1, extra=extra)
