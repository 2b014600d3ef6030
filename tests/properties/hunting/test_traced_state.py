"""Targets that keep what they drew, in a hunt that traces them first."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.drawing.opened import open_target
from dpassay.properties.drawing.shipping import Named
from dpassay.properties.drawing.target_process import TargetProcess, ask
from dpassay.properties.hunting.hunt import hunt

LINE = "vector:size=1,linf=1"

TARGETS = """
NOISE = {}
def remembers(data, size, rng):
    if "noise" not in NOISE:
        NOISE["noise"] = rng.laplace()
    return [data[0] + NOISE["noise"]] * size
def stream():
    value = None
    while True:
        value = yield value
STREAM = stream()
next(STREAM)
def streams(data, size, rng):
    return [STREAM.send(data[0] + rng.laplace()) % 1 for _ in range(size)]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("targets") / "remembering.py"
    place.write_text(TARGETS)
    return place


@pytest.mark.traced
@pytest.mark.parametrize("isolate", [True, False])
def test_noise_that_was_kept_in_a_trace_is_not_sampled(file: Path, isolate: bool) -> None:
    result = hunt(f"{file}:remembers", "pure:1", LINE, calls=300, isolate=isolate)
    assert result.verdict == "undecided"
    assert "kept from an earlier call" in (result.not_traced or "")
    assert any("not a fresh draw" in note for note in result.notes)  # of numbers, which symbols are not


@pytest.mark.traced
def test_the_process_of_a_target_starts_anew_where_marks_remain(file: Path) -> None:
    draw = Draw(np.zeros(1), 3, np.random.SeedSequence(0), one_by_one=False)
    with TargetProcess(Named(f"{file}:streams"), "streams") as process:
        first = process._process.pid
        process.restart()
        assert process._process.pid != first
    with open_target(f"{file}:streams", isolate=True, import_timeout=60, call_timeout=60) as opened:
        decision = opened.traced(PureDP(1.0), VectorNeighbours(1, linf=1.0), 0, 5.0)
        assert decision.verdict is None
        drawn = ask(opened.sampler, sample_side, draw)
        assert drawn is not None
        assert drawn.failures == 0


def test_tables_and_sessions_are_said_to_be_sampled_only() -> None:
    def count(rows: Any, size: int, rng: np.random.Generator) -> Any:
        return len(rows) + rng.laplace(size=size)

    result = hunt(count, "pure:1", "dicts:age=0..9,size=2,relation=add-remove", calls=300)
    assert result.not_traced is not None
    assert "tables" in result.not_traced
    result = hunt(lambda data, size, rng: data[0] + rng.laplace(size=size), "pure:1", LINE, calls=300, session=2)
    assert result.not_traced is not None
    assert "sessions" in result.not_traced
    assert (
        hunt(count, "pure:1", "dicts:age=0..9,size=2,relation=add-remove", calls=300, trace=False).not_traced is None
    )
