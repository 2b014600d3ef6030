"""`dpassay hunt` from the shell: what it prints, when it is interrupted and when it is asked for nonsense."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpassay.cli import main

Capture = pytest.CaptureFixture[str]
LINE = "vector:size=1,linf=1"

TARGETS = """
import pathlib, threading
def noisy(data, size, rng):
    return (data[0] + rng.laplace(0, 1.0, size)).round(3)
def half(data, size, rng):
    return (data[0] + rng.laplace(0, 0.5, size)).round(3)
def edits(data, size, rng):
    data[:] = 0
    return rng.random(size).round(3)
def hangs(data, size, rng):
    if size > 100:
        threading.Event().wait()
    return rng.random(size).round(3)
def hangs_on_request(data, size, rng):
    if size > 100:
        pathlib.Path("called").touch()
        threading.Event().wait()
    return (data[0] + rng.laplace(0, 0.5, size)).round(3)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "targets.py").write_text(TARGETS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hunt(name: str, *options: str) -> int:
    return main(["hunt", f"targets.py:{name}", "--claim", "pure:1", "--neighbours", LINE, *options])


def test_not_refuted_says_what_it_excludes(capsys: Capture) -> None:
    assert hunt("noisy", "--calls", "4000") == 0
    lines = capsys.readouterr().out.splitlines()
    (said,) = (line for line in lines if "excluded is" in line)
    assert "the like of a Laplace mechanism with true epsilon 1.2" in said
    assert "instead of pure:1.0: with so many calls on its worst pair an ideal bettor (0.0" in said
    assert hunt("noisy", "--calls", "4000", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["stopped"] == "calls"
    assert record["notes"] == []
    assert 0.003 < record["excluded"]["rate"] < 0.006
    assert 1.2 < record["excluded"]["laplace_epsilon"] < 1.4
    assert hunt("noisy", "--calls", "3") == 0
    assert "nothing is excluded: on no pair of a Laplace mechanism" in capsys.readouterr().out


def test_a_refuted_claim_excludes_nothing_further(capsys: Capture) -> None:
    assert hunt("half", "--json") == 1
    record = json.loads(capsys.readouterr().out)
    assert record["excluded"] is None
    assert record["stopped"] == "refuted"
    assert hunt("half", "--budget", "1e-9", "--json") == 0
    assert json.loads(capsys.readouterr().out)["stopped"] == "budget"


@pytest.mark.parametrize("as_json", [True, False])
def test_notes_are_warnings_on_standard_error(capsys: Capture, as_json: bool) -> None:
    note = "the target changes its input in place: each call was given a copy"
    assert hunt("edits", "--calls", "600", *(["--json"] if as_json else [])) == 0
    out, err = capsys.readouterr()
    assert err == f"dpassay: {note}\n"
    if as_json:
        assert json.loads(out)["notes"] == [note]


def test_a_hang_is_bad_input_and_what_was_found_is_printed(capsys: Capture) -> None:
    assert hunt("hangs", "--call-timeout", "2s", "--json") == 2
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert record["stopped"] == "call timeout"
    assert record["calls"] > 0
    assert err.startswith("dpassay: the target hangs: f([")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("jobs", "call_timeout", "as_json"), [("1", "10m", True), ("1", "inf", False), ("2", "10m", True)]
)
def test_an_interruption_prints_what_is_known(folder: Path, jobs: str, call_timeout: str, as_json: bool) -> None:
    """A real signal to a real process, sent when the target says that it hangs; the claim is not refuted by then."""
    command = [sys.executable, "-m", "dpassay.cli", "hunt", "targets.py:hangs_on_request", "--claim", "pure:1"]
    command += ["--neighbours", LINE, "--jobs", jobs, "--alpha", "1e-300", "--call-timeout", call_timeout]
    with subprocess.Popen(
        command + ["--json"] * as_json, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (folder / "called").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == ""
    if as_json:
        record = json.loads(out)
        assert record["stopped"] == "interrupted"
        assert record["verdict"] == "not refuted"
        assert record["calls"] > 0
    else:
        assert "interrupted: this is what was known by then" in out
        assert "epsilon >= " in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--claim", "pure:-1"], "epsilon"),
        (["--claim", "pure:nan"], "nan"),
        (["--claim", "pure:inf"], "inf"),
        (["--claim", "approx:1,2"], "delta"),
        (["--claim", "approx:1"], "approx:1"),
        (["--claim", "approx:1,-0.1"], "delta"),
        (["--claim", "zcdp:-1"], "rho"),
        (["--claim", "rdp:1,1"], "alpha"),
        (["--claim", "rdp:2,-1"], "epsilon"),
        (["--claim", "bounded-range:-1"], "epsilon"),
        (["--claim", "honest:1"], "honest"),
        (["--claim", ""], "claim"),
        (["--neighbours", "vector:size=0,linf=1"], "size"),
        (["--neighbours", "vector:size=1.5,linf=1"], "size"),
        (["--neighbours", "vector:size=2,linf=0"], "linf"),
        (["--neighbours", "vector:size=2,linf=-1"], "linf"),
        (["--neighbours", "vector:size=2,linf=nan"], "linf"),
        (["--neighbours", "vector:size=2,linf=0.5,integer"], "neighbours"),
        (["--neighbours", "vector:size=2,linf=1,low=1,high=0"], "low"),
        (["--neighbours", "vector:size=2,linf=1,low=1,high=1"], "neighbours"),
        (["--neighbours", "vector:size=2,linf=1,low=0.2,high=0.8,integer"], "neighbours"),
        (["--neighbours", "vector:size=2,l0=0,linf=1"], "l0"),
        (["--neighbours", "records:low=0,high=1,size=0,relation=replace"], "size"),
        (["--neighbours", "records:low=1,high=1,size=3,relation=replace"], "neighbours"),
        (["--neighbours", "records:low=0,high=1,size=3,relation=swap"], "relation"),
        (["--neighbours", "tables:size=1"], "tables"),
        (["--call-timeout", "0"], "--call-timeout"),
        (["--call-timeout", "soon"], "--call-timeout"),
        (["--call-timeout", "nan"], "--call-timeout"),
        (["--jobs", "0"], "jobs"),
        (["--backend", "abacus"], "backend"),
        (["--alpha", "0"], "alpha"),
        (["--alpha", "1"], "alpha"),
        (["--calls", "0"], "calls"),
    ],
)
def test_what_makes_no_sense_is_named_in_one_line(capsys: Capture, options: list[str], message: str) -> None:
    assert hunt("noisy", *options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err
