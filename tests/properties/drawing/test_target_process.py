"""Targets in a process of their own: whatever a target does to its process, the program says it in one line."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import ExPost
from dpassay.cli import main
from dpassay.properties.drawing.shipping import Named
from dpassay.properties.drawing.target_process import TargetProcess
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult

Array = NDArray[np.float64]
Capture = pytest.CaptureFixture[str]
LINE = "vector:size=1,linf=1"
BIT = "vector:size=1,linf=1,low=0,high=1"

TARGETS = """
import ctypes, enum, os, signal, sys
import numpy as np
from dpassay.claims import ExPost, PureDP
from dpassay.neighbours import VectorNeighbours
class Word(str, enum.Enum):
    YES = "yes"
    NO = "no"
def exits(data, size, rng):
    os._exit(3)
def exits_late(data, size, rng):
    if size > 64:
        os._exit(0)
    return rng.random(size)
def exits_late_and_tells(data, size, rng):
    if size > 500:
        os._exit(0)
    return data[0] + rng.integers(0, 2, size)
def crashes(data, size, rng):
    ctypes.string_at(0)
def kills_itself(data, size, rng):
    os.kill(os.getpid(), signal.SIGKILL)
def leaves(data, size, rng):
    sys.exit(5)
def interrupts(data, size, rng):
    raise KeyboardInterrupt
def interrupts_and_tells(data, size, rng):
    if data[0] > 0.75:
        raise KeyboardInterrupt
    return [0] * size
def wrong_signature(data):
    return data
def halves(data, size, rng):
    return data[0] + rng.laplace(0, 0.5, size)
def words(data, size, rng):
    return [Word.YES if told else Word.NO for told in rng.random(size) < 0.5 + 0.45 * data[0]]
number = 7
class Declaring:
    claims = (ExPost(lambda outcome: 0.2, "small"), PureDP(1.0))
    neighbours = VectorNeighbours(1, linf=1.0)
    def sample(self, data, size, rng):
        return halves(data, size, rng)
declaring = Declaring()
class Misdeclaring(Declaring):
    claims = 1.0
misdeclaring = Misdeclaring()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "targets.py").write_text(TARGETS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(target: str, *options: str) -> int:
    return main(["hunt", target, "--claim", "pure:1", "--neighbours", LINE, *options])


def same_but_for_time(result: HuntResult) -> HuntResult:
    return replace(result, seconds=0, cpu_seconds=0)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("exits", "the target exited its process with status 3"),
        ("crashes", "the process of the target was killed by SIGSEGV"),
        ("kills_itself", "the process of the target was killed by SIGKILL"),
        ("leaves", "raises on every input: SystemExit: 5"),
        ("interrupts", "raises on every input: KeyboardInterrupt"),
        ("wrong_signature", "named per-call:FILE.py:wrong_signature"),
        ("nothing", "targets.py has no attribute 'nothing'"),
        ("number", "must be a mechanism or a callable, got int"),
        ("misdeclaring", "the claims that a target declares must be a tuple of claims, got 1.0"),
        ("Declaring", "is a class; name an instance instead"),
    ],
)
def test_a_target_that_cannot_be_drawn_from_is_one_line(capsys: Capture, name: str, complaint: str) -> None:
    assert shell(f"targets.py:{name}") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert complaint in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (None, "file bad.py does not exist"),
        ("def f(:\n", "SyntaxError: "),
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise KeyboardInterrupt", "target 'bad.py:f': KeyboardInterrupt"),
        ("import os; os._exit(0)", "during import, the target exited its process with status 0"),
        ("import threading; threading.Event().wait()", "import did not finish within 1 s"),
        ("while True: pass", "import did not finish within 1 s"),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_line(
    folder: Path, capsys: Capture, code: str | None, complaint: str
) -> None:
    if code is not None:
        (folder / "bad.py").write_text(code, encoding="utf-8")
    limit = ["--import-timeout", "1s"] if "within" in complaint else []
    assert shell("bad.py:f", *limit) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert complaint in err
    assert len(err.splitlines()) == 1


def test_a_keyboard_interrupt_that_the_target_raises_is_an_outcome_like_any_exception(capsys: Capture) -> None:
    assert shell("targets.py:interrupts_and_tells", "--calls", "4000") == 1
    assert "<raises KeyboardInterrupt>" in capsys.readouterr().out


@pytest.mark.parametrize("timeout", [60.0, float("inf")])
def test_in_the_process_of_the_caller_too(timeout: float) -> None:
    def interrupts(data: Array, size: int, rng: np.random.Generator) -> Array:
        raise KeyboardInterrupt

    with pytest.raises(UsageError, match="raises on every input: KeyboardInterrupt"):
        hunt(interrupts, "pure:1", LINE, calls=200, call_timeout_seconds=timeout)


def test_ctrl_c_during_a_call_without_a_time_limit_ends_the_hunt() -> None:
    def interrupted(data: Array, size: int, rng: np.random.Generator) -> Array:
        if size > 100:
            signal.raise_signal(signal.SIGINT)
        return rng.random(size)

    result = hunt(interrupted, "pure:1", LINE, call_timeout_seconds=float("inf"))
    assert result.stopped == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_was_known_before_the_target_ended_its_process_is_reported(capsys: Capture) -> None:
    """Also where the target chose status 0."""
    assert shell("targets.py:exits_late", "--calls", "20000", "--json") == 2
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert (record["verdict"], record["stopped"], record["power"]) == ("undecided", "workers lost", None)
    assert record["calls"] > 0
    assert record["notes"] == ["the target exited its process with status 0"]
    assert err == "dpassay: the target exited its process with status 0\n"
    assert shell("targets.py:exits_late_and_tells", "--calls", "200000", "--json") == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["verdict"], record["stopped"]) == ("violated", "workers lost")


@pytest.mark.parametrize(("name", "claim"), [("words", "pure:1"), ("declaring", None)])
def test_the_process_changes_no_result(name: str, claim: str | None) -> None:
    alone, apart = (hunt(f"targets.py:{name}", claim, BIT, calls=1_500, isolate=one) for one in (False, True))
    assert apart.verdict == "violated"
    assert same_but_for_time(apart) == same_but_for_time(alone)


def test_a_distribution_is_known_in_the_process_too() -> None:
    result = hunt("dpassay.impl.mechanisms.noisy_max:gaussian_noisy_max", isolate=True)
    assert (result.evidence, result.verdict) == ("enclosed", "holds")


def closure(status: int) -> Callable[[Array, int, np.random.Generator], Array]:
    def exits(data: Array, size: int, rng: np.random.Generator) -> Array:
        os._exit(status)

    return exits


@pytest.mark.parametrize("isolate", [None, True])
def test_an_object_may_be_sent_to_a_process_and_does_not_end_this_one(isolate: bool | None) -> None:
    with pytest.raises(UsageError, match="the target exited its process with status 7"):
        hunt(closure(7), "pure:1", LINE, calls=100, isolate=isolate)


def test_an_object_that_cannot_be_sent_is_named() -> None:
    generator = (k for k in range(3))
    with pytest.raises(UsageError, match="target cannot be sent to a process of its own"):
        hunt(lambda data, size, rng: [next(generator)], "pure:1", LINE, isolate=True)


def test_a_claim_that_is_a_function_stays_with_the_bets() -> None:
    seen: list[Any] = []

    def bound(outcome: Any) -> float:
        seen.append(outcome)
        return 0.2

    assert hunt("targets.py:halves", ExPost(bound, "small"), LINE, calls=1_500).verdict == "violated"
    assert seen


def test_an_interruption_ends_a_hanging_import_at_once(folder: Path) -> None:
    code = "import pathlib, threading\npathlib.Path('importing').touch()\nthreading.Event().wait()\n"
    (folder / "hangs.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "dpassay.cli", "hunt", "hangs.py:f", "--claim", "pure:1", "--neighbours", LINE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (folder / "importing").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "dpassay: interrupted")


def test_the_processor_time_of_the_target_counts(folder: Path) -> None:
    (folder / "busy.py").write_text(BUSY, encoding="utf-8")
    result = hunt("busy.py:noisy", "pure:4", LINE, calls=2, float64="ignore")
    assert result.cpu_seconds >= 0.2  # of one call at least


def test_the_processor_time_of_a_process_that_was_started_anew_is_kept(folder: Path) -> None:
    (folder / "busy.py").write_text(BUSY, encoding="utf-8")
    with TargetProcess(Named("busy.py:noisy"), "busy.py:noisy") as process:
        before = process.processor_seconds
        process.ask(lambda noisy: noisy(np.zeros(1), 1, np.random.default_rng(0)))
        spent = process.processor_seconds
        assert spent >= before + 0.2
        process.restart()
        assert process.processor_seconds > spent
        process.close()
        assert process.processor_seconds > spent  # no process is left whose time could stand for that of the others


BUSY = """
import time
def noisy(data, size, rng):
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    return data[0] + rng.laplace(size=size)
"""
