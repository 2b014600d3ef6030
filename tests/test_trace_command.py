"""The command ``dpassay trace``."""

import json
from typing import Any

import pytest

from dpassay.cli import main

CODE = """
def coin(data, size, rng):
    return [bool(data[0] + rng.laplace() > 1)]


def rounded(data, size, rng):
    return [float(rng.laplace())]
"""


@pytest.fixture
def target(tmp_path: Any) -> Any:
    path = tmp_path / "traced_target.py"
    path.write_text(CODE)
    return str(path)


def test_leaves_are_records(target: Any, capsys: Any) -> None:
    assert main(["trace", f"{target}:coin", "--data", "0.5", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted((record["outcome"], record["decisions"]) for record in records) == [
        ("False", ["1/2 - laplace[0] >= 0"]),
        ("True", ["-1/2 + laplace[0] > 0"]),
    ]


def test_symbolic_data(target: Any, capsys: Any) -> None:
    assert main(["trace", f"{target}:coin", "--size", "1"]) == 0
    assert "x[0]" in capsys.readouterr().out


def test_a_refusal_is_named(target: Any, capsys: Any) -> None:
    assert main(["trace", f"{target}:rounded", "--data", "0.5"]) == 1
    assert "traced_target.py:7: float() of a noisy value" in capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--data", "a"], ["--data", "1", "--size", "1"], ["--data", "nan"]])
def test_bad_options(target: Any, options: Any, capsys: Any) -> None:
    assert main(["trace", f"{target}:coin", *options]) == 2
    assert "--" in (message := capsys.readouterr().err) or "data" in message
