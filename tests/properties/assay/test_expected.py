"""Expected failures: read, matched, and missed when they do not appear."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.assay.assessment import Assessment, assess
from dpassay.properties.assay.expected import ExpectedFailure, load_expected
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.kinds import FindingKind, FindingSeverity
from dpassay.properties.assay.suite import Check, CheckResult, Plan, Target
from dpassay.properties.assay.table import change_rows, rows, summary
from dpassay.properties.assay.versions import ABSENT, Change, compare
from dpassay.properties.contract import as_dictionary

ENTRY = ExpectedFailure("bad*", "law", "", FindingKind.VIOLATION, "known", "not reported")
TOML = """
[[failure]]
mechanism = "a[1]"
law = "*"
versions = "<2"
finding = "wrong answer"
reason = "the reason"
upstream = "https://example.org/1"
"""


def law(name: str, *, sampled: bool = False) -> Law:
    return Law(
        name,
        "Something.",
        lambda case: None,
        lambda case, settings: Finding(FindingKind.OK, "", power={"points": 1}),
        sampled=sampled,
    )


def plan_of(*found: tuple[str, str, str], version: str = "1.0") -> tuple[Plan, list[CheckResult]]:
    checks = [
        Check(name, law(of), "no reason" if kind == "not applicable" else None, Settings(0.1, 0, 1, 1.0), "pure:1")
        for name, of, kind in found
    ]
    plan = Plan(
        Target("python", "adapter.py"),
        "lib",
        version,
        tuple(checks),
        frozenset((name, of) for name, of, kind in found if kind != "not applicable"),
    )
    results = [
        CheckResult(check, Finding(FindingKind(kind), f"it is {kind}", power={"points": 1} if kind == "ok" else None))
        for check, (_, _, kind) in zip(checks, found, strict=True)
    ]
    return plan, results


def judged(entries: Sequence[ExpectedFailure], *found: tuple[str, str, str]) -> list[bool]:
    return [line.as_expected for line in assess(*plan_of(*found), entries)]


@pytest.mark.parametrize("kind", FindingKind)
def test_without_entries_only_what_is_fine_is_expected(kind: FindingKind) -> None:
    assert judged([], ("any", "law", kind)) == [kind in {"ok", "not applicable", "not run"}]


def test_an_entry_excuses_its_kind_of_finding_alone() -> None:
    assert judged([ENTRY], ("bad", "law", "violation")) == [True]
    assert judged([ENTRY], ("bad", "law", "wrong answer")) == [False]
    assert judged([ENTRY], ("bad", "law", "violation"), ("good", "law", "violation")) == [True, False]
    assert judged([ENTRY], ("bad", "law", "violation"), ("bad", "other", "violation")) == [True, False]


def test_an_entry_whose_finding_does_not_appear_is_not_as_expected() -> None:
    assert judged([ENTRY], ("bad", "law", "ok")) == [False]
    assert judged([ENTRY], ("bad", "law", "undecided")) == [False]


def test_one_appearance_is_enough_for_a_glob() -> None:
    assert judged([ENTRY], ("bad1", "law", "violation"), ("bad2", "law", "ok")) == [True, True]
    assert judged([ENTRY], ("bad1", "law", "ok"), ("bad2", "law", "ok")) == [False, False]


def test_an_entry_is_about_what_applies() -> None:
    anything = replace(ENTRY, law="*")
    assert judged([anything], ("bad", "law", "ok"), ("bad", "other", "not applicable")) == [False, True]
    assert judged([anything], ("bad", "law", "not applicable")) == [True, False]  # and a line for the entry


def test_an_entry_that_fits_nothing_gets_a_line() -> None:
    (good, stranger) = assess(*plan_of(("good", "law", "ok")), [ENTRY])
    assert good.as_expected
    assert (stranger.mechanism, stranger.law, stranger.as_expected) == ("bad*", "law", False)
    assert stranger.expected == "known (not reported)"


def test_an_entry_is_not_judged_where_something_was_left_out() -> None:
    plan, results = plan_of(("bad1", "law", "ok"), ("bad2", "law", "violation"))
    part = replace(plan, checks=plan.checks[:1])
    assert [line.as_expected for line in assess(part, results[:1], [ENTRY])] == [True]


def test_an_entry_is_not_judged_where_the_time_was_too_short() -> None:
    assert judged([ENTRY], ("bad1", "law", "ok"), ("bad2", "law", "not run")) == [True, True]
    assert judged([ENTRY], ("bad1", "law", "violation"), ("bad2", "law", "not run")) == [True, True]
    assert judged([ENTRY], ("bad1", "law", "ok"), ("bad2", "law", "undecided")) == [False, False]


def test_what_was_interrupted_is_undecided() -> None:
    plan, results = plan_of(("a", "law", "ok"), ("b", "law", "ok"))
    assert [line.finding.kind for line in assess(plan, results[:1], [])] == ["ok", "undecided"]


def test_a_record_has_the_fields_of_the_contract() -> None:
    (line,) = assess(*plan_of(("bad", "law", "violation")), [ENTRY])
    record = as_dictionary(line.record())
    assert record.pop("detail") == "it is violation"
    assert record == {
        "schema": 2, "library": "lib", "version": "1.0", "mechanism": "bad", "law": "law", "claim": "pure:1",
        "finding": "violation", "severity": None, "claimed": None, "certified": None, "evidence": None, "scope": None,
        "alpha": None, "calls": 0, "seconds": 0.0, "witness": None, "expected": "known (not reported)",
        "as_expected": True, "power": None,
    }  # fmt: skip


def test_entries_are_about_versions(tmp_path: Path) -> None:
    path = tmp_path / "expected_failures.toml"
    path.write_text(TOML)
    (entry,) = load_expected(path, "1.9")
    assert entry.covers("a[1]", "any")
    assert not entry.covers("b[1]", "any")
    assert load_expected(path, "2.0") == load_expected(path, None) == []
    path.write_text(TOML.replace("<2", ""))
    assert len(load_expected(path, None)) == 1
    assert load_expected(tmp_path / "absent.toml", "1.0") == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('reason = "the reason"\n', "", r"the failure of 'a\[1\]' lacks reason"),
        (
            "wrong answer",
            "ok",
            "finding must be one of violation, unsound number, wrong answer, undecided, error, got 'ok'",
        ),
        ('"<2"', "2", "versions must be a str, got 2"),
        ('"<2"', '"two"', "'two' is not a version specifier"),
        ("reason", "cause", "failure has the key 'cause'; accepted are mechanism, law"),
        (
            "upstream",
            'severity = "grave"\nupstream',
            "severity must be one of critical, theoretical, negligible, got 'grave'",
        ),
        ("upstream", "factor = 0.5\nupstream", "factor must be a number of at least 1, got 0.5"),
        ("upstream", 'factor = "two"\nupstream', "factor must be a int or float, got 'two'"),
        ("upstream", 'direction = "low"\nupstream', "direction must be one of below, above, got 'low'"),
        ("upstream", "least = nan\nupstream", "least must be a number other than NaN, got nan"),
        ("upstream", "accepted = [1]\nupstream", r"accepted must be a list of strings, got \[1\]"),
        ("[[failure]]", "[[failures]]", "the top level has the key 'failures'"),
    ],
)
def test_mistakes_in_the_file_are_named(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "expected_failures.toml"
    path.write_text(TOML.replace(old, new))
    with pytest.raises(UsageError, match=words):
        load_expected(path, "1.0")


def judged_alone(entry: ExpectedFailure, finding: Finding) -> tuple[bool, str]:
    """Return whether an entry excuses a finding, and the detail of the line."""
    plan, results = plan_of(("bad", "law", "violation"))
    (line,) = assess(plan, [replace(results[0], finding=finding)], [entry])
    return line.as_expected, line.finding.detail


@pytest.mark.parametrize(
    ("claimed", "certified", "excused", "words"),
    [
        (1.0, 1.9, True, "loss"),
        (1.0, 2.1, False, "worse than expected: by a factor of 2.1, expected at most 2; loss"),
        (0.0, 2.1, False, "worse than expected: by a factor of inf, expected at most 2; loss"),
        (1.9, 1.0, False, "worse than expected: 1.9 lies above the certified 1, not below; loss"),
        (1.0, None, False, "worse than expected: the finding states no claimed and certified number; loss"),
        (math.nan, 1.9, False, "worse than expected: the number claimed is NaN; loss"),
    ],
)
def test_an_entry_with_a_size_excuses_nothing_worse(
    claimed: float, certified: float | None, excused: bool, words: str
) -> None:
    entry = replace(ENTRY, factor=2.0, direction="below")
    finding = Finding(FindingKind.VIOLATION, "loss", claimed=claimed, certified=certified)
    assert judged_alone(entry, finding) == (excused, words)
    assert judged_alone(ENTRY, finding) == (True, "loss")
    plan, results = plan_of(("bad", "law", "violation"))
    both = [entry, replace(entry, factor=math.inf, direction=None, reason="another cause")]
    (line,) = assess(plan, [replace(results[0], finding=finding)], both)
    has_figures = certified is not None and not math.isnan(claimed)
    assert line.as_expected == (excused or has_figures)  # what one entry does not excuse, another may


def test_a_violation_by_as_little_as_its_bound_shows_is_on_neither_side() -> None:
    entry = replace(ENTRY, factor=1.5, direction="below")
    assert entry.excess_of(Finding(FindingKind.VIOLATION, "", claimed=8.0, certified=8.0)) is None
    assert "not below" in str(entry.excess_of(Finding(FindingKind.VIOLATION, "", claimed=8.1, certified=8.0)))


@pytest.mark.parametrize(
    ("claimed", "excused"), [(-0.5, True), (-0.7, True), (-0.71, False), (math.nan, False), (None, False)]
)
def test_an_entry_with_a_least_number_excuses_none_below(claimed: float | None, excused: bool) -> None:
    entry = replace(ENTRY, least=-0.7)
    finding = Finding(FindingKind.VIOLATION, "loss", claimed=claimed)
    is_expected, words = judged_alone(entry, finding)
    assert is_expected == excused
    assert excused or words == f"worse than expected: {claimed} is not at least -0.7; loss"
    assert replace(ENTRY, least=-math.inf).excess_of(finding) is None or claimed is None or math.isnan(claimed)


def test_an_entry_excuses_the_invalid_calls_that_it_names() -> None:
    entry = replace(ENTRY, accepted=("epsilon=nan", "delta=2"))
    for accepted, excused in ((["delta=2"], True), (["delta=2", "epsilon=-1"], False)):
        finding = Finding(FindingKind.VIOLATION, "accepted", witness={"accepted": dict.fromkeys(accepted, "1.0")})
        is_expected, words = judged_alone(entry, finding)
        assert is_expected == excused
        assert ("epsilon=-1 accepted, too" in words) != excused


def test_each_of_several_named_mechanisms_must_show_the_finding(tmp_path: Path) -> None:
    path = tmp_path / "expected_failures.toml"
    path.write_text(
        TOML.replace('"a[1]"', '["bad", "worse"]').replace('"*"', '"law"').replace("wrong answer", "violation")
    )
    entries = load_expected(path, "1.0")
    assert [entry.mechanism for entry in entries] == ["bad", "worse"]
    assert judged(entries, ("bad", "law", "violation"), ("worse", "law", "violation")) == [True, True]
    assert judged(entries, ("bad", "law", "violation"), ("worse", "law", "ok")) == [True, False]


def test_the_severity_of_an_entry_is_that_of_its_lines() -> None:
    plan, results = plan_of(("bad", "law", "violation"), ("good", "law", "ok"), version="1.0")
    bad, good = assess(plan, results, [replace(ENTRY, severity=FindingSeverity.CRITICAL)])
    assert (bad.record().severity, good.record().severity) == ("critical", None)
    (unexpected, _) = assess(plan, results, [])
    assert unexpected.record().severity is None


def lines(*found: tuple[str, str, str], version: str) -> list[Assessment]:
    return assess(*plan_of(*found, version=version), [])


def test_what_changed_between_versions() -> None:
    before = lines(("a", "x", "violation"), ("a", "y", "ok"), ("gone", "x", "ok"), version="1.0")
    after = lines(("a", "x", "ok"), ("a", "y", "ok"), ("new", "x", "wrong answer"), version="2.0")
    assert compare(before, after) == [
        Change("a", "x", "violation", "ok", "it is ok"),
        Change("new", "*", ABSENT, "wrong answer", ""),
        Change("gone", "*", "ok", ABSENT, ""),
    ]
    assert compare(before, before) == []
    assert change_rows(compare(before, after))[0]["before"] == "violation"


def test_the_table_leaves_out_what_does_not_apply_and_the_summary_counts_it() -> None:
    judged_lines = assess(
        *plan_of(("a", "law", "ok"), ("b", "law", "not applicable"), ("bad", "law", "violation")), [ENTRY]
    )
    table = rows(judged_lines)
    assert [row["mechanism"] for row in table] == ["a", "bad"]
    assert table[1]["finding"] == "violation (expected)"
    assert table[1]["detail"] == "it is violation [known (not reported)]"
    assert summary(judged_lines, 3.2) == (
        "lib 1.0: 1 laws, 2 mechanisms and accountants, 1 ok, 1 violation, 1 not applicable; 0 not as expected; 3 s"
    )
