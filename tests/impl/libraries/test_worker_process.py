"""A worker: what it says of itself, and what becomes of one that crashes, hangs or does not start."""

import math
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.impl.libraries.fake_cases import ADAPTER, ONE, answer, mechanism, rng

from dpassay.arguments import UsageError
from dpassay.impl.libraries import worker_process
from dpassay.impl.libraries.codec import encode
from dpassay.impl.libraries.remote import RemoteCase, open_library
from dpassay.impl.libraries.worker_process import Worker, WorkerError, WorkerLostError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.outcomes.calls import call

HANGS = ("hang", "correct")


def test_the_greeting_names_library_and_versions(worker: Worker) -> None:
    assert worker.greeting["library"] == "numpy"
    assert worker.greeting["version"] == np.__version__
    assert worker.greeting["python"].startswith("3.")


def test_what_a_library_prints_does_not_disturb(cases: dict[str, RemoteCase]) -> None:
    expected = (None, True, b"bytes", "words", (1, 2.5), {"key": math.inf})
    assert mechanism(cases, "talkative").sample(ONE, 2, rng()) == [expected, expected]


def test_of_several_requests_each_has_its_own_reply(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "described")
    requests = [
        {"do": do, "case": "described", "data": encode([1.0])} for do in ("noiseless", "nonsense", "noiseless")
    ]
    first, raised, last = case._worker.each(requests)
    assert first == last == encode(1.0)
    assert isinstance(raised, WorkerError)
    assert "nonsense" in str(raised)


def test_a_crash_is_reported_and_the_worker_started_again(worker: Worker, cases: dict[str, RemoteCase]) -> None:
    before = len(worker.losses)
    with pytest.raises(WorkerLostError, match=rf"killed by signal {signal.SIGSEGV}.* during sample \(crash\)"):
        mechanism(cases, "crash").sample(ONE, 3, rng())
    assert len(worker.losses) == before + 1
    assert answer(cases, "honest").compute(sigma=1.0, epsilon=0.0, count=1) == 0.4


def test_a_hang_is_reported_and_the_worker_started_again() -> None:
    with Worker(sys.executable, ADAPTER, timeout=1.0) as worker:
        hanging, working = (mechanism({case.name: case for case in open_library(worker)}, name) for name in HANGS)
        with pytest.raises(WorkerLostError, match=r"did not answer within 1 s during sample \(hang\)"):
            hanging.sample(ONE, 3, rng())
        assert len(np.asarray(working.sample(ONE, 3, rng()))) == 3
        assert len(worker.losses) == 1


def test_a_lost_worker_is_no_outcome_of_an_audit(cases: dict[str, RemoteCase]) -> None:
    with pytest.raises(SamplerLostError):
        call(mechanism(cases, "crash").sample, ONE, 3, rng())


def test_what_is_not_answered_by_the_deadline_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpassay.impl.libraries.worker_process._LEAST_PATIENCE", 0.2)
    with Worker(sys.executable, ADAPTER) as worker:
        hanging = mechanism({case.name: case for case in open_library(worker)}, "hang")
        worker.deadline = time.monotonic() + 0.1
        with pytest.raises(
            WorkerLostError, match=r"did not answer within 0.2 s during sample \(hang\)|time limit of the check"
        ):
            hanging.sample(ONE, 3, rng())


@pytest.mark.parametrize(("is_computing", "waited"), [(False, 0.6), (True, 0.25)])
def test_at_the_deadline_a_busy_worker_was_waited_for_while_it_computed(
    is_computing: bool, waited: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that is busy otherwise is stood in for by what the system tells: 0.25 s of processor time."""
    monkeypatch.setattr(worker_process, "_LEAST_PATIENCE", 0.6)
    told = iter([(False, 1.0), (is_computing, 1.25)])
    with Worker(sys.executable, ADAPTER) as worker:
        hanging = mechanism({case.name: case for case in open_library(worker)}, "hang")
        monkeypatch.setattr(worker_process._Process, "processor_time", lambda _: next(told))
        worker.deadline = time.monotonic() + 0.1
        with pytest.raises(WorkerLostError, match=r"did not answer within 0.6 s"):
            hanging.sample(ONE, 3, rng())
        assert worker.waits == [waited]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell the time of a process")
def test_the_system_tells_whether_a_process_computes() -> None:
    endless = worker_process._Process([sys.executable, "-c", "while True: pass"])
    idle = worker_process._Process([sys.executable, "-c", "import time; time.sleep(100)"])
    try:
        end = time.monotonic() + 60
        while (endless.processor_time() or (False, 0.0))[1] < 0.2 and time.monotonic() < end:
            time.sleep(0.05)
        computes, seconds = endless.processor_time() or (False, 0.0)
        assert computes
        assert seconds >= 0.2
        while (idle.processor_time() or (True, 0.0))[0] and time.monotonic() < end:  # until it has started to sleep
            time.sleep(0.05)
        assert not (idle.processor_time() or (True, 0.0))[0]
    finally:
        endless.kill()
        idle.kill()
    assert endless.processor_time() is None


def test_nothing_is_asked_after_the_deadline(worker: Worker, cases: dict[str, RemoteCase]) -> None:
    worker.deadline = time.monotonic() - 1
    try:
        with pytest.raises(WorkerLostError, match="time limit of the check was reached"):
            mechanism(cases, "correct").sample(ONE, 3, rng())
    finally:
        worker.deadline = math.inf
    assert worker.request("describe")


BAD_ADAPTERS = {
    "def broken(": "SyntaxError",
    "LIBRARY = 'x'\nCASES = []": "must have different names, got none",
    "from dpassay.adapter import Nonsense\nLIBRARY = 'x'\nCASES = [Nonsense('a', {}), Nonsense('a', {})]": (
        r"got \['a'\]"
    ),
    "LIBRARY = 'x'\nCASES = 1": "TypeError",
    "LIBRARY = 'x'": "adapter.py is no adapter: it needs LIBRARY, .*, and CASES, .* `dpassay init adapter`",
    "CASES = []": "adapter.py is no adapter",
    "import nothing_of_this_name": "No module named 'nothing_of_this_name'; install the library there",
    "raise SystemExit(3)": "SystemExit: 3",
}


@pytest.mark.parametrize("source", BAD_ADAPTERS)
def test_an_adapter_that_does_not_load_is_named(source: str, tmp_path: Path) -> None:
    path = tmp_path / "adapter.py"
    path.write_text(source)
    with pytest.raises(UsageError, match=BAD_ADAPTERS[source]), Worker(sys.executable, path):
        pytest.fail("it loaded")


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("/nowhere/python", "cannot be started|can be started"),
        ("/bin/false", "ended with status 1"),
        ("/bin/echo", "not a protocol message"),
    ],
)
def test_a_broken_interpreter_is_named(python: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught, Worker(python, ADAPTER):
        pytest.fail("it started")
    assert python in str(caught.value)


def test_an_adapter_needs_nothing_of_dpassay_but_its_words(tmp_path: Path) -> None:
    """In an interpreter that ignores where dpassay is installed, the worker brings what adapters import."""
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "import sys\n"
        "from dpassay.adapter import Nonsense\n"
        "LIBRARY = 'nothing'\n"
        "CASES = [Nonsense('numpy' if 'numpy' in sys.modules else 'stdlib', {'none': lambda: None})]\n"
    )
    bare = tmp_path / "bare.py"
    bare.write_text(
        "import runpy, sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'dpassay', 'numpy'} and not path:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "sys.argv[:] = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    launcher = tmp_path / "python"
    launcher.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -S {bare} "$@"\n')
    launcher.chmod(0o755)
    with Worker(launcher, adapter) as worker:
        assert [case.name for case in open_library(worker)] == ["stdlib"]
        assert worker.greeting["version"] is None
