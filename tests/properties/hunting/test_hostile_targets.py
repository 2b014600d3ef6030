"""Targets that do everything a target can do wrong: one line for the user, and never a false alarm."""

import json
import math
import os
import re
import sys
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor  # type: ignore[import-untyped]
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import ExPost
from dpassay.cli import main
from dpassay.neighbours import VectorNeighbours, parse_neighbours
from dpassay.properties.betting.game import FIRST_BATCH
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import call
from dpassay.properties.outcomes.symbols import LONGEST_ATOM

Array = NDArray[np.float64]
Capture = pytest.CaptureFixture[str]
LINE = "vector:size=1,linf=1"
BIT = VectorNeighbours(1, linf=1.0, low=0, high=1, integer=True)


def tell(data: Array, size: int, rng: np.random.Generator) -> list[int]:
    """Tells the bit with probability 3/4."""
    return [int(bit) for bit in np.where(rng.random(size) < 0.75, data[0], 1 - data[0])]


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    "row", [np.array(1.0), Unprintable(), object(), {1: {2}}, {1, "x"}, 1 + 2j, np.zeros((2, 2)), lambda: 0]
)
def test_any_object_is_an_outcome(row: Any) -> None:
    result = hunt(lambda _, size, __: [row] * size, "pure:1", LINE, calls=300)
    assert result.verdict == "undecided"  # all are the same


def test_objects_are_known_by_their_value_not_by_their_address() -> None:
    one, other = object(), object()
    assert Outcomes.of([one]).symbols() == Outcomes.of([other]).symbols()
    assert Outcomes.of([{"b": 1, "a": 2}]).symbols() != Outcomes.of([{"a": 2, "b": 1}]).symbols()  # the order is seen
    assert Outcomes.of([np.array(2.0)]).symbols() == [2.0]


def test_a_buffer_that_is_used_again_is_copied() -> None:
    buffer = np.zeros(3)

    def reusing(data: Array, size: int, rng: np.random.Generator) -> Array:
        buffer[:] = data[0]
        return buffer

    first = call(reusing, np.zeros(1), 3, np.random.default_rng(0))
    call(reusing, np.ones(1), 3, np.random.default_rng(0))
    assert not first.rows.any()


def test_integers_keep_their_identity_beside_floats() -> None:
    large = Outcomes.of(np.array([2**60 + 1]))
    joined = Outcomes.joined([large, Outcomes.of(np.array([0.5]))])
    assert joined.symbols()[0] == 2**60 + 1


def test_very_long_outcomes_are_seen_through_their_features() -> None:
    width = 4 * LONGEST_ATOM

    def wide(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(data[0] + rng.laplace(0, 0.1, (size, 1)) + np.zeros(width))

    result = hunt(wide, "pure:1", "vector:size=1,linf=1,low=0,high=1", calls=2_000)
    assert result.verdict == "violated"
    assert result.witness is not None
    assert replay(result.to_json(), wide, calls=500).verdict == "violated"


class Stop(BaseException):
    """Ends more than a function."""


@pytest.mark.traced
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, Stop])
@pytest.mark.parametrize("only_on_numbers", [False, True])
def test_an_exit_during_a_trace_is_no_error_of_the_trace(kind: type[BaseException], only_on_numbers: bool) -> None:
    def stops(data: Array, size: int, rng: np.random.Generator) -> list[float]:
        noisy = data[0] + rng.laplace(size=size)
        if (noisy > 1).any() and not (only_on_numbers and noisy.dtype == object):
            raise kind("away")
        return [0.0] * size

    result = hunt(stops, "pure:1", LINE, calls=100, isolate=False)
    assert result.evidence == "sampled"
    assert result.not_traced is not None
    assert f"raises {kind.__name__}: away" in result.not_traced


def test_a_target_that_exits_is_named_and_does_not_set_the_status(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    (tmp_path / "stops.py").write_text("def f(data, size, rng):\n    raise SystemExit(0)\n", encoding="utf-8")
    for name in ("leaves.py:f", "stops.py:f"):
        assert main(["hunt", str(tmp_path / name), "--claim", "pure:1", "--neighbours", LINE]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "SystemExit" in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_a_target_prints_does_not_mix_with_the_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], jobs: str
) -> None:
    code = "import os\nprint('import')\ndef f(data, size, rng):\n    print('call')\n    os.write(1, b'raw')\n"
    (tmp_path / "loud.py").write_text(code + "    return rng.random(size)\n", encoding="utf-8")
    get_reusable_executor().shutdown(wait=True)  # workers of an earlier test would print into that test's file
    arguments = ["hunt", str(tmp_path / "loud.py:f"), "--claim", "pure:1", "--neighbours", LINE, "--calls", "4000"]
    assert main([*arguments, "--jobs", jobs, "--json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["verdict"] == "not refuted"
    assert "import" in err
    assert "raw" in err


def test_a_class_is_not_a_mechanism() -> None:
    with pytest.raises(UsageError, match="is a class"):
        hunt("dpassay.impl.mechanisms.noisy_max:GaussianNoisyMax")


def test_one_side_that_always_raises_is_a_leak_and_no_mistake() -> None:
    """Also if it is the left one of every pair, whose outcomes come first in a batch."""
    lefts = {pair[0].tobytes() for pair in adversarial_pairs(parse_neighbours(LINE), seed=0)}

    def raising(data: Array, size: int, rng: np.random.Generator) -> Array:
        if data.tobytes() in lefts:
            raise ValueError
        return np.zeros(size)

    assert hunt(raising, "pure:1", LINE, calls=96 * FIRST_BATCH).calls == 96 * FIRST_BATCH


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_backend_that_is_not_set_up_is_named(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ray", "ray.util.joblib", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=f"backend '{backend}' cannot be used"):
        hunt(tell, "pure:2", BIT, calls=64, jobs=2, backend=backend)


@pytest.mark.parametrize(
    "claim",
    [
        "approx:1,5e-324",
        "approx:1e300,1e-300",
        "pure:1e-320",
        "pure:1e308",
        "zcdp:1e308",
        "rdp:2,1e308",
        "rdp:2,5e-324",
    ],
)
def test_claims_at_the_ends_of_float64_are_tested(claim: str) -> None:
    result = hunt(tell, claim, BIT, calls=1_000)
    assert result.epsilon_lower < math.log(3)


@pytest.mark.parametrize("words", ["vector:size=3,l0=1,low=0,high=1", "vector:size=3,l0=2,low=0,high=4,integer"])
def test_a_range_bounds_the_change_of_few_coordinates(words: str) -> None:
    relation = parse_neighbours(words)
    assert isinstance(relation, VectorNeighbours)
    left, right = adversarial_pairs(relation, seed=0, limit=1)[0]
    assert np.abs(left - right).max() == relation.high - relation.low
    with pytest.raises(UsageError, match="finite low and high"):
        parse_neighbours("vector:size=3,l0=1")


def test_pairs_of_a_million_coordinates_come_at_once() -> None:
    pairs = adversarial_pairs(VectorNeighbours(10**6, linf=0.1), seed=0, limit=4)
    assert len(pairs) == 4
    assert not VectorNeighbours(1, linf=1.0).admits(np.array([math.inf]), np.array([math.inf]))
    with pytest.raises(UsageError, match="float64"):
        adversarial_pairs(VectorNeighbours(2, linf=1e308), seed=0)


def test_the_budget_ends_a_round_and_the_calls_replay_it() -> None:
    limited = hunt(tell, "pure:2", LINE, budget_seconds=1e-9)
    assert limited.calls == 2 * FIRST_BATCH  # one batch
    assert f"--calls {limited.calls}" in limited.replay


def test_a_replay_names_the_limits_of_the_run() -> None:
    usual = hunt(tell, "pure:2", LINE, calls=8)
    assert not any(option in usual.replay for option in ("--budget", "--call-timeout", "--trace-limit"))
    found = hunt(tell, "pure:2", LINE, calls=8, budget_seconds=180, call_timeout_seconds=math.inf, trace_seconds=0.1)
    for option in ("--budget 180s", "--call-timeout inf", "--trace-limit 0.1s", "--calls 8"):
        assert option in found.replay


# --- replays and witnesses ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Telling:
    claims: tuple[ExPost, ...]
    neighbours: VectorNeighbours = BIT

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> list[int]:
        return tell(data, size, rng)


def bound(outcome: Hashable) -> float:
    return {0: 0.5, 1: 9.0}[outcome]  # type: ignore[index]


telling = Telling((ExPost(bound, "small for 0"),))


def test_an_ex_post_claim_of_the_target_is_replayed() -> None:
    name = f"{__file__}:telling"
    found = hunt(name, calls=20_000)
    assert found.verdict == "violated"
    assert "--claim" not in found.replay
    assert found.witness is not None
    assert found.witness.event == "outcome in {0}"  # outcome 1 is as telling, and allowed to be
    again = replay(found.to_json(), name, calls=5_000)
    assert again.verdict == "violated"
    private = Telling((ExPost(lambda _: 1.1, "small for 0"),))
    assert replay(found.to_json(), private, calls=5_000).verdict == "not refuted"


def test_a_replay_measures_the_event_itself_on_all_of_its_fresh_calls() -> None:
    witness = {"left": [0.0], "right": [1.0], "event": "outcome in {1}"}
    record = {"target": "x:y", "claim": "pure:0.1", "neighbours": LINE, "witness": witness}
    result = replay(record, tell, calls=4_000)
    assert result.witness is not None
    assert result.witness.left == (1.0,)
    low, high = result.witness.p_left
    assert low < 0.75 < high < low + 0.05
    assert result.seed == 0

    drawn: list[float] = []

    def recording(data: Array, size: int, rng: np.random.Generator) -> Array:
        outcomes = rng.random(size)
        drawn.extend(outcomes)
        return outcomes

    hunt(recording, "pure:1", VectorNeighbours(1, linf=1.0, low=0, high=1, integer=True), calls=64, seed=0)
    hunted = set(drawn)
    replay(record, recording, calls=64, seed=0)
    assert hunted.isdisjoint(drawn[len(hunted) :])


def test_a_small_last_batch_does_not_blur_the_witness() -> None:
    total = hunt(tell, "pure:0.1", BIT, calls=20_000).calls
    result = hunt(tell, "pure:0.1", BIT, calls=total + 1)
    assert result.witness is not None
    assert result.witness.p_left[1] - result.witness.p_left[0] < 0.1


GOOD = {
    "target": "x:y", "claim": "pure:1", "neighbours": LINE,
    "witness": {"left": [0], "right": [1], "event": "outcome in {1}"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"target": 3}, "target, claim, neighbours"),
        ({"claim": 1}, "target, claim, neighbours"),
        ({"claim": "pure:x"}, "pure:x"),
        ({"claim": "ex-post:x"}, "ex-post:x"),
        ({"neighbours": None}, "target, claim, neighbours"),
        ({"neighbours": "vector:size=1"}, "l1, l2, linf"),
        ({"neighbours": "vector:size=1,linf=0.5"}, "is not a pair of its neighbour relation vector:size=1,linf=0.5"),
        ({"neighbours": "vector:size=2,linf=1"}, "is not a pair"),
        ({"neighbours": "records:low=0,high=1,size=3,relation=replace"}, "is not a pair"),
        ({"witness": []}, "left, right, event"),
        ({"witness": {"left": ["a"], "right": [1], "event": "outcome in {1}"}}, "lists of finite numbers"),
        ({"witness": {"left": 3, "right": [1], "event": "outcome in {1}"}}, "lists of finite numbers"),
        ({"witness": {"left": [0], "right": [math.nan], "event": "outcome in {1}"}}, "lists of finite numbers"),
        ({"witness": {"left": [0], "right": [1], "event": 7}}, "left, right, event"),
        ({"witness": {"left": [0], "right": [1], "event": "outcome is odd"}}, "outcome is odd"),
    ],
)
def test_a_spoilt_witness_file_is_one_line(
    tmp_path: Path, capsys: Capture, change: dict[str, Any], complaint: str
) -> None:
    file = tmp_path / "witness.json"
    file.write_text(json.dumps(GOOD | change), encoding="utf-8")
    assert main(["hunt", "dpassay.impl.broken.selection:nowhere", "--replay", os.fspath(file)]) == 2
    err = capsys.readouterr().err
    if "ex-post" in complaint or "pure" in complaint:  # read when the target is there, which it is not
        assert "nowhere" in err
    else:
        assert complaint in err
    assert len(err.splitlines()) == 1
    with pytest.raises(UsageError, match=re.escape(complaint)):
        replay(GOOD | change, tell)


def test_the_target_that_a_witness_file_names_is_never_run(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "evil.py").write_text(f"open({os.fspath(tmp_path / 'ran')!r}, 'w').close()\ndef f(): ...\n")
    (tmp_path / "mine.py").write_text("def f(data, size, rng):\n    return data[0] + rng.integers(0, 2, size)\n")
    file = tmp_path / "witness.json"
    file.write_text(json.dumps(GOOD | {"target": f"{tmp_path}/evil.py:f"}), encoding="utf-8")
    assert main(["hunt", "--replay", os.fspath(file)]) == 2
    assert "TARGET" in capsys.readouterr().err
    assert main(["hunt", f"{tmp_path}/mine.py:f", "--replay", os.fspath(file), "--calls", "400"]) in {0, 1}
    assert "the witness was found for target" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
