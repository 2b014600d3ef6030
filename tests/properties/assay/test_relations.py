"""Relations among the numbers of a library: what breaks them, what the finding says, and what is not a pass."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pytest

from dpassay.adapter import Relations, protects, spends, understates
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteRelations, open_library
from dpassay.impl.libraries.worker_process import WorkerLostError
from dpassay.properties.assay.expected import ExpectedFailure, covering
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.relation_laws import RELATION_LAWS

Row = tuple[str, float, float, float]
(LAW,) = RELATION_LAWS


def finding(
    relations: dict[str, Callable[[Random], Any]], meaning: dict[str, Any] | None = None, **settings: Any
) -> Finding:
    (case,) = open_library(InProcessWorker([Relations("numbers", relations, **(meaning or {}))]))
    return LAW.check(case, Settings(**{"alpha": 1e-6, "seed": 5, "calls": 1000, "seconds": 60.0, **settings}))


def holds(random: Random) -> Iterator[Row]:
    x = random.uniform(0, 1)
    yield f"x={x}", 0.0, x, 1.0


class LostAtTheSecondSeed(RemoteRelations):
    """A known relation is broken, and the worker is lost at the second seed of another one."""

    def __init__(self) -> None:
        self.relations, self.facts = ("known", "other"), frozenset()

    def compare(self, relation: str, seed: int) -> tuple[int, list[tuple[str, float, float, float, str]]]:
        if relation == "other" and seed > 5:
            raise WorkerLostError("it hangs")
        return 1, [("number", 1.0, 0.5, 2.0, "")] if relation == "known" else []


def of(low: float, value: float, high: float) -> Callable[[Random], list[Row]]:
    return lambda _: [("number", low, value, high)]


def test_relations_that_hold_pass_with_the_number_of_comparisons() -> None:
    found = finding({"one": holds, "two": holds}, depth=2)
    assert found.kind is FindingKind.OK
    assert found.power is not None
    assert found.power["points"] == 12


@pytest.mark.parametrize(
    ("low", "value", "high", "words"),
    [
        (1.0, 0.5, 2.0, "at least 1.0"),
        (1.0, 2.5, 2.0, "at most 2.0"),
        (0.0, math.nan, 1.0, "nan"),
        (math.inf, 3.0, math.inf, "at least inf"),
    ],
)
def test_a_number_outside_its_bounds_is_found_and_named(low: float, value: float, high: float, words: str) -> None:
    found = finding({"fine": holds, "broken": of(low, value, high)})
    assert found.kind is FindingKind.WRONG_ANSWER
    assert words in found.detail
    assert found.witness is not None
    assert found.witness["broken"] == {"broken": 5}


def test_the_numbers_of_the_first_broken_relation_have_a_side() -> None:
    small, large = (finding({"one": of(1.0, value, 2.0)}) for value in (0.5, 4.0))
    assert (small.claimed, small.certified) == (0.5, 1.0)
    assert (large.claimed, large.certified) == (4.0, 2.0)


@pytest.mark.parametrize(
    ("meaning", "value", "kind", "numbers"),
    [
        ({"unsafe": {"one": "below"}}, 0.5, FindingKind.VIOLATION, (0.5, 1.0)),
        ({"unsafe": {"one": "below"}}, 4.0, FindingKind.WRONG_ANSWER, (4.0, 2.0)),
        ({"unsafe": {"one": "above"}}, 4.0, FindingKind.VIOLATION, (2.0, 4.0)),
        ({"unsafe": {"one": "above"}}, 0.5, FindingKind.WRONG_ANSWER, (0.5, 1.0)),
        ({"unsafe": {"one": "either"}}, 0.5, FindingKind.VIOLATION, (0.5, 1.0)),
        ({"unsafe": {"one": "either"}}, 4.0, FindingKind.VIOLATION, (2.0, 4.0)),
        ({"unsafe": {"one": "either"}}, math.nan, FindingKind.WRONG_ANSWER, None),
        ({"understated": ["one"]}, 0.5, FindingKind.UNSOUND_NUMBER, (0.5, 1.0)),
        ({"understated": ["one"]}, 4.0, FindingKind.WRONG_ANSWER, (4.0, 2.0)),
        ({"unsafe": {"two": "either"}}, 0.5, FindingKind.WRONG_ANSWER, (0.5, 1.0)),
    ],
)
def test_a_number_on_the_side_that_costs_privacy_is_no_mere_wrong_answer(
    meaning: dict[str, Any], value: float, kind: FindingKind, numbers: tuple[float, float] | None
) -> None:
    found = finding({"one": of(1.0, value, 2.0), "two": holds}, meaning)
    assert found.kind is kind
    assert numbers is None or (found.claimed, found.certified) == numbers


@pytest.mark.parametrize(
    ("mark", "value", "kind"),
    [
        (protects, 0.5, FindingKind.VIOLATION),
        (protects, 4.0, FindingKind.WRONG_ANSWER),
        (spends, 4.0, FindingKind.VIOLATION),
        (spends, 0.5, FindingKind.WRONG_ANSWER),
        (understates, 0.5, FindingKind.UNSOUND_NUMBER),
        (understates, 4.0, FindingKind.WRONG_ANSWER),
    ],
)
def test_a_comparison_says_what_its_number_costs(mark: Callable[..., Any], value: float, kind: FindingKind) -> None:
    rows = [("another one", 1.0, 0.9, 2.0), mark(("number", 1.0, value, 2.0)), ("fine", 0.0, 0.5, 1.0)]
    found = finding({"one": lambda _: rows})
    assert found.kind is kind
    assert finding({"one": lambda _: rows}, {"unsafe": {"one": "below"}}).kind is FindingKind.VIOLATION


def test_the_gravest_of_several_broken_relations_is_told_and_the_others_are_beside() -> None:
    rows = {"wrong": of(1.0, 0.9, 2.0), "understated": of(1.0, 0.8, 2.0), "unsafe": of(1.0, 0.7, 2.0)}
    found = finding(rows, {"unsafe": {"unsafe": "below"}, "understated": ["understated"]})
    assert (found.kind, found.claimed) == (FindingKind.VIOLATION, 0.7)
    assert found.witness is not None
    assert set(found.witness["broken"]) == set(rows)
    entry = ExpectedFailure(
        "numbers", "relations_hold", "", FindingKind.VIOLATION, "known", "not reported", factor=1.2
    )
    assert "by a factor of 1.429" in str(entry.excess_of(found))


def test_a_relation_that_does_not_end_is_no_violation() -> None:
    def searches(_: Random) -> Iterator[Row]:
        while True:
            pass
        yield "never", 0.0, 0.0, 0.0

    assert finding({"one": searches}, {"unsafe": {"one": "either"}, "seconds": 0.2}).kind is FindingKind.WRONG_ANSWER
    fact = Relations("facts", {}, {"ends": lambda: list(searches(Random()))}, 0.2, {"ends": "either"})  # noqa: S311
    (case,) = open_library(InProcessWorker([fact]))
    assert LAW.check(case, Settings(1e-6, 5, 1000, 60.0)).kind is FindingKind.WRONG_ANSWER


def test_a_fact_that_protects_and_does_not_hold_is_a_violation() -> None:
    (case,) = open_library(InProcessWorker([Relations("facts", {}, {"hidden": bool}, unsafe={"hidden": "above"})]))
    found = LAW.check(case, Settings(1e-6, 5, 1000, 60.0))
    assert (found.kind, found.claimed, found.certified) == (FindingKind.VIOLATION, 0.0, 1.0)


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        ({"unsafe": {"three": "below"}}, r"unsafe must have descriptions .* got \['three'\]"),
        ({"understated": ["three"]}, r"understated must have descriptions .* got \['three'\]"),
        ({"unsafe": {"one": "beside"}}, r"sides of unsafe must be among below, above, either, got \['beside'\]"),
    ],
)
def test_a_meaning_has_a_relation_and_a_side(meaning: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Relations("numbers", {"one": holds}, **meaning)


def test_a_later_seed_finds_what_the_first_does_not() -> None:
    draws = [Random(seed).random() for seed in (5, 6)]  # noqa: S311  # the draws of the first two seeds
    between = sum(draws) / 2
    assert draws[0] < between < draws[1]
    found = finding({"rare": lambda random: [("draw", 0.0, random.random(), between)]})
    assert found.witness is not None
    assert found.witness["broken"] == {"rare": 6}


def test_valid_parameters_that_the_library_refuses_are_found() -> None:
    def refused(_: Random) -> Iterator[Row]:
        yield "root", 0.0, float(__import__("statistics").mean([])), 1.0

    found = finding({"mean": refused})
    assert found.kind is FindingKind.WRONG_ANSWER
    assert "valid parameters raise" in found.detail


def test_a_mistake_of_the_adapter_is_no_finding_about_the_library() -> None:
    assert finding({"mistake": lambda _: missing}).kind is FindingKind.ERROR  # type: ignore[name-defined]  # noqa: F821


def test_a_relation_that_compares_nothing_is_an_error() -> None:
    found = finding({"fine": holds, "empty": lambda _: []})
    assert found.kind is FindingKind.ERROR
    assert "empty" in found.detail
    assert "fine" not in found.detail


def test_every_relation_is_asked_once_however_late_it_is() -> None:
    asked = list[str]()

    def note(name: str) -> Callable[[Random], Iterator[Row]]:
        def compare(_: Random) -> Iterator[Row]:
            asked.append(name)
            yield name, 0.0, 0.0, 0.0

        return compare

    assert finding({"one": note("one"), "two": note("two")}, seconds=1e-9).kind is FindingKind.OK
    assert asked == ["one", "two"]


def test_a_run_without_the_calls_for_all_relations_is_undecided() -> None:
    assert finding({"one": holds, "two": holds}, calls=1).kind is FindingKind.UNDECIDED


def test_an_expected_failure_excuses_the_relations_that_it_names() -> None:
    entry = ExpectedFailure(
        "numbers", "relations_hold", "", FindingKind.WRONG_ANSWER, "known", "not reported", accepted=("known",)
    )
    broken = of(1.0, 0.5, 2.0)
    assert entry.excess_of(finding({"known": broken, "fine": holds})) is None
    assert entry.excess_of(finding({"known": broken, "new": broken})) == "worse than expected: new broken, too"


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        (lambda _: missing, "missing"),  # type: ignore[name-defined]  # noqa: F821
        (lambda _: [], "no answer to other"),
    ],
    ids=["a mistake", "no comparison"],
)
def test_an_expected_failure_does_not_excuse_what_was_not_answered(relation: Any, words: str) -> None:
    """A relation that is known to be broken must not hide one that the adapter cannot ask."""
    entry = ExpectedFailure(
        "numbers", "relations_hold", "", FindingKind.WRONG_ANSWER, "known", "not reported", accepted=("known", "other")
    )
    found = finding({"known": of(1.0, 0.5, 2.0), "other": relation})
    assert found.kind is FindingKind.WRONG_ANSWER
    assert words in found.detail
    assert entry.excess_of(found) == "worse than expected: no answer to other"


def test_a_worker_lost_at_a_later_seed_is_not_excused_by_an_answer_before() -> None:
    case = LostAtTheSecondSeed()
    entry = ExpectedFailure(
        "numbers", "relations_hold", "", FindingKind.WRONG_ANSWER, "known", "not reported", accepted=("known",)
    )
    found = LAW.check(case, Settings(alpha=1e-6, seed=5, calls=1000, seconds=60.0))
    assert found.kind is FindingKind.WRONG_ANSWER
    assert entry.excess_of(found) == "worse than expected: no answer to other"


def test_a_mistake_at_a_later_seed_is_not_excused_by_an_answer_before() -> None:
    first = Random(5).random()  # noqa: S311  # the draw of the first seed

    def once(random: Random) -> list[Row]:
        return [("draw", 0.0, 0.0, 0.0)] if random.random() == first else missing  # type: ignore[name-defined]  # noqa: F821

    found = finding({"known": of(1.0, 0.5, 2.0), "other": once})
    assert found.witness is not None
    assert found.witness["unanswered"] == ["other"]


def entry(**size: Any) -> ExpectedFailure:
    return ExpectedFailure("numbers", "relations_hold", "", FindingKind.WRONG_ANSWER, "known", "none", **size)


def test_an_entry_must_excuse_the_worst_row_and_not_only_the_first() -> None:
    rows = [("near", 1.0, 0.9, 2.0), ("far", 1.0, 0.1, 2.0)]
    found = finding({"one": lambda _: rows})
    assert (found.claimed, found.certified) == (0.1, 1.0)
    assert entry(factor=2.0).excess_of(found) == "worse than expected: by a factor of 10, expected at most 2"
    assert entry(factor=10.0).excess_of(found) is None


@pytest.mark.parametrize("value", [0.1, 3.0, math.nan])
@pytest.mark.parametrize("is_first", [True, False])
def test_an_entry_must_excuse_every_broken_relation_and_both_sides(value: float, is_first: bool) -> None:
    lists = [("known", of(1.0, 0.9, 2.0)), ("worse", of(1.0, value, 2.0))]
    size = entry(factor=1.2, direction="below")
    assert size.excess_of(finding(dict(lists[:1]))) is None
    assert size.excess_of(finding(dict(lists if is_first else lists[::-1]))) is not None
    rows = [("known", 1.0, 0.9, 2.0), ("worse", 1.0, value, 2.0)]
    assert size.excess_of(finding({"one": lambda _: rows if is_first else rows[::-1]})) is not None


def _rows(rows: list[Row], _: Random) -> list[Row]:
    return rows


@pytest.mark.parametrize("rows", [[("ends", math.nan, 1.0, 2.0)], [("ends", 0.0, 1.0, math.nan)]])
def test_a_bound_that_is_no_number_is_broken_and_not_excused(rows: list[Row]) -> None:
    for beside in ([], [("known", 1.0, 0.9, 2.0)]):
        found = finding({"one": partial(_rows, [*beside, *rows])})
        assert found.kind is FindingKind.WRONG_ANSWER
        assert entry(factor=math.inf).excess_of(found) is not None


def test_several_entries_excuse_the_faults_of_one_check_together() -> None:
    found = finding({"one": lambda _: [("low", 1.0, 0.9, 2.0), ("high", 1.0, 2.2, 2.0)]})
    below, above = entry(factor=1.2, direction="below"), entry(factor=1.2, direction="above")
    covered = [covering(entries, "numbers", "relations_hold", found)[0] for entries in ([below], [below, above])]
    assert covered == [None, below]


class LateAtTheSecond(LostAtTheSecondSeed):
    """A known relation is broken, and the end of the time stops the other one."""

    def compare(self, relation: str, seed: int) -> tuple[int, list[tuple[str, float, float, float, str]]]:
        if relation == "other":
            raise WorkerLostError("the time limit of the check was reached", is_late=True)
        return super().compare(relation, seed)


def test_what_the_end_of_the_time_stopped_is_no_excess() -> None:
    settings = Settings(1e-6, 5, 1000, 60.0)
    late, lost = (LAW.check(case, settings) for case in (LateAtTheSecond(), LostAtTheSecondSeed()))
    assert entry().excess_of(late) is None
    assert entry().excess_of(lost) is not None
