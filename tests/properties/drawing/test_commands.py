"""Commands as targets."""

import sys
from pathlib import Path

import numpy as np
import pytest

from dpassay.claims import UsageError
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
