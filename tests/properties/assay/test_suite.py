"""The suite finds what is planted in a fake library, the same with any number of processes, and loses nothing."""

import math
import os
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.libraries.remote import RemoteCase, RemoteMechanism, open_library
from dpassay.impl.libraries.worker_process import Worker, WorkerError, WorkerLostError
from dpassay.properties.assay import execution, session
from dpassay.properties.assay.assessment import assess
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.planning import at_least_depth, in_running_order
from dpassay.properties.assay.suite import (
    DEFAULT_CALLS,
    MOST_CALLS,
    NOT_STARTED,
    Budget,
    Check,
    CheckResult,
    Target,
    close_session,
    make_plan,
    run_check,
    run_plan,
)
from dpassay.properties.assay.time_limits import Pace
from dpassay.spec.ball import UndecidedError

SOME = ["correct", "broken", "leaky", "liar", "honest", "careless", "careful", "unable"]
POINT = {"points": 1}
FOUND = {
    ("correct", "private"): "ok",
    ("broken", "private"): "violation",
    ("leaky", "private"): "violation",
    ("liar", "sound"): "unsound number",
    ("honest", "sound"): "ok",
    ("careless", "careful"): "wrong answer",
    ("careful", "careful"): "ok",
    ("unable", "described"): "undecided",
}


@pytest.fixture
def some(fake: Target, tmp_path: Path) -> Target:
    """The fake library without what crashes or hangs."""
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        f"import importlib.util\nspec = importlib.util.spec_from_file_location('fake', {fake.adapter!r})\n"
        "fake = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(fake)\nLIBRARY = fake.LIBRARY\n"
        f"CASES = [case for case in fake.CASES if case.name in {SOME}]\n"
    )
    return replace(fake, adapter=str(adapter))


def kinds(results: Iterable[CheckResult]) -> dict[tuple[str, str], str]:
    return {(result.check.mechanism, result.check.law.name): result.finding.kind for result in results}


def test_what_is_planted_is_found(some: Target, laws: list[Law]) -> None:
    plan = make_plan(some, laws, calls=1000)
    results = list(run_plan(plan))
    assert (plan.library, plan.version is None) == ("numpy", False)
    found = kinds(results)
    assert len(results) == len(plan.checks) == len(found) == len(SOME) * 3 + 1
    assert {place: kind for place, kind in found.items() if kind != "not applicable"} == FOUND
    (leaky,) = (result for result in results if result.check.mechanism == "leaky" and result.check.reason is None)
    assert leaky.finding.calls == 900  # as the adapter says


@pytest.mark.parametrize(
    ("locked", "told"),
    [((), True), (("1.0",), True), (("1.0", "999.0"), False)],  # numpy is newer, or older, than what is locked
)
def test_cases_that_are_not_built_are_reported(
    fake: Target, laws: list[Law], tmp_path: Path, locked: tuple[str, ...], told: bool
) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from dpassay.adapter import Nonsense, present_cases\n"
        "LIBRARY = 'numpy'\n"
        "def old():\n    yield Nonsense('first', {'int of a word': lambda: int('word')}, refused_by=('ValueError',))\n"
        "def new():\n    yield from ()\n    raise AttributeError('no such function')\n"
        "CASES = list(present_cases(new, old))\n"
    )
    (tmp_path / "locks").mkdir()
    for version in locked:
        (tmp_path / "locks" / f"{version}.txt").touch()
    plan = make_plan(replace(fake, adapter=str(adapter)), laws, calls=100)
    lines = assess(plan, list(run_plan(plan)), [])
    reported = [line for line in lines if line.mechanism == "cases not built: new" and not line.as_expected]
    assert [(line.finding.kind, line.finding.detail) for line in reported] == (
        [(FindingKind.UNDECIDED, "AttributeError: no such function")] if told else []
    )
    assert any(line.mechanism == "first" and line.finding.kind is FindingKind.OK for line in lines)


def test_processes_change_nothing(some: Target, laws: list[Law]) -> None:
    plan = make_plan(some, laws, calls=400)
    one, two = (list(run_plan(plan, jobs=jobs)) for jobs in (1, 2))
    assert [(result.check.mechanism, result.check.law.name) for result in one] == [
        (result.check.mechanism, result.check.law.name) for result in two
    ]
    assert [result.finding for result in one] == [result.finding for result in two]


def test_a_mechanism_alone_is_judged_as_in_the_whole_run(some: Target, laws: list[Law]) -> None:
    whole, alone = (
        make_plan(some, laws, calls=1000),
        make_plan(some, laws, calls=1000, mechanism="brok*", law="private"),
    )
    (check,) = alone.checks
    (same,) = (one for one in whole.checks if (one.mechanism, one.law.name) == ("broken", "private"))
    assert check.settings == same.settings
    assert alone.names == whole.names


def test_the_level_is_split_over_what_samples(some: Target, laws: list[Law]) -> None:
    plan = make_plan(some, laws, alpha=3e-6)
    applying = [check for check in plan.checks if check.reason is None]
    assert all(check.settings.alpha == 1e-6 for check in applying)
    assert sum(check.settings.alpha for check in applying if check.law.sampled) == pytest.approx(3e-6)
    seeds = [check.settings.seed for check in applying]
    assert len(set(seeds)) == len(seeds)
    assert [check.settings.seed for check in make_plan(some, laws, seed=1).checks if check.reason is None] != seeds


def test_a_crash_and_a_hang_are_undecided_and_the_others_go_on(fake: Target, laws: list[Law]) -> None:
    plan = make_plan(replace(fake, timeout=1.0), laws, calls=500)
    chosen = [check for check in plan.checks if check.mechanism in {"crash", "hang", "correct"}]
    results = list(run_plan(replace(plan, checks=tuple(chosen))))
    told = {result.check.mechanism: result for result in results if result.check.law.name == "private"}
    assert told["correct"].finding.kind == "ok"
    for name, words in {"crash": "killed by signal", "hang": "did not answer within 1 s"}.items():
        assert told[name].finding.kind == "undecided"
        assert words in told[name].finding.detail
        assert len(told[name].losses) == 1


def test_a_law_that_fails_is_an_error(some: Target) -> None:
    def check(case: RemoteCase, settings: Settings) -> Finding:
        raise ZeroDivisionError("a mistake of the law")

    law = Law("mistaken", "Nothing.", lambda case: None, check)
    (result,) = run_plan(make_plan(some, [law], calls=10, mechanism="correct"))
    assert result.finding == Finding(FindingKind.ERROR, "the check raised ZeroDivisionError: a mistake of the law")


def test_a_law_that_cannot_tell_whether_it_applies_is_asked(some: Target) -> None:
    law = Law(
        "mistaken",
        "Nothing.",
        lambda case: str(1 // 0),
        lambda case, _: Finding(FindingKind.OK, "asked", power=POINT),
        sampled=False,
    )
    (result,) = run_plan(make_plan(some, [law], calls=10, mechanism="correct"))
    assert result.finding.detail == "asked"


def test_a_check_without_time_is_not_started(some: Target) -> None:
    law = Law("any", "Nothing.", lambda case: None, lambda *_: Finding(FindingKind.OK, "asked", power=POINT))
    (check,) = make_plan(some, [law], calls=10, mechanism="correct").checks
    assert run_check(some, check, Budget(0.0, 1.0, 1.0)).finding == Finding(FindingKind.NOT_RUN, NOT_STARTED)
    close_session()


@pytest.mark.parametrize(
    ("kind", "waits", "told"),
    [
        (FindingKind.UNDECIDED, True, "not run"),
        (FindingKind.UNDECIDED, False, "undecided"),
        (FindingKind.VIOLATION, True, "violation"),
    ],
)
def test_what_the_time_leaves_undecided_is_not_run(some: Target, kind: FindingKind, waits: bool, told: str) -> None:
    """A test that is weak with all of its calls stays undecided; one that used up its time was not run."""

    def ask(_: RemoteCase, settings: Settings) -> Finding:
        time.sleep(settings.seconds if waits else 0.0)
        return Finding(kind, "weak test", power=POINT)

    law = Law("any", "Nothing.", lambda case: None, ask)
    (check,) = make_plan(some, [law], calls=10, mechanism="correct").checks
    found = run_check(some, check, Budget(math.inf, 1.0, 1.0)).finding
    assert (found.kind, "weak test" in found.detail) == (told, True)
    close_session()


@pytest.mark.parametrize(("calls", "told"), [(0, "undecided"), (100, "not run")])
def test_only_what_was_drawn_at_the_least_depth_may_be_decided_by_more(some: Target, calls: int, told: str) -> None:
    """A mistake in the adapter draws nothing, and stays undecided."""
    law = Law("any", "", lambda case: None, lambda *_: Finding(FindingKind.UNDECIDED, "void", calls=calls), hunts=True)
    (check,) = make_plan(some, [law], mechanism="correct").checks
    assert run_check(some, at_least_depth(check), Budget(math.inf, 1.0, 1.0)).finding.kind == told
    close_session()


def test_a_selection_that_needs_more_than_its_part_of_the_time_keeps_its_depth() -> None:
    law = Law("hunts", "", lambda case: None, lambda *_: Finding(FindingKind.OK, "", power=POINT), hunts=True)
    settings = Settings(1e-6, 0, 100, math.inf)
    checks = [Check(str(number), law, None, settings, None, replace(settings, is_least=True)) for number in range(20)]
    limits = Budget.of(10.0, len(checks), 1, overrun=18.0)
    behind = []
    for seconds in (4.0, 8.0):  # sixteen checks remain
        pace = Pace(checks, limits.paced, 1)
        for check in checks[:4]:
            pace.note(CheckResult(check, Finding(FindingKind.OK, "", power=POINT), seconds))
        behind.append(pace.is_behind(4))
    assert behind == [False, True]
    other = [replace(checks[0], law=replace(law, name="other")), *checks[1:]]
    assert not Pace(other, 0.0, 1).is_behind(0)  # nothing is known of it


def test_a_check_that_raises_at_the_least_depth_is_an_error(some: Target) -> None:
    law = Law("any", "Nothing.", lambda case: None, lambda *_: 1 // 0, hunts=True)  # type: ignore[arg-type]
    (check,) = make_plan(some, [law], mechanism="correct").checks
    found = run_check(some, at_least_depth(check), Budget(math.inf, 1.0, 1.0)).finding
    assert (found.kind, "ZeroDivisionError" in found.detail) == ("error", True)
    close_session()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ZeroDivisionError("a mistake of the law"), "error"),
        (WorkerError("ValueError", "of the library"), "error"),
        (UndecidedError("the enclosure is too wide"), "undecided"),
        (WorkerLostError("the time limit of the check was reached"), "not run"),
    ],
)
def test_a_check_that_raises_is_run_however_short_the_time_was(some: Target, error: Exception, told: str) -> None:
    """A worker that is not asked any more is the only exception."""

    def ask(_: RemoteCase, settings: Settings) -> Finding:
        time.sleep(2 * settings.seconds)
        raise error

    (check,) = make_plan(some, [Law("any", "Nothing.", lambda case: None, ask)], mechanism="correct").checks
    for limits in (Budget(math.inf, 0.1, 0.1), Budget(time.time() + 1.0, 10.0, 10.0)):
        found = run_check(some, check, limits).finding
        assert (found.kind, str(error) in found.detail) == (told, True)
    close_session()


@pytest.mark.parametrize("kind", [FindingKind.OK, FindingKind.UNDECIDED, FindingKind.VIOLATION])
def test_a_check_that_lost_the_worker_is_no_pass(fake: Target, kind: FindingKind) -> None:
    """Also where the law goes on after the loss, and the run ends meanwhile; a fault stays."""

    def ask(case: RemoteCase, settings: Settings) -> Finding:
        with suppress(WorkerLostError):
            drawn(case)
        time.sleep(1.0)
        return Finding(kind, "went on", power=POINT)

    (check,) = make_plan(fake, [Law("any", "", lambda case: None, ask)], calls=10, mechanism="crash").checks
    result = run_check(fake, check, Budget(time.time() + 1.0, 10.0, 10.0))
    is_fault = kind is FindingKind.VIOLATION
    assert result.finding.kind == ("violation" if is_fault else "undecided")
    assert result.finding.is_lasting is not is_fault
    assert ("killed by signal" in result.finding.detail) is not is_fault
    assert len(result.losses) == 1
    close_session()


def test_what_more_time_may_change_is_not_run(some: Target) -> None:
    """A weak test, and a finding that is expected and may need more calls, are neither a pass nor a failure."""
    kinds_of = {"correct": FindingKind.OK, "broken": FindingKind.OK, "leaky": FindingKind.UNDECIDED}
    void = {"liar": "a constant outcome", "honest": "unreadable outcomes", "careful": "the check raised"}

    def ask(case: RemoteCase, settings: Settings) -> Finding:
        time.sleep(0.05 * settings.depth)
        kind, detail = kinds_of.get(case.name, FindingKind.UNDECIDED), void.get(case.name, "too few calls")
        return Finding(kind, detail, power={"weakness": 1.0}, is_weak=case.name == "leaky")

    law = Law("any", "Nothing.", lambda case: None if case.name in {*kinds_of, *void} else "not asked", ask)
    results = run_plan(make_plan(some, [law]), budget=2.0, wanted=lambda _: {("broken", "any")}, jobs=1)
    found = {result.check.mechanism: result.finding for result in results}
    assert {name: found[name].kind for name in kinds_of} == {
        "correct": "ok", "broken": "not run", "leaky": "not run",
    }  # fmt: skip
    assert found["broken"].detail == "its time was too short: too few calls"
    assert {name: found[name].kind for name in void} == dict.fromkeys(void, "undecided")  # nothing was tested


def test_a_computed_check_that_does_not_show_its_expected_failure_stays_ok(some: Target) -> None:
    """More time does not change it: the entry that expects the failure must be seen to be wrong."""

    def ask(_: RemoteCase, settings: Settings) -> Finding:
        time.sleep(0.05 * settings.depth)
        return Finding(FindingKind.OK, "asked", power=POINT)

    law = Law("any", "Nothing.", lambda case: None if case.name == "broken" else "not asked", ask, sampled=False)
    results = run_plan(make_plan(some, [law]), budget=2.0, wanted=lambda _: {("broken", "any")}, jobs=1)
    assert [result.finding.kind for result in results if result.check.mechanism == "broken"][-1] == "ok"


def test_a_computed_check_leaves_the_others_their_time_unless_a_finding_is_expected(some: Target) -> None:
    seconds: dict[str, float] = {}

    def ask(case: RemoteCase, settings: Settings) -> Finding:
        seconds.setdefault(case.name, settings.seconds)
        return Finding(FindingKind.OK, "asked", power=POINT)

    law = Law("any", "Nothing.", lambda case: None, ask, sampled=False, deepens=False)
    plan = make_plan(some, [law])
    list(run_plan(plan, budget=40.0, wanted=lambda _: {("liar", "any")}))
    assert seconds["liar"] == pytest.approx(5.0, abs=1)
    first = Budget.of(8.0, 48, 1)
    assert first.shared(48, 1).left(law) == 0.25
    assert first.shared(4, 1).left(law) == pytest.approx(3.0, abs=0.5)
    assert first.shared(1, 1).left(law) == 5.0
    assert replace(first, wished=math.inf).shared(48, 1).left(law) == 5.0


def hunting(seconds: float, seen: dict[str, bool]) -> Law:
    """Return a law that hunts, takes time at its whole depth only, and decides nothing at the least depth."""

    def ask(case: RemoteCase, settings: Settings) -> Finding:
        seen[case.name] = settings.is_least
        time.sleep(0.0 if settings.is_least else seconds)
        kind = FindingKind.UNDECIDED if settings.is_least else FindingKind.OK
        return Finding(kind, "drawn", calls=settings.calls, power=POINT)

    return Law("hunts", "Nothing.", lambda case: None, ask, hunts=True, deepens=False)


def test_where_the_time_is_too_short_for_all_checks_each_has_the_least_depth(some: Target) -> None:
    """What is undecided at that depth was not run; a check that must show a failure keeps its depth."""
    seen: dict[str, bool] = {}
    plan = make_plan(some, [hunting(1.0, seen)])
    wanted = [check.mechanism for check in plan.checks if check.least is not None][-1]
    found = kinds(run_plan(plan, budget=4.2, overrun=1.5, wanted=lambda _: {(wanted, "hunts")}))
    places = list(seen)
    assert len(places) == len(SOME) - 1  # one cannot be described
    assert not any(seen[name] for name in [*places[:4], wanted])
    assert all(seen[name] for name in places[4:-1])
    assert {found[name, "hunts"] for name in places[4:-1]} == {"not run"}
    assert found[wanted, "hunts"] == "ok"


@pytest.mark.parametrize(("calls", "budget"), [(None, 1000.0), (10, 0.01)])
def test_with_enough_time_or_a_number_of_calls_checks_keep_their_depth(
    some: Target, calls: int | None, budget: float
) -> None:
    seen: dict[str, bool] = {}
    list(run_plan(make_plan(some, [hunting(0.01, seen)], calls=calls), budget=budget, overrun=5000.0))
    assert list(seen.values()) == [False] * (len(SOME) - 1)


def test_a_worker_that_hangs_is_undecided_unless_the_run_ends(fake: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that had its whole time limit hangs also at the end of a run."""
    monkeypatch.setattr(execution, "_GRACE", 0.1)
    law = Law("draws", "Nothing.", lambda case: None, lambda case, _: drawn(case), turn=Turn.SAMPLED)
    monkeypatch.setattr(execution, "_LEAST_PATIENCE", 1.0)
    for timeout, seconds, told, lasts in (
        (0.5, math.inf, "undecided", True),
        (0.5, 0.4, "undecided", True),
        (5.0, 0.4, "not run", False),
        (1.5, math.inf, "undecided", True),
        (5.0, math.inf, "undecided", False),
    ):
        target = replace(fake, timeout=timeout)
        (check,) = make_plan(target, [law], calls=10, mechanism="hang").checks
        session.open_session(target)  # its start is no part of the time
        found = run_check(target, check, Budget(time.time() + seconds, 0.1, 0.1)).finding
        assert (found.kind, "did not answer" in found.detail, found.is_lasting) == (told, True, lasts)
    close_session()


def drawn(case: RemoteCase) -> Finding:
    assert isinstance(case, RemoteMechanism)
    case.sample(np.zeros(1), 2, np.random.default_rng(0))
    return Finding(FindingKind.OK, "drawn", power=POINT)


def test_a_process_of_the_harness_that_dies_leaves_the_rest_undecided(some: Target) -> None:
    parent = os.getpid()

    def check(case: RemoteCase, settings: Settings) -> Finding:
        if case.name == "leaky" and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return Finding(FindingKind.OK, "alive", power=POINT)

    law = Law("deadly", "Nothing.", lambda case: None, check, sampled=False)
    plan = make_plan(some, [law], calls=10)
    results = [result for result in run_plan(plan, jobs=2) if result.check.reason is None]
    assert len(results) == len(SOME)
    lost = [result.finding for result in results if "a process of dpassay ended" in result.finding.detail]
    assert lost
    assert all(finding.is_lasting for finding in lost)


def test_an_interruption_that_a_law_swallows_ends_the_run(some: Target) -> None:
    """A hunt returns what it has when the keyboard interrupts it: that is no pass, but a finding is one."""

    def check(case: RemoteCase, settings: Settings) -> Finding:
        if case.name in {"correct", "broken"}:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                return Finding(
                    FindingKind.OK if case.name == "correct" else FindingKind.VIOLATION, "swallowed", power=POINT
                )
        return Finding(FindingKind.OK, "went on", power=POINT)

    law = Law("swallowing", "Nothing.", lambda case: None, check, sampled=False)
    for name, collected in {"correct": 0, "broken": 1}.items():
        plan = make_plan(some, [law], calls=10)
        ordered = sorted(plan.checks, key=lambda check: check.mechanism != name)
        results: list[CheckResult] = []
        with pytest.raises(KeyboardInterrupt):
            _extend(results, run_plan(replace(plan, checks=tuple(ordered))))
        assert sum(result.check.reason is None for result in results) == collected
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _extend(results: list[CheckResult], source: Iterable[CheckResult]) -> None:
    for result in source:
        results.append(result)  # noqa: PERF402  # what came before an interruption counts


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mechanism": "nobody"}, r"--mechanism 'nobody' matches none of broken, careful"),
        ({"law": "nothing"}, r"--law 'nothing' matches none of careful, described, private, sound"),
        ({"alpha": 1.0}, "--alpha must lie strictly between 0 and 1, got 1.0"),
        ({"alpha": math.nan}, "--alpha"),
    ],
)
def test_a_choice_of_nothing_is_refused(some: Target, laws: list[Law], options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_plan(some, laws, **options)  # type: ignore[arg-type]


def test_budget_and_jobs_are_checked(some: Target, laws: list[Law]) -> None:
    plan = make_plan(some, laws)
    for options in ({"budget": 0.0}, {"budget": math.inf}, {"jobs": 0}):
        with pytest.raises(UsageError, match=next(iter(options))):
            list(run_plan(plan, **options))


def test_an_adapter_that_cannot_describe_its_cases_is_named(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "import os\nfrom dpassay.adapter import Mechanism\nLIBRARY = 'x'\n"
        "CASES = [Mechanism('a', 'vector:size=1,linf=1', lambda: os._exit(4), sample_one=print)]\n"
    )
    with pytest.raises(UsageError, match="cannot describe its cases: the worker ended with status 4"):
        make_plan(Target(sys.executable, str(adapter)), [])


def test_findings_and_settings_are_checked() -> None:
    for power in (None, {}, {"points": 0}):
        with pytest.raises(UsageError, match="power must state the detectable violation"):
            Finding(FindingKind.OK, "nothing was asked", power=power)
    with pytest.raises(UsageError, match="kind must be one of ok, violation"):
        Finding("fine", "no such kind")  # type: ignore[arg-type]
    for kind, is_weak in ((FindingKind.NOT_RUN, False), (FindingKind.UNDECIDED, True)):
        with pytest.raises(UsageError, match="is_lasting must be False"):
            Finding(kind, "it was lost", is_weak=is_weak, is_lasting=True)
    for wrong in ({"alpha": 0.0}, {"calls": 0}, {"seconds": math.nan}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            replace(Settings(0.1, 0, 1, 1.0), **wrong)


def test_a_case_of_which_nothing_was_tested_is_an_error(some: Target) -> None:
    """A law may find out only when it is asked that it does not apply."""

    def check(case: RemoteCase, settings: Settings) -> Finding:
        kind = "not applicable" if case.name == "correct" else "undecided"
        return Finding(kind, "so it was found", power=POINT)  # type: ignore[arg-type]

    law = Law("late", "Nothing.", lambda case: None if case.name in {"correct", "broken"} else "no", check)
    plan = make_plan(some, [law], calls=10)
    lines = {(line.mechanism, line.law): line for line in assess(plan, list(run_plan(plan)), [])}
    assert lines["correct", "late"].finding.kind == "error"
    assert lines["correct", "late"].finding.detail == "not tested: so it was found"
    assert lines["broken", "late"].finding.kind == "undecided"
    assert lines["leaky", "tested"].finding.kind == "error"
    assert not any(lines[place].as_expected for place in (("correct", "late"), ("leaky", "tested")))


def test_the_calls_of_a_law_are_enough_for_the_claim_unless_the_adapter_limits_them(tmp_path: Path) -> None:
    mechanisms = {
        "slow": "claim='pure:1', slow=True",
        "usual": "claim='pure:1'",
        "few": "claim='pure:1', slow=True, calls=100",
        "large claim": "claim='pure:7'",
        "large claim, limited": "claim='pure:7', calls=20_000",
        "too large": "claim='pure:9'",
        "too large, limited": "claim='pure:9', calls=300_000",
        "too large, allowed": "claim='pure:9', calls=10_000_000",
    }
    cases = [
        f"Mechanism({name!r}, 'vector:size=1,linf=1', sample_many=draw, {more})" for name, more in mechanisms.items()
    ]
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from dpassay.adapter import Mechanism\nLIBRARY = 'numpy'\n"
        f"draw = lambda data, size: [0.0] * size\nCASES = [{', '.join(cases)}]\n"
    )
    plan = make_plan(Target(sys.executable, str(adapter)), LAWS, law="privacy_of_claim")
    calls = {check.mechanism: check.settings.calls for check in plan.checks}
    assert 500 < calls["slow"] < calls["usual"] <= DEFAULT_CALLS < calls["large claim"] <= MOST_CALLS
    assert (calls["few"], calls["large claim, limited"], calls["too large, limited"]) == (100, 20_000, 300_000)
    assert calls["too large"] == DEFAULT_CALLS  # what the claim needs is more than a run draws of its own accord
    assert MOST_CALLS < calls["too large, allowed"] < 10_000_000


def test_families_come_last_of_the_checks_that_start_together(tmp_path: Path) -> None:
    """They take the longest, and by then the times of the other cases tell whether the time is short."""
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from dpassay.adapter import Family, Mechanism\nLIBRARY = 'numpy'\n"
        "draw = lambda data, size: [0.0] * size\n"
        "def make(scale, name='member'):\n"
        "    return Mechanism(name, 'vector:size=1,linf=1', claim='pure:1', sample_many=draw)\n"
        "CASES = [Family('family', make, {'scale': (2.0, 3.0)}), make(2.0, 'alone')]\n"
    )
    plan = make_plan(Target(sys.executable, str(adapter)), LAWS, law="privacy_of_claim")
    assert [check.mechanism for check in in_running_order(plan.checks)] == ["alone", "family"]


def test_a_plan_and_its_checks_share_one_session_if_they_run_here(
    some: Target, laws: list[Law], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    def counted(worker: Worker) -> list[RemoteCase]:
        opened.append(1)
        return open_library(worker)

    monkeypatch.setattr(session, "open_library", counted)
    for keeps, times in ((True, 1), (False, 2)):
        opened.clear()
        plan = make_plan(some, laws, calls=200, keeps_session=keeps)
        list(run_plan(plan))
        assert len(opened) == times
    elsewhere = run_plan(make_plan(some, laws, calls=200, keeps_session=True), jobs=2)
    assert not any(session._sessions for result in elsewhere if result.seconds)  # each of the processes has its own
    opened.clear()
    make_plan(some, laws, keeps_session=True)
    make_plan(some, laws, keeps_session=True)  # an earlier session may run an earlier state of the adapter
    assert len(opened) == 2
    close_session()
