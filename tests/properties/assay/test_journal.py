"""A run with a journal continues: what it has is not asked again, and a journal of another run is refused."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.assay.deepening import GROWTH, LEAST_GROWTH, in_round
from dpassay.properties.assay.execution import PROCESS_ENDED
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.journal import Journal
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import at_least_depth
from dpassay.properties.assay.suite import Budget, CheckResult, Plan, Target, make_plan, run_check, run_plan
from dpassay.spec.verdict import Evidence, Scope

FOUND = Finding(
    FindingKind.VIOLATION,
    "a fault",
    "pure:1.0",
    1.0,
    float("inf"),
    Evidence.SAMPLED,
    Scope.SAMPLES,
    7,
    {"left": (0.1, float("nan")), "event": "x > 1"},
)

LOST = Finding(FindingKind.UNDECIDED, "it was lost", is_lasting=True)
WEAK = Finding(FindingKind.UNDECIDED, "weak test", is_weak=True)
RAISED = Finding(FindingKind.ERROR, "it raised")


def law(asked: list[str]) -> Law:
    def check(case: object, _: Settings) -> Finding:
        asked.append(case.name)  # type: ignore[attr-defined]
        if case.name == "correct":  # type: ignore[attr-defined]
            return FOUND
        if case.name == "careful":  # type: ignore[attr-defined]
            return Finding(FindingKind.UNDECIDED, "no time")
        return Finding(FindingKind.OK, "fine", power={"epsilon": 1.25, "weakness": 0.5})

    return Law("any", "Nothing.", lambda _: None, check)


def test_what_was_asked_at_the_least_depth_is_known_as_that(fake: Target, tmp_path: Path) -> None:
    """Its level is spent, and a fault that it found stays; it is no result of the whole depth."""
    asked: list[str] = []
    plan, path = make_plan(fake, [replace(law(asked), hunts=True)], mechanism="correct"), tmp_path / "journal"
    first = in_round(plan.checks[0], 0, 1)
    Journal(path, plan).add(CheckResult(at_least_depth(first), FOUND))
    assert Journal(path, plan).find(first) is None
    (result,) = run_plan(plan, budget=5.0, journal=Journal(path, plan))
    assert asked == []
    assert (repr(result.finding), result.is_least) == (repr(FOUND), True)


def test_a_run_continues_where_it_ended(fake: Target, tmp_path: Path) -> None:
    asked: list[str] = []
    plan, path = make_plan(fake, [law(asked)], calls=10, mechanism="c*"), tmp_path / "journal"
    first = list(run_plan(plan, journal=Journal(path, plan)))
    assert {"correct", "careful"} < set(asked)
    with path.open("a") as file:
        file.write('{"check": "not comple')  # the run was killed
    asked.clear()
    again = list(run_plan(plan, journal=Journal(path, plan)))
    assert asked == ["careful"]
    by_name = {result.check.mechanism: result.finding for result in again}
    assert repr(by_name["correct"]) == repr(FOUND)
    assert {name: repr(finding) for name, finding in by_name.items()} == {
        result.check.mechanism: repr(result.finding) for result in first
    }
    other = make_plan(fake, [law(asked)], calls=10, seed=1, mechanism="c*")
    list(run_plan(other, journal=Journal(path, plan)))
    assert "correct" in asked
    asked.clear()
    list(run_plan(other, journal=Journal(path, plan)))
    assert asked == ["careful"]


def test_a_journal_of_something_else_is_refused(fake: Target, tmp_path: Path) -> None:
    plan, path = make_plan(fake, [law([])], calls=10), tmp_path / "journal"
    Journal(path, plan)
    head = json.loads(path.read_text())
    path.write_text(json.dumps({**head, "version": "0.1"}) + "\n")
    with pytest.raises(UsageError, match=r"--resume '.*' is the journal of numpy 0\.1 "):
        Journal(path, plan)
    path.write_text("no journal\n")
    with pytest.raises(UsageError, match=r"is the journal of no run, not of numpy "):
        Journal(path, plan)
    with pytest.raises(UsageError, match=r"--resume '.*' cannot be read"):
        Journal(tmp_path, plan)


def law_of_depths(asked: list[int], findings: Mapping[int, Finding]) -> Law:
    """Return a law with these findings at some depths; it passes at the others."""

    def check(_: object, settings: Settings) -> Finding:
        asked.append(settings.depth)
        passed = Finding(FindingKind.OK, "not found", power={"points": settings.depth})
        return findings.get(settings.depth, passed)

    return Law("any", "Nothing.", lambda _: None, check, sampled=False)


def interrupted(plan: Plan, path: Path, *rounds: tuple[int, int]) -> Journal:
    """Return the journal of a run of one check that was interrupted after these rounds, each with its depth."""
    (check,) = plan.checks
    for number, depth in rounds:
        asked = in_round(check, number, depth)
        Journal(path, plan).add(run_check(plan.target, asked, Budget(math.inf, 1.0, 1.0)))
    return Journal(path, plan)


@pytest.mark.parametrize(
    ("found", "kind", "detail"),
    [
        (FOUND, "violation", "in round 2: a fault"),
        (RAISED, "error", "in round 2: it raised"),
        (LOST, "undecided", "in round 2: it was lost"),
        (WEAK, "ok", "not found"),
    ],
)
def test_what_a_round_observed_for_good_stays_where_other_depths_are_planned(
    fake: Target, tmp_path: Path, found: Finding, kind: str, detail: str
) -> None:
    """The first run had time for a small step only; the second one takes a larger one, which finds nothing."""
    asked: list[int] = []
    plan = make_plan(fake, [law_of_depths(asked, {LEAST_GROWTH: found})], mechanism="correct")
    journal = interrupted(plan, tmp_path / "journal", (0, 1), (1, LEAST_GROWTH))
    assert asked == [1, LEAST_GROWTH]
    asked.clear()
    *_, last = run_plan(plan, budget=5.0, journal=journal)
    assert (last.finding.kind, last.finding.detail) == (kind, detail)
    assert not {1, LEAST_GROWTH} & set(asked)
    assert bool(asked) == (found in (LOST, WEAK))  # a fault is not asked again


def test_what_a_further_round_found_stays_where_no_time_is_left(fake: Target, tmp_path: Path) -> None:
    asked: list[int] = []
    plan = make_plan(fake, [law_of_depths(asked, {1: WEAK, GROWTH: FOUND})], mechanism="correct")
    journal = interrupted(plan, tmp_path / "journal", (0, 1), (1, GROWTH))
    asked.clear()
    (only,) = run_plan(plan, budget=1e-9, journal=journal)
    assert asked == []
    assert (only.finding.kind, only.finding.detail) == ("violation", "in round 2: a fault")


@pytest.mark.parametrize("options", [{"seed": 1}, {"alpha": 1e-5}, {"calls": 10}])
def test_what_another_plan_found_does_not_count(fake: Target, tmp_path: Path, options: dict[str, int]) -> None:
    laws, path = [replace(law_of_depths([], {LEAST_GROWTH: FOUND}), sampled=True)], tmp_path / "journal"
    plan = make_plan(fake, laws, mechanism="correct")
    interrupted(plan, path, (0, 1), (1, LEAST_GROWTH))
    other = make_plan(fake, laws, mechanism="correct", **options)  # type: ignore[arg-type]
    (check,) = other.checks
    assert [len(Journal(path, one).observed(check)) for one in (plan, other)] == [0, 0]
    assert len(Journal(path, plan).observed(plan.checks[0])) == 1


def test_rounds_without_a_fault_are_not_asked_again(fake: Target, tmp_path: Path) -> None:
    asked: list[int] = []
    plan = make_plan(fake, [law_of_depths(asked, {GROWTH**2: FOUND})], mechanism="correct")
    journal = interrupted(plan, tmp_path / "journal", (0, 1), (1, GROWTH))
    asked.clear()
    first, *_, last = run_plan(plan, budget=20.0, journal=journal)
    assert (first.finding.kind, last.finding.kind) == ("ok", "violation")
    assert asked == [GROWTH**2]
    asked.clear()
    (only,) = run_plan(plan, budget=20.0, journal=Journal(tmp_path / "journal", plan))
    assert (only.finding.kind, only.finding.detail) == ("violation", f"in round 3: {FOUND.detail}")
    assert asked == []


def test_what_is_undecided_for_a_lasting_reason_is_recorded_if_it_was_asked(fake: Target, tmp_path: Path) -> None:
    asked: list[int] = []
    plan = make_plan(fake, [law_of_depths(asked, {1: LOST})], calls=10, mechanism="correct")
    (check,) = plan.checks
    path = tmp_path / "journal"
    Journal(path, plan).add(CheckResult(check, replace(LOST, detail=f"{PROCESS_ENDED}: BrokenExecutor")))
    for _ in range(2):
        (only,) = run_plan(plan, journal=Journal(path, plan))
        assert only.finding == LOST
    assert asked == [1]
