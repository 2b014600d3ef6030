from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest

from dpassay.properties.neighbours.code_numbers import MOST_NUMBERS, numbers_in_code

LIMIT = 61.5
TABLE = {"most": 83, "steps": [5, 7.5]}


def constant(data: Any, size: int, rng: Any) -> Any:
    return np.full(size, data[0] > 37)


def default(data: Any, size: int, rng: Any, most: float = 4.5, *, least: float = -3.25) -> Any:
    return np.full(size, least < data[0] < most)


def of_module(data: Any, size: int, rng: Any) -> Any:
    return np.full(size, data[0] > LIMIT)


def of_table(data: Any, size: int, rng: Any) -> Any:
    return np.full(size, data[0] > TABLE["most"])


def helper(value: float) -> bool:
    return value > 29


def by_helper(data: Any, size: int, rng: Any) -> Any:
    return np.full(size, helper(data[0]))


def nested(data: Any, size: int, rng: Any) -> Any:
    def inner(value: float) -> bool:
        return value > 43

    return [inner(data[0]) for _ in range(size)]


def closure(limit: Any) -> Any:
    def bounded(data: Any, size: int, rng: Any) -> Any:
        return np.full(size, data[0] > limit)

    return bounded


def small_type(data: Any, size: int, rng: Any) -> Any:
    return np.full(size, data.astype(np.int8).sum())


def named_type(data: Any, size: int, rng: Any) -> Any:
    return np.full(size, data.astype("float32").sum())


@wraps(constant)
def wrapper(*arguments: Any) -> Any:
    return constant(*arguments)


@dataclass(frozen=True)
class Bounded:
    most: float

    def __call__(self, data: Any, size: int, rng: Any) -> Any:
        return self.exceeds(data[0]) + rng.normal(size=size)

    def exceeds(self, value: float) -> bool:
        return 17 < value < self.most


class Slotted:
    __slots__ = ("most", "unset")

    def __init__(self, most: float) -> None:
        self.most = most

    def sample(self, data: Any, size: int, rng: Any) -> Any:
        return (data[0] > self.most) + rng.normal(size=size)


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        (constant, {37.0}),
        (default, {4.5, -3.25}),
        (of_module, {61.5}),
        (of_table, {83.0, 5.0, 7.5}),
        (by_helper, {29.0}),
        (nested, {43.0}),
        (closure(23), {23.0}),
        (partial(default, most=71), {71.0, -3.25}),
        (small_type, {127.0, -128.0}),
        (named_type, {2.0**24}),
        (wrapper, {37.0}),
        (Bounded(53), {53.0, 17.0}),
        (Slotted(59).sample, {59.0}),
        (lambda data, size, rng: data[0] > 31, {31.0}),
    ],
)
def test_numbers_that_a_target_holds_are_found(target: Any, wanted: set[float]) -> None:
    found = numbers_in_code(target)
    assert wanted <= set(found)
    assert found == numbers_in_code(target)
    assert len(found) == len(set(found)) <= MOST_NUMBERS


def test_telling_numbers_come_before_common_ones() -> None:
    assert numbers_in_code(lambda data, size, rng: (data[0] > 0) + (data[1] > 1) + (data[0] > 37)) == (37.0, 0.0, 1.0)


def test_objects_that_name_each_other_end_the_walk() -> None:
    one, other = closure(None), closure(None)
    one.__closure__[0].cell_contents = other
    other.__closure__[0].cell_contents = one
    assert set(numbers_in_code(one)) == {0.0}


def test_libraries_and_code_without_python_hold_no_numbers() -> None:
    assert numbers_in_code(len) == ()
    assert not {n for n in numbers_in_code(lambda data, size, rng: np.median(data)) if n > 2}


def test_infinite_and_huge_numbers_are_left_out() -> None:
    found = numbers_in_code(closure([float("inf"), float("nan"), 10**400, 7]))
    assert 7.0 in found
    assert np.isfinite(found).all()


def test_attributes_are_read_without_the_code_of_the_object() -> None:
    class Hostile:
        def __init__(self) -> None:
            self.most = 19

        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

        def __call__(self, data: Any, size: int, rng: Any) -> Any:
            return data + rng.normal(size=size)

    assert 19.0 in numbers_in_code(Hostile())
