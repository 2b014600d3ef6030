"""Commands as targets."""

import sys
from pathlib import Path

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.drawing.commands import Command, CommandError
from dpassay.properties.drawing.target import absolute, load_target
from dpassay.properties.hunting.hunt import hunt

PROGRAM = """
import json, random, sys
data, draw = json.load(sys.stdin), random.Random(int(sys.argv[1]))
def release():
    return [sum(data), draw.random()]
print(json.dumps([release() for _ in range(int(sys.argv[2]))] if len(sys.argv) > 2 else release()))
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "release.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return f"{sys.executable} {path}"


def test_one_release_a_run(program: str) -> None:
    first = Command(f"{program} {{seed}}")(np.array([1.0, 2.0]), 2, np.random.default_rng(0))
    assert [outcome[0] for outcome in first] == [3.0, 3.0]
    assert first[0] != first[1]


def test_many_releases_a_run(program: str) -> None:
    target = load_target(f"cmd:{program} {{seed}} {{size}}")
    outcomes = target(np.array([1.0]), 50, np.random.default_rng(0))
    assert len(set(outcomes)) == 50
    assert outcomes == target(np.array([1.0]), 50, np.random.default_rng(0))


def test_failures_are_outcomes(program: str) -> None:
    with pytest.raises(CommandError, match="status 1"):
        Command(f"{program} word")(np.array([1.0]), 1, np.random.default_rng(0))
    with pytest.raises(CommandError, match="not JSON"):
        Command(f"{sys.executable} -c 'print(1, 2)'")(np.array([1.0]), 1, np.random.default_rng(0))


def test_a_hunt_refutes_a_command(program: str) -> None:
    result = hunt(
        f"cmd:{program} {{seed}} {{size}}",
        "pure:1",
        "vector:size=1,linf=1,low=0,high=1,integer",
        calls=120,
        shrink=False,
    )
    assert result.verdict == "violated"
    assert result.target == f"cmd:{program} {{seed}} {{size}}"
    assert not result.traced


@pytest.mark.parametrize(
    ("target", "message"),
    [("cmd:", "must have the form"), ("cmd:no-such-program-anywhere", "not a program"), ("cmd:'a", "quotation")],
)
def test_errors_of_use(target: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_target(target)


def test_names_for_other_folders() -> None:
    assert absolute("cmd:./x.py:y") == "cmd:./x.py:y"
    assert absolute("per-call:a.py:f") == f"per-call:{Path('a.py').resolve()}:f"
    assert absolute("a.b:f") == "a.b:f"


COUNTED = """
import json, pathlib, random, sys, time
time.sleep(float(sys.argv[3]))
data, draw, size = json.load(sys.stdin), random.Random(int(sys.argv[1])), int(sys.argv[2])
with pathlib.Path(__file__).with_suffix(".log").open("a") as log:
    print(size, file=log)
if draw.random() < float(sys.argv[4]):
    sys.exit(3)
print(json.dumps([sum(data) + draw.expovariate(1) - draw.expovariate(1) for _ in range(size)]))
"""
BIT = "vector:size=2,linf=1,low=0,high=1,integer"


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    path = tmp_path / "counted.py"
    path.write_text(COUNTED, encoding="utf-8")
    return path


def _sizes(program: Path) -> list[int]:
    return [int(line) for line in program.with_suffix(".log").read_text(encoding="utf-8").splitlines()]


def test_a_program_that_makes_many_releases_is_run_for_batches(counted: Path) -> None:
    target = f"cmd:{sys.executable} {counted} {{seed}} {{size}} 0 0"
    result = hunt(target, "pure:2", BIT, calls=4_000)
    sizes = _sizes(counted)
    assert result.verdict == "not refuted"
    assert sum(sizes) >= result.calls == 4_000
    assert len(sizes) < 200
    assert 1 not in sizes


def test_a_batch_that_fails_is_drawn_release_by_release(counted: Path) -> None:
    result = hunt(f"cmd:{sys.executable} {counted} {{seed}} {{size}} 0 0.2", "pure:2", BIT, calls=600, isolate=False)
    assert result.verdict != "violated"
    assert 1 in _sizes(counted)


def test_the_budget_is_kept_within_a_batch_and_slowness_is_said(counted: Path) -> None:
    result = hunt(f"cmd:{sys.executable} {counted} {{seed}} {{size}} 0.5 0", "pure:2", BIT, budget_seconds=3)
    assert (
        len(_sizes(counted)) <= 3 / 0.5 + 2 + 48 / 12
    )  # those of the last batch, and four to see how it uses its rng
    (note,) = (note for note in result.notes if note.startswith("an outcome takes"))
    assert "a smaller relation" in note
