"""The command ``dpassay check``, and the proofs that ``dpassay hunt`` saves for it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dpassay.claims import parse_claim
from dpassay.cli import main
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.traced import decide
from dpassay.spec.leaves.certificates import sealed

pytestmark = pytest.mark.traced

CODE = """
def noisy(data, size, rng):
    return data[0] + rng.laplace(0, 1.0, size)


def in_floats(data, size, rng):
    return [__import__("numpy").float64(data[0] + rng.laplace()) for _ in range(size)]


def wordy(data, size, rng):
    print("called")
    return data[0] + rng.laplace(0, 1.0, size)
"""
PAIR = "vector:size=2,linf=1"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("check") / "check_command_target.py"
    file.write_text(CODE)
    return str(file)


@pytest.fixture(scope="module")
def saved(target: str) -> dict[str, Any]:
    file = Path(target).with_name("certificate.json")
    hunted = ["hunt", f"{target}:noisy", "--claim", "pure:1", "--neighbours", PAIR, "--trace-limit", "60s"]
    assert main([*hunted, "--certificate", str(file)]) == 0
    content: dict[str, Any] = json.loads(file.read_text())
    return content


def checked(content: Any, folder: Path) -> int:
    file = folder / "changed.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return main(["check", str(file)])


def test_a_saved_proof_is_valid(saved: dict[str, Any], target: str, tmp_path: Path, capsys: Any) -> None:
    assert checked(saved, tmp_path) == 0
    out = capsys.readouterr().out
    assert out.startswith("valid: 1 leaf, aligned for all moves of vector:size=2,linf=1.0; epsilon <= 1")
    assert f"{target}:noisy" in out
    assert main(["check", str(tmp_path / "changed.json"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["valid"], record["faults"], record["epsilon"]) == (True, [], "1")


def test_a_proof_by_integer_shifts_is_valid_and_a_smaller_epsilon_is_not(tmp_path: Path, capsys: Any) -> None:
    def two_sided(data: Any, size: Any, rng: Any) -> Any:
        return [data[0] + rng.geometric(0.5) - rng.geometric(0.5) for _ in range(size)]

    relation = parse_neighbours("vector:size=1,linf=1,integer")
    proved = decide(two_sided, parse_claim("pure:0.7"), relation, seed=0, seconds=60.0).certificate
    assert proved is not None
    assert checked(dict(proved), tmp_path) == 0
    assert "1 leaf, aligned" in capsys.readouterr().out
    assert checked(sealed({**proved, "epsilon": "69/100"}), tmp_path) == 1


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"epsilon": "1/2"}, "the cost exceeds epsilon"),
        ({"epsilon": "-1"}, "no privacy parameters"),
        ({"neighbours": "vector:size=2,linf=2"}, "not about the neighbours"),
        ({"neighbours": "nothing"}, "neighbours"),
        ({"leaves": []}, "no leaves"),
        ({"leaves": 3}, "malformed"),
        ({"format": "dpassay alignment 2"}, "format"),
    ],
)
def test_wrong_proofs_are_found(saved: dict[str, Any], tmp_path: Path, capsys: Any, change: Any, fault: str) -> None:
    assert checked(sealed(saved | change), tmp_path) == 1
    assert fault in capsys.readouterr().out
    assert checked(saved | change, tmp_path) == 1  # with the digest of the original


@pytest.mark.parametrize("content", ["", "[1, 2]", "{", "3", "[" * 100_000])
def test_what_is_no_certificate_is_bad_input(tmp_path: Path, capsys: Any, content: str) -> None:
    assert checked(content, tmp_path) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_file_is_bad_input(tmp_path: Path, capsys: Any) -> None:
    assert main(["check", str(tmp_path / "missing.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


# --- what hunt prints ---------------------------------------------------------------------------------------


def test_a_proof_is_printed_with_its_scope(target: str, capsys: Any) -> None:
    """A target that prints is warned of: it is run many times."""
    assert main(["hunt", f"{target}:wordy", "--claim", "pure:1", "--neighbours", PAIR, "--trace-limit", "60s"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("holds (exact, all inputs of length 2)")
    assert re.search(r"epsilon >= (1|0\.999999999999\d+), epsilon <= 1\b", out)  # rounded outward
    assert "0 calls" in out
    assert "the target prints; the trace ran it" in err


def test_a_violation_of_traced_code_is_the_exit_status(target: str, capsys: Any) -> None:
    """The verdict of another process has the type that decides about the status."""
    command = ["hunt", f"{target}:noisy", "--claim", "pure:0.5", "--neighbours", PAIR, "--trace-limit", "60s"]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert out.startswith("violated (enclosed, scope points)")
    assert "Pr[event | left]" in out


def test_what_is_not_traced_is_named_and_sampled(target: str, tmp_path: Path, capsys: Any) -> None:
    command = ["hunt", f"{target}:in_floats", "--claim", "pure:1", "--neighbours", PAIR, "--calls", "4000"]
    assert main([*command, "--float64", "ignore", "--certificate", str(tmp_path / "none.json")]) == 0
    out, err = capsys.readouterr()
    assert "tracing did not decide: check_command_target.py:7: float() of a noisy value; sampling instead" in out
    assert "no certificate: the claim is not refuted" in err
    assert not (tmp_path / "none.json").exists()
