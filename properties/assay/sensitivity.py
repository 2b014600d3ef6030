"""Search for the largest change of the noiseless value of a mechanism between neighbours.

Where a value has no distance to that of a neighbour, because one is infinite or NaN, is of another size or was not
returned, the pair is a breach. Pairs of which both sides raise, or have the same infinities or NaN only, compare
nothing.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanism import SamplerLostError
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.assay.boundaries import boundary_pairs, nearby_pairs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours

__all__ = [
    "Breach",
    "CertainGap",
    "Compute",
    "Value",
    "WidestGap",
    "as_vector",
    "certain_gap",
    "is_certain",
    "length",
    "widest_gap",
]

Array = NDArray[np.float64]
Value = Array | str | None
Compute = Callable[[Sequence[Array]], list[Value]]
"""Function that returns the noiseless values on some inputs as vectors; the name of what the library raises instead;
or None where there is no value for another reason."""

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
class Breach:
    """Neighbours whose noiseless values have no distance, so that noise does not hide the difference.

    Parameters
    ----------
    pair : (left, right)
        The inputs.
    words : str
        The difference.
    is_value : bool
        Whether both sides returned values of one size, of which one is infinite or NaN.
    """

    pair: Pair
    words: str
    is_value: bool


@dataclass(frozen=True)
class WidestGap:
    """The pair with the largest change of the noiseless value.

    Parameters
    ----------
    pair : (left, right), optional
        The inputs; None if no pair was compared.
    gap : float
        Norm of the difference of the noiseless values.
    evaluations : int
        Number of evaluations.
    is_constant : bool
        Whether the noiseless value was equal on all inputs, neighbours or not.
    compared, pairs : int
        Number of pairs that have a distance, and of all.
    breaches : tuple of Breach
        Pairs without a distance, one of each kind.
    lost : SamplerLostError, optional
        How the worker was lost, which ended the search.
    """

    pair: Pair | None
    gap: float
    evaluations: int
    is_constant: bool = False
    compared: int = 0
    pairs: int = 0
    breaches: tuple[Breach, ...] = ()
    lost: SamplerLostError | None = None


@dataclass
class _Search:
    """The pairs that were looked at, and what is known of them."""

    compute: Compute
    norm: int
    known: dict[bytes, Value] = field(default_factory=dict)
    compared: dict[tuple[bytes, bytes], bool] = field(default_factory=dict)
    breaches: dict[str, Breach] = field(default_factory=dict)
    best: tuple[Pair, float] | None = None

    lost: SamplerLostError | None = None

    def consider(self, pairs: Sequence[Pair]) -> None:
        """Compare the values of some pairs; a worker that is lost ends the search, and what is known stays."""
        sides = {side.tobytes(): side for pair in pairs for side in pair}
        unknown = {key: side for key, side in sides.items() if key not in self.known}
        try:
            self.known.update(zip(unknown, self.compute(list(unknown.values())), strict=True))
        except SamplerLostError as error:
            self.lost = error
            return
        for left, right in pairs:
            keys = left.tobytes(), right.tobytes()
            one, two = self.known[keys[0]], self.known[keys[1]]
            gap = _gap(one, two, self.norm)
            self.compared[keys] = gap is not None
            if gap is None:
                words = _breach(one, two)
                if words is not None:
                    is_value = isinstance(one, np.ndarray) and isinstance(two, np.ndarray) and one.shape == two.shape
                    self.breaches.setdefault(words, Breach((left, right), words, is_value))
            elif self.best is None or gap > self.best[1]:
                self.best = ((left, right), gap)


def widest_gap(
    compute: Compute, relation: NeighbourRelation, *, norm: int, seed: int, evaluations: int, seconds: float
) -> WidestGap:
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
    WidestGap
        Without a pair if no two neighbours have values with a distance.
    """
    search = _Search(compute, norm)
    start = time.monotonic()

    def is_over() -> bool:
        return search.lost is not None or len(search.known) >= evaluations or time.monotonic() - start > seconds

    designed = _designed(relation, seed)
    while not is_over() and (some := list(islice(designed, _TOGETHER))):
        search.consider(some)
    rng = np.random.default_rng([seed, 6])
    idle = 0
    while search.best is not None and not is_over() and idle < 20 * evaluations:
        before = len(search.known)
        changed = islice(nearby_pairs(relation, search.best[0], rng), _TOGETHER)
        search.consider([pair for pair in changed if are_neighbours(relation, *pair) and not np.array_equal(*pair)])
        idle += _TOGETHER if len(search.known) == before else 0
    pair, gap = (None, 0.0) if search.best is None else search.best
    vectors = [value for value in search.known.values() if isinstance(value, np.ndarray)]
    values = {vector.tobytes() for vector in vectors if np.isfinite(vector).any()}
    return WidestGap(
        pair,
        gap,
        len(search.known),
        is_constant=len(values) < 2,
        compared=sum(search.compared.values()),
        pairs=len(search.compared),
        breaches=tuple(search.breaches.values()),
        lost=search.lost,
    )


def _designed(relation: NeighbourRelation, seed: int) -> Iterator[Pair]:
    yield from adversarial_pairs(relation, seed=seed, limit=_DESIGNED)
    yield from boundary_pairs(relation, seed=seed, limit=4 * _DESIGNED)


def _gap(left: Value, right: Value, norm: int) -> float | None:
    """Return the distance of two values; None if they have none, or if no finite number is in them.

    An infinity or NaN that is in the same place of both is left out. The distance of finite numbers may be infinite.
    """
    if not isinstance(left, np.ndarray) or not isinstance(right, np.ndarray) or left.shape != right.shape:
        return None
    finite = np.isfinite(left) & np.isfinite(right)
    if not finite.any() or not _is_alike(left[~finite], right[~finite]):
        return None
    with np.errstate(over="ignore"):
        return length(right[finite] - left[finite], norm)


def length(change: Array, norm: int) -> float:
    """Return a norm of a vector, without overflow of its squares.

    Parameters
    ----------
    change : array
        The vector; infinities give infinity.
    norm : {1, 2}
        Which norm.
    """
    return math.hypot(*change.ravel()) if norm == 2 else float(np.sum(np.abs(change)))


def _is_alike(left: Array, right: Array) -> bool:
    return np.array_equal(left, right, equal_nan=True)


def _breach(left: Value, right: Value) -> str | None:
    """Return the difference of two values without a distance; None if they are alike, or one is not known."""
    if left is None or right is None or (isinstance(left, str) and isinstance(right, str)):
        return None
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and _is_alike(left, right):
        return None
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape == right.shape:
        is_plain = (left == right) | (np.isnan(left) & np.isnan(right)) | (np.isfinite(left) & np.isfinite(right))
        place = int(np.argmin(is_plain))
        words = sorted("finite" if np.isfinite(side[place]) else str(side[place]) for side in (left, right))
    else:
        words = sorted(f"raises {side}" if isinstance(side, str) else f"{side.size} numbers" for side in (left, right))
    return f"{words[0]} on one side and {words[1]} on the other"


@dataclass(frozen=True)
class CertainGap:
    """Bounds on the gap of a pair whose values were computed again.

    Parameters
    ----------
    lower, upper : float
        The gap, less and more `NOISE_FACTOR` times the range of repeated evaluations if they differ; zero and
        infinity if the values have no distance any more.
    is_deterministic : bool
        Whether repeated evaluations agree.
    """

    lower: float
    upper: float
    is_deterministic: bool


def certain_gap(compute: Compute, pair: Pair, gap: float, *, norm: int) -> CertainGap:
    """Evaluate a pair again and return bounds on its gap that remaining noise does not explain.

    Parameters
    ----------
    compute : callable
        Returns the noiseless values.
    pair : (left, right)
        The inputs.
    gap : float
        The gap that was found.
    norm : {1, 2}
        Norm of the change.
    """
    sides = [_known(compute([data] * _REPEATS)) for data in pair]
    if any(len(side) < _REPEATS or len({value.shape for value in side}) > 1 for side in sides):
        return CertainGap(0.0, math.inf, False)
    stacked = [np.array(side) for side in sides]
    if all(_is_alike(side, np.broadcast_to(side[0], side.shape)) for side in stacked):
        again = _gap(stacked[0][0], stacked[1][0], norm)
        return CertainGap(0.0, math.inf, False) if again is None else CertainGap(gap, gap, True)
    with np.errstate(over="ignore", invalid="ignore"):
        noise = NOISE_FACTOR * sum(length(np.ptp(side, axis=0), norm) for side in stacked)
        middle = _gap(stacked[0].mean(axis=0), stacked[1].mean(axis=0), norm)
    if middle is None or not math.isfinite(middle) or not math.isfinite(noise):
        return CertainGap(0.0, math.inf, False)
    return CertainGap(middle - noise, middle + noise, False)


def _known(values: Sequence[Value]) -> list[Array]:
    return [value for value in values if isinstance(value, np.ndarray)]


def is_certain(compute: Compute, breach: Breach) -> bool:
    """Evaluate the pair of a breach again; return whether it has the same difference each time."""
    one, two = (compute([data] * _REPEATS) for data in breach.pair)
    return {_breach(left, right) for left, right in zip(one, two, strict=True)} == {breach.words}


def as_vector(value: Any) -> Array | None:
    """Return a number or a sequence of numbers as a vector, infinities and NaN included; None for anything else."""
    try:
        vector = np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()
    except (TypeError, ValueError, OverflowError):
        return None
    if np.isnan(vector).any() and any(one is None for one in np.asarray(value, dtype=object).ravel()):
        return None  # numpy takes what is missing for NaN
    return vector
