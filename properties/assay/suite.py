"""The suite: which law is asked of which case, with what share of the level and of the time, and in what order.

What is found depends on the seed, the level and the calls, and is the same for a mechanism alone as in the whole run,
with any number of processes. Time is a ceiling: what it cuts off is undecided.
"""

import hashlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import FrameType

import joblib

from dpassay.claims import UsageError, require_positive
from dpassay.impl.libraries.remote import BrokenCase, RemoteCase, Worker, WorkerError, WorkerLostError, open_library
from dpassay.properties.assay.expected import FINE
from dpassay.properties.assay.finding import Finding, Law, Settings

__all__ = [
    "DEFAULT_CALLS",
    "DESCRIBED",
    "Budget",
    "Check",
    "Plan",
    "Result",
    "Target",
    "close_session",
    "make_plan",
    "run_check",
    "run_plan",
]

DEFAULT_CALLS = 10_000
"""Outcomes that a sampled law may draw, unless the adapter says that its mechanism is too slow for that."""

DESCRIBED = Law(
    "described",
    "The library can say what the case claims.",
    applies=lambda case: None if isinstance(case, BrokenCase) else "the case was described",
    check=lambda case, _: Finding("undecided", case.error if isinstance(case, BrokenCase) else "described"),
    sampled=False,
)
"""The law of the cases that could not even be described; no other applies to them."""

_SHARE_OF_TIME, _LEAST_SECONDS = 8.0, 10.0  # one slow mechanism must not take the time of all others
_PATIENCE = 2.0  # a law ends by itself when its time is over, after the batch that it is at


@dataclass(frozen=True)
class Target:
    """Where a library runs: the interpreter, the adapter's file, and how long a request may take there."""

    python: str
    adapter: str
    isolated: bool = False
    timeout: float = 60.0

    def worker(self) -> Worker:
        """Return a worker, not started yet."""
        return Worker(self.python, self.adapter, timeout=self.timeout, isolated=self.isolated)


@dataclass(frozen=True)
class Check:
    """One law asked of one case.

    Parameters
    ----------
    mechanism : str
        The name of the case.
    law : Law
        The law.
    reason : str or None
        Why the law does not apply; None if it does.
    settings : Settings
        What it may spend; `seconds` is infinite until the run sets it.
    claim : str or None
        The claim of the case.
    """

    mechanism: str
    law: Law
    reason: str | None
    settings: Settings
    claim: str | None


@dataclass(frozen=True)
class Plan:
    """All checks of a library, case by case, and where they run.

    Parameters
    ----------
    target : Target
        Where the library runs.
    library, version : str
        What the worker says of itself; the version is None where the library is not installed as a distribution.
    checks : tuple of Check
        The checks to carry out, including those that do not apply.
    names : frozenset of (str, str)
        Mechanism and law of every check that applies, chosen or not.
    """

    target: Target
    library: str
    version: str | None
    checks: tuple[Check, ...]
    names: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Result:
    """What became of a check; `losses` tells why the worker had to be started again meanwhile."""

    check: Check
    finding: Finding
    seconds: float = 0.0
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Budget:
    """When a run must end (on the clock of `time.time`), and what one check may take of it, in seconds."""

    deadline: float
    each: float

    @classmethod
    def of(cls, seconds: float, checks: int, jobs: int) -> "Budget":
        """Share a time from now on between checks."""
        share = seconds * jobs / max(checks, 1)
        each = seconds if checks <= jobs else min(max(_SHARE_OF_TIME * share, _LEAST_SECONDS), seconds / 2)
        return cls(time.time() + seconds, each)

    def left(self) -> float:
        """Return what the next check may take; not positive when the time is over."""
        return min(self.deadline - time.time(), self.each)


def make_plan(
    target: Target,
    laws: Sequence[Law],
    *,
    alpha: float = 1e-6,
    seed: int = 0,
    calls: int = DEFAULT_CALLS,
    mechanism: str = "*",
    law: str = "*",
) -> Plan:
    """Ask a library for its cases and pair them with the laws.

    Parameters
    ----------
    target : Target
        Where the library runs.
    laws : sequence of Law
        The laws, the most important first.
    alpha : float
        Level of the whole run, split evenly over every sampled check that there is, chosen or not.
    seed, calls : int
        As for `Settings`.
    mechanism, law : str
        Globs that choose.

    Raises
    ------
    UsageError
        If the worker cannot be started, or nothing is chosen.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha must lie strictly between 0 and 1, got {alpha!r}")
    with target.worker() as worker:
        try:
            cases = open_library(worker)
        except (WorkerError, WorkerLostError) as error:
            raise UsageError(f"the adapter {target.adapter!r} cannot describe its cases: {error}") from error
        greeting = worker.greeting
        pairs = [(case, law, _reason(case, law)) for case in cases for law in (*laws, DESCRIBED)]
    pairs = [pair for pair in pairs if pair[1] is not DESCRIBED or pair[2] is None]
    sampled = sum(reason is None and law.sampled for _, law, reason in pairs)
    share = alpha / max(sampled, 1)
    checks = [
        Check(
            case.name,
            one,
            reason,
            Settings(share, _seed_of(seed, case.name, one.name), min(calls, _affordable(case, calls)), float("inf")),
            case.description.get("claim"),
        )
        for case, one, reason in pairs
    ]
    chosen = [check for check in checks if _chosen(check.mechanism, mechanism) and _chosen(check.law.name, law)]
    if not chosen:
        _complain_of_choice(
            {check.mechanism for check in checks}, mechanism, {check.law.name for check in checks}, law
        )
    names = frozenset((check.mechanism, check.law.name) for check in checks if check.reason is None)
    return Plan(target, greeting["library"], greeting["version"], tuple(chosen), names)


def _reason(case: RemoteCase, law: Law) -> str | None:
    if isinstance(case, BrokenCase) and law is not DESCRIBED:
        return "the case could not be described"
    try:
        return law.applies(case)
    except Exception:  # noqa: BLE001  # then it is for the check to say what is wrong with the case
        return None


def _affordable(case: RemoteCase, calls: int) -> int:
    limit: int | None = case.description.get("calls")
    return calls if limit is None else limit


def _seed_of(seed: int, mechanism: str, law: str) -> int:
    digest = hashlib.sha256(f"{seed}\0{mechanism}\0{law}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def _chosen(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _complain_of_choice(mechanisms: set[str], mechanism: str, laws: set[str], law: str) -> None:
    if not any(_chosen(name, mechanism) for name in mechanisms):
        raise UsageError(f"--mechanism {mechanism!r} matches none of {', '.join(sorted(mechanisms))}")
    raise UsageError(f"--law {law!r} matches none of {', '.join(sorted(laws))}")


# --- running ------------------------------------------------------------------------------------------------


def run_plan(plan: Plan, *, budget: float = 170.0, jobs: int = 1) -> Iterator[Result]:
    """Carry out the checks and yield their results as they come, in an order that is always the same.

    Law by law, those that compute before those that sample: if the time runs out, every mechanism was looked at.

    Parameters
    ----------
    plan : Plan
        The plan.
    budget : float
        Seconds after which no check begins; what is left is undecided.
    jobs : int
        Processes, each with a worker of its own; -1 means one per core.

    Raises
    ------
    UsageError
        If `budget` or `jobs` is out of its domain.
    """
    require_positive("budget", budget)
    if jobs == 0:
        raise UsageError("--jobs must not be 0; -1 means one per core")
    processes = joblib.effective_n_jobs(jobs)
    ordered = _in_running_order(plan.checks)
    yield from (
        Result(check, Finding("not applicable", check.reason)) for check in ordered if check.reason is not None
    )
    checks = [check for check in ordered if check.reason is None]
    limits = Budget.of(budget, len(checks), processes)
    try:
        if processes == 1:
            yield from _run_here(plan.target, checks, limits)
        else:
            yield from _run_elsewhere(plan.target, checks, limits, processes)
    finally:
        close_session()


def _run_here(target: Target, checks: Sequence[Check], limits: Budget) -> Iterator[Result]:
    with _interruptions() as noticed:
        for check in checks:
            result = run_check(target, check, limits)
            if not noticed or result.finding.kind not in FINE:  # what was cut short is no pass
                yield result
            if noticed:  # a hunt ends early, with what it has, and forgets that the keyboard asked for it
                raise KeyboardInterrupt


@contextmanager
def _interruptions() -> Iterator[list[int]]:
    """Note interruptions from the keyboard in a list, also where somebody swallows them."""
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


def _run_elsewhere(target: Target, checks: Sequence[Check], limits: Budget, processes: int) -> Iterator[Result]:
    tasks = (joblib.delayed(run_check)(target, check, limits) for check in checks)
    done = 0
    try:
        # processes, not threads: the working precision of the ball arithmetic belongs to the process
        for result in joblib.Parallel(n_jobs=processes, batch_size=1, return_as="generator")(tasks):
            done += 1
            yield result
    except BrokenExecutor as error:
        why = f"a process of the harness ended before it answered: {type(error).__name__}"
        yield from (Result(check, Finding("undecided", why)) for check in checks[done:])


def _in_running_order(checks: Sequence[Check]) -> list[Check]:
    laws = {name: place for place, name in enumerate(dict.fromkeys(check.law.name for check in checks))}
    return sorted(checks, key=lambda check: (check.law.sampled, laws[check.law.name]))


def run_check(target: Target, check: Check, limits: Budget) -> Result:
    """Carry out one check in this process, with the worker that it keeps open."""
    left = limits.left()
    if left <= 0:
        return Result(check, Finding("undecided", "the time was over before this check began; see --budget"))
    start = time.perf_counter()
    losses: tuple[str, ...] = ()
    try:
        session = _session_of(target)
        session.worker.deadline = time.monotonic() + _PATIENCE * left
        lost_before = len(session.worker.losses)
        try:
            finding = check.law.check(session.cases[check.mechanism], replace(check.settings, seconds=left))
        finally:
            losses = tuple(session.worker.losses[lost_before:])
    except Exception as error:  # noqa: BLE001  # a law that fails must not end the run, and is no pass either
        finding = Finding("undecided", losses[-1] if losses else f"the check raised {type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    if finding.kind == "ok" and check.law.sampled and seconds >= left and finding.calls < check.settings.calls:
        finding = replace(finding, kind="undecided", detail=_cut_off(finding, check))
    return Result(check, finding, seconds, losses)


def _cut_off(finding: Finding, check: Check) -> str:
    return (
        f"the time was over after {finding.calls} of {check.settings.calls} calls, without a finding: "
        "give more --budget, or the mechanism fewer calls in the adapter"
    )


@dataclass(frozen=True)
class _Session:
    target: Target
    worker: Worker
    cases: dict[str, RemoteCase]


_sessions: list[_Session] = []
"""The open worker of this process, at most one: processes are kept, and so are their workers."""


def _session_of(target: Target) -> _Session:
    if _sessions and _sessions[0].target == target:
        return _sessions[0]
    close_session()
    worker = target.worker()
    _sessions.append(_Session(target, worker, {case.name: case for case in open_library(worker)}))
    return _sessions[0]


def close_session() -> None:
    """End the worker that this process keeps open."""
    while _sessions:
        _sessions.pop().worker.close()
