"""After a trace the state of its target is what it was."""

import array
import collections
import functools
import itertools
import os
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting.traced import decide
from dpassay.properties.tracing.kept_state import kept_state
from dpassay.properties.tracing.symbols import Symbol

LINE = VectorNeighbours(size=1, linf=1)
CACHE: dict[str, Any] = {}
LOG: list[Any] = []
QUEUE: Any = collections.deque(maxlen=2)
ORDERED: Any = collections.OrderedDict(a=1)
SEEN: set[int] = {1}
TOTALS = np.zeros(2)
OBJECTS = np.array([None, 1], dtype=object)
COUNTER = itertools.count()
NUMBERS = array.array("l", [0])
STREAM, LISTED = iter(np.arange(9)), iter([1, 2, 3])
OWN = np.random.default_rng(0)


class Slotted:
    __slots__ = ("empty", "value")
    shared: Any = None
    empty: Any
    value: Any

    def __init__(self) -> None:
        self.value = 0


SLOTTED = Slotted()


@functools.lru_cache
def cached(key: int) -> list[int]:
    return [key]


def enclosing() -> Any:
    last: Any = None

    def release(data: Any, size: int, rng: Any, seen: list[Any] = []) -> list[Any]:  # noqa: B006
        nonlocal last
        last = data[0] + rng.laplace()
        seen.append(last)
        return [last]

    return release


def to_dict(value: Any) -> None:
    CACHE["noise"] = value


def to_list(value: Any) -> None:
    LOG.append(value)


def to_queue(value: Any) -> None:
    QUEUE.append(value)


def to_ordered(value: Any) -> None:
    ORDERED["b"] = value
    ORDERED.move_to_end("a")


def to_set(value: Any) -> None:
    SEEN.add(2)


def to_array(value: Any) -> None:
    TOTALS[0] += 1
    OBJECTS[0] = value


def to_function(value: Any) -> None:
    to_function.last = value  # type: ignore[attr-defined]


def to_class(value: Any) -> None:
    Slotted.shared = value
    SLOTTED.value = SLOTTED.empty = value


def to_global(value: Any) -> None:
    global SEEN  # noqa: PLW0603
    SEEN = {3}
    globals()["new_name"] = value


def to_numbers(value: Any) -> None:
    NUMBERS[0] += 1
    NUMBERS.append(2)


def to_environment(value: Any) -> None:
    os.environ["DPASSAY_TEST_OF_STATE"] = "1"


def to_cache(value: Any) -> None:
    cached(1).append(value)


def state() -> list[Any]:
    return [
        dict(CACHE), list(LOG), list(QUEUE), list(ORDERED.items()), set(SEEN), TOTALS.tolist(), OBJECTS.tolist(),
        vars(to_function).copy(), Slotted.shared, SLOTTED.value, hasattr(SLOTTED, "empty"), "new_name" in globals(),
        cached.cache_info().currsize, OWN.bit_generator.state, NUMBERS.tolist(), dict(os.environ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "keep",
    [
        to_dict,
        to_list,
        to_queue,
        to_ordered,
        to_set,
        to_array,
        to_function,
        to_class,
        to_global,
        to_cache,
        to_numbers,
        to_environment,
    ],
)
def test_what_the_target_keeps_of_a_trace_is_gone(keep: Any) -> None:
    def release(data: Any, size: int, rng: Any) -> list[Any]:
        noisy = data[0] + rng.laplace()
        keep(noisy)
        return [noisy]

    before = state()
    with kept_state(release) as kept:
        release(np.zeros(1), 1, np.random.default_rng(0))
        assert state() != before
    assert state() == before
    assert kept.is_clean


def test_closures_and_default_arguments_are_put_back() -> None:
    release = enclosing()
    decision = decide(release, PureDP(1.0), LINE, 0, 5.0)
    [defaults] = release.__defaults__
    assert [cell.cell_contents for cell in release.__closure__] == [None]
    assert defaults == []
    assert not decision.leaves_marks


def test_a_refused_trace_leaves_no_marks() -> None:
    def release(data: Any, size: int, rng: Any) -> list[Any]:
        LOG.append(data[0] + rng.laplace())
        return [LOG[0] % 1.0]

    decision = decide(release, PureDP(1.0), LINE, 0, 5.0)
    assert decision.verdict is None
    assert not LOG
    assert not decision.leaves_marks


def test_generators_of_the_target_continue_where_they_were() -> None:
    before = OWN.bit_generator.state
    with kept_state(lambda: OWN):
        OWN.random()
    assert OWN.bit_generator.state == before


@pytest.mark.parametrize("iterator", [COUNTER, STREAM, LISTED])
def test_iterators_cannot_be_put_back(iterator: Any) -> None:
    with kept_state(lambda: iterator) as kept:
        pass
    assert kept.is_clean
    with kept_state(lambda: iterator) as kept:
        next(iterator)
    assert not kept.is_clean


def test_a_run_that_lives_on_is_seen() -> None:
    def remember() -> Any:
        values: list[Any] = []
        while True:
            value = yield
            values.append(value)

    memory = remember()
    next(memory)
    holder = (memory.send,)  # a method of a generator is not looked into

    def release(data: Any, size: int, rng: Any) -> list[Any]:
        noisy = data[0] + rng.laplace()
        if isinstance(noisy, Symbol):
            holder[0](noisy)
        return [noisy]

    assert decide(release, PureDP(1.0), LINE, 0, 5.0).leaves_marks
