"""Trials of many mutants, one after the other, each in a child of a process that has collected all checks."""

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.overlay import Overlay
from benchmarks.mutation.patching import functions_below
from benchmarks.mutation.reach import Check, Reach
from benchmarks.mutation.trial import OPTIONS, Bench, slack_of

__all__ = ["Judge", "Trial", "with_checks_collected"]

STARTUP = Check("startup", 20.0, 0)


@dataclass(frozen=True)
class Trial:
    """The result: ``killed``, ``hung`` (killed as well), ``survived``, ``unreached``, ``open`` or ``error``.

    ``open``: alive after some of the checks that reach it; ``error``: the trial itself failed and says nothing.
    """

    mutant: Mutant
    status: str
    killer: str | None
    checks: int
    planned: int
    seconds: float


def with_checks_collected(overlay: Overlay, files: Iterable[str], use: Callable[[Bench], None]) -> None:
    """Collect the checks of some files in a copy of the tree, and call `use` in the process that has them.

    Raises
    ------
    RuntimeError
        If the collection fails, or `use` raises.
    """
    os.chdir(overlay.root)
    os.environ.update(overlay.environment(os.environ))
    sys.path[:0] = [str(overlay.root / "src"), str(overlay.root)]
    sys.dont_write_bytecode = True
    collector = _Collector(overlay, use)
    options = [*OPTIONS, "-s", f"--basetemp={overlay.root}.tmp"]
    if pytest.main([*options, *sorted(set(files))], plugins=[collector]) != pytest.ExitCode.OK or not collector.used:
        raise RuntimeError("the checks could not be collected, or a trial could not be made; pytest says why above")


class _Collector:
    """A pytest plugin: in place of a run of the tests, the trials."""

    def __init__(self, overlay: Overlay, use: Callable[[Bench], None]) -> None:
        self.overlay, self.use, self.used = overlay, use, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _warm_up()
        bench = Bench(self.overlay, {item.nodeid: item for item in session.items}, functions_below(self.overlay.root))
        gc.collect()
        gc.freeze()  # a collection in a child would copy every page of the parent
        self.use(bench)
        self.used = True
        return True


def _warm_up() -> None:
    """Run a test of hypothesis: the first one reads the constants of all modules."""

    @given(st.integers())
    def check(_: int) -> None:
        pass

    check()


@dataclass
class _Running:
    mutant: Mutant | None
    checks: Sequence[Check]
    process: ForkProcess
    pipe: Connection
    begun: float = field(default_factory=time.monotonic)
    started: int = 0
    current: Check = STARTUP
    since: float = field(default_factory=time.monotonic)

    def patience(self) -> float:
        """Return the seconds by the clock that are left: ten times the limit of CPU time, on a busy machine."""
        return self.since + 10 * slack_of(self.current) - time.monotonic()


@dataclass(frozen=True)
class _Ending:
    status: str
    killer: str | None
    last: Check
    started: int
    seconds: float


@dataclass
class Judge:
    """Tries mutants; a check that fails without a mutant too, in the same place, is not believed."""

    bench: Bench
    reach: Reach
    choose: Callable[[Mutant], tuple[list[Check], int]]
    believed: set[Check] = field(default_factory=set)
    disbelieved: set[Check] = field(default_factory=set)

    def run_all(self, mutants: Iterable[Mutant]) -> Iterator[Trial]:
        """Yield the trials in the order of the mutants."""
        for mutant in mutants:
            chosen, planned = self.choose(mutant)
            yield self._try(mutant, [each for each in chosen if each not in self.disbelieved], planned)

    def _try(self, mutant: Mutant, checks: list[Check], planned: int) -> Trial:
        if not checks:
            return Trial(mutant, "unreached", None, 0, planned, 0.0)
        end = self._run(mutant, checks)
        if end.killer is not None and not self._believes(end.last):
            return self._try(mutant, [each for each in checks if each not in self.disbelieved], planned)
        status = "open" if end.status == "survived" and len(checks) < planned else end.status
        return Trial(mutant, status, end.killer, end.started, planned, end.seconds)

    def _believes(self, check: Check) -> bool:
        """Return whether a check passes without a mutant; what fails before any check needs no such proof."""
        if check != STARTUP and check not in self.believed | self.disbelieved:
            passes = self._run(None, [check]).status == "survived"
            (self.believed if passes else self.disbelieved).add(check)
        return check not in self.disbelieved

    def _run(self, mutant: Mutant | None, checks: Sequence[Check]) -> _Ending:
        if mutant is not None:
            self.bench.overlay.plant(mutant)
        try:
            return _watch(self._begin(mutant, checks))
        finally:
            if mutant is not None:
                self.bench.overlay.restore(mutant.path)

    def _begin(self, mutant: Mutant | None, checks: Sequence[Check]) -> _Running:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        anew = mutant is not None and self.reach.runs_early(mutant)
        process = context.Process(target=self.bench.run_trial, args=(mutant, anew, checks, theirs))
        process.start()
        theirs.close()
        return _Running(mutant, checks, process, ours)


def _watch(run: _Running) -> _Ending:
    """Listen to a child until it ends, or until it has taken too long."""
    by_name = {check.name: check for check in run.checks}
    while run.pipe.poll(max(0.0, run.patience())):
        try:
            kind, name = run.pipe.recv()
        except EOFError:
            return _end(run, _status_of_dead(run), f"{run.current.name} (process died)")
        if kind == "error":
            return _end(run, "error", name)
        if kind == "end":
            return _end(run, "killed" if name else "survived", name)
        run.started, run.current, run.since = run.started + 1, by_name[name], time.monotonic()
    return _end(run, "hung", run.current.name)


def _status_of_dead(run: _Running) -> str:
    """Return the status of a process that ended by itself: a crash is a kill only under a check."""
    run.process.join()
    if run.process.exitcode == -signal.SIGXCPU:
        return "hung"
    return "killed" if run.started else "error"


def _end(run: _Running, status: str, killer: str | None) -> _Ending:
    if run.process.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.process.pid, signal.SIGKILL)
    run.process.join()
    run.pipe.close()
    return _Ending(status, killer, run.current, run.started, round(time.monotonic() - run.begun, 2))
