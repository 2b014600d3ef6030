"""Pairs of neighbouring inputs at the corners where worst pairs sit.

Worst pairs of the literature sit at corners: every coordinate at an end of its range, and a difference that is as
large as the relation allows, with a few sign patterns (one coordinate against all others for selection, a prefix
against the suffix for thresholds and running sums, all together for shifts). Pairs are built, not filtered, but a pair
that rounding pushes out of the relation is left out. For each pattern the first inputs are a tie, where the least
noise decides, and the corner that the pattern points to, where an outcome is most certain on one side. Pairs that only
reveal faults of floats come later: the least difference, and inputs so large that a unit is lost in rounding.
"""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import RecordNeighbours, VectorNeighbours
from dpassay.properties.neighbours.moves import (
    Pair,
    largest_common_step,
    moved,
    range_of,
    reaching,
    record_counts,
    widest_support,
    with_changed_record,
    with_support,
)

__all__ = ["designed_records", "designed_vectors"]

Array = NDArray[np.float64]

_MOST_ALONE = 24
"""Coordinates that are moved alone, spread evenly over longer vectors: more leave fewer places for other patterns."""

_MULTIPLES = (48_000, 4_800, 240, 12, 4, 2)
"""Common multiples of moduli: from 47,999 to 48,000 an integer crosses multiples of 2, 3, 4, 5, 8, 10, 16, 100, 128
and 1,000 at once. Where the relation ends before, the largest one that fits."""

_HUGE, _LARGEST = 2.0**53, 2.0**1000
"""Beyond 2^53 units a float64 does not change when a unit is added; the largest number that pairs are built from."""


# --- vectors ----------------------------------------------------------------------------------------------------


def designed_vectors(relation: VectorNeighbours, rng: np.random.Generator) -> Iterator[Pair]:
    """Yield pairs of vectors, the likely worst ones first, then random corners without end."""
    patterns, others = _patterns(relation)
    bases = _bases(relation)
    for pattern in patterns:
        yield moved(relation, bases[0], pattern)
    for pattern in patterns[1:] + patterns[:1]:
        yield moved(relation, _outermost(relation, pattern), pattern)
    for pattern in _alone(relation):
        yield moved(relation, bases[0], pattern)
    yield from _across_multiples(relation)
    for pattern in (-pattern for pattern in patterns):
        yield moved(relation, bases[0], pattern)
        yield moved(relation, _outermost(relation, pattern), pattern)
    for pattern in others:
        yield moved(relation, bases[0], pattern)
        yield moved(relation, _outermost(relation, pattern), pattern)
    yield from _tiny_and_huge(relation)
    everything = _different([*itertools.chain.from_iterable((p, -p) for p in patterns), *others])
    for base, pattern in _interleaved(bases[1:], everything):
        yield moved(relation, base, pattern)
    while True:
        low, high, unit = range_of(relation)
        levels = np.array([low, high, (low + high) / 2, min(high, low + unit)])
        base = rng.choice(levels[: rng.integers(2, 5)], relation.size)
        yield moved(relation, base, rng.choice([-1.0, 0.0, 1.0], relation.size, p=[0.45, 0.1, 0.45]))


def _across_multiples(relation: VectorNeighbours) -> Iterator[Pair]:
    """Yield a pair of integers between which ``%``, ``//`` and shifts change, whatever their modulus is."""
    fitting = [value for value in _MULTIPLES if relation.low <= value - 1 and value <= relation.high]
    if relation.integer and fitting:
        base = np.full(relation.size, min(max(0.0, relation.low), relation.high))
        base[0] = fitting[0] - 1
        yield moved(reaching(relation, fitting[0]), base, np.where(np.arange(relation.size) == 0, 1.0, 0.0))


def _interleaved(bases: list[Array], patterns: list[Array]) -> Iterator[tuple[Array, Array]]:
    """Go through all combinations, both lists from their beginnings."""
    for total in range(len(bases) + len(patterns) - 1):
        for k in range(min(total, len(bases) - 1) + 1):
            if total - k < len(patterns):
                yield bases[k], patterns[total - k]


def _outermost(relation: VectorNeighbours, pattern: Array) -> Array:
    """Return the input whose coordinates are at the ends that they move to, all others at the opposite end."""
    low, high, _ = range_of(relation)
    rest = low if pattern.max() > 0 else high
    return np.where(pattern > 0, float(high), np.where(pattern < 0, float(low), float(rest)))


def _bases(relation: VectorNeighbours) -> list[Array]:
    """Return inputs to start from: ties first, then one or some coordinates far from the others."""
    low, high, unit = range_of(relation)
    size, index = relation.size, np.arange(relation.size)
    middle = math.floor((low + high) / 2) if relation.integer else (low + high) / 2
    zero = min(max(0.0, low), high)
    levels = [zero, low, high, middle, min(zero + unit, high)]
    ties = [np.full(size, float(level)) for level in levels]
    shapes = []
    for bottom, top in ((low, high), (zero, min(zero + unit, high))):
        shapes += [
            np.where(index == 0, top, bottom),
            np.where(index == 0, bottom, top),
            np.where(index < size // 2, bottom, top),
            np.where(index < size // 2, top, bottom),
            np.where(index == size - 1, top, bottom),
            np.where(index % 2 == 0, top, bottom),
        ]
    bases = [ties[0], *shapes[:2], *ties[1:3], *shapes[2:6], *ties[3:], *shapes[6:]]
    return list({base.tobytes(): base for base in (b.astype(np.float64) for b in bases)}.values())


def _patterns(relation: VectorNeighbours) -> tuple[list[Array], list[Array]]:
    """Return sign patterns of the difference: those that literature calls the worst, and all others.

    A leak that needs many calls to show is found only where it is looked for first. Half up and half down is bad for
    thresholds and for selection, all up for values and sums, one against all others for selection, and one alone
    for what treats coordinates separately; the opposite moves come later.
    """
    size, index = relation.size, np.arange(relation.size)
    one = np.where(index == 0, 1.0, 0.0)
    against = np.where(index == 0, 1.0, -1.0)
    prefix = np.where(index < (size + 1) // 2, 1.0, -1.0)
    all_but_last = np.where(index < size - 1, 1.0, -1.0)
    worst = [prefix, np.ones(size), against, one]
    others = [
        all_but_last, -all_but_last, one[::-1], -one[::-1],
        np.where(index % 2 == 0, 1.0, -1.0), np.where(index == 0, 0.0, 1.0), np.where(index == 0, 0.0, -1.0),
    ]  # fmt: skip
    if relation.monotone:
        worst = [np.maximum(p, 0) for p in worst]
        others = [np.maximum(p, 0) for p in others] + [np.minimum(p, 0) for p in others]
    most = widest_support(relation)
    worst, others = ([with_support(p, most) for p in group] for group in (worst, others))
    # where many moves leave less for each, the longest step comes first
    worst.sort(key=lambda pattern: -largest_common_step(relation, int(np.count_nonzero(pattern))))
    return _different(worst), _different(others)


def _alone(relation: VectorNeighbours) -> Iterator[Array]:
    """Yield the moves of each coordinate by itself, where it moves farther alone or others must stay.

    A wrong scale or bound of one column shows in no other pair. Where all move as far as one does, moves of all tell.
    """
    size = relation.size
    if widest_support(relation) == size and largest_common_step(relation, 1) == largest_common_step(relation, size):
        return
    for place in np.unique(np.linspace(0, size - 1, min(size, _MOST_ALONE)).astype(int)):
        pattern = np.zeros(size)
        pattern[place] = 1
        yield pattern


def _different(patterns: list[Array]) -> list[Array]:
    return list({p.tobytes(): p for p in (pattern + 0.0 for pattern in patterns if pattern.any())}.values())


def _tiny_and_huge(relation: VectorNeighbours) -> Iterator[Pair]:
    """Yield pairs for floats: the least difference there is, and inputs so large that noise loses its last bits."""
    low, high, unit = range_of(relation)
    zero = np.full(relation.size, min(max(0.0, low), high))
    first, everywhere = (
        with_support(np.where(np.arange(relation.size) < most, 1.0, 0.0), widest_support(relation)) > 0
        for most in (1, relation.size)
    )
    if not relation.integer:
        for moving in (first, everywhere):
            yield zero, np.where(moving, np.nextafter(zero, math.inf if zero[0] < high else -math.inf), zero)
    for end in (relation.high, relation.low):
        if math.isinf(end):
            far = np.full(relation.size, math.copysign(min(unit * _HUGE, _LARGEST), end))
            for moving in (everywhere, first):
                step = largest_common_step(relation, int(np.count_nonzero(moving)))
                yield far, np.where(moving, far - math.copysign(step, end), far)
            near, moved = far.copy(), far.copy()
            near[0], moved[0] = zero[0], zero[0] + math.copysign(largest_common_step(relation, 1), end)
            yield near, moved


# --- records ----------------------------------------------------------------------------------------------------


def designed_records(relation: RecordNeighbours, rng: np.random.Generator) -> Iterator[Pair]:
    """Yield pairs of data sets, the likely worst ones first, then random ones without end."""
    least, most = record_counts(relation)
    extra = relation.relation == "add-remove"
    sizes = [
        n for n in dict.fromkeys((least, most - extra, (least + most - extra) // 2)) if n >= max(least, not extra)
    ]
    changes = _record_changes(relation)
    # the last record first: few mechanisms look at the order
    for first, change, n in itertools.product((False, True), changes, sizes):
        shape, record = change
        yield with_changed_record(shape(n), record, 0 if first else n - (not extra), extra=extra)
    levels = list(dict.fromkeys((relation.low, relation.high, (relation.low + relation.high) / 2)))
    while sizes:
        n = int(rng.integers(min(sizes), max(sizes) + 1))
        base = rng.choice(np.array(levels), n)
        yield with_changed_record(base, float(rng.choice(levels)), int(rng.integers(0, max(n, 1))), extra=extra)


def _record_changes(relation: RecordNeighbours) -> list[tuple[Callable[[int], Array], float]]:
    """Return the other records, by their number, and the one that comes or changes, the farthest from them first."""
    low, high = float(relation.low), float(relation.high)
    middle, zero = low / 2 + high / 2, min(max(0.0, low), high)
    tiny = math.nextafter(zero, math.inf if zero < high else -math.inf)

    def all_at(level: float) -> Callable[[int], Array]:
        return lambda size: np.full(size, level)

    def half(size: int) -> Array:
        return np.where(np.arange(size) < size // 2, low, high)

    return [
        (all_at(low), high), (all_at(high), low), (half, high), (half, low),
        (all_at(low), low), (all_at(high), high), (all_at(zero), high), (all_at(zero), low),
        (all_at(middle), high), (all_at(middle), low), (all_at(low), middle), (all_at(high), middle),
        (all_at(zero), tiny), (half, middle), (all_at(middle), middle), (half, zero), (all_at(low), zero),
        (all_at(high), zero),
    ]  # fmt: skip
