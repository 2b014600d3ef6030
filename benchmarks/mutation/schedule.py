"""Trials of many mutants, some at a time, each in a copy of the tree of its own."""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.overlay import Overlay
from benchmarks.mutation.reach import Check
from benchmarks.mutation.trial import run_trial, slack_of

__all__ = ["Trial", "run_all"]

STARTUP = Check("startup", 20.0)


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


@dataclass
class _Running:
    mutant: Mutant
    overlay: Overlay
    checks: Sequence[Check]
    planned: int
    process: ForkProcess
    pipe: Connection
    begun: float = field(default_factory=time.monotonic)
    started: int = 0
    current: Check = STARTUP
    since: float = field(default_factory=time.monotonic)

    def patience(self) -> float:
        """Return the seconds by the clock that are left: ten times the limit of CPU time, on a busy machine."""
        return self.since + 10 * slack_of(self.current) - time.monotonic()


def run_all(
    mutants: Iterable[Mutant], choose: Callable[[Mutant], tuple[list[Check], int]], overlays: Sequence[Overlay]
) -> Iterator[Trial]:
    """Yield the trials as they end; `choose` returns the checks of a mutant to run, and how many reach it."""
    _preload()
    waiting, free = iter(mutants), list(overlays)
    running: list[_Running] = []
    while True:
        while free and (mutant := next(waiting, None)) is not None:
            checks, planned = choose(mutant)
            if checks:
                running.append(_begin(mutant, free.pop(), checks, planned))
            else:
                yield Trial(mutant, "unreached", None, 0, planned, 0.0)
        if not running:
            return
        for trial, overlay in _step(running):
            free.append(overlay)
            yield trial


def _preload() -> None:
    """Import what all trials need, once; nothing of dpassay."""
    import flint  # noqa: F401
    import hypothesis  # noqa: F401
    import joblib  # noqa: F401
    import mpmath  # noqa: F401
    import pytest  # noqa: F401
    import scipy.integrate
    import scipy.optimize
    import scipy.signal
    import scipy.special
    import scipy.stats  # noqa: F401
    import sympy  # noqa: F401


def _begin(mutant: Mutant, overlay: Overlay, checks: list[Check], planned: int) -> _Running:
    overlay.plant(mutant)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=run_trial, args=(overlay, mutant.path, checks, theirs))
    process.start()
    theirs.close()
    return _Running(mutant, overlay, checks, planned, process, ours)


def _step(running: list[_Running]) -> Iterator[tuple[Trial, Overlay]]:
    """Wait for messages; yield what ended."""
    wait([each.pipe for each in running], timeout=max(0.0, min(each.patience() for each in running)))
    for each in list(running):
        trial = _listen(each)
        if trial is not None:
            running.remove(each)
            yield trial, each.overlay


def _listen(run: _Running) -> Trial | None:
    by_name = {check.name: check for check in run.checks}
    while run.pipe.poll():
        try:
            kind, name = run.pipe.recv()
        except EOFError:
            return _end(run, _status_of_dead(run), f"{run.current.name} (process died)")
        if kind == "error":
            return _end(run, "error", name)
        if kind == "end":
            return _end(run, "killed" if name else "survived", name)
        run.started, run.current, run.since = run.started + 1, by_name[name], time.monotonic()
    return _end(run, "hung", run.current.name) if run.patience() <= 0 else None


def _status_of_dead(run: _Running) -> str:
    """Return the status of a process that ended by itself: a crash is a kill only under a check."""
    run.process.join()
    if run.process.exitcode == -signal.SIGXCPU:
        return "hung"
    return "killed" if run.started else "error"


def _end(run: _Running, status: str, killer: str | None) -> Trial:
    if run.process.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.process.pid, signal.SIGKILL)
    run.process.join()
    run.pipe.close()
    run.overlay.restore(run.mutant.path)
    status = "open" if status == "survived" and len(run.checks) < run.planned else status
    seconds = round(time.monotonic() - run.begun, 2)
    return Trial(run.mutant, status, killer, run.started, run.planned, seconds)
