"""Outcomes that cannot be read are never passed over in silence, and the type of an outcome is seen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.cli import main
from dpassay.impl.libraries.reading import read
from dpassay.properties.drawing.call_guard import NOT_READ, PARTLY_READ
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.witness import measured_witness
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import type_words
from dpassay.testing import MechanismWarning, assert_private

Array = NDArray[np.float64]
Target = Callable[[Array, int, np.random.Generator], Any]
SPEC = "records:low=0,high=0,size=1,relation=add-remove"


class Opaque:
    def __init__(self, count: int) -> None:
        self._count = count


def each(outcome: Callable[[int, np.random.Generator], Any]) -> Target:
    """Return a mechanism of one call per outcome, which may depend on the number of records."""
    return lambda data, size, rng: [outcome(len(data), rng) for _ in range(size)]


# --- what cannot be read ------------------------------------------------------------------------------------

UNREADABLE: dict[str, tuple[Any, str]] = {
    "function": (lambda n, rng: lambda: n, "function"),
    "generator": (lambda n, rng: (k for k in range(n)), "generator"),
    "iterator": (lambda n, rng: iter([n]), "list_iterator"),
    "private attributes": (lambda n, rng: Opaque(n), "Opaque"),
    "an address": (lambda n, rng: object(), "object"),
    "nothing else": (lambda n, rng: [object(), {"a": lambda: n}], "function"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_outcomes_that_cannot_be_read_are_no_pass(kind: str) -> None:
    outcome, name = UNREADABLE[kind]
    with pytest.raises(UsageError, match=f"{NOT_READ}.*{name}.*accepted types are"):
        assert_private(each(outcome), "pure:0.1", SPEC, calls=200, white_box=False)


def sometimes(n: int, rng: np.random.Generator) -> Any:
    return object() if rng.random() < 0.05 else rng.random()


def test_some_outcomes_that_cannot_be_read_make_a_hunt_void() -> None:
    result = hunt(each(sometimes), "pure:0.1", SPEC, calls=300, white_box=False)
    assert result.verdict == "undecided"
    assert result.is_void
    assert any(note.startswith(NOT_READ) and "object" in note for note in result.notes)


def test_types_that_cannot_be_read_still_refute(one_or_two_records: Any) -> None:
    target = each(lambda n, rng: iter([]) if n > 1 else object())
    assert one_or_two_records(target, 128)[1] > 1


def test_a_part_that_cannot_be_read_is_named() -> None:
    target = each(lambda n, rng: {"noise": rng.random(), "call": lambda: n})
    with pytest.warns(MechanismWarning, match=rf"{PARTLY_READ}: outcome\['call'\] \(function\)"):
        assert_private(target, "pure:0.1", SPEC, calls=1200, white_box=False)


def test_the_command_line_says_in_one_line_which_outcomes_it_cannot_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "opaque.py"
    file.write_text("def f(data, size, rng):\n    return [object() for _ in range(size)]\n")
    arguments = ["hunt", f"{file}:f", "--claim", "pure:0.1", "--neighbours", SPEC, "--calls", "200"]
    assert main(arguments) == 2
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert "(object)" in line
    assert "dataclasses" in line


@pytest.mark.parametrize("value", [[[]], {"a": []}])
def test_structures_that_hold_themselves_end(value: Any) -> None:
    (value if isinstance(value, list) else value["a"]).append(value)
    assert "contained in itself" in str(read(value))


# --- types --------------------------------------------------------------------------------------------------


def arrays_of_two_types(data: Array, size: int, rng: np.random.Generator) -> Any:
    return np.ones(size, dtype=np.int64 if len(data) > 1 else np.float64)


def test_the_type_of_arrays_is_seen_call_by_call(one_or_two_records: Any) -> None:
    game, evidence = one_or_two_records(arrays_of_two_types, 192)
    assert evidence > 1
    assert game.prepare(100).draws[0].one_by_one
    witness = measured_witness(game, PureDP(0.1))
    assert witness.event.startswith("type(outcome) in {")
    record: dict[str, Any] = {"target": "x:y", "claim": "pure:0.1", "witness": {"left": [0.0], "right": [0.0, 0.0]}}
    record["neighbours"] = SPEC
    record["witness"]["event"] = witness.event
    assert replay(record, arrays_of_two_types, calls=300).verdict == "violated"


def test_the_type_of_an_array_is_one_observation(one_or_two_records: Any) -> None:
    """An array of many outcomes becomes one of floats by a single float in it: nothing is told by each outcome."""
    batch = Outcomes.of(np.ones(5))
    assert batch.types is None
    assert Outcomes.of(np.ones(1)).types is not None
    rare: Target = lambda data, size, rng: np.array(
        [0.5 if rng.random() < 1e-3 * len(data) else 1 for _ in range(size)]
    )
    assert one_or_two_records(rare, 256)[1] < 1


def test_types_in_words() -> None:
    assert type_words(read([1, True, None])) == "[int, bool, None]"
    assert type_words(read({"a": [0.5, 1.5]})) == "dict['a': [float]]"
