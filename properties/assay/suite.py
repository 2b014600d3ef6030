"""The suite: pairs cases with laws, shares the level and the time, and runs the checks.

A finding depends on the seed, the level and the calls. It does not depend on the selection of mechanisms and laws or
on the number of processes. A check that exceeds the time limit is undecided.
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
from dpassay.impl.libraries.remote import (
    BrokenCase,
    RemoteAnswer,
    RemoteCase,
    RemoteMechanism,
    Worker,
    WorkerError,
    WorkerLostError,
    open_library,
)
from dpassay.properties.assay.expected import FINE
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import unless_answer
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import moves
from dpassay.properties.assay.questions import QUESTIONS
from dpassay.properties.assay.sufficiency import MOST_SAMPLED_PAIRS, sufficient_calls

__all__ = [
    "DEFAULT_CALLS",
    "DESCRIBED",
    "MOST_CALLS",
    "TESTED",
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

DEFAULT_CALLS, MOST_CALLS = 10_000, 200_000
"""Calls of a sampled law: the default, and, unless the adapter sets a limit, the maximum for claims that need more."""

DESCRIBED = Law(
    "described",
    "The adapter can describe the case.",
    applies=lambda case: None if isinstance(case, BrokenCase) else "the case was described",
    check=lambda case, _: Finding(FindingKind.UNDECIDED, case.error if isinstance(case, BrokenCase) else "described"),
    sampled=False,
)
"""The law of cases that the adapter cannot describe; no other law applies to them."""

TESTED = Law(
    "tested",
    "At least one law applies to the case.",
    applies=lambda _: "another law applies to the case",
    check=lambda case, _: Finding(FindingKind.ERROR, f"no law applies to the case: {_why_untested(case)}"),
    sampled=False,
)
"""The law of cases to which no other law applies; such a case is a mistake in the adapter."""


def _why_untested(case: RemoteCase) -> str:
    if isinstance(case, RemoteAnswer):
        return unless_answer(case) or "no question lies inside the documented domain"
    return (
        moves(case) or "the description is incomplete" if isinstance(case, RemoteMechanism) else "it has no attempts"
    )


_SHARE_OF_TIME, _LEAST_SECONDS = 8.0, 10.0  # one slow mechanism must not use the time of the others
_PATIENCE = 2.0  # factor on the time limit of a law, which ends after its current batch


@dataclass(frozen=True)
class Target:
    """Where a library runs: the interpreter, the file of the adapter, and the time limit of a request in seconds."""

    python: str
    adapter: str
    isolated: bool = False
    timeout: float = 60.0

    def worker(self) -> Worker:
        """Return a worker that is not started yet."""
        return Worker(self.python, self.adapter, timeout=self.timeout, isolated=self.isolated)


@dataclass(frozen=True)
class Check:
    """A check of one law on one case.

    Parameters
    ----------
    mechanism : str
        The name of the case.
    law : Law
        The law.
    reason : str or None
        Reason that the law does not apply; None if it does.
    settings : Settings
        Limits of the check; `seconds` is infinite until the run sets it.
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
        As reported by the worker; the version is None if the library is not installed as a distribution.
    checks : tuple of Check
        The selected checks, including those that do not apply.
    names : frozenset of (str, str)
        Mechanism and law of every check that applies, selected or not.
    """

    target: Target
    library: str
    version: str | None
    checks: tuple[Check, ...]
    names: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Result:
    """The result of a check; `losses` has the reasons for restarts of the worker during the check."""

    check: Check
    finding: Finding
    seconds: float = 0.0
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Budget:
    """Time limits: the deadline of a run (as `time.time`) and the limit of one check, in seconds."""

    deadline: float
    each: float

    @classmethod
    def of(cls, seconds: float, checks: int, jobs: int) -> "Budget":
        """Share a time, starting now, between checks."""
        share = seconds * jobs / max(checks, 1)
        each = seconds if checks <= jobs else min(max(_SHARE_OF_TIME * share, _LEAST_SECONDS), seconds / 2)
        return cls(time.time() + seconds, each)

    def left(self) -> float:
        """Return the time limit of the next check; not positive after the deadline."""
        return min(self.deadline - time.time(), self.each)


def make_plan(
    target: Target,
    laws: Sequence[Law],
    *,
    alpha: float = 1e-6,
    seed: int = 0,
    calls: int | None = None,
    mechanism: str = "*",
    law: str = "*",
) -> Plan:
    """Read the cases of a library and pair them with the laws.

    Parameters
    ----------
    target : Target
        Where the library runs.
    laws : sequence of Law
        The laws, in order of importance.
    alpha : float
        Level of the run, split evenly over all sampled checks, selected or not.
    seed : int
        As for `Settings`.
    calls : int, optional
        As for `Settings`; by default `DEFAULT_CALLS`, or more if the claim needs them, or as few as it needs if the
        mechanism is slow.
    mechanism, law : str
        Globs that select checks.

    Raises
    ------
    UsageError
        If the worker cannot be started, a case has a domain of unknown arguments, or no check is selected.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha must lie strictly between 0 and 1, got {alpha!r}")
    with target.worker() as worker:
        try:
            cases = open_library(worker)
            _require_known_arguments(cases)
        except (WorkerError, WorkerLostError) as error:
            raise UsageError(f"the adapter {target.adapter!r} cannot describe its cases: {error}") from error
        greeting = worker.greeting
        pairs = [(case, law, _reason(case, law)) for case in cases for law in (*laws, DESCRIBED)]
    pairs = [pair for pair in pairs if pair[1] is not DESCRIBED or pair[2] is None]
    tested = {case.name for case, _, reason in pairs if reason is None}
    pairs += [(case, TESTED, None) for case in cases if case.name not in tested and laws]
    sampled = sum(reason is None and law.sampled for _, law, reason in pairs)
    share = alpha / max(sampled, 1)
    checks = [
        Check(
            case.name,
            one,
            reason,
            Settings(share, _seed_of(seed, case.name, one.name), _calls_of(case, one, calls, share), float("inf")),
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


def _require_known_arguments(cases: Sequence[RemoteCase]) -> None:
    """Raise `UsageError` if the domain of an answer has a name that is no argument of any question.

    Several answers may share a domain, which may name arguments that are not in each of their questions.
    """
    known = {argument.name for question in QUESTIONS.values() for argument in question.arguments}
    for case in cases:
        strangers = [name for name in case.description.get("domain", ()) if name not in known]
        if strangers:
            raise UsageError(
                f"domain of the case {case.name!r} must name arguments of questions ({', '.join(sorted(known))}), "
                f"got {', '.join(map(repr, strangers))}"
            )


def _reason(case: RemoteCase, law: Law) -> str | None:
    if isinstance(case, BrokenCase) and law is not DESCRIBED:
        return "the case could not be described"
    try:
        return law.applies(case)
    except Exception:  # noqa: BLE001  # the check reports the error
        return None


def _calls_of(case: RemoteCase, law: Law, calls: int | None, alpha: float) -> int:
    """Return the calls that a law may make: at most the limit of the adapter, by default enough for the claim."""
    limit: int | None = case.description.get("calls")
    allowed = DEFAULT_CALLS if calls is None else calls
    if calls is None and law.sampled and isinstance(case, RemoteMechanism):
        enough = sufficient_calls(case.claims[0], alpha, pairs=MOST_SAMPLED_PAIRS)
        if enough is not None and (limit is not None or enough <= MOST_CALLS):
            allowed = enough if case.description["slow"] else max(DEFAULT_CALLS, enough)
    return allowed if limit is None else min(allowed, limit)


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
    """Run the checks and yield their results in a fixed order.

    The order is law by law, computed laws first, so that every mechanism is checked before the time ends.

    Parameters
    ----------
    plan : Plan
        The plan.
    budget : float
        Time limit in seconds; no check starts after it, and the remaining checks are undecided.
    jobs : int
        Number of processes, each with its own worker; -1 for one per core.

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
        Result(check, Finding(FindingKind.NOT_APPLICABLE, check.reason))
        for check in ordered
        if check.reason is not None
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


def _run_elsewhere(target: Target, checks: Sequence[Check], limits: Budget, processes: int) -> Iterator[Result]:
    tasks = (joblib.delayed(run_check)(target, check, limits) for check in checks)
    done = 0
    try:
        # processes, not threads: the working precision of the ball arithmetic belongs to the process
        for result in joblib.Parallel(n_jobs=processes, batch_size=1, return_as="generator")(tasks):
            done += 1
            yield result
    except BrokenExecutor as error:
        why = f"a process of dpassay ended without an answer: {type(error).__name__}"
        yield from (Result(check, Finding(FindingKind.UNDECIDED, why)) for check in checks[done:])


def _in_running_order(checks: Sequence[Check]) -> list[Check]:
    laws = {name: place for place, name in enumerate(dict.fromkeys(check.law.name for check in checks))}
    return sorted(checks, key=lambda check: (check.law.place, check.law.sampled, laws[check.law.name]))


def run_check(target: Target, check: Check, limits: Budget) -> Result:
    """Run one check in this process, with its open worker."""
    left = limits.left()
    if left <= 0:
        return Result(
            check, Finding(FindingKind.UNDECIDED, "the time limit was reached before this check started; see --budget")
        )
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
    except Exception as error:  # noqa: BLE001  # a failing law must not end the run and is not a pass
        finding = Finding(
            FindingKind.UNDECIDED, losses[-1] if losses else f"the check raised {type(error).__name__}: {error}"
        )
    seconds = time.perf_counter() - start
    if (
        finding.kind is FindingKind.OK
        and check.law.sampled
        and seconds >= left
        and finding.calls < check.settings.calls
    ):
        finding = replace(finding, kind=FindingKind.UNDECIDED, detail=_cut_off(finding, check))
    return Result(check, finding, seconds, losses)


def _cut_off(finding: Finding, check: Check) -> str:
    return (
        f"the time limit was reached after {finding.calls} of {check.settings.calls} calls, without a finding: "
        "increase --budget, or set fewer calls for the mechanism in the adapter"
    )


@dataclass(frozen=True)
class _Session:
    target: Target
    worker: Worker
    cases: dict[str, RemoteCase]


_sessions: list[_Session] = []
"""The open worker of this process, at most one; processes and workers are reused."""


def _session_of(target: Target) -> _Session:
    if _sessions and _sessions[0].target == target:
        return _sessions[0]
    close_session()
    worker = target.worker()
    _sessions.append(_Session(target, worker, {case.name: case for case in open_library(worker)}))
    return _sessions[0]


def close_session() -> None:
    """End the open worker of this process."""
    while _sessions:
        _sessions.pop().worker.close()
