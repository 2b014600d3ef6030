"""Adversarial pairs of neighbouring inputs, the likely worst ones first.

Worst pairs of the literature sit at corners: every coordinate at an end of its range, and a difference that is as
large as the relation allows, with a few sign patterns (one coordinate against all others for selection, a prefix
against the suffix for thresholds and running sums, all together for shifts). Pairs are built, not filtered, but a
pair that rounding pushes out of the relation is left out. For each pattern the first inputs are a tie, where the
least noise decides, and the corner that the pattern points to, where what is certain on one side is most so. What
only floats can give away comes later: the least difference there is, and inputs so large that a unit is hardly seen.
"""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import NeighbourRelation, RecordNeighbours, UsageError, VectorNeighbours

__all__ = ["Pair", "adversarial_pairs", "are_neighbours"]

Array = NDArray[np.float64]
Pair = tuple[Array, Array]

MOST_PAIRS = 48
"""Pairs share the error budget, the first ones have most of it: more pairs cost evidence and calls."""


_HUGE, _LARGEST = 2.0**53, 2.0**1000
"""Beyond so many units a float does not notice that a unit was added; the largest number that pairs are built from."""


def adversarial_pairs(relation: NeighbourRelation, *, seed: int, limit: int = MOST_PAIRS) -> list[Pair]:
    """Return at most `limit` different pairs of the relation, in an order that depends on the seed alone.

    Parameters
    ----------
    relation : NeighbourRelation
        What makes neighbours.
    seed : int
        For the random corners that follow the designed ones.
    limit : int
        Number of pairs, at least 1.

    Returns
    -------
    list of (left, right)
        Float64 arrays; never equal to each other; each unordered pair once.

    Raises
    ------
    UsageError
        If the relation admits no two different inputs that can be found.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 31,)))
    candidates = _vectors(relation, rng) if isinstance(relation, VectorNeighbours) else _records(relation, rng)
    found: dict[frozenset[bytes], Pair] = {}
    for left, right in itertools.islice(candidates, 300 + 4 * limit):
        key = frozenset({left.tobytes(), right.tobytes()})
        if len(key) == 2 and key not in found and are_neighbours(relation, left, right):
            found[key] = (left, right)
        if len(found) == limit:
            break
    if not found:
        raise UsageError(f"neighbours admits no two different inputs: {relation!r}")
    return list(found.values())


def are_neighbours(relation: NeighbourRelation, left: Array, right: Array) -> bool:
    """Whether two arrays are a pair of the relation, in either order.

    Data sets of an add-remove relation have between `size` and `max_size` records, `size + 1` if none is given.
    """
    if isinstance(relation, VectorNeighbours):
        return relation.admits(left, right)
    small, large = sorted((left, right), key=len)
    inside = all(bool(np.all((data >= relation.low) & (data <= relation.high))) for data in (small, large))
    if not inside or small.ndim != 1 or large.ndim != 1 or not _sizes(relation)[0] <= len(small):
        return False
    if len(large) > _sizes(relation)[1]:
        return False
    if relation.relation == "replace":
        return len(small) == len(large) and int(np.count_nonzero(small != large)) <= 1
    shorter = [np.delete(large, k) for k in range(len(large))]
    return len(large) == len(small) + 1 and any(np.array_equal(small, rest) for rest in shorter)


# --- vectors ------------------------------------------------------------------------------------------------


def _vectors(relation: VectorNeighbours, rng: np.random.Generator) -> Iterator[Pair]:
    patterns, others = _patterns(relation)
    bases = _bases(relation)
    for pattern in patterns:
        yield _moved(relation, bases[0], pattern)
    for pattern in patterns[1:] + patterns[:1]:
        yield _moved(relation, _outermost(relation, pattern), pattern)
    for pattern in (-pattern for pattern in patterns):
        yield _moved(relation, bases[0], pattern)
        yield _moved(relation, _outermost(relation, pattern), pattern)
    for pattern in others:
        yield _moved(relation, bases[0], pattern)
        yield _moved(relation, _outermost(relation, pattern), pattern)
    yield from _tiny_and_huge(relation)
    everything = _different([*itertools.chain.from_iterable((p, -p) for p in patterns), *others])
    for base, pattern in _interleaved(bases[1:], everything):
        yield _moved(relation, base, pattern)
    while True:
        low, high, unit = _range(relation)
        levels = np.array([low, high, (low + high) / 2, min(high, low + unit)])
        base = rng.choice(levels[: rng.integers(2, 5)], relation.size)
        yield _moved(relation, base, rng.choice([-1.0, 0.0, 1.0], relation.size, p=[0.45, 0.1, 0.45]))


def _interleaved(bases: list[Array], patterns: list[Array]) -> Iterator[tuple[Array, Array]]:
    """Go through all combinations, both lists from their beginnings."""
    for total in range(len(bases) + len(patterns) - 1):
        for k in range(min(total, len(bases) - 1) + 1):
            if total - k < len(patterns):
                yield bases[k], patterns[total - k]


def _outermost(relation: VectorNeighbours, pattern: Array) -> Array:
    """Return the input whose coordinates are at the ends that they move to, all others at the opposite end."""
    low, high, _ = _range(relation)
    rest = low if pattern.max() > 0 else high
    return np.where(pattern > 0, float(high), np.where(pattern < 0, float(low), float(rest)))


def _range(relation: VectorNeighbours) -> tuple[float, float, float]:
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
        raise UsageError(f"neighbours must leave room for float64 differences, got {relation!r}")
    if relation.integer:
        low, high = math.ceil(low), math.floor(high)
        if low > high:
            raise UsageError(f"neighbours leaves no integer between low={relation.low!r} and high={relation.high!r}")
    return low, high, unit


def _bases(relation: VectorNeighbours) -> list[Array]:
    """Return inputs to start from: ties first, then one or some coordinates far from the others."""
    low, high, unit = _range(relation)
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
    most = _widest_support(relation)
    worst, others = ([_with_support(p, most) for p in group] for group in (worst, others))
    # where many moves leave less for each, the longest step comes first
    worst.sort(key=lambda pattern: -_step(relation, int(np.count_nonzero(pattern))))
    return _different(worst), _different(others)


def _different(patterns: list[Array]) -> list[Array]:
    return list({p.tobytes(): p for p in (pattern + 0.0 for pattern in patterns if pattern.any())}.values())


def _widest_support(relation: VectorNeighbours) -> int:
    """Return how many coordinates can move at all."""
    most = relation.size if relation.l0 is None else min(relation.l0, relation.size)
    if relation.integer:  # each must move by 1 at least
        squared = None if relation.l2 is None else relation.l2**2
        most = min([most, *(math.floor(bound) for bound in (relation.l1, squared) if bound is not None)])
    return most


def _with_support(pattern: Array, most: int) -> Array:
    kept = pattern.copy()
    kept[np.flatnonzero(pattern)[most:]] = 0
    return kept


def _moved(relation: VectorNeighbours, base: Array, pattern: Array) -> Pair:
    """Move `base` along `pattern` as far as the norms and the range allow."""
    pattern = _with_support(pattern, _widest_support(relation))
    if relation.monotone and pattern.min() < 0 < pattern.max():
        pattern = np.maximum(pattern, 0)
    step = _step(relation, int(np.count_nonzero(pattern)))
    low, high, _ = _range(relation)
    # where the range leaves no room on one side the base gives way, so that the whole step fits if it can
    left = np.clip(base, low + np.maximum(0, -pattern * step), np.maximum(low, high - np.maximum(0, pattern * step)))
    left = np.clip(left, low, high)
    right = np.clip(left + pattern * step, low, high)
    too_far = _farther_apart(left, right, step)
    right[too_far] = np.nextafter(right[too_far], left[too_far])
    return left, right


def _step(relation: VectorNeighbours, support: int) -> float:
    """Return the largest step that so many coordinates can take at the same time."""
    support = max(1, support)
    shares = ((relation.linf, 1.0), (relation.l1, float(support)), (relation.l2, math.sqrt(support)))
    # rounded down: `support` steps of a rounded quotient may exceed the norm
    bounds = [(bound, share) for bound, share in shares if bound is not None] or [(relation.largest_step, 1.0)]
    step = min(bound if share == 1 else math.nextafter(bound / share, 0) for bound, share in bounds)
    return math.floor(step) if relation.integer else step


def _tiny_and_huge(relation: VectorNeighbours) -> Iterator[Pair]:
    """Yield pairs for floats: the least difference there is, and inputs so large that noise loses its last bits."""
    low, high, unit = _range(relation)
    zero = np.full(relation.size, min(max(0.0, low), high))
    first, everywhere = (
        _with_support(np.where(np.arange(relation.size) < most, 1.0, 0.0), _widest_support(relation)) > 0
        for most in (1, relation.size)
    )
    if not relation.integer:
        for moving in (first, everywhere):
            yield zero, np.where(moving, np.nextafter(zero, math.inf if zero[0] < high else -math.inf), zero)
    for end in (relation.high, relation.low):
        if math.isinf(end):
            far = np.full(relation.size, math.copysign(min(unit * _HUGE, _LARGEST), end))
            for moving in (everywhere, first):
                step = _step(relation, int(np.count_nonzero(moving)))
                yield far, np.where(moving, far - math.copysign(step, end), far)
            near, moved = far.copy(), far.copy()
            near[0], moved[0] = zero[0], zero[0] + math.copysign(_step(relation, 1), end)
            yield near, moved


def _farther_apart(left: Array, right: Array, step: float) -> NDArray[np.bool_]:
    """Tell exactly where two numbers differ by more than `step`: what rounding took from the difference counts."""
    far, near = np.where(np.abs(right) >= np.abs(left), (right, left), (left, right))
    gap = far - near
    lost = np.sign(gap) * ((far - gap) - near)  # exact, as |far| >= |near| (Dekker 1971)
    result: NDArray[np.bool_] = (np.abs(gap) > step) | ((np.abs(gap) == step) & (lost > 0))
    return result


# --- records ------------------------------------------------------------------------------------------------


def _sizes(relation: RecordNeighbours) -> tuple[int, int]:
    default = relation.size + (relation.relation == "add-remove")
    return relation.size, relation.max_size if relation.max_size is not None else default


def _records(relation: RecordNeighbours, rng: np.random.Generator) -> Iterator[Pair]:
    least, most = _sizes(relation)
    extra = relation.relation == "add-remove"
    sizes = [
        n for n in dict.fromkeys((least, most - extra, (least + most - extra) // 2)) if n >= max(least, not extra)
    ]
    changes = _record_changes(relation)
    # the last record first: few mechanisms look at the order
    for first, change, n in itertools.product((False, True), changes, sizes):
        shape, record = change
        yield _changed(shape(n), record, 0 if first else n - (not extra), extra=extra)
    levels = list(dict.fromkeys((relation.low, relation.high, (relation.low + relation.high) / 2)))
    while sizes:
        n = int(rng.integers(min(sizes), max(sizes) + 1))
        base = rng.choice(np.array(levels), n)
        yield _changed(base, float(rng.choice(levels)), int(rng.integers(0, max(n, 1))), extra=extra)


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


def _changed(base: Array, record: float, position: int, *, extra: bool) -> Pair:
    if extra:
        return base, np.insert(base, position, record)
    changed = base.copy()
    changed[position] = record
    return base, changed
