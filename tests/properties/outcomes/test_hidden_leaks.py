"""Leaks that stand beside large random parts of an outcome, and their honest twins: equal in form, and not refuted."""

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpassay.properties.drawing.call_guard import LOOKED_AT_IN_PART
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.type_names import TYPE

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
    "fraction inside": lambda bit, rng: (float(rng.random()), float(rng.integers(10**6)) + (0.75 if bit else 0.25)),
    "digit inside": lambda bit, rng: Report("x", int(rng.integers(10**9)) * 10 + 3 * bit),
    "digit of a long integer": lambda bit, rng: int(rng.integers(10**18)) * 1000 + 30 * bit + int(rng.integers(10)),
    "late letter": lambda bit, rng: f"{rng.bytes(20).hex()}{'xy'[bit]}{rng.bytes(11).hex()}",
    "negative zero in a record": lambda bit, rng: {"a": -0.0 if bit else 0.0},
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

Batch = Callable[[int, int], Any]
"""Makes a batch of so many outcomes that shows a bit beside constant numbers."""


def masked_batch(bit: int, size: int) -> Any:
    return np.ma.MaskedArray(np.full(size, float(bit)), mask=np.ones(size, dtype=bool))


def attributes_of_a_batch(bit: int, size: int) -> Any:
    table = pd().DataFrame({"x": np.zeros(size)})
    table.attrs["run"] = bit
    return table


BATCHES: dict[str, Batch] = {
    "under a mask": masked_batch,
    "mask": lambda bit, size: np.ma.MaskedArray(np.zeros((size, 2)), mask=np.tile([False, bool(bit)], (size, 1))),
    "filling": lambda bit, size: np.ma.MaskedArray(np.zeros(size), mask=np.zeros(size, dtype=bool), fill_value=bit),
    "attributes": attributes_of_a_batch,
    "index": lambda bit, size: pd().DataFrame({"x": np.zeros(size)}, index=[f"row {bit}"] * size),
    "name of an index": lambda bit, size: pd().Series(np.zeros(size), index=pd().RangeIndex(size, name=f"run {bit}")),
    "column": lambda bit, size: pd().DataFrame({f"x{bit}": np.zeros(size)}),
    "column of the same name": lambda bit, size: pd().DataFrame([[bit, 0]] * size, columns=["x", "x"]),
    "name of columns": lambda bit, size: pd().DataFrame([[0]] * size, columns=pd().Index(["x"], name=f"run {bit}")),
    "dtype": lambda bit, size: pd().DataFrame({"x": [0] * size}, dtype="int64" if bit else "int32"),
    "name": lambda bit, size: pd().Series(np.zeros(size), name=f"run {bit}"),
    "name of labels": lambda bit, size: pd().Index(np.zeros(size), name=f"run {bit}"),
    "category": lambda bit, size: pd().Series(pd().Categorical(["a"] * size, categories=["a", f"b{bit}"])),
}


@pytest.mark.parametrize("batch", BATCHES)
def test_what_a_whole_batch_shows_is_a_part_of_every_outcome(batch: str) -> None:
    """One that a learner sees: outcomes of the two bits differ in a feature, in a word or in type."""
    both = [Outcomes.of(BATCHES[batch](bit, 3)) for bit in (0, 1)]
    assert all(len(outcomes) == 3 for outcomes in both)
    assert all(outcomes.are_alike() for outcomes in both)
    assert not Outcomes.joined(both).are_alike()
    assert not any(outcomes.unread for outcomes in both)
    joined = Outcomes.joined(both)
    seen = [*joined.features.values(), *(np.array(list(map(repr, joined.words(w)))) for w in joined.worded())]
    assert any((values[0] != values[3]) and (values[0] == values[0] or values[3] == values[3]) for values in seen)


@pytest.mark.parametrize(
    ("outcome", "what"),
    [
        ("x" * 80, "letters"),
        (b"x" * 80, "bytes"),
        (np.full(20, 100.5), "digits"),
        ((*range(40), 100, 0), "digits"),
        (np.zeros(2000), "numbers"),
        (tuple("ab" * 30), "text"),
        ({str(k): 0.5 if k < 60 else 100.5 for k in range(64)}, "digits"),
        ({str(k): None if k < 60 else b"x" for k in range(64)}, "bytes"),
    ],
    ids=repr,
)
def test_what_is_not_looked_at_is_named(outcome: Any, what: str) -> None:
    (found, *_) = Outcomes.of([outcome]).partly.values()
    assert what in found
    (note,) = (note for note in hunted(outcome).notes if note.startswith(LOOKED_AT_IN_PART))
    assert what in note


@pytest.mark.parametrize("outcome", [0.5, 100, "x" * 64, np.zeros(100), (100.5,) * 7, {"a": 100.5}, b"x" * 64])
def test_short_outcomes_are_looked_at_in_every_detail(outcome: Any) -> None:
    assert Outcomes.of([outcome]).partly == {}


def test_to_how_many_decimals_a_text_rounds_shows() -> None:
    texts = Outcomes.of(["99.53 of 3", "100.5 of 12", "none", "at 7."])
    np.testing.assert_array_equal(texts.features["decimals(outcome)"], [2, 1, np.nan, 0])


def test_the_type_of_a_late_part_shows() -> None:
    late = [{**dict.fromkeys("abcdefghijklmnopqrst", 0), "z": last} for last in (1, 1.0)]
    assert not Outcomes.of(late).are_alike()
    assert len(set(Outcomes.of(late).words(TYPE))) == 2


def hunted(outcome: Any) -> HuntResult:
    """Hunt on a mechanism with this one outcome, for a few calls."""
    return hunt(lambda data, size, rng: [outcome] * size, "pure:1", BIT, calls=20, float64="ignore", shrink=False)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hidden_leak_is_refuted(shape: str) -> None:
    SHAPES[shape](0, np.random.default_rng(0))  # without pandas the shapes of pandas are left out
    result = hunt(
        lambda data, size, rng: [SHAPES[shape](int(data[0]), rng) for _ in range(size)],
        "pure:1",
        BIT,
        calls=CALLS,
        float64="ignore",
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

    result = hunt(honest, "pure:1", BIT, calls=CALLS, alpha=1e-11, float64="ignore", shrink=False)
    assert result.verdict == "not refuted"
    assert not any("cannot be read" in note for note in result.notes)
