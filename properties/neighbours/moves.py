"""Moves from an input to a neighbour: how far coordinates may move, and exactly as far."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.neighbours import RecordNeighbours, VectorNeighbours, farther_apart

__all__ = [
    "Pair",
    "in_turns",
    "largest_common_step",
    "moved",
    "range_of",
    "reaching",
    "record_counts",
    "spread",
    "unit_vector",
    "widest_support",
    "with_changed_record",
    "with_support",
]

Array = NDArray[np.float64]
Pair = tuple[Array, Array]


def range_of(relation: VectorNeighbours) -> tuple[float, float, float]:
    """Return a finite range to place data in, and the largest change of one coordinate."""
    unit = relation.largest_step or 1.0
    if not math.isfinite(unit):
        raise UsageError("neighbours must bound the change of a coordinate by a finite number")
    low, high = relation.low, relation.high
    if math.isinf(low) and math.isinf(high):
        low, high = -10 * unit, 10 * unit
    elif math.isinf(low):
        low = high - 10 * unit
    elif math.isinf(high):
        high = low + 10 * unit
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        raise UsageError(f"neighbours must admit differences that float64 can represent, got {relation!r}")
    if relation.integer:
        low, high = math.ceil(low), math.floor(high)
        if low > high:
            raise UsageError(
                f"neighbours must admit an integer between low={relation.low!r} and high={relation.high!r}"
            )
    return low, high, unit


def reaching(relation: VectorNeighbours, largest: float) -> VectorNeighbours:
    """Return the relation with finite bounds in place of infinite ones, beyond numbers up to `largest`."""
    low, high, unit = range_of(relation)
    beyond = largest + 4 * unit
    return replace(
        relation,
        low=relation.low if math.isfinite(relation.low) else min(low, math.floor(min(0.0, high) - beyond)),
        high=relation.high if math.isfinite(relation.high) else max(high, math.ceil(max(0.0, low) + beyond)),
    )


def widest_support(relation: VectorNeighbours) -> int:
    """Return how many coordinates can move at all."""
    most = relation.size if relation.l0 is None else min(relation.l0, relation.size)
    if relation.integer:  # each must move by 1 at least
        squared = None if relation.l2 is None else relation.l2**2
        most = min([most, *(math.floor(bound) for bound in (relation.l1, squared) if bound is not None)])
    return most


def with_support(pattern: Array, most: int) -> Array:
    """Return a sign pattern reduced to its first `most` moving coordinates."""
    kept = pattern.copy()
    kept[np.flatnonzero(pattern)[most:]] = 0
    return kept


def moved(relation: VectorNeighbours, base: Array, pattern: Array, *, at_most: float = math.inf) -> Pair:
    """Move `base` along the sign pattern `pattern` as far as the norms, the range and `at_most` allow.

    Parameters
    ----------
    relation : VectorNeighbours
        The relation that the pair obeys.
    base : array of shape (n,)
        The input to move.
    pattern : array of shape (n,)
        Direction of each coordinate: -1, 0 or 1.
    at_most : float
        Largest change of a coordinate.
    """
    pattern = with_support(pattern, widest_support(relation))
    if relation.monotone and pattern.min() < 0 < pattern.max():
        pattern = np.maximum(pattern, 0)
    step = min(at_most, largest_common_step(relation, int(np.count_nonzero(pattern))))
    low, high, _ = range_of(relation)
    # where the range leaves no room on one side the base gives way, so that the whole step fits if it can
    left = np.clip(base, low + np.maximum(0, -pattern * step), np.maximum(low, high - np.maximum(0, pattern * step)))
    left = np.clip(left, low, high)
    right = np.clip(left + pattern * step, low, high)
    too_far = farther_apart(left, right, step)
    right[too_far] = np.nextafter(right[too_far], left[too_far])
    return left, right


def largest_common_step(relation: VectorNeighbours, support: int) -> float:
    """Return the largest step that `support` coordinates can take at the same time."""
    support = max(1, support)
    shares = ((relation.linf, 1.0), (relation.l1, float(support)), (relation.l2, math.sqrt(support)))
    # rounded down: `support` steps of a rounded quotient may exceed the norm
    bounds = [(bound, share) for bound, share in shares if bound is not None] or [(relation.largest_step, 1.0)]
    step = min(bound if share == 1 else math.nextafter(bound / share, 0) for bound, share in bounds)
    return math.floor(step) if relation.integer else step


def record_counts(relation: RecordNeighbours) -> tuple[int, int]:
    """Return the smallest and the largest number of records."""
    default = relation.size + (relation.relation == "add-remove")
    return relation.size, relation.max_size if relation.max_size is not None else default


def with_changed_record(base: Array, record: float, position: int, *, extra: bool) -> Pair:
    """Return `base` and its neighbour with `record` inserted at `position` (extra), or put in its place there.

    Parameters
    ----------
    base : array of shape (n,)
        The records.
    record : float
        The new record.
    position : int
        Its place.
    extra : bool
        Whether it is added; otherwise it replaces the record there.
    """
    if extra:
        return base, np.insert(base, position, record)
    changed = base.copy()
    changed[position] = record
    return base, changed


# --- lists of pairs -----------------------------------------------------------------------------------------


def in_turns(kinds: list[Iterator[Pair]]) -> Iterator[Pair]:
    """Yield from each iterator in turn until all are spent."""
    while kinds:
        going_on = []
        for kind in kinds:
            pair = next(kind, None)
            if pair is not None:
                yield pair
                going_on.append(kind)
        kinds = going_on


def spread(count: int, most: int) -> list[int]:
    """Return all of 0 .. count - 1, or `most` of them, evenly spread."""
    if count <= most:
        return list(range(count))
    places: list[int] = np.unique(np.linspace(0, count - 1, most).astype(int)).tolist()
    return places


def unit_vector(size: int, place: int) -> Array:
    """Return a vector of zeros with a one at `place`."""
    return np.where(np.arange(size) == place, 1.0, 0.0)
