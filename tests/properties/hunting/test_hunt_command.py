"""`dpassay hunt` from the shell: what it prints, when it is interrupted and when it is asked for nonsense."""

import json
import math
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from dpassay import hunt_command
from dpassay.cli import main
from dpassay.command_line import CALLS
from dpassay.properties.hunting.formatting import event_figure_words
from dpassay.properties.hunting.idle import CONSTANT_OUTCOME
from dpassay.properties.hunting.result import HuntResult, Witness
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.notions.bounds import Bound
from dpassay.spec.verdict import Evidence, Scope

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
def empties(data, size, rng):
    first = data[0] + rng.laplace(0, 2.0, size)
    data[:] = 0
    return first
def constant(data, size, rng):
    return [0.0] * size
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


def test_not_refuted_states_the_power(capsys: Capture) -> None:
    assert hunt("noisy", "--calls", "4000") == 0
    lines = capsys.readouterr().out.splitlines()
    (said,) = (line for line in lines if line.startswith("  Power: "))
    assert "at least half of all runs refute a Laplace mechanism whose true epsilon is at least 1." in said
    assert "  Not refuted is not a proof: the samples are consistent with the claim." in lines
    assert hunt("noisy", "--calls", "4000", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["stopped"] == "calls"
    assert record["notes"] == []
    assert 0.0155 < record["power"]["nats_per_call"] < 0.0175
    assert 1.5 < record["power"]["epsilon"] < 1.62
    assert record["power"]["weakness"] == pytest.approx(record["power"]["epsilon"] / 2.5)


def test_a_hunt_that_could_refute_nothing_is_undecided(capsys: Capture) -> None:
    assert hunt("noisy", "--calls", "3") == 2
    out, err = capsys.readouterr()
    assert out.startswith("undecided (sampled, scope samples)")
    assert "Not refuted" not in out
    assert "Power: none. With this many calls no run could be expected to refute pure:1.0" in out
    assert err.startswith(
        "dpassay: weak test: no run could be expected to refute pure:1.0 with this many calls; at least "
    )
    assert hunt("noisy", "--calls", "1", "--json") == 2
    record = json.loads(capsys.readouterr().out)
    assert record["verdict"] == "undecided"
    assert (record["power"]["epsilon"], record["power"]["weakness"]) == ("inf", "inf")
    assert record["notes"][-1].startswith("weak test: ")
    needed = record["power"]["calls_needed"]
    assert hunt("noisy", "--calls", str(needed), "--json") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_one_outcome_whatever_the_input_is_undecided(capsys: Capture) -> None:
    """As in the suite of laws for libraries."""
    assert hunt("constant", "--calls", "500") == 2
    out, err = capsys.readouterr()
    assert out.startswith("undecided (sampled")
    assert "Undecided is not a pass" in out
    assert CONSTANT_OUTCOME in err
    assert hunt("constant", "--calls", "500", "--json") == 2
    record = json.loads(capsys.readouterr().out)
    assert (record["verdict"], record["power"]) == ("undecided", None)


def test_a_refuted_claim_has_no_power_to_state(capsys: Capture) -> None:
    assert hunt("half", "--json") == 1
    record = json.loads(capsys.readouterr().out)
    assert record["power"] is None
    assert record["stopped"] == "refuted"
    assert hunt("half", "--budget", "1e-9", "--json") == 2
    record = json.loads(capsys.readouterr().out)
    assert (record["stopped"], record["verdict"]) == ("budget", "undecided")


@pytest.mark.parametrize("as_json", [True, False])
def test_notes_are_warnings_on_standard_error(capsys: Capture, as_json: bool) -> None:
    note = "the target changes its input in place; each call received a copy"
    assert hunt("edits", "--calls", "1200", *(["--json"] if as_json else [])) == 0
    out, err = capsys.readouterr()
    assert err == f"dpassay: {note}\n"
    if as_json:
        assert json.loads(out)["notes"] == [note]


@pytest.mark.traced
def test_a_traced_target_that_changes_its_input_is_named(capsys: Capture) -> None:
    assert hunt("empties", "--float64", "ignore", "--calls", "1000", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["verdict"], record["traced"]) == ("holds", True)
    assert record["notes"] == ["the target changes its input in place; each call received a copy"]


def test_a_long_event_is_abridged_in_the_terminal_only(capsys: Capture) -> None:
    assert main(["hunt", "SVT3", "--seed", "0"]) == 1
    (event,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  event  "))
    assert len(event) < 400
    assert event.endswith("alternatives; --json prints them all)")
    assert main(["hunt", "SVT3", "--seed", "0", "--json"]) == 1
    whole = json.loads(capsys.readouterr().out)["witness"]["event"]
    assert len(whole) > 1000
    assert whole.startswith(event.removeprefix("  event  ").partition(" or ...")[0])


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
    command += [
        "--neighbours",
        LINE,
        "--jobs",
        jobs,
        "--alpha",
        "1e-300",
        "--call-timeout",
        call_timeout,
        "--no-trace",
    ]
    with subprocess.Popen(
        command + ["--json"] * as_json, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (folder / "called").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert all(line.startswith("dpassay: weak test: ") for line in err.splitlines())
    if as_json:
        record = json.loads(out)
        assert record["stopped"] == "interrupted"
        assert record["verdict"] == "undecided"
        assert record["calls"] > 0
    else:
        assert "interrupted: the result covers the calls made until then" in out
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
        (["--calls", "1.5"], "'1.5' is not a valid number of calls"),
        (["--calls", "inf"], "'inf' is not a valid number of calls"),
        (["--certificate", "/missing/proof.json"], "--certificate '/missing/proof.json' cannot be written"),
    ],
)
def test_what_makes_no_sense_is_named_in_one_line(capsys: Capture, options: list[str], message: str) -> None:
    assert hunt("noisy", *options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err


def test_calls_are_also_read_in_powers_of_ten() -> None:
    assert [CALLS.convert(text, None, None) for text in ("1e5", "100000", "2.5e3")] == [100_000, 100_000, 2500]


# --- errors of use that are known before the hunt -----------------------------------------------------------


def test_a_picture_of_an_unknown_format_is_refused_before_the_hunt(capsys: Capture) -> None:
    pytest.importorskip("matplotlib")
    for path in ("hunt.xyz", "hunt"):
        assert hunt("noisy", "--calls", "500", "--plot", path) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert ".svg" in err


@pytest.mark.traced
def test_one_outcome_on_every_input_is_proved_without_a_contradiction(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "same_outcome_target.py"
    path.write_text(
        "def same(data, size, rng):\n    return [1] * size\n\n\ndef short(data, size, rng):\n    return [1]\n"
    )
    options = ("--claim", "pure:1", "--neighbours", "vector:size=1,linf=1")
    assert main(["hunt", f"{path}:same", *options]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("holds (exact, all inputs of length 1)")
    assert "nothing was tested" not in err
    assert "the same outcome on every input" in err
    assert main(["hunt", f"{path}:short", *options]) == 2
    assert "target must return 3 outcomes" in capsys.readouterr().err


def test_the_bound_of_the_progress_is_rounded_down(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("dpassay.properties.progress.share_bar", lambda _: nullcontext(lambda at, _: shown.append(at)))
    with hunt_command._hunting("mine.py:f", 60.0, []) as progress:
        progress(calls=1_000, seconds=1.0, e_value_log10=2.0, epsilon_lower=0.99999)
    assert shown == ["1,000 calls, epsilon >= 0.999, e-value 10^2.0"]


@pytest.mark.parametrize(
    ("p_left", "lower", "claim", "words"),
    [
        ((0.5, 0.5), 1.75, "pure:1.0", "this event alone shows epsilon >= 1.38629"),
        ((0.5, 0.9), 1.75, "pure:1.0", "this event alone shows epsilon >= 1.38629"),
        ((0.5, 0.5), math.inf, "pure:1.0", "this event alone shows epsilon >= 1.38629"),
        ((0.5, 0.5), 1.3863, "pure:1.0", None),
        ((0.5, 0.5), 1.75, "approx:1.0,0.25", "this event alone shows epsilon >= 0.693147"),
        ((0.5, 0.5), 1.75, "zcdp:0.5", None),
    ],
)
def test_an_event_that_does_not_show_the_bound_says_what_it_shows(
    p_left: tuple[float, float], lower: float, claim: str, words: str | None
) -> None:
    witness = Witness((0.0,), (1.0,), "outcome > 1.0", p_left, (0.0625, 0.125), certified=True)
    result = HuntResult(
        "mine.py:f", claim, HuntVerdict.VIOLATED, (Bound("epsilon", lower, None, 1.0, "privacy loss"),),
        Evidence.ENCLOSED, Scope.POINTS, 1e-6, None, 0, 1.0, 1.0, witness, 0, "", neighbours=LINE,
    )  # fmt: skip
    found = event_figure_words(result)
    assert found == words if words is None else found is not None and found.startswith(words)
