"""Pairs of neighbouring inputs: designed ones, all of a small finite domain, a broad selection of a large one."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.neighbours import AnyNeighbours, EncodedNeighbours, VectorNeighbours
from dpassay.properties.neighbours.broad_pairs import broad_pairs
from dpassay.properties.neighbours.designed_pairs import designed_records, designed_vectors
from dpassay.properties.neighbours.finite_pairs import all_pairs
from dpassay.properties.neighbours.local_pairs import variations
from dpassay.properties.neighbours.moves import Pair, in_turns, record_counts
from dpassay.properties.neighbours.threshold_pairs import threshold_pairs

__all__ = ["adversarial_pairs", "are_neighbours", "further_pairs", "nearby_pairs"]

Array = NDArray[np.float64]

MOST_PAIRS = 48
"""Pairs share the error budget, the first ones have most of it: more pairs cost evidence and calls."""

_MOST_REPETITIONS = 1000
"""Candidates in a row that are known, or no pairs, after which a selection ends: a small domain has no others."""

MOST_NEARBY = 64
"""Variations of a pair that are tried: more find larger leaks nearby and cost calls that look elsewhere."""

MOST_LISTED, MOST_SELECTED = 10_000, 4096
"""Largest number of further pairs: all pairs of a finite domain, or a selection from a large one."""


def adversarial_pairs(relation: AnyNeighbours, *, seed: int, limit: int = MOST_PAIRS) -> list[Pair]:
    """Return at most `limit` different pairs of the relation, in an order that depends on the seed alone.

    Parameters
    ----------
    relation : AnyNeighbours
        The neighbour relation.
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
    return list(_adversarial_pairs(relation, seed, limit))


@lru_cache(maxsize=64)
def _adversarial_pairs(relation: AnyNeighbours, seed: int, limit: int) -> tuple[Pair, ...]:
    """Return the pairs, computed once: a test suite asks for those of one relation many times."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 31,)))
    if isinstance(relation, EncodedNeighbours):
        designed = relation.pairs(rng)
    elif isinstance(relation, VectorNeighbours):
        designed = designed_vectors(relation, rng)
    else:
        designed = designed_records(relation, rng)
    listed = None if isinstance(relation, EncodedNeighbours) else all_pairs(relation, most=MOST_LISTED)
    candidates = itertools.chain(itertools.islice(designed, 300 + 4 * limit), _in_order(listed or [], rng, limit))
    # once all are found there is nothing to look for
    there_are = limit if listed is None else min(limit, len(listed))
    found = tuple(itertools.islice(_distinct(relation, candidates), there_are))
    if not found:
        raise UsageError(f"neighbours admits no two different inputs: {relation!r}")
    for left, right in found:  # they are shared by all who ask
        left.flags.writeable = right.flags.writeable = False
    return found


def _in_order(listed: list[Pair], rng: np.random.Generator, limit: int) -> Iterator[Pair]:
    """Yield the pairs of a finite domain: all of a small one in order, else in random order.

    The ends of a range of categories make one designed pair, which tells nothing of the categories between.
    """
    yield from listed if len(listed) <= limit else (listed[k] for k in rng.permutation(len(listed)))


def further_pairs(
    relation: AnyNeighbours, known: Sequence[Pair], *, seed: int, numbers: Sequence[float] = ()
) -> Iterator[Pair]:
    """Yield pairs beside the `known` ones, the simplest first: all of a small finite domain, else a broad selection.

    Pairs around given numbers come in turns with the others.

    Parameters
    ----------
    relation : AnyNeighbours
        The relation.
    known : sequence of Pair
        Pairs to leave out.
    seed : int
        Seed of the random part of the selection.
    numbers : sequence of float
        Possible thresholds of the target; see :mod:`dpassay.properties.neighbours.threshold_pairs`.

    Yields
    ------
    Pair
        At most `MOST_LISTED` pairs of a finite domain, else at most `MOST_SELECTED`; see
        :mod:`dpassay.properties.neighbours.broad_pairs`.
    """
    if isinstance(relation, EncodedNeighbours):
        listed = None
        candidates = relation.pairs(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=((1 << 31) + 2,))))
    else:
        listed = all_pairs(relation, most=MOST_LISTED)
        others = broad_pairs(relation, seed=seed) if listed is None else iter(listed)
        candidates = in_turns([threshold_pairs(relation, numbers), others])
    limit = len(known) + MOST_SELECTED if listed is None else len(listed)
    distinct = _distinct(relation, itertools.islice(candidates, 4 * limit), known)
    yield from itertools.islice(distinct, max(0, limit - len(known)))


def nearby_pairs(relation: AnyNeighbours, pair: Pair, *, seed: int) -> list[Pair]:
    """Return at most `MOST_NEARBY` pairs that differ from one in little; none of encoded inputs.

    Parameters
    ----------
    relation : AnyNeighbours
        The relation.
    pair : (left, right)
        A pair of it.
    seed : int
        For the random ones among them.
    """
    if isinstance(relation, EncodedNeighbours):
        return []
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=((1 << 31) + 3,)))
    candidates = itertools.islice(variations(relation, pair, rng), 8 * MOST_NEARBY)
    return list(itertools.islice(_distinct(relation, candidates, [pair]), MOST_NEARBY))


def _key(left: Array, right: Array) -> frozenset[bytes]:
    """Return the same for a pair in either order; -0.0 is the number 0.0."""
    return frozenset({(left + 0.0).tobytes(), (right + 0.0).tobytes()})


def _distinct(relation: AnyNeighbours, candidates: Iterable[Pair], known: Iterable[Pair] = ()) -> Iterator[Pair]:
    """Yield the pairs of the relation among the candidates, each unordered pair once and none of the known ones."""
    found = {_key(left, right) for left, right in known}
    in_vain = 0
    for left, right in candidates:
        key = _key(left, right)
        in_vain += 1
        if len(key) == 2 and key not in found and are_neighbours(relation, left, right):
            found.add(key)
            in_vain = 0
            yield left, right
        if in_vain >= _MOST_REPETITIONS:
            return


def are_neighbours(relation: AnyNeighbours, left: Array, right: Array) -> bool:
    """Return whether two arrays are a pair of the relation, in either order.

    Data sets of an add-remove relation have between `size` and `max_size` records, `size + 1` if none is given.
    """
    if isinstance(relation, VectorNeighbours | EncodedNeighbours):
        return relation.admits(left, right)
    small, large = sorted((left, right), key=len)
    inside = all(bool(np.all((data >= relation.low) & (data <= relation.high))) for data in (small, large))
    if not inside or small.ndim != 1 or large.ndim != 1 or not record_counts(relation)[0] <= len(small):
        return False
    if len(large) > record_counts(relation)[1]:
        return False
    if relation.relation == "replace":
        return len(small) == len(large) and int(np.count_nonzero(small != large)) <= 1
    shorter = [np.delete(large, k) for k in range(len(large))]
    return len(large) == len(small) + 1 and any(np.array_equal(small, rest) for rest in shorter)
