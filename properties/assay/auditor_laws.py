"""Laws of auditors: a lower bound exceeds the true epsilon as seldom as it says, and it has power.

Both are tested on scores of known loss by the bets of `dpassay.properties.betting.failures`. A bound without power is
a finding of its own: a constant 0 never exceeds the truth.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dpassay.impl.libraries.remote import RemoteAuditor, RemoteCase
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.audited_scores import Scores, scores_of, telling_scores_of
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.betting.failures import detectable, log_wealth, lower_bound, trials_needed
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["AUDITOR_LAWS"]

_PORTION_SECONDS, _FIRST_PORTION, _LARGEST_PORTION = 1.0, 8, 500
"""Audits are requested in portions of about a second: a slow auditor is no hung worker."""

_LONGER = 1.25
"""Factor on the audits that detect the stated excess on average."""

_HALF, _PLAINLY = 0.5, 0.95
"""A bound with power is reached at least half of the times; one that is missed 19 times of 20 plainly has none."""


def _applies(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteAuditor) else "not an auditor"


def _has_telling_scores(case: RemoteCase) -> str | None:
    reason = _applies(case)
    if reason is None and telling_scores_of(case.description) is None:
        return "the auditor is asked on no scores that tell members well"
    return reason


@dataclass
class _Audits:
    """The audits of one kind of scores; a refused one states no bound (None), and does not fail."""

    scores: Scores
    bounds: list[float | None] = field(default_factory=list)
    portion: int = _FIRST_PORTION

    def further(self, case: RemoteAuditor, runs: int, seed: Sequence[int]) -> None:
        """Make one more portion of audits, until there are as many as asked for.

        An audit depends on its number and the seed, not on the portions, which depend on the time.
        """
        first, start = len(self.bounds), time.perf_counter()
        size = min(self.portion, runs - first)
        self.bounds += case.audits(self.scores.request, (first, first + size), seed)
        seconds = max(time.perf_counter() - start, 1e-6)
        self.portion = max(1, min(int(size * _PORTION_SECONDS / seconds), 4 * self.portion, _LARGEST_PORTION))

    def stated(self) -> list[float]:
        """Return the bounds of the audits that were not refused."""
        return [bound for bound in self.bounds if bound is not None]


@dataclass(frozen=True)
class _Test:
    """A test that audits fail with a probability of at most `allowed`."""

    fails: Callable[[float | None], bool]
    allowed: float
    level: float

    def refuted_after(self, bounds: Sequence[float | None]) -> tuple[int, int] | None:
        """Return the failures and the audits with which the test first refutes; None if it does not."""
        failures, needed = 0, math.log(1 / self.level)
        for number, bound in enumerate(bounds, start=1):
            if self.fails(bound):
                failures += 1
                if log_wealth(failures, number, self.allowed) >= needed:
                    return failures, number
        return None


def _check_confidence(case: RemoteCase, settings: Settings) -> Finding:
    assert isinstance(case, RemoteAuditor)
    every = [_Audits(scores) for scores in scores_of(case.description)]
    if not every:
        return Finding(FindingKind.ERROR, "there are no scores of known loss: a positive delta is needed")
    level, start = settings.alpha / len(every), time.monotonic()
    for place, audits in enumerate(every):
        runs = min(_runs_of(case, audits.scores, level) * settings.depth, max(settings.calls // len(every), 1))
        test = _confidence_test(case, audits.scores, level)
        while len(audits.bounds) < runs and time.monotonic() - start <= settings.seconds:
            try:
                audits.further(case, runs, (settings.seed, place))
            except (WorkerError, SamplerLostError) as problem:
                return _not_asked(problem, _runs(every))
            refuted = test.refuted_after(audits.bounds)
            if refuted is not None:
                return _overconfident(audits, refuted, level, _runs(every))
    return _confident(case, every, level)


def _runs(every: Sequence[_Audits]) -> int:
    return sum(len(audits.bounds) for audits in every)


def _confidence_test(case: RemoteCase, scores: Scores, level: float) -> _Test:
    """Return the test of a bound; what is no number exceeds the truth, too."""
    limit = _upper_end(scores) + case.description["absolute_error"]
    return _Test(lambda bound: bound is not None and not bound <= limit, scores.significance, level)


def _upper_end(scores: Scores) -> float:
    upper = scores.truth().upper
    assert upper is not None
    return upper


def _aim(case: RemoteCase, scores: Scores) -> float:
    """Return the probability of failure that the test must notice."""
    allowed = scores.significance
    return float(min(case.description["excess"] * allowed, (1 + allowed) / 2))


def _runs_of(case: RemoteCase, scores: Scores, level: float) -> int:
    return math.ceil(_LONGER * trials_needed(scores.significance, _aim(case, scores), level=level))


def _not_asked(problem: Exception, calls: int) -> Finding:
    if isinstance(problem, WorkerError) and (problem.is_own or problem.is_unasked):
        return Finding(FindingKind.ERROR, f"the code of the adapter raises: {problem}", calls=calls)
    if isinstance(problem, WorkerError):
        return Finding(
            FindingKind.WRONG_ANSWER,
            f"valid scores raise {problem}",
            evidence=Evidence.EXACT,
            scope=Scope.POINTS,
            calls=calls,
        )
    return Finding(FindingKind.UNDECIDED, str(problem), calls=calls)


def _overconfident(audits: _Audits, refuted: tuple[int, int], level: float, calls: int) -> Finding:
    scores, (failures, number) = audits.scores, refuted
    truth, certified = _upper_end(scores), lower_bound(failures, number, level=level)
    detail = (
        f"{failures} of {number} lower bounds exceed the true epsilon {truth:.6g}, their median is "
        f"{_median(audits.bounds[:number]):.4g} ({scores}): the probability of failure is at least {certified:.4g}"
    )
    return Finding(
        FindingKind.UNSOUND_NUMBER,
        detail,
        claimed=scores.significance,
        certified=certified,
        evidence=Evidence.SAMPLED,
        scope=Scope.POINTS,
        calls=calls,
        witness={"scores": scores.request, "epsilon": truth, "failures": failures, "audits": number},
    )


def _median(bounds: Sequence[float | None]) -> float:
    """Return the median; what was refused counts as minus infinity."""
    return statistics.median_low([-math.inf if bound is None else bound for bound in bounds])


def _confident(case: RemoteCase, every: list[_Audits], level: float) -> Finding:
    """Return the finding if no bound exceeds the truth too often: undecided if the test may have missed it."""
    calls = _runs(every)
    if not any(audits.stated() for audits in every):
        return Finding(FindingKind.UNDECIDED, "the auditor states no bound on any scores", calls=calls)
    seen = [detectable(len(audits.bounds), audits.scores.significance, level=level) for audits in every]
    weakness = max(one / _aim(case, audits.scores) for one, audits in zip(seen, every, strict=True))
    if weakness > 1:
        excess = case.description["excess"]
        why = f"{calls} audits are too few to notice {excess:g} times the stated probability of failure"
        return Finding(FindingKind.UNDECIDED, why, calls=calls)
    shares = []
    for audits in every:
        fails = _confidence_test(case, audits.scores, level).fails
        shares.append(sum(map(fails, audits.bounds)) / len(audits.bounds))
    refused = calls - sum(len(audits.stated()) for audits in every)
    told = f"; {refused} audits refused" if refused else ""
    return Finding(
        FindingKind.OK,
        f"{calls} audits of {len(every)} kinds of scores; bounds above the truth: {max(shares):.2%} at most{told}",
        evidence=Evidence.SAMPLED,
        scope=Scope.POINTS,
        calls=calls,
        power={"failure_probability": max(seen), "weakness": weakness, "points": calls},
    )


def _check_power(case: RemoteCase, settings: Settings) -> Finding:
    assert isinstance(case, RemoteAuditor)
    scores = telling_scores_of(case.description)
    assert scores is not None
    aim = case.description["attains"] * scores.simple_bound()
    if aim <= 0:
        why = f"a simple audit reaches no positive bound ({scores}): state larger sizes, or attains above 0"
        return Finding(FindingKind.ERROR, why)
    audits, start = _Audits(scores), time.monotonic()
    test = _Test(lambda bound: bound is None or not bound >= aim, _HALF, settings.alpha)
    runs = min(math.ceil(_LONGER * trials_needed(_HALF, _PLAINLY, level=settings.alpha)), settings.calls)
    while len(audits.bounds) < runs and time.monotonic() - start <= settings.seconds:
        try:
            audits.further(case, runs, (settings.seed, 0))
        except (WorkerError, SamplerLostError) as problem:
            return _not_asked(problem, len(audits.bounds))
    refuted, number = test.refuted_after(audits.bounds), len(audits.bounds)
    if refuted is not None:
        return _powerless(audits, refuted, aim)
    if detectable(number, _HALF, level=settings.alpha) > (1 + _PLAINLY) / 2:
        return Finding(
            FindingKind.UNDECIDED, f"{number} audits are too few to notice a bound without power", calls=number
        )
    reached = number - sum(map(test.fails, audits.bounds))
    return Finding(
        FindingKind.OK,
        f"{reached} of {number} lower bounds reach {aim:.4g} ({scores})",
        evidence=Evidence.SAMPLED,
        scope=Scope.POINTS,
        calls=number,
        power={"epsilon": aim, "points": number},
    )


def _powerless(audits: _Audits, refuted: tuple[int, int], aim: float) -> Finding:
    scores, (short, number) = audits.scores, refuted
    middle = _median(audits.bounds[:number])
    return Finding(
        FindingKind.WRONG_ANSWER,
        f"powerless: {short} of {number} lower bounds are below {aim:.4g}, their median is {middle:.4g} ({scores}); "
        f"the bound of Clopper and Pearson at one threshold is {scores.simple_bound():.4g}",
        claimed=middle,
        certified=aim,
        evidence=Evidence.SAMPLED,
        scope=Scope.POINTS,
        calls=len(audits.bounds),
        witness={"scores": scores.request, "short": short, "audits": number},
    )


AUDITOR_LAWS = (
    Law(
        "auditor_confidence",
        "A lower bound on epsilon exceeds the true epsilon at most as often as its significance says.",
        _applies,
        _check_confidence,
    ),
    Law(
        "auditor_power",
        "On scores that tell members well, a lower bound on epsilon reaches a part of what a simple audit reaches.",
        _has_telling_scores,
        _check_power,
        deepens=False,
    ),
)
