"""The plan of a run: cases paired with laws, with a share of the level and a number of calls for each check."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from dpassay.arguments import UsageError
from dpassay.impl.libraries.remote import (
    BrokenCase,
    RemoteAnswer,
    RemoteCase,
    RemoteFamily,
    RemoteMechanism,
)
from dpassay.impl.libraries.worker_process import WorkerError, WorkerLostError
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.inquiry import unless_answer
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import moves
from dpassay.properties.assay.questions import QUESTIONS
from dpassay.properties.assay.session import Target, close_session, open_session
from dpassay.properties.assay.sufficiency import LEAST_CALLS, MOST_SAMPLED_PAIRS, sufficient_calls
from dpassay.properties.betting.power import LEADERS_SHARE

__all__ = [
    "DEFAULT_CALLS",
    "DESCRIBED",
    "MOST_CALLS",
    "TESTED",
    "Check",
    "CheckResult",
    "Plan",
    "Target",
    "at_least_depth",
    "in_running_order",
    "make_plan",
    "seed_of",
]

DEFAULT_CALLS, MOST_CALLS = 10_000, 200_000
"""Calls of a sampled law: the default, and, unless the adapter sets a limit, the maximum for claims that need more."""

_PAIRS_OF_A_RUN, _CALLS_OF_A_RUN = 800, 200_000
"""Pairs and calls that all sampled checks share in the first round: on one core they take about a minute."""

_FIT_CALLS = 4_000
"""Calls of a fit to a distribution: they detect a total variation of about 1/8, whatever the claim is."""

_LEAST_FIT = 1 / 2
"""Part of these calls where the machine is slow: a test of several coordinates is not weak yet."""

_FAMILY_CALLS = 2 * DEFAULT_CALLS
"""Calls at each parameter of a family at most: its laws draw as few as a test of the claim needs, and claims vary."""

_LEAST_PAIRS = 4
"""Pairs of a hunt in a run with many checks: the designed pairs that lead find most."""

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
    least : Settings, optional
        Limits where the time is too short for `settings`: a hunt plays on one pair, with about as many calls as that
        needs, and a fit draws half as many; None for a check that has no smaller depth.
    """

    mechanism: str
    law: Law
    reason: str | None
    settings: Settings
    claim: str | None
    least: Settings | None = None


def at_least_depth(check: Check) -> Check:
    """Return a check that has a least depth with those settings."""
    assert check.least is not None
    return replace(check, settings=check.least, least=None)


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
    deepens : bool
        Whether the time that is left may go to more calls and points; False if the user gave the number of calls.
    """

    target: Target
    library: str
    version: str | None
    checks: tuple[Check, ...]
    names: frozenset[tuple[str, str]]
    deepens: bool = True


@dataclass(frozen=True)
class CheckResult:
    """The result of a check; `losses` has the reasons for restarts of the worker during the check.

    `is_least` says that it was asked at its least depth.
    """

    check: Check
    finding: Finding
    seconds: float = 0.0
    losses: tuple[str, ...] = ()
    is_least: bool = False


def make_plan(
    target: Target,
    laws: Sequence[Law],
    *,
    alpha: float = 1e-6,
    seed: int = 0,
    calls: int | None = None,
    mechanism: str = "*",
    law: str = "*",
    keeps_session: bool = False,
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
    keeps_session : bool
        Whether the session of this process stays open, for checks that run here next.

    Raises
    ------
    UsageError
        If the worker cannot be started, a case has a domain of unknown arguments, or no check is selected.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha must lie strictly between 0 and 1, got {alpha!r}")
    close_session()  # its worker may run an earlier state of the adapter
    try:
        pairs, library, version = _pairs_of(target, laws)
    finally:
        if not keeps_session:
            close_session()
    sampled = sum(reason is None and law.sampled for _, law, reason in pairs)
    share = alpha / max(sampled, 1)
    depth = _Depth.of(sampled, calls)
    checks = []
    for case, one, reason in sorted(pairs, key=lambda pair: isinstance(pair[0], RemoteFamily)):
        # families come last of the checks that start together: they take the longest, and the others show the speed
        settings = Settings(
            share,
            seed_of(seed, case.name, one.name),
            depth.calls_of(case, one, share) if reason is None else depth.calls,
            float("inf"),
            pairs=depth.pairs,
        )
        has_less = calls is None and reason is None and (one.hunts or one.place is Turn.FITTED)
        least = _least(case, one, settings) if has_less else None
        checks.append(Check(case.name, one, reason, settings, case.description.get("claim"), least))
    chosen = [check for check in checks if _chosen(check.mechanism, mechanism) and _chosen(check.law.name, law)]
    if not chosen:
        _complain_of_choice(
            {check.mechanism for check in checks}, mechanism, {check.law.name for check in checks}, law
        )
    names = frozenset((check.mechanism, check.law.name) for check in checks if check.reason is None)
    return Plan(target, library, version, tuple(chosen), names, calls is None)


def _pairs_of(target: Target, laws: Sequence[Law]) -> tuple[list[tuple[RemoteCase, Law, str | None]], str, str | None]:
    """Return the cases with their laws and the reason why one does not apply; the library and its version."""
    try:
        session = open_session(target)
    except (WorkerError, WorkerLostError) as error:
        raise UsageError(f"the adapter {target.adapter!r} cannot describe its cases: {error}") from error
    cases, greeting = list(session.cases.values()), session.worker.greeting
    _require_known_arguments(cases)
    pairs = [(case, law, _reason(case, law)) for case in cases for law in (*laws, DESCRIBED)]
    pairs = [pair for pair in pairs if pair[1] is not DESCRIBED or pair[2] is None]
    tested = {case.name for case, _, reason in pairs if reason is None}
    pairs += [(case, TESTED, None) for case in cases if case.name not in tested and laws]
    return pairs, greeting["library"], greeting["version"]


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


@dataclass(frozen=True)
class _Depth:
    """The first depth of the checks of a run: the more checks, the fewer pairs and calls each of them has."""

    pairs: int
    calls: int
    given: bool

    @classmethod
    def of(cls, sampled: int, calls: int | None) -> "_Depth":
        """Return the depth for a number of sampled checks; with a number of calls from the user it is fixed."""
        if calls is not None:
            return cls(MOST_SAMPLED_PAIRS, calls, given=True)
        pairs = min(max(_PAIRS_OF_A_RUN // max(sampled, 1), _LEAST_PAIRS), MOST_SAMPLED_PAIRS)
        return cls(pairs, min(_CALLS_OF_A_RUN // max(sampled, 1), DEFAULT_CALLS), given=False)

    def calls_of(self, case: RemoteCase, law: Law, alpha: float) -> int:
        """Return the calls of a law: at most the limit of the adapter, by default enough for the claim."""
        limit: int | None = case.description.get("calls")
        allowed = self.calls if self.given else _FAMILY_CALLS if isinstance(case, RemoteFamily) else DEFAULT_CALLS
        if not self.given and law.place is Turn.FITTED:
            allowed = _FIT_CALLS
        elif not self.given and law.sampled and isinstance(case, RemoteMechanism):
            enough = sufficient_calls(case.claims[0], alpha / 2, pairs=self.pairs)
            if enough is not None and (limit is not None or enough <= MOST_CALLS):
                allowed = enough if case.description["slow"] else max(self.calls, enough)
        return allowed if limit is None else min(allowed, limit)


def _least(case: RemoteCase, law: Law, settings: Settings) -> Settings:
    """Return the settings where the machine is too slow: a test that is not weak, but looks at one pair only."""
    calls = settings.calls
    if law.place is Turn.FITTED:
        calls = max(1, math.ceil(_LEAST_FIT * calls))
    elif isinstance(case, RemoteMechanism):  # of several pairs, the leading one has this share of the calls
        calls = min(calls, max(LEAST_CALLS, math.ceil(LEADERS_SHARE * calls)))
    return replace(settings, pairs=1, calls=calls, is_least=True)


def seed_of(seed: int, *names: str) -> int:
    """Return a seed of 32 bits that is a digest of a seed and of names."""
    digest = hashlib.sha256("\0".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def _chosen(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _complain_of_choice(mechanisms: set[str], mechanism: str, laws: set[str], law: str) -> None:
    if not any(_chosen(name, mechanism) for name in mechanisms):
        raise UsageError(f"--mechanism {mechanism!r} matches none of {', '.join(sorted(mechanisms))}")
    raise UsageError(f"--law {law!r} matches none of {', '.join(sorted(laws))}")


def in_running_order(checks: Sequence[Check]) -> list[Check]:
    """Return the checks in the order in which they are run: the exact ones first, then the samples.

    The first sampled law of every case comes before the second of any, so that no case goes without samples where the
    time is short.
    """
    laws = {name: place for place, name in enumerate(dict.fromkeys(check.law.name for check in checks))}
    ordered = sorted(checks, key=lambda check: (check.law.place, check.law.sampled, laws[check.law.name]))
    before, turns = Counter[str](), dict[tuple[str, str], int]()
    for check in ordered:
        turns[check.mechanism, check.law.name] = before[check.mechanism] if check.law.sampled else 0
        before[check.mechanism] += check.law.sampled and check.reason is None
    return sorted(
        ordered, key=lambda check: (check.law.place, check.law.sampled, turns[check.mechanism, check.law.name])
    )
