"""Mechanisms and answers of another interpreter, and what becomes of a worker that crashes or hangs."""

import math
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, PureDP
from dpassay.impl.libraries.codec import encode
from dpassay.impl.libraries.remote import (
    BrokenCase,
    RefusedError,
    RemoteAnswer,
    RemoteCase,
    RemoteMechanism,
    RemoteNonsense,
    Worker,
    WorkerError,
    WorkerLostError,
    open_library,
)
from dpassay.mechanism import ClaimedMechanism, SamplerLostError
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.drawing.call_guard import Habit
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.drawing.sessions import generators_of
from dpassay.properties.outcomes.symbols import CallFailedError, call

ADAPTER = Path(__file__).parents[2] / "fake_library" / "adapter.py"
HANGS = ("hang", "correct")
ZERO, ONE = np.array([0.0]), np.array([1.0])


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(sys.executable, ADAPTER) as worker:
        yield worker


@pytest.fixture(scope="module")
def cases(worker: Worker) -> dict[str, RemoteCase]:
    return {case.name: case for case in open_library(worker)}


def mechanism(cases: dict[str, RemoteCase], name: str) -> RemoteMechanism:
    case = cases[name]
    assert isinstance(case, RemoteMechanism)
    return case


def answer(cases: dict[str, RemoteCase], name: str) -> RemoteAnswer:
    case = cases[name]
    assert isinstance(case, RemoteAnswer)
    return case


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_the_greeting_names_library_and_versions(worker: Worker) -> None:
    assert worker.greeting["library"] == "numpy"
    assert worker.greeting["version"] == np.__version__
    assert worker.greeting["python"].startswith("3.")


def test_a_mechanism_is_one(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "correct")
    assert isinstance(case, ClaimedMechanism)
    assert case.claims == (PureDP(1.0),)
    assert case.neighbours == VectorNeighbours(1, linf=1.0, integer=True)
    assert case.description["distribution"] is False


def test_same_seed_same_outcomes(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "correct")
    first = np.asarray(case.sample(ONE, 50, rng()))
    assert first.shape == (50,)
    assert first.tolist() == np.asarray(case.sample(ONE, 50, rng())).tolist()
    assert len(set(first.tolist())) > 1


def test_portions_do_not_change_what_is_drawn(cases: dict[str, RemoteCase], monkeypatch: pytest.MonkeyPatch) -> None:
    case = mechanism(cases, "leaky")
    whole = case.sample(ZERO, 500, rng())
    monkeypatch.setattr("dpassay.impl.libraries.remote._LARGEST_PORTION", 7)
    assert case.sample(ZERO, 500, rng()) == whole


def test_a_call_that_raises_is_an_outcome(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "leaky")
    assert case.sample(ONE, 3, rng()) == ["<raises ValueError>"] * 3
    assert call(case.sample, ONE, 3, rng()).failures == 3


def test_a_call_that_would_end_the_process_is_an_outcome(cases: dict[str, RemoteCase]) -> None:
    assert mechanism(cases, "ends itself").sample(ONE, 2, rng()) == ["<raises SystemExit>"] * 2


def test_a_keyboard_interrupt_of_the_library_is_an_outcome(worker: Worker, cases: dict[str, RemoteCase]) -> None:
    losses = len(worker.losses)
    assert mechanism(cases, "interrupts itself").sample(ONE, 2, rng()) == ["<raises KeyboardInterrupt>"] * 2
    assert len(worker.losses) == losses


def test_a_bulk_call_that_raises_is_one_observation_by_the_librarys_name(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "raises")
    with pytest.raises(WorkerError, match="ZeroDivisionError: for all of them"):
        case.sample(ONE, 3, rng())
    with pytest.raises(CallFailedError) as caught:
        call(case.sample, ONE, 3, rng())
    assert caught.value.symbol == "<raises ZeroDivisionError>"


def test_apart_a_bulk_mechanism_is_called_one_by_one(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "raises")
    assert case.sample_one_by_one(ONE, 3, rng()) == ["<raises ZeroDivisionError>"] * 3
    draw = Draw(ONE, 3, np.random.SeedSequence(0), one_by_one=True)
    apart, whole = sample_side(case.sampler, draw), sample_side(case.sampler, replace(draw, one_by_one=False))
    assert apart is not None
    assert apart.failures == 3
    assert whole is None  # of a call for many outcomes that raised nobody knows how many would have


def test_what_a_library_prints_does_not_disturb(cases: dict[str, RemoteCase]) -> None:
    expected = (None, True, b"bytes", "words", (1, 2.5), {"key": math.inf})
    assert mechanism(cases, "talkative").sample(ONE, 2, rng()) == [expected, expected]


def test_law_and_noiseless_answer(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "described")
    assert case.claims == (ZCDP(0.5),)
    assert case.distribution(ONE) == {"family": "gaussian", "location": 1.0, "scale": 1.0}
    assert case.noiseless(ONE) == 1.0
    assert case.description["sensitivity"] == 1.0
    assert case.distributions([ONE, ONE]) == [case.distribution(ONE)] * 2
    assert list(case.noiseless_values([ONE] * 40)) == [1.0] * 40


def test_the_code_of_a_sampler_in_a_worker_says_nothing_about_generators(cases: dict[str, RemoteCase]) -> None:
    """Nor is it read, for each hunt anew."""

    class Here:
        def __init__(self) -> None:
            self.generator = np.random.default_rng(0)

        def __call__(self, _data: Any, size: int, _rng: np.random.Generator) -> Any:
            return self.generator.laplace(size=size)

    class Elsewhere(Here):
        is_elsewhere = True

    assert generators_of(Here()) == {Habit.OWN_GENERATOR}
    assert generators_of(Elsewhere()) == set()
    assert mechanism(cases, "correct").sampler.is_elsewhere


def test_of_several_requests_each_has_its_own_reply(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "described")
    requests = [
        {"do": do, "case": "described", "data": encode([1.0])} for do in ("noiseless", "nonsense", "noiseless")
    ]
    first, raised, last = case._worker.each(requests)
    assert first == last == encode(1.0)
    assert isinstance(raised, WorkerError)
    assert "nonsense" in str(raised)


@pytest.mark.parametrize(("name", "words"), [("unable", "RuntimeError: no claim"), ("unreadable", "'very private'")])
def test_a_case_without_a_readable_claim_is_broken(cases: dict[str, RemoteCase], name: str, words: str) -> None:
    case = cases[name]
    assert isinstance(case, BrokenCase)
    assert words in case.error


def test_answers_are_numbers_or_refusals(cases: dict[str, RemoteCase]) -> None:
    arguments = {"sigma": 1.0, "epsilon": 0.0}
    assert answer(cases, "honest").question == "gaussian_delta"
    assert answer(cases, "honest").compute(**arguments, count=1) == 0.4
    odd = [answer(cases, "odd").compute(**arguments, count=count) for count in range(4)]
    assert np.array_equal(odd, [math.nan, math.nan, math.inf, 0.5], equal_nan=True)
    with pytest.raises(RefusedError, match="ZeroDivisionError"):
        answer(cases, "refuses").compute(**arguments, count=1)
    with pytest.raises(RefusedError, match="TypeError"):
        answer(cases, "honest").compute(unknown=1.0)


def test_nonsense_is_attempted(cases: dict[str, RemoteCase]) -> None:
    careful, careless = cases["careful"], cases["careless"]
    assert isinstance(careful, RemoteNonsense)
    assert isinstance(careless, RemoteNonsense)
    assert careful.attempts == ("int of a word",)
    returned, words = careful.attempt("int of a word")
    assert not returned
    assert words.startswith("ValueError")
    assert careless.attempt("minus one") == (True, -1)


def test_what_the_adapters_own_lines_raise_is_no_refusal(cases: dict[str, RemoteCase]) -> None:
    clumsy = cases["clumsy"]
    assert isinstance(clumsy, RemoteNonsense)
    assert len(clumsy.attempts) == 9
    for words in clumsy.attempts:
        with pytest.raises(WorkerError) as caught:
            clumsy.attempt(words)
        assert caught.value.is_own or caught.value.is_unasked, words


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


def test_a_slow_mechanism_is_asked_for_few_outcomes_at_a_time(
    cases: dict[str, RemoteCase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request is shorter than what counts as hung."""
    sizes = []
    request = Worker.request

    def noted(self: Worker, do: str, **fields: Any) -> Any:
        sizes.append(fields["size"])
        return request(self, do, **fields)

    monkeypatch.setattr(Worker, "request", noted)
    monkeypatch.setattr("dpassay.impl.libraries.remote._PORTION_SECONDS", 0.1)
    assert len(mechanism(cases, "slow").sample(ONE, 75, rng())) == 75
    assert sizes[0] == 64
    assert sum(sizes) == 75
    assert max(sizes[1:]) <= 5  # at 0.02 s each or more


def test_what_is_not_answered_by_the_deadline_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpassay.impl.libraries.remote._LEAST_PATIENCE", 0.2)
    with Worker(sys.executable, ADAPTER) as worker:
        hanging = mechanism({case.name: case for case in open_library(worker)}, "hang")
        worker.deadline = time.monotonic() + 0.1
        with pytest.raises(
            WorkerLostError, match=r"did not answer within 0.2 s during sample \(hang\)|time limit of the check"
        ):
            hanging.sample(ONE, 3, rng())


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
