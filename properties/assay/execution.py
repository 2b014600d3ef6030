"""Execution of checks in processes, each with its own open worker."""

import itertools
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

import joblib

from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.deepening import OPEN
from dpassay.properties.assay.expected import FINE
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import Check, CheckResult, at_least_depth
from dpassay.properties.assay.session import Target, close_session, open_session
from dpassay.properties.assay.time_limits import Budget, Pace
from dpassay.spec.ball import UndecidedError

__all__ = ["NOT_STARTED", "PROCESS_ENDED", "run_check", "run_checks", "too_short"]

NOT_STARTED = "the time limit was reached before this check started"
"""Detail of a check for which no time was left."""

PROCESS_ENDED = "a process of dpassay ended without an answer"
"""First words of the detail of a check that had no answer yet when a process of dpassay was lost."""

_PATIENCE = 2.0
"""Factor on the time limit of a law, which ends after its current batch."""

_LEAST_PATIENCE = 60.0
"""Seconds that a check may take until its worker is given up, however short its time limit is."""

_GRACE = 5.0
"""Seconds after the end of a run at which a request that is not answered is given up."""

_HUNG = 0.5
"""Part of the time limit of a request after which it counts as hung, if the time of its check is over before."""

_CHUNK = 16
"""Checks for each process that are sent at once to a backend that returns all results together."""


def run_checks(
    target: Target,
    checks: Sequence[Check],
    limits: Budget,
    *,
    processes: int,
    backend: str = "loky",
    unhurried: Collection[tuple[str, str]] = (),
) -> Iterator[CheckResult]:
    """Run checks and yield their results in the order of the checks.

    Parameters
    ----------
    target : Target
        Where the library runs.
    checks : sequence of Check
        The checks.
    limits : Budget
        Time limits.
    processes : int
        Number of processes; with one, the checks run in this process.
    backend : str
        The backend of joblib; it must be the active one.
    unhurried : collection of (mechanism, law)
        Checks that have their whole limit, since they must show a finding that is expected.
    """
    pace = Pace(checks, limits.paced, processes)

    def started(place: int, check: Check) -> tuple[Check, Budget]:
        if (check.mechanism, check.law.name) in unhurried:
            return check, limits
        if check.least is not None and pace.is_behind(place):
            check = at_least_depth(check)
        return check, limits.shared(len(checks) - place, processes)

    if processes == 1 and backend == "loky":
        results = _run_here(target, checks, started)
    else:
        close_session()  # each of the processes has its own
        results = _run_elsewhere(target, checks, started, processes, backend)
    for result in results:
        pace.note(result)
        yield result


_Started = Callable[[int, Check], tuple[Check, Budget]]
"""Returns a check as it runs, and its limits, by its place; it is asked when the check is about to start."""


def _run_here(target: Target, checks: Sequence[Check], started: _Started) -> Iterator[CheckResult]:
    with _interruptions() as noticed:
        for place, check in enumerate(checks):
            result = run_check(target, *started(place, check))
            if not noticed or result.finding.kind not in FINE:  # an interrupted check is not a pass
                yield result
            if noticed:  # a hunt that is interrupted returns normally
                raise KeyboardInterrupt


@contextmanager
def _interruptions() -> Iterator[list[int]]:
    """Record keyboard interruptions in a list, even if other code suppresses them."""
    noticed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noticed
        return

    def note(number: int, _: FrameType | None) -> None:
        noticed.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, before)


def _run_elsewhere(
    target: Target, checks: Sequence[Check], started: _Started, processes: int, backend: str
) -> Iterator[CheckResult]:
    done = 0
    try:
        # processes, not threads: the working precision of the ball arithmetic belongs to the process
        for chunk in _chunks(checks, processes, backend):
            pool = joblib.Parallel(
                n_jobs=processes, batch_size=1, return_as="list" if backend == "ray" else "generator"
            )
            begun = itertools.count(done)
            for result in pool(joblib.delayed(run_check)(target, *started(next(begun), check)) for check in chunk):
                done += 1
                yield result
    except BrokenExecutor as error:
        why = f"{PROCESS_ENDED}: {type(error).__name__}"
        lost = Finding(FindingKind.UNDECIDED, why, is_lasting=True)
        yield from (CheckResult(check, lost) for check in checks[done:])


def _chunks(checks: Sequence[Check], processes: int, backend: str) -> list[Sequence[Check]]:
    """Return the checks in the portions that are sent together: ray returns no result before all of them."""
    size = _CHUNK * processes if backend == "ray" else max(len(checks), 1)
    return [checks[start : start + size] for start in range(0, len(checks), size)]


def run_check(target: Target, check: Check, limits: Budget) -> CheckResult:
    """Run one check in this process, with its open worker.

    A check that raises is an error, and one that loses the worker is undecided, however short the time was: only what
    the end of the time itself stopped was not run.
    """
    left = limits.left(check.law)
    if left <= 0:
        return CheckResult(check, Finding(FindingKind.NOT_RUN, NOT_STARTED))
    began = time.perf_counter()
    losses: tuple[str, ...] = ()
    waits: list[float] = []
    is_asked = is_shallow = False
    try:
        session = open_session(target)
        began = time.perf_counter()
        patience = max(_PATIENCE * left, _LEAST_PATIENCE)
        is_asked = True
        session.worker.deadline = time.monotonic() + min(patience, limits.deadline - time.time() + _GRACE)
        lost_before = len(session.worker.losses)
        try:
            finding = check.law.check(session.cases[check.mechanism], replace(check.settings, seconds=left))
            is_shallow = check.settings.is_least and finding.calls > 0  # a mistake in the adapter draws nothing
        finally:
            losses = tuple(session.worker.losses[lost_before:])
            waits = session.worker.waits[lost_before:]
    except Exception as error:  # noqa: BLE001  # a failing law must not end the run and is not a pass
        finding = _of_exception(error, losses, is_asked=is_asked)
    end = time.perf_counter()
    is_over = time.time() >= limits.deadline
    if any(wait >= (1.0 if is_over else _HUNG) * target.timeout for wait in waits):
        finding = _with_losses(finding, losses)
    is_cut = is_over or ((end - began >= left or is_shallow) and not losses)
    is_open = finding.kind is FindingKind.UNDECIDED and not finding.is_lasting  # it was not run at its depth
    return CheckResult(check, too_short(finding) if is_cut and is_open else finding, end - began, losses)


def _of_exception(error: Exception, losses: Sequence[str], *, is_asked: bool) -> Finding:
    """Return the finding of a check that raised: an error, unless nothing was observed or no bound was decided."""
    if losses:
        return Finding(FindingKind.UNDECIDED, losses[-1])
    told = f"the check raised {type(error).__name__}: {error}"
    if not isinstance(error, SamplerLostError | UndecidedError):
        return Finding(FindingKind.ERROR, told)
    is_late = is_asked and isinstance(error, SamplerLostError)  # no worker was lost: it was not asked any more
    return Finding(FindingKind.UNDECIDED, told, is_lasting=not is_late)


def _with_losses(finding: Finding, losses: Sequence[str]) -> Finding:
    """Return the finding of a check that lost the worker: without a fault it is undecided, and no pass."""
    if finding.kind not in FINE | OPEN:
        return finding
    told = finding.detail if losses[-1] in finding.detail else f"{losses[-1]}; otherwise: {finding.detail}"
    return replace(finding, kind=FindingKind.UNDECIDED, detail=told, is_weak=False, is_lasting=True)


def too_short(finding: Finding) -> Finding:
    """Return the finding of a check whose time did not suffice as one of a check that was not run."""
    if finding.kind is FindingKind.NOT_RUN:
        return finding
    return replace(finding, kind=FindingKind.NOT_RUN, detail=f"its time was too short: {finding.detail}")
