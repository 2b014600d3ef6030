"""The command ``dpassay trace``."""

import json
import math
from typing import Any

import pytest

from dpassay.cli import main
from dpassay.properties.hunting.profile import profile_of
from dpassay.spec.distributions.discrete import FiniteDistribution

CODE = """
def coin(data, size, rng):
    return [bool(data[0] + rng.laplace() > 1)]


def rounded(data, size, rng):
    return [__import__("numpy").int64(rng.laplace())]
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
    assert "traced_target.py:7: int() of a noisy value" in capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--data", "a"], ["--data", "1", "--size", "1"], ["--data", "nan"]])
def test_bad_options(target: Any, options: Any, capsys: Any) -> None:
    assert main(["trace", f"{target}:coin", *options]) == 2
    assert "--" in (message := capsys.readouterr().err) or "data" in message


@pytest.mark.parametrize(("options", "given"), [([], "neither"), (["--data", "1", "--size", "1"], "both")])
def test_data_and_size_exclude_each_other(target: Any, options: Any, given: str, capsys: Any) -> None:
    assert main(["trace", f"{target}:coin", *options]) == 2
    assert f"trace needs either --data or --size, got {given}" in capsys.readouterr().err


def test_probabilities_are_enclosed(target: Any, capsys: Any) -> None:
    """Pr[0.5 + Lap(1) > 1] = e^(-1/2) / 2."""
    assert main(["trace", f"{target}:coin", "--data", "0.5", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {record["outcome"]: record["probability"] for record in records}
    assert found["True"][0] <= math.exp(-0.5) / 2 <= found["True"][1] <= found["True"][0] + 1e-14
    assert main(["trace", f"{target}:coin", "--size", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["probability"] is None


def test_a_pair_has_a_certified_epsilon(target: Any, capsys: Any) -> None:
    """log(Pr[0 + Lap <= 1] / Pr[2 + Lap <= 1]) = log((1 - e^-1 / 2) / (e^-1 / 2))."""
    assert main(["trace", f"{target}:coin", "--data", "0", "--neighbour", "2", "--json"]) == 0
    record = json.loads(capsys.readouterr().out.splitlines()[-1])
    true = math.log(2 * math.e - 1)
    assert record["epsilon_lower"] <= true <= record["epsilon_upper"] <= record["epsilon_lower"] + 1e-13
    assert main(["trace", f"{target}:coin", "--data", "0", "--neighbour", "2"]) == 0
    assert "this pair of inputs, in both orders: epsilon >= 1.48988" in capsys.readouterr().out


def test_a_pair_is_drawn(target: Any, tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "pair.svg"
    assert main(["trace", f"{target}:coin", "--data", "0", "--neighbour", "2", "--plot", str(picture)]) == 0
    assert picture.read_text().count("<path") > 4


def test_the_curves_of_a_coin() -> None:
    """Randomised response with odds 3: delta(0) = 1/2, and the best test has errors (1/4, 1/4)."""
    sides = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
    profile = profile_of(sides)
    assert profile.epsilon_lower <= math.log(3) <= (profile.epsilon_upper or 0)
    assert profile.deltas[0] == pytest.approx((0.0, 0.5), abs=1e-15)
    assert profile.deltas[-1][1] == 0
    assert [pytest.approx(point, abs=1e-15) for point in ((0, 1), (0.25, 0.25), (1, 0))] == list(profile.errors)


@pytest.mark.parametrize(
    "options",
    [["--size", "1", "--neighbour", "1"], ["--data", "1", "--plot", "a.svg"], ["--data", "1", "--neighbour", "x"]],
)
def test_bad_options_of_pairs(target: Any, options: Any, capsys: Any) -> None:
    assert main(["trace", f"{target}:coin", *options]) == 2
    assert "--" in capsys.readouterr().err


def test_a_function_of_one_release_is_an_error_of_use(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "one_release_target.py"
    path.write_text("def one(data, rng):\n    return data[0] + rng.laplace()\n")
    assert main(["trace", f"{path}:one", "--data", "0"]) == 2
    assert "per-call:FILE.py:one" in capsys.readouterr().err
    assert main(["hunt", f"{path}:one", "--claim", "pure:1", "--neighbours", "vector:size=1,linf=1"]) == 2
    assert "per-call:FILE.py:one" in capsys.readouterr().err
    assert main(["trace", f"per-call:{path}:one", "--data", "0"]) == 0


COUNT = "def count(data, size, rng):\n    return [len(data) + rng.laplace()]\n"


def test_a_pair_with_a_record_more_is_named(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "count_target.py"
    path.write_text(COUNT)
    assert main(["trace", f"{path}:count", "--data", "1", "--neighbour", "1,2"]) == 0
    assert (
        "(relation add-remove: one has a record more), in both orders: epsilon >= 0.99999999999"
        in capsys.readouterr().out
    )
    assert main(["trace", f"{path}:count", "--data", "1", "--neighbour", "2"]) == 0
    assert "this pair of inputs, in both orders: epsilon >= 0" in capsys.readouterr().out


@pytest.mark.parametrize("neighbour", ["2,3", "1,2,3"])
def test_inputs_of_other_lengths_are_no_neighbours(neighbour: str, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "count_target.py"
    path.write_text(COUNT)
    assert main(["trace", f"{path}:count", "--data", "1", "--neighbour", neighbour]) == 2
    assert "with one record added or removed" in capsys.readouterr().err
