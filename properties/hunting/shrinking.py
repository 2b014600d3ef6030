"""Simpler pairs of neighbouring inputs, shrunk with hypothesis: how a witness becomes minimal.

A pair is a list of slots, one for each coordinate or record, with its value on either side. Every choice that
hypothesis makes leads from the simplest pair to the given one: how far all values are moved, and for each kind of
slot how many of them stay and what becomes of these. So the ordinary shrinking of choices towards 0 makes pairs
differ in fewer places, shorter where the relation has records, and of zeros and small integers.
"""

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import TypeVar

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from numpy.typing import NDArray

from dpassay.neighbours import AnyNeighbours, EncodedNeighbours, NeighbourRelation, RecordNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import are_neighbours

__all__ = ["simplest_pair"]

Array = NDArray[np.float64]
T = TypeVar("T")
Slot = tuple[float | None, float | None]
"""The values of one coordinate or record on the left and on the right; None where that side lacks the record."""

_MOST_KINDS = 64
"""Slots of further kinds stay as they are: a pair with more different values has no simple form."""

_MOST_STEPS = 1000
"""Simplifications of a pair of encoded inputs: a step that leads back ends here at the latest."""

_CODES = 1 << 16
"""Random choices lead to the given pair nearly always, since all large ones do; shrinking makes them small."""

_SETTINGS = settings(
    database=None,
    deadline=None,
    max_examples=64,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)


def simplest_pair(
    relation: AnyNeighbours, pair: Pair, is_broken: Callable[[Array, Array], bool], *, seed: int
) -> Pair:
    """Return the simplest pair of the relation that is found and still broken.

    Parameters
    ----------
    relation : AnyNeighbours
        The neighbour relation.
    pair : (left, right)
        Where the search begins; taken to be broken, and returned if nothing simpler is.
    is_broken : callable
        ``is_broken(left, right)``; asked about different neighbouring inputs, about each pair once.
    seed : int
        Of the search.

    Returns
    -------
    (left, right)
        In the orientation of the given pair.
    """
    answers = {_key(pair): True}

    def is_wanted(candidate: Pair) -> bool:
        key = _key(candidate)
        if key not in answers:
            left, right = candidate
            answers[key] = (
                left.tobytes() != right.tobytes() and are_neighbours(relation, left, right) and is_broken(left, right)
            )
        return answers[key]

    if isinstance(relation, EncodedNeighbours):
        return _step_by_step(relation, pair, is_wanted)
    try:
        return find(_pairs_up_to(relation, pair), is_wanted, settings=_SETTINGS, random=Random(seed))  # noqa: S311
    except NoSuchExample:
        return pair


def _step_by_step(relation: EncodedNeighbours, pair: Pair, is_wanted: Callable[[Pair], bool]) -> Pair:
    """Take the first simpler pair that is wanted, and go on from there."""
    for _ in range(_MOST_STEPS):
        following = next(filter(is_wanted, relation.simpler(*pair)), None)
        if following is None:
            break
        pair = following
    return pair


def _key(pair: Pair) -> tuple[bytes, bytes]:
    return pair[0].tobytes(), pair[1].tobytes()


@st.composite
def _pairs_up_to(draw: st.DrawFn, relation: NeighbourRelation, pair: Pair) -> Pair:
    """Draw pairs that are at most as complex as the given one, simplest first."""
    shift = _chosen(draw, _shifts(pair))
    result: list[Slot | None] = []
    kinds: dict[Slot, list[int]] = {}
    for place, (on_left, on_right) in enumerate(_slots(pair)):
        slot = _moved(on_left, shift), _moved(on_right, shift)
        kinds.setdefault(slot, []).append(place)
        result.append(slot)
    for slot, places in list(kinds.items())[:_MOST_KINDS]:
        stay = min(draw(st.integers(0, _CODES)), len(places))
        forms = list(_forms(relation, slot))
        forms = forms[: forms.index(slot) + 1]  # no other form that it may become is simpler than itself
        form = _chosen(draw, forms)
        for count, place in enumerate(places):
            result[place] = form if count < stay else forms[0]
    kept = [slot for slot in result if slot is not None]
    left, right = (np.array([slot[side] for slot in kept if slot[side] is not None], np.float64) for side in (0, 1))
    return left, right


def _chosen(draw: st.DrawFn, options: list[T]) -> T:
    return options[min(draw(st.integers(0, _CODES)), len(options) - 1)]


def _slots(pair: Pair) -> list[Slot]:
    left, right = (data.tolist() for data in pair)
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    small, large = sorted((left, right), key=len)
    extra = next((k for k, (a, b) in enumerate(zip(small, large, strict=False)) if a != b), len(small))
    shared: list[Slot] = [(value, value) for value in small]
    alone: Slot = (large[extra], None) if len(left) > len(right) else (None, large[extra])
    return [*shared[:extra], alone, *shared[extra:]]


def _shifts(pair: Pair) -> list[float]:
    """Return by how much all values may be moved down, last of all not at all."""
    values = np.concatenate(pair)
    if not values.size:
        return [0.0]
    ends = (float(values.min()), float(values.max()), float(values[0]))
    return [*dict.fromkeys(end for end in ends if end), 0.0]


def _forms(relation: NeighbourRelation, slot: Slot) -> Iterator[Slot | None]:
    """Go through the forms of a slot, the simplest first: dropped (None), at zero, rounded, as it is."""
    zero, one = (min(max(level, relation.low), relation.high) for level in (0.0, 1.0))
    left, right = slot
    if isinstance(relation, RecordNeighbours):
        yield None
    if left is None or right is None:
        yield from ((None, level) if left is None else (level, None) for level in (zero, one))
    else:
        yield zero, zero
    if left is not None and right is not None and left != right:
        step = right - left
        for size in (math.copysign(1.0, step), float(np.round(step)), step):
            yield zero, zero + size
            yield zero - size, zero
    yield _rounded(left), _rounded(right)
    yield slot


def _moved(value: float | None, shift: float) -> float | None:
    return None if value is None else value - shift


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(np.round(value))
