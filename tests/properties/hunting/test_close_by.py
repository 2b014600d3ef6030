"""Outcomes that rounding alone changes, and faults that must not be put down to rounding."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.impl.libraries.reading import read
from dpassay.properties.hunting.close_by import agree_but_for_rounding
from dpassay.properties.hunting.hunt import hunt

Array = NDArray[np.float64]
TINY = 1e-9


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1.0, 1.0 + TINY),
        ((1.0, "a"), (1.0 + TINY, "a")),
        (read({"a": 0.5, "b": [2.0]}), read({"a": 0.5 + TINY, "b": [2.0]})),
        ("sum 0.123456789, n 3", "sum 0.123456788, n 3"),
    ],
)
def test_what_differs_by_rounding_agrees(one: Any, two: Any) -> None:
    assert agree_but_for_rounding(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1.0, 1.01),
        ((1.0,), (1.0, 2.0)),
        (read({"a": 0.5}), read({"b": 0.5})),
        (read({"a": 0.5}), read({"a": 0.5, "b": 1.0})),
        (read({"a": 0.5}), read({"a": 0.6})),
        ("sum 0.5", "sum 0.6"),
        ("sum 0.5", "mean 0.5"),
        ("0.5", 0.5),
        ("0.5", "0.5 0.5"),
    ],
)
def test_what_differs_otherwise_does_not_agree(one: Any, two: Any) -> None:
    assert not agree_but_for_rounding(one, two)


def noisy_positive(data: Array, rng: np.random.Generator) -> dict[str, float]:
    """Return noisy counts of the categories that have any: next to 0 there is no category without."""
    return {f"k{k}": float(c + rng.laplace()) for k, c in enumerate(data) if c > 0}


@pytest.mark.parametrize("form", [dict, json.dumps])
def test_a_key_that_only_one_side_has_is_no_rounding(form: Any) -> None:
    def release(data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        return [form(noisy_positive(data, rng)) for _ in range(size)]

    result = hunt(
        release,
        "pure:1",
        "vector:size=2,l0=1,linf=1,low=0,high=3,integer",
        calls=6000,
        trace=False,
        float64="ignore",
        shrink=False,
    )
    assert result.verdict == "violated"


def test_a_grid_that_moves_with_the_data_is_found() -> None:
    """A full step keeps the remainder of the grid; the leak shows at a part of a step only."""

    def rounds_noise_only(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.round(rng.laplace(0, 1, size)) + data[0])

    result = hunt(
        rounds_noise_only, "pure:1", "vector:size=1,linf=1,low=0,high=10", calls=20_000, trace=False,
        float64="ignore", shrink=False,
    )  # fmt: skip
    assert result.verdict == "violated"
