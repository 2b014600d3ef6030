"""The time that is left goes to the checks that gain most, and a deeper round replaces only what it improves on."""

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dpassay.properties.assay.deepening import GROWTH, LEAST_GROWTH, CheckState, deeper, in_round, next_round
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.suite import Check, CheckResult, Target, make_plan, run_plan, time_of

LAW = Law("law", "Nothing.", lambda _: None, lambda *_: ok(1.0))


def ok(weakness: float) -> Finding:
    return Finding(FindingKind.OK, "no fault", calls=100, power={"weakness": weakness})


def check(name: str, *, law: Law = LAW) -> Check:
    return Check(name, law, None, Settings(1e-6, 3, 100, float("inf"), pairs=8), "pure:1")


def state(name: str, weakness: float, seconds: float, **fields: int) -> CheckState:
    return CheckState(CheckResult(check(name), ok(weakness), seconds), **fields)


def names(rounds: Sequence[CheckState]) -> list[str]:
    return [one.check.mechanism for one in rounds]


def test_a_weak_test_and_a_fast_one_come_first() -> None:
    rounds = [state("weak", 1.0, 1.0), state("strong", 0.2, 1.0), state("fast", 0.5, 0.01)]
    assert names(next_round(rounds, 100.0, 1)) == ["fast", "weak", "strong"]
    assert all((one.number, one.depth) == (1, GROWTH) for one in next_round(rounds, 100.0, 1))


def test_what_does_not_fit_into_the_time_is_left_out() -> None:
    rounds = [state("slow", 1.0, 30.0), state("fast", 0.1, 0.1)]
    assert names(next_round(rounds, 10.0, 2)) == ["fast"]
    assert names(next_round([state(str(k), 1.0, 1.0) for k in range(9)], 20.0, 1)) == ["0", "1", "2"]
    assert next_round(rounds, 0.1, 1) == []


def test_a_smaller_step_is_taken_where_no_larger_one_fits() -> None:
    (one,) = next_round([state("slow", 1.0, 10.0)], 31.0, 1)
    assert (one.number, one.depth) == (1, LEAST_GROWTH)
    assert next_round([state("slow", 1.0, 10.0)], 29.0, 1) == []


def test_where_a_failure_is_expected_comes_first() -> None:
    rounds = [state("fast", 1.0, 0.1), state("slow", 0.1, 1.0)]
    assert names(next_round(rounds, 6.5, 1, {("slow", "law")})) == ["slow"]


def test_faults_and_fixed_lists_are_not_repeated() -> None:
    fault = CheckState(CheckResult(check("broken"), Finding(FindingKind.VIOLATION, "a fault"), 1.0))
    fixed = CheckState(CheckResult(check("fixed", law=replace(LAW, deepens=False)), ok(1.0), 1.0))
    undecided = Finding(FindingKind.UNDECIDED, "weak test")
    weak = [CheckState(CheckResult(check(str(number)), undecided, 0.01), number) for number in (0, 9)]
    assert names(next_round([fault, fixed, *weak], 100.0, 1)) == ["0"]


def test_the_level_is_divided_between_rounds_and_numbers_are_fresh() -> None:
    settings = [in_round(check("any"), number, GROWTH**number).settings for number in range(5)]
    assert sum(one.alpha for one in settings) <= 1e-6
    assert settings[0].alpha == 5e-7
    assert [one.calls for one in settings] == [100 * GROWTH**number for number in range(5)]
    assert [one.pairs for one in settings] == [8, 32, 48, 48, 48]
    assert len({one.seed for one in settings}) == 5


def test_after_the_least_depth_the_next_round_has_the_whole_one() -> None:
    (one,) = next_round([state("least", 1.0, 1.0, depth=0)], 100.0, 1)
    assert (one.number, one.depth) == (1, 1)
    assert next_round([state("least", 1.0, 1.0, depth=0)], 5.9, 1) == []


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (ok(0.2), ok(0.9), "ok"),
        (Finding(FindingKind.NOT_RUN, "weak"), Finding(FindingKind.UNDECIDED, "void"), "undecided"),
        (ok(0.2), Finding(FindingKind.UNDECIDED, "void"), "ok"),
    ],
)
def test_the_whole_depth_replaces_what_the_least_one_said(before: Finding, after: Finding, kept: str) -> None:
    least = CheckState(CheckResult(check("any"), before), depth=0)
    now = deeper(least, CheckResult(check("any"), replace(after, detail="whole")), 1, 1)
    assert now.result.finding.kind == kept
    assert (now.result.finding.detail == "whole") is (after.kind is FindingKind.OK or kept == "undecided")


def test_the_least_depth_has_the_level_of_the_first_round_and_no_later_one() -> None:
    least = replace(check("any").settings, pairs=1, calls=20)
    some = replace(check("any"), least=least)
    assert in_round(some, 0, 1).least == replace(least, alpha=5e-7)
    assert in_round(some, 1, GROWTH).least is None


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        (Finding(FindingKind.VIOLATION, "a fault"), "in round 2: a fault"),
        (Finding(FindingKind.ERROR, "the check raised"), "in round 2: the check raised"),
        (Finding(FindingKind.UNDECIDED, "it was lost", is_lasting=True), "in round 2: it was lost"),
        (Finding(FindingKind.UNDECIDED, "weak test", is_weak=True), "no fault"),
        (Finding(FindingKind.UNDECIDED, "one outcome"), "no fault"),
        (replace(ok(0.1), detail="deeper"), "deeper"),
        (replace(ok(0.9), detail="deeper"), "no fault"),
    ],
)
def test_a_deeper_round_replaces_what_it_improves_on(after: Finding, kept: str) -> None:
    before = state("any", 0.5, 1.0)
    now = deeper(before, CheckResult(before.check, after, 2.0, ("lost",)), 1, GROWTH)
    assert (now.result.finding.detail, now.result.seconds, now.result.losses) == (kept, 3.0, ("lost",))
    assert (now.number, now.depth) == (1, GROWTH)
    assert now.result.check is before.check


def test_a_weak_test_is_decided_by_a_deeper_round() -> None:
    before = CheckState(CheckResult(check("any"), Finding(FindingKind.UNDECIDED, "weak test"), 1.0))
    assert deeper(before, CheckResult(before.check, ok(0.5)), 1, GROWTH).result.finding.kind == "ok"


LOST = Finding(FindingKind.UNDECIDED, "it was lost", is_lasting=True)


@pytest.mark.parametrize(
    ("before", "after", "kind", "detail"),
    [
        (LOST, ok(0.1), "undecided", "in round 1: it was lost"),
        (LOST, Finding(FindingKind.NOT_RUN, "short"), "undecided", "in round 1: it was lost"),
        (LOST, Finding(FindingKind.NOT_APPLICABLE, "no"), "undecided", "in round 1: it was lost"),
        (LOST, LOST, "undecided", "in round 1: it was lost"),
        (
            LOST,
            Finding(FindingKind.VIOLATION, "a fault"),
            "violation",
            "in round 2: a fault; in round 1: it was lost",
        ),
        (Finding(FindingKind.ERROR, "raised"), ok(0.1), "error", "in round 1: raised"),
        (Finding(FindingKind.VIOLATION, "a fault"), LOST, "violation", "in round 1: a fault; in round 2: it was lost"),
        (Finding(FindingKind.NOT_RUN, "short"), LOST, "undecided", "in round 2: it was lost"),
        (Finding(FindingKind.NOT_RUN, "short"), Finding(FindingKind.UNDECIDED, "void"), "undecided", "void"),
        (
            Finding(FindingKind.NOT_RUN, "short"),
            Finding(FindingKind.UNDECIDED, "weak", is_weak=True),
            "not run",
            "short",
        ),
        (Finding(FindingKind.UNDECIDED, "one outcome"), ok(0.1), "ok", "no fault"),
    ],
)
@pytest.mark.parametrize("depth", [0, 1])
def test_what_any_round_observed_stays(before: Finding, after: Finding, kind: str, detail: str, depth: int) -> None:
    state_before = CheckState(CheckResult(check("any"), before, 1.0), depth=depth)
    found = deeper(state_before, CheckResult(check("any"), after, 1.0), 1, GROWTH).result.finding
    if depth == 0 and after.is_weak:  # the whole depth says more than the least one
        kind, detail = "undecided", "weak"
    assert (found.kind, found.detail) == (kind, detail)


def test_the_round_of_a_loss_is_told_once() -> None:
    now = CheckState(CheckResult(check("any"), ok(0.5), 1.0))
    for number, after in enumerate([ok(0.4), LOST, ok(0.1), LOST, Finding(FindingKind.ERROR, "raised")], start=1):
        now = deeper(now, CheckResult(check("any"), after, 1.0), number, GROWTH**number)
    assert now.result.finding.detail == "in round 6: raised; in round 3: it was lost"


def test_a_run_keeps_what_a_deeper_round_raises(fake: Target) -> None:
    def ask(_: object, settings: Settings) -> Finding:
        if settings.depth == GROWTH:
            raise ZeroDivisionError("at this depth")
        return Finding(FindingKind.OK, "not found", power={"points": settings.depth})

    law = Law("deep", "Nothing.", lambda _: None, ask, sampled=False)
    *_, last = run_plan(make_plan(fake, [law], mechanism="correct"), budget=10.0)
    told = "in round 2: the check raised ZeroDivisionError: at this depth"
    assert (last.finding.kind, last.finding.detail) == ("error", told)


def deep_law(depths: list[int], needed: int) -> Law:
    def ask(_: object, settings: Settings) -> Finding:
        depths.append(settings.depth)
        if settings.depth >= needed:
            return Finding(FindingKind.WRONG_ANSWER, "found")
        return Finding(FindingKind.OK, "not found", power={"points": settings.depth})

    return Law("deep", "Nothing.", lambda _: None, ask, sampled=False)


def test_a_run_deepens_until_it_finds_and_calls_of_the_user_forbid_it(fake: Target) -> None:
    depths: list[int] = []
    law = deep_law(depths, GROWTH**3)
    *_, last = run_plan(make_plan(fake, [law], mechanism="correct"), budget=20.0)
    assert depths == [1, GROWTH, GROWTH**2, GROWTH**3]
    assert last.finding.kind == "wrong answer"
    depths.clear()
    (only,) = run_plan(make_plan(fake, [law], mechanism="correct", calls=10), budget=20.0)
    assert (depths, only.finding.kind) == ([1], "ok")


def test_what_is_wanted_takes_more_than_the_budget(fake: Target) -> None:
    """The first round uses up the time; only the check whose failure is expected goes on."""
    depths: list[int] = []
    law = deep_law(depths, GROWTH**2)
    plan = make_plan(fake, [law], mechanism="c*")
    results = list(run_plan(plan, budget=1e-3, overrun=3e4, wanted=lambda _: {("correct", "deep")}))
    assert [result.finding.kind for result in results if result.check.mechanism == "correct"][-1] == "wrong answer"
    assert sum(depth > 1 for depth in depths) == 2


def test_a_selection_has_its_part_of_the_time(fake: Target, laws: list[Law]) -> None:
    whole, one = make_plan(fake, laws), make_plan(fake, laws, mechanism="correct")
    assert time_of(whole, 120.0) == 120.0
    assert time_of(one, 120.0) == 120.0 / len(whole.names)


@pytest.mark.parametrize(("late", "kind"), [(0, "ok"), (3, "not run")])
def test_an_expected_failure_may_be_at_a_point_that_the_time_left_out(fake: Target, late: int, kind: str) -> None:
    """Where all points of a computed check were asked, its absence is told."""

    def ask(_: object, settings: Settings) -> Finding:
        time.sleep(0.3)  # longer than the run, so that there is no further round
        return Finding(FindingKind.OK, "not found", power={"points": settings.depth, "late": late})

    law = Law("deep", "Nothing.", lambda _: None, ask, sampled=False)
    plan = make_plan(fake, [law], mechanism="correct")
    *_, last = run_plan(plan, budget=0.2, wanted=lambda _: {("correct", "deep")})
    assert last.finding.kind == kind
