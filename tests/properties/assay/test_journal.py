"""A run with a journal continues: what it has is not asked again, and a journal of another run is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.assay.deepening import in_round
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.journal import Journal
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import at_least_depth
from dpassay.properties.assay.suite import CheckResult, Target, make_plan, run_plan
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
