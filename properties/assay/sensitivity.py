"""Search for the largest change of the noiseless value of a mechanism between neighbours."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import NeighbourRelation
from dpassay.properties.assay.boundaries import boundary_pairs, nearby_pairs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours

__all__ = ["Compute", "WidestGap", "as_vector", "certain_gap", "widest_gap"]

Array = NDArray[np.float64]
Compute = Callable[[Sequence[Array]], list[Array | None]]
"""Function that returns the noiseless values on some inputs as vectors, with None where one cannot be computed."""

_DESIGNED = 48
"""Adversarial pairs that are tried before the search; there are four times as many at the boundaries of the domain."""

_TOGETHER = 16
"""Pairs whose values are asked for together: more save messages, fewer learn sooner which pair is best."""

_REPEATS = 8
"""Repeated evaluations that show whether a function is random."""

NOISE_FACTOR = 1000
"""Bound on remaining noise, as a multiple of the range of eight evaluations: noise with an exponential tail exceeds it
with probability below 1e-11."""


@dataclass(frozen=True)
class WidestGap:
    """The pair with the largest change of the noiseless value.

    Parameters
    ----------
    pair : (left, right)
        The inputs.
    gap : float
        Norm of the difference of the noiseless values.
    evaluations : int
        Number of evaluations.
    is_constant : bool
        Whether the noiseless value was equal on all inputs, neighbours or not.
    """

    pair: Pair
    gap: float
    evaluations: int
    is_constant: bool = False


def widest_gap(
    compute: Compute, relation: NeighbourRelation, *, norm: int, seed: int, evaluations: int, seconds: float
) -> WidestGap | None:
    """Search neighbouring inputs for the largest change: designed pairs, then variations of the best one.

    Parameters
    ----------
    compute : callable
        Returns the noiseless values.
    relation : NeighbourRelation
        The neighbour relation.
    norm : {1, 2}
        Norm of the change.
    seed : int
        Seed of the random variations.
    evaluations : int
        Maximum number of evaluations.
    seconds : float
        Time limit.

    Returns
    -------
    WidestGap or None
        None if no pair has noiseless values on both sides.
    """
    known: dict[bytes, Array | None] = {}
    start = time.monotonic()
    best: WidestGap | None = None

    def is_over() -> bool:
        return len(known) >= evaluations or time.monotonic() - start > seconds

    def consider(pairs: Sequence[Pair]) -> None:
        nonlocal best
        sides = {side.tobytes(): side for pair in pairs for side in pair}
        unknown = {key: side for key, side in sides.items() if key not in known}
        known.update(zip(unknown, compute(list(unknown.values())), strict=True))
        for left, right in pairs:
            gap = _gap(known[left.tobytes()], known[right.tobytes()], norm)
            if gap is not None and (best is None or gap > best.gap):
                best = WidestGap((left, right), gap, 0)

    designed = _designed(relation, seed)
    while not is_over() and (some := list(islice(designed, _TOGETHER))):
        consider(some)
    rng = np.random.default_rng([seed, 6])
    idle = 0
    while best is not None and not is_over() and idle < 20 * evaluations:
        before = len(known)
        changed = islice(nearby_pairs(relation, best.pair, rng), _TOGETHER)
        consider([pair for pair in changed if are_neighbours(relation, *pair) and not np.array_equal(*pair)])
        idle += _TOGETHER if len(known) == before else 0
    if best is None:
        return None
    values = {value.tobytes() for value in known.values() if value is not None}
    return WidestGap(best.pair, best.gap, len(known), is_constant=len(values) < 2)


def _designed(relation: NeighbourRelation, seed: int) -> Iterator[Pair]:
    yield from adversarial_pairs(relation, seed=seed, limit=_DESIGNED)
    yield from boundary_pairs(relation, seed=seed, limit=4 * _DESIGNED)


def _gap(left: Array | None, right: Array | None, norm: int) -> float | None:
    if left is None or right is None or left.shape != right.shape:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        gap = float(np.linalg.norm(right - left, norm))
    return None if np.isnan(gap) else gap


def certain_gap(compute: Compute, found: WidestGap, *, norm: int) -> tuple[float, bool]:
    """Evaluate the pair again and return a gap that remaining noise does not explain.

    Returns
    -------
    gap : float
        The gap, reduced by `NOISE_FACTOR` times the range of repeated evaluations if they differ.
    is_deterministic : bool
        Whether repeated evaluations agree.
    """
    sides = [compute([data] * _REPEATS) for data in found.pair]
    known = [[value for value in side if value is not None] for side in sides]
    if any(len(side) < _REPEATS or len({value.shape for value in side}) > 1 for side in known):
        return 0.0, False
    stacked = [np.array(side) for side in known]
    ranges = [float(np.linalg.norm(np.ptp(side, axis=0), norm)) for side in stacked]
    gap = _gap(stacked[0].mean(axis=0), stacked[1].mean(axis=0), norm)
    if sum(ranges) == 0:
        return found.gap, True
    return (gap or 0.0) - NOISE_FACTOR * sum(ranges), False


def as_vector(value: Any) -> Array | None:
    """Return a number or a sequence of numbers as a vector, None for anything else."""
    try:
        vector = np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()
    except (TypeError, ValueError, OverflowError):
        return None
    return vector if vector.size and np.isfinite(vector).all() else None
