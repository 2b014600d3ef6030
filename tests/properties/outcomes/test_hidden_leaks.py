"""Leaks that stand beside large random parts of an outcome, and their honest twins: equal in form, and not refuted."""

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpassay.properties.hunting.hunt import hunt

BIT = "vector:size=1,linf=1,low=0,high=1,integer"
HEX = np.array(list("0123456789abcdef"))

Shape = Callable[[int, np.random.Generator], Any]
"""Makes an outcome of a bit and of a generator."""


@dataclass
class Report:
    label: str
    score: float


def letters(bit: int, rng: np.random.Generator) -> str:
    text = HEX[rng.integers(16, size=24)]
    text[11] = HEX[2 * rng.integers(8) + bit]
    return "".join(text)


def ordered(bit: int, rng: np.random.Generator) -> dict[str, float]:
    names = ["low", "high"][:: 1 - 2 * bit]
    return {name: float(rng.random()) for name in names}


def with_attributes(bit: int, rng: np.random.Generator) -> Any:
    table = pd().DataFrame({"x": rng.random(2)})
    table.attrs["run"] = bit
    return table


def with_index_name(bit: int, rng: np.random.Generator) -> Any:
    return pd().DataFrame({"x": rng.random(2)}, index=pd().Index([0, 1], name=f"run {bit}"))


def with_column_name(bit: int, rng: np.random.Generator) -> Any:
    return pd().DataFrame([rng.random(1)], columns=pd().Index(["x"], name=f"run {bit}"))


def with_dtype(bit: int, rng: np.random.Generator) -> Any:
    return pd().Series([1, 2], dtype="int64" if bit else "int32")


def with_category(bit: int, rng: np.random.Generator) -> Any:
    return pd().Series(pd().Categorical(["a"], categories=["a", f"b{bit}"]))


def pd() -> Any:
    return pytest.importorskip("pandas")


def masked(bit: int, rng: np.random.Generator) -> np.ma.MaskedArray[Any, Any]:
    return np.ma.MaskedArray([float(rng.random()), float(bit)], mask=[False, True])


SHAPES: dict[str, Shape] = {
    "fraction": lambda bit, rng: float(rng.integers(10**6)) + (0.75 if bit else 0.25),
    "last digit": lambda bit, rng: int(rng.integers(10**9)) * 10 + 3 * bit,
    "parity": lambda bit, rng: int(rng.integers(10**12)) * 2 + bit,
    "letter": letters,
    "last letter": lambda bit, rng: f"{rng.bytes(20).hex()}{'xy'[bit]}",
    "length": lambda bit, rng: rng.bytes(20 + bit).hex(),
    "order of keys": ordered,
    "attributes of a table": with_attributes,
    "name of an index": with_index_name,
    "name of columns": with_column_name,
    "dtype": with_dtype,
    "unused category": with_category,
    "under a mask": masked,
    "negative zero": lambda bit, rng: -0.0 if bit else 0.0,
    "negative zero inside": lambda bit, rng: (float(rng.random()), -0.0 if bit else 0.0),
    "int and float": lambda bit, rng: 1 if bit else 1.0,
    "bool and int": lambda bit, rng: True if bit else 1,
    "float32 and float": lambda bit, rng: np.float32(1) if bit else 1.0,
    "NaN in a record": lambda bit, rng: Report("x", float("nan") if bit else float(rng.random())),
    "counter": lambda bit, rng: collections.Counter({"a": 1 + bit, "b": int(rng.integers(10**6))}),
}
CALLS = 400


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hidden_leak_is_refuted(shape: str) -> None:
    SHAPES[shape](0, np.random.default_rng(0))  # without pandas the shapes of pandas are left out
    result = hunt(
        lambda data, size, rng: [SHAPES[shape](int(data[0]), rng) for _ in range(size)],
        "pure:1",
        BIT,
        calls=CALLS,
        low_bits=False,
        shrink=False,
    )
    assert result.verdict == "violated"


@pytest.mark.parametrize("shape", SHAPES)
def test_its_honest_twin_is_not(shape: str) -> None:
    """Randomised response with epsilon 1 instead of the bit: the claim is attained. Of 20 claims that hold, one is
    refuted with probability 2e-10 at most."""
    SHAPES[shape](0, np.random.default_rng(0))

    def honest(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        told = np.where(rng.random(size) < 1 / (1 + np.exp(-1.0)), data[0], 1 - data[0])
        return [SHAPES[shape](int(bit), rng) for bit in told]

    result = hunt(honest, "pure:1", BIT, calls=CALLS, alpha=1e-11, low_bits=False, shrink=False)
    assert result.verdict == "not refuted"
    assert not any("cannot be read" in note for note in result.notes)
