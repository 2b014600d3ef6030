"""Boundary inputs, at which implementations often fail: exact thresholds, ties, rounding of sums.

The pairs of `dpassay.properties.neighbours.pairs` are those at which theorems are tight. The pairs here are at the
bounds and one ulp inside, at and next to zero, at integers, with many equal records and one different, with all
records different, and with no records.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import are_neighbours

__all__ = ["boundary_pairs", "nearby_pairs"]

Array = NDArray[np.float64]

_TINY = 2.0**-1074
"""The smallest positive float64."""

_MAGNITUDES = (2.0**53, 1e15, 1e300)
"""Large inputs: the first integer without a successor in float64, and numbers near the ends of its range."""


def boundary_pairs(relation: NeighbourRelation, *, seed: int, limit: int) -> list[Pair]:
    """Return at most `limit` different pairs that the relation admits.

    Parameters
    ----------
    relation : NeighbourRelation
        The neighbour relation.
    seed : int
        Seed of the order after the first `limit` // 2 pairs.
    limit : int
        Maximum number of pairs.
    """
    candidates = list(_records(relation) if isinstance(relation, RecordNeighbours) else _vectors(relation))
    order = np.random.default_rng([seed, 5]).permutation(len(candidates))
    first = list(range(min(len(candidates), limit // 2)))
    found: dict[tuple[bytes, bytes], Pair] = {}
    for index in [*first, *order.tolist()]:
        if len(found) >= limit:
            break
        left, right = candidates[index]
        key = (left.tobytes(), right.tobytes())
        if key[0] != key[1] and key not in found and are_neighbours(relation, left, right):
            found[key] = (left, right)
    return list(found.values())


def _records(relation: RecordNeighbours) -> Iterator[Pair]:
    low, high = relation.low, relation.high
    levels = _levels(low, high)
    extra = relation.relation == "add-remove"
    most = relation.max_size if relation.max_size is not None else relation.size + extra
    sizes = sorted({relation.size, min(most - extra, relation.size + 2), most - extra} - {-1})
    for size, record in itertools.product([s for s in sizes if s >= (not extra)], levels):
        bases = [np.full(size, level) for level in levels[:4]]
        bases += [np.linspace(low, high, size), np.where(np.arange(size) < size // 2, low, high)]
        if size:
            bases.append(np.concatenate([[high], np.full(size - 1, low)]))
        for base in bases:
            if extra:
                yield base, np.append(base, record)
                yield base, np.insert(base, 0, record)
            else:
                for place in (0, size - 1):
                    changed = base.copy()
                    changed[place] = record
                    yield base, changed


def _levels(low: float, high: float) -> list[float]:
    """Return values at the bounds, one ulp inside, in the middle, at and next to 0, and at integers."""
    middle = low + (high - low) / 2
    wanted = [low, high, middle, 0.0, math.nextafter(low, high), math.nextafter(high, low)]
    wanted += [_TINY, -_TINY, 1.0, math.floor(middle), math.nextafter(middle, high), low + (high - low) / 3]
    return list(dict.fromkeys(float(x) for x in wanted if low <= x <= high))


def _vectors(relation: VectorNeighbours) -> Iterator[Pair]:
    size, step = relation.size, relation.largest_step
    if not 0 < step < math.inf:
        return
    low, high = relation.low, relation.high
    anchors = [0.0, step, -step, 0.5, 1.0, _TINY, 1e-9, *(m for m in _MAGNITUDES), *(-m for m in _MAGNITUDES)]
    anchors += [x for x in (low, high) if math.isfinite(x)]
    anchors = [float(np.clip(x, low, high)) for x in anchors]
    index = np.arange(size)
    for anchor, sign in itertools.product(dict.fromkeys(anchors), (1.0, -1.0)):
        for base in (np.full(size, anchor), np.where(index == 0, anchor, np.clip(0.0, low, high))):
            for moving in (index == 0, index >= 0, index == size - 1):
                yield base, np.clip(np.where(moving, base + sign * step, base), low, high)
                yield base, np.clip(np.where(moving, base + sign * step / max(1, int(moving.sum())), base), low, high)


def nearby_pairs(relation: NeighbourRelation, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
    """Yield random changes of a pair indefinitely, some of them outside the relation."""
    while True:
        left, right = pair[0].copy(), pair[1].copy()
        if isinstance(relation, RecordNeighbours):
            levels = np.array([*_levels(relation.low, relation.high), rng.uniform(relation.low, relation.high)])
            yield _changed_records(relation, left, right, levels, rng)
            continue
        place, amount = int(rng.integers(relation.size)), float(rng.choice([0.5, 2.0, -1.0, rng.normal()]))
        for side in (left, right):
            with np.errstate(over="ignore", invalid="ignore"):
                side[place] = np.clip(side[place] * amount, relation.low, relation.high)
        yield left, right


def _changed_records(
    relation: RecordNeighbours, left: Array, right: Array, levels: Array, rng: np.random.Generator
) -> Pair:
    """Change some common records in both data sets, and sometimes the record that differs."""
    small, large = sorted((left, right), key=len)
    if relation.relation == "add-remove":
        count = int(rng.integers(0, len(small) + 1)) if rng.random() < 0.3 else len(small)
        common, record = small[:count].copy(), float(rng.choice(levels))
    else:
        common, record = left.copy(), float(rng.choice(levels))
    if len(common):
        chosen = rng.random(len(common)) < rng.choice([1.5 / len(common), 0.5, 1.0])
        common[chosen] = rng.choice(levels) if rng.random() < 0.5 else rng.choice(levels, int(chosen.sum()))
    if relation.relation == "add-remove":
        return common, np.append(common, record if rng.random() < 0.7 else large[-1])
    changed = common.copy()
    changed[int(rng.integers(len(common)))] = record
    return common, changed
