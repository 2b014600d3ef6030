"""The suite: runs the checks of a plan, first all at their first depth, then deeper ones in the time that is left.

The first round depends on the seed, the level and the calls, not on the selection of mechanisms and laws or the number
of processes. Where the time is too short for it, a computed check that takes more than its part is cut short, and
sampled ones are asked at the least depth at which they are not weak: on one pair instead of several. Further
rounds depend on the time; the power of a finding says how deep they went.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import joblib

from dpassay.arguments import UsageError, require_positive
from dpassay.properties.assay.deepening import (
    OPEN,
    CheckState,
    Place,
    deeper,
    in_round,
    may_gain,
    next_round,
    place_of,
)
from dpassay.properties.assay.execution import NOT_STARTED, run_check, run_checks, too_short
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.journal import Journal
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import (
    DEFAULT_CALLS,
    MOST_CALLS,
    Check,
    CheckResult,
    Plan,
    at_least_depth,
    in_running_order,
    make_plan,
)
from dpassay.properties.assay.session import Target, close_session
from dpassay.properties.assay.time_limits import Budget
from dpassay.properties.drawing.workers import backend_in_use

__all__ = [
    "BACKENDS",
    "DEFAULT_CALLS",
    "MOST_CALLS",
    "NOT_STARTED",
    "Budget",
    "Check",
    "CheckResult",
    "Plan",
    "Target",
    "close_session",
    "make_plan",
    "run_check",
    "run_plan",
    "time_of",
]

BACKENDS = ("loky", "dask", "ray")
"""Backends of joblib with processes: the working precision of the ball arithmetic belongs to a process."""

_LEAST_ROUND = 1.0
"""Seconds that a further round needs to be worth the start of processes."""


Wanted = Callable[[Sequence[CheckResult]], Collection[Place]]
"""Takes the results so far and returns the checks that are deepened first."""


def time_of(plan: Plan, seconds: float) -> float:
    """Return the part of a time limit that belongs to the selected checks."""
    selected = sum(check.reason is None for check in plan.checks)
    return seconds * selected / max(len(plan.names), 1)


def run_plan(
    plan: Plan,
    *,
    budget: float = 120.0,
    overrun: float = 1.0,
    jobs: int = 1,
    backend: str = "loky",
    wanted: Wanted = lambda _: (),
    journal: Journal | None = None,
) -> Iterator[CheckResult]:
    """Run the checks and yield their results in a fixed order, then the results of deeper rounds as they end.

    The order is law by law, computed laws first; every case is sampled once before any is sampled again. A later
    result of a check replaces an earlier one.

    Parameters
    ----------
    plan : Plan
        The plan.
    budget : float
        Time limit in seconds.
    overrun : float
        Factor on the time within which the first round ends; no check starts after it, and the remaining checks are
        not run.
    jobs : int
        Number of processes, each with its own worker; -1 for one per core, or for all that a cluster has.
    backend : str
        One of `BACKENDS`.
    wanted : callable
        Takes the results so far and returns the checks that are deepened first: failures are expected there.
    journal : Journal, optional
        Results of an earlier run, which are not computed again; new ones are added. What further rounds of it observed
        for good stays, even if this run has no time for them or plans other depths.

    Raises
    ------
    UsageError
        If `budget`, `jobs` or `backend` is out of its domain.
    """
    require_positive("budget", budget)
    if jobs == 0:
        raise UsageError("--jobs must not be 0; -1 means one per core")
    if backend not in BACKENDS:
        raise UsageError(f"--backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    start = time.time()
    ordered = in_running_order(plan.checks)
    for check in ordered:
        if check.reason is not None:
            yield CheckResult(check, Finding(FindingKind.NOT_APPLICABLE, check.reason))
    checks = [check for check in ordered if check.reason is None]
    try:
        with nullcontext() if backend == "loky" else backend_in_use(backend, jobs):
            processes = joblib.effective_n_jobs(jobs)
            run = _Run(plan.target, processes, backend, Journal() if journal is None else journal)
            rounds = []
            limits = Budget.of(budget, len(checks), processes, overrun=overrun)
            for result in run.first(checks, limits, deepens=plan.deepens, unhurried=wanted([])):
                one = CheckState(result, depth=0 if result.is_least else 1)
                if plan.deepens:
                    one = run.with_observed(one)
                if one.result.finding.detail != NOT_STARTED:  # the time is over
                    rounds.append(one)
                yield one.result
            if plan.deepens:
                yield from run.further(rounds, start + budget, start + overrun * budget, wanted)
    finally:
        close_session()


@dataclass(frozen=True)
class _Run:
    """A run of checks on some processes."""

    target: Target
    processes: int
    backend: str
    journal: Journal

    def first(
        self, checks: Sequence[Check], limits: Budget, *, deepens: bool, unhurried: Collection[Place]
    ) -> Iterator[CheckResult]:
        """Yield the results of the first round; it has the whole level if there is no other."""
        asked = [in_round(check, 0, 1) if deepens else check for check in checks]
        whole = {place_of(check): check for check in checks}
        for result in self._results(asked, limits if deepens else replace(limits, wished=math.inf), unhurried):
            is_least = result.check.settings.is_least
            yield replace(result, check=whole[place_of(result.check)], is_least=is_least)

    def with_observed(self, one: CheckState) -> CheckState:
        """Return the state of a check after its first round and what further ones of the journal observed for good."""
        for later in self.journal.observed(one.check):
            one = deeper(one, later.result, later.number, later.depth)
        return one

    def further(
        self, rounds: Sequence[CheckState], deadline: float, latest: float, wanted: Wanted
    ) -> Iterator[CheckResult]:
        """Yield the results of deeper rounds until the time is over; what is wanted may take the longer time."""
        current = {place_of(one.check): one for one in rounds}
        while True:
            places = {*wanted([one.result for one in current.values()]), *map(place_of, _undecided(current.values()))}
            is_late = deadline - time.time() <= _LEAST_ROUND
            end = latest if is_late else deadline
            candidates = [one for one in current.values() if not is_late or place_of(one.check) in places]
            left = end - time.time()
            chosen = next_round(candidates, left, self.processes, places) if left > _LEAST_ROUND else []
            if not chosen:
                yield from _cut_short(current.values(), places)
                return
            for after, planned in self._deeper(chosen, Budget.until(end)):
                place = place_of(after.check)
                current[place] = deeper(current[place], after, planned.number, planned.depth)
                yield current[place].result

    def _deeper(self, chosen: Sequence[CheckState], limits: Budget) -> Iterator[tuple[CheckResult, CheckState]]:
        planned = {place_of(one.check): one for one in chosen}
        for after in self._results([in_round(one.check, one.number, one.depth) for one in chosen], limits):
            if after.finding.detail != NOT_STARTED:
                yield after, planned[place_of(after.check)]

    def _results(
        self, checks: Sequence[Check], limits: Budget, unhurried: Collection[Place] = ()
    ) -> Iterator[CheckResult]:
        """Yield the results of the journal, then those of the other checks, which it records."""
        known = {place_of(check): self._known(check) for check in checks}
        yield from (result for result in known.values() if result is not None)
        rest = [check for check in checks if known[place_of(check)] is None]
        for result in run_checks(
            self.target, rest, limits, processes=self.processes, backend=self.backend, unhurried=unhurried
        ):
            self.journal.add(result)
            yield result

    def _known(self, check: Check) -> CheckResult | None:
        """Return the result of the journal; it may be one of the least depth, which then is not asked again."""
        found = self.journal.find(check)
        return found if found is not None or check.least is None else self.journal.find(at_least_depth(check))


def _cut_short(rounds: Collection[CheckState], places: Collection[Place]) -> Iterator[CheckResult]:
    """Yield as not run what more time may change: weak tests, and sampled ones that did not show what they must.

    What tested nothing, such as a constant or unreadable outcome or a check that raised, stays undecided. A computed
    check whose expected failure does not appear stays ok, unless the limits left out some of its points: the library
    was mended, or the harness is broken.
    """
    for one in rounds:
        finding = one.result.finding
        is_partial = one.check.law.sampled or bool((finding.power or {}).get("late"))
        may_change = finding.is_weak or (is_partial and finding.kind is not FindingKind.UNDECIDED)
        if place_of(one.check) in places and may_gain(one) and may_change:
            yield replace(one.result, finding=too_short(finding))


def _undecided(rounds: Collection[CheckState]) -> list[Check]:
    """Return the checks of sampled tests that are too weak so far; more calls may decide them."""
    return [one.check for one in rounds if one.check.law.sampled and one.result.finding.kind in OPEN]
