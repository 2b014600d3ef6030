"""A broad selection of neighbouring inputs, for faults that sit at one value, length, position or tie.

Designed pairs sit at corners of the domain. A fault may show nowhere near them: at a threshold that a count crosses,
in one column, at three equal scores. The pairs here cover single positions, small integers and levels, counts, lengths
and tie patterns, in turns, and end with random ones.
"""

import itertools
from collections.abc import Iterator

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

__all__ = ["broad_pairs"]

Array = NDArray[np.float64]

_MOST_POSITIONS = 256
"""Positions at which a change is tried: more find position-dependent faults in longer inputs and cost calls."""

_MOST_LEVELS = 128
"""Values from which a change starts: more find faults in narrower ranges and cost calls."""

_MOST_LENGTHS = 64
"""Lengths of data sets that are tried."""

_PART_OF_A_STEP = 3 / 8
"""The smallest step that is tried, as a part of 1 or of the largest step: no remainder of the usual units is the same
after it."""

_TIED = 4
"""Number of coordinates whose weak orderings are all listed: 75 of four."""


def broad_pairs(relation: NeighbourRelation, *, seed: int) -> Iterator[Pair]:
    """Yield candidate pairs without end, the simplest first; rounding may push one out of the relation."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=((1 << 31) + 1,)))
    kinds = _vector_kinds(relation, rng) if isinstance(relation, VectorNeighbours) else _record_kinds(relation, rng)
    return in_turns(kinds)


def _levels(low: float, high: float, unit: float, *, integer: bool) -> list[float]:
    """Return numbers between low and high to start from: small integers, multiples of the unit, and a grid."""
    whole = np.arange(-_MOST_LEVELS // 4, _MOST_LEVELS // 4 + 1, dtype=np.float64)
    grid = np.linspace(low, high, 17)
    found = [*whole, *(whole * unit), *(np.round(grid) if integer else [*grid, *(whole / 4)])]
    inside = dict.fromkeys(float(x) for x in found if low <= x <= high and (not integer or float(x).is_integer()))
    return sorted(inside, key=lambda x: (abs(x), x))[:_MOST_LEVELS]


# --- vectors ------------------------------------------------------------------------------------------------


def _vector_kinds(relation: VectorNeighbours, rng: np.random.Generator) -> list[Iterator[Pair]]:
    unit = range_of(relation)[2]
    return [
        _single_positions(relation),
        _single_levels(reaching(relation, _MOST_LEVELS / 4 * max(1.0, unit))),
        _counts(relation),
        _ties(relation),
        _random_vectors(relation, rng),
    ]


def _single_positions(relation: VectorNeighbours) -> Iterator[Pair]:
    """Move each coordinate by itself, and against all others."""
    low, high, _ = range_of(relation)
    zero = min(max(0.0, low), high)
    for base, (all_others, sign) in itertools.product((zero, low, high), ((0.0, 1.0), (0.0, -1.0), (1.0, 1.0))):
        for place in spread(relation.size, _MOST_POSITIONS):
            pattern = sign * ((1 + all_others) * unit_vector(relation.size, place) - all_others)
            yield moved(relation, np.full(relation.size, float(base)), pattern)


def _single_levels(relation: VectorNeighbours) -> Iterator[Pair]:
    """Start from every small integer and from a grid: one coordinate there, or all of them."""
    low, high, unit = range_of(relation)
    zero = np.full(relation.size, min(max(0.0, low), high))
    one, everywhere = unit_vector(relation.size, 0), np.ones(relation.size)
    steps = _steps(relation)
    for level, step in itertools.product(_levels(low, high, unit, integer=relation.integer), steps):
        for base in dict.fromkeys(map(tuple, (np.where(one > 0, level, zero), np.full(relation.size, level)))):
            for pattern in (one, -one, everywhere, -everywhere):
                yield moved(relation, np.array(base), pattern, at_most=step)


def _steps(relation: VectorNeighbours) -> list[float]:
    """Return the largest step, 1 or less, and a part of that: a full step may keep remainders as they were."""
    unit = range_of(relation)[2]
    parts = () if relation.integer else (_PART_OF_A_STEP * min(1.0, unit),)
    return list(dict.fromkeys((unit, min(1.0, unit), *parts)))


def _counts(relation: VectorNeighbours) -> Iterator[Pair]:
    """Let the first k coordinates be one unit up, and move the next: sums and counts cross every small number."""
    low, high, unit = range_of(relation)
    zero = min(max(0.0, low), high)
    for k in spread(relation.size, _MOST_POSITIONS):
        base = np.where(np.arange(relation.size) < k, min(zero + unit, high), zero)
        yield moved(relation, base, unit_vector(relation.size, k))


def _ties(relation: VectorNeighbours) -> Iterator[Pair]:
    """Start from every tie pattern of the first coordinates, neighbouring ranks one unit or half a unit apart."""
    low, high, unit = range_of(relation)
    zero, tied = min(max(0.0, low), high), min(relation.size, _TIED)
    gaps = (unit,) if relation.integer else (unit, unit / 2)
    for gap, ranks in itertools.product(gaps, _weak_orderings(tied)):
        base = np.full(relation.size, zero)
        base[:tied] = np.clip(zero + gap * np.array(ranks), low, high)
        for place in range(tied):
            for sign in (1.0, -1.0):
                yield moved(relation, base, sign * unit_vector(relation.size, place))


def _weak_orderings(size: int) -> list[tuple[int, ...]]:
    """Return the rank vectors of all weak orderings: every rank from 0 to the largest is taken."""
    ranks = itertools.product(range(size), repeat=size)
    return sorted((r for r in ranks if set(r) == set(range(max(r) + 1))), key=lambda r: (sum(r), r))


def _random_vectors(relation: VectorNeighbours, rng: np.random.Generator) -> Iterator[Pair]:
    low, high, unit = range_of(relation)
    levels = np.array(_levels(low, high, unit, integer=relation.integer))
    while True:
        base = rng.choice(levels[: rng.integers(1, len(levels) + 1)], relation.size)
        pattern = rng.choice([-1.0, 0.0, 1.0], relation.size)
        step = float(rng.choice(_steps(relation)))
        yield moved(relation, base, pattern, at_most=step)


# --- records ------------------------------------------------------------------------------------------------


def _record_kinds(relation: RecordNeighbours, rng: np.random.Generator) -> list[Iterator[Pair]]:
    least, most = record_counts(relation)
    extra = relation.relation == "add-remove"
    smallest, largest = max(least, 0 if extra else 1), most - extra
    if largest < smallest:
        return []
    sizes = [smallest + k for k in spread(largest - smallest + 1, _MOST_LENGTHS)]
    levels = _levels(relation.low, relation.high, 1.0, integer=False)
    return [
        _record_counts(relation, sizes, extra=extra),
        _record_levels(sizes, levels, extra=extra),
        _record_positions(relation, sizes, extra=extra),
        _random_records(sizes, levels, rng, extra=extra),
    ]


def _record_counts(relation: RecordNeighbours, sizes: list[int], *, extra: bool) -> Iterator[Pair]:
    """Let k of n records be high and the others low, and change a low one: counts cross every number."""
    for n in sizes:
        for k in spread(n if not extra else n + 1, _MOST_LENGTHS):
            base = np.where(np.arange(n) < k, float(relation.high), float(relation.low))
            for record in (relation.high, relation.low):
                yield with_changed_record(base, record, n if extra else min(k, n - 1), extra=extra)


def _record_levels(sizes: list[int], levels: list[float], *, extra: bool) -> Iterator[Pair]:
    """Change a record to or from every level, among others at the same level, at the next, or at the first."""
    for n, (k, level) in itertools.product(sizes, enumerate(levels)):
        for other in dict.fromkeys((level, levels[0], levels[(k + 1) % len(levels)])):
            base = np.full(n, other)
            yield with_changed_record(base, level, n if extra else n - 1, extra=extra)


def _record_positions(relation: RecordNeighbours, sizes: list[int], *, extra: bool) -> Iterator[Pair]:
    """Change the record at each position, among others in ascending order."""
    for n in sizes:
        base = np.linspace(relation.low, relation.high, n)
        for place in spread(n + extra, _MOST_POSITIONS):
            for record in (relation.low, relation.high):
                yield with_changed_record(base, record, place, extra=extra)


def _random_records(sizes: list[int], levels: list[float], rng: np.random.Generator, *, extra: bool) -> Iterator[Pair]:
    while True:
        n = int(rng.choice(sizes))
        base = rng.choice(levels, n)
        yield with_changed_record(base, float(rng.choice(levels)), int(rng.integers(0, n + extra)), extra=extra)
