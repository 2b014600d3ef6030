"""``dpassay assay`` and the tests of a library, as a user meets them."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli import main
from dpassay.properties.assay import laws as shipped
from dpassay.properties.assay import session
from dpassay.properties.assay.finding import Finding, Law
from dpassay.properties.assay.suite import Budget, Target

Capture = pytest.CaptureFixture[str]
FAILURE = (
    '[[failure]]\nmechanism = "{}"\nlaw = "{}"\nversions = ""\nfinding = "{}"\nreason = "known"\nupstream = "-"\n'
)
ADAPTER = """
from dpassay.adapter import Answer, Mechanism, Nonsense
LIBRARY = "numpy"
CASES = [
    Answer("liar", "gaussian_delta", lambda sigma, epsilon, count: 0.1),
    Answer("honest", "gaussian_delta", lambda sigma, epsilon, count: 0.4),
    Nonsense("careless", {"minus one": lambda: -1}),
]
"""
KNOWN = FAILURE.format("liar", "sound", "unsound number") + FAILURE.format("careless", "careful", "wrong answer")


@pytest.fixture
def adapter(tmp_path: Path, laws: list[Law], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shipped, "LAWS", laws)
    path = tmp_path / "adapter.py"
    path.write_text(ADAPTER)
    return path


def run(capsys: Capture, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    status = main(["assay", *arguments, "--json", "--jobs", "1", "--calls", "500"])
    out, err = capsys.readouterr()
    return status, [json.loads(line) for line in out.splitlines()], err


def expect(adapter: Path, text: str) -> None:
    adapter.with_name("expected_failures.toml").write_text(text)


def test_findings_without_entries_exit_1(adapter: Path, capsys: Capture) -> None:
    status, records, err = run(capsys, str(adapter))
    assert status == 1
    applying = {(one["mechanism"], one["law"]): one for one in records if one["finding"] != "not applicable"}
    assert {place: one["finding"] for place, one in applying.items()} == {
        ("liar", "sound"): "unsound number",
        ("honest", "sound"): "ok",
        ("careless", "careful"): "wrong answer",
    }
    assert applying["liar", "sound"]["claimed"] == 0.1
    assert applying["liar", "sound"]["witness"] == {"sigma": 1.0, "epsilon": 0.0, "count": 1}
    assert len(records) == 9
    assert "1 ok, 1 unsound number, 1 wrong answer, 6 not applicable; 2 not as expected" in err


def test_findings_with_entries_exit_0(adapter: Path, capsys: Capture) -> None:
    expect(adapter, KNOWN)
    status, records, _ = run(capsys, str(adapter))
    assert status == 0
    assert {one["expected"] for one in records} == {None, "known (-)"}


def test_an_error_of_use_leaves_no_session_open(adapter: Path, capsys: Capture) -> None:
    status, _, err = run(capsys, str(adapter), "--mechanism", "nothing")
    assert (status, "matches none of" in err) == (2, True)
    assert not session._sessions


def test_a_selection_to_which_no_law_applies_decides_nothing_and_fails(adapter: Path, capsys: Capture) -> None:
    status, (record,), err = run(capsys, str(adapter), "--mechanism", "careless", "--law", "sound")
    assert (status, record["finding"]) == (1, "not applicable")
    assert "no law applies to what was selected, so that nothing was decided" in err


def test_checks_without_time_fail_no_run_but_are_told(
    adapter: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last lines name them and the command that runs them; where nothing was run, the run fails."""
    ends = [time.time() + 3600, *[0.0] * 8]
    monkeypatch.setattr(Budget, "left", lambda self, law: ends.pop(0) - time.time())
    arguments = (str(adapter), "--mechanism", "h*", "--law", "s*")
    expect(adapter, KNOWN)
    assert run(capsys, *arguments)[0] == 0
    status, records, err = run(capsys, *arguments)
    assert (status, [one["finding"] for one in records]) == (1, ["not run"])
    told = "1 checks were not run, because of the time limit: sound (1); no law was run on 1 of 1 cases"
    assert f"{told}; `dpassay assay {adapter} --mechanism 'h*' --law 's*' --profile thorough` runs them" in err
    ends[:0] = [time.time() + 3600]
    status, records, _ = run(capsys, str(adapter), "--mechanism", "[hl]*", "--law", "s*")
    assert (status, [(one["finding"], one["as_expected"]) for one in records]) == (
        0,
        [("unsound number", True), ("not run", True)],
    )


@pytest.mark.parametrize(
    ("mechanism", "law"), [("honest", "sound"), ("nobody", "sound"), ("liar", "unheard_of"), ("hon*", "*")]
)
def test_an_entry_whose_finding_does_not_appear_exits_1(
    adapter: Path, capsys: Capture, mechanism: str, law: str
) -> None:
    expect(adapter, KNOWN + FAILURE.format(mechanism, law, "violation"))
    status, records, _ = run(capsys, str(adapter))
    assert status == 1
    assert any(not one["as_expected"] and one["expected"] == "known (-)" for one in records)


def test_an_occasional_finding_need_not_appear(adapter: Path, capsys: Capture) -> None:
    entry = FAILURE.format("honest", "sound", "unsound number") + 'occasional = "at some seeds"\n'
    expect(adapter, KNOWN + entry)
    assert run(capsys, str(adapter))[0] == 0
    expect(adapter, KNOWN.replace('reason = "known"', 'reason = "known"\noccasional = "at some seeds"'))
    status, records, _ = run(capsys, str(adapter))
    assert status == 0
    assert {one["expected"] for one in records} == {None, "known (-)"}


def test_a_choice_leaves_the_other_entries_alone(adapter: Path, capsys: Capture) -> None:
    expect(adapter, KNOWN)
    status, records, _ = run(capsys, str(adapter), "--mechanism", "h*", "--law", "sound")
    assert (status, [one["mechanism"] for one in records]) == (0, ["honest"])


def test_a_human_reads_a_table(adapter: Path, capsys: Capture) -> None:
    expect(adapter, KNOWN)
    assert main(["assay", str(adapter), "--jobs", "1", "--calls", "500"]) == 0
    out, _ = capsys.readouterr()
    (liar,) = (line for line in out.splitlines() if line.startswith("liar"))
    assert liar.split("  ")[0] == "liar"
    for word in ("sound", "unsound number (expected)", "0.1", "0.382924", "below the truth [known (-)]"):
        assert word in liar
    assert "not applicable" not in out


def test_versions_are_compared(adapter: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two interpreters stand for two versions: environments are built elsewhere."""
    adapter.with_name("library.toml").write_text('distribution = "numpy"\n[[environment]]\n')
    newer = adapter.with_name("newer.py")
    newer.write_text(ADAPTER.replace("0.1", "0.39"))
    targets = [Target(sys.executable, str(path)) for path in (adapter, newer)]
    asked: list[tuple[str, ...]] = []

    def targets_of(library: object, versions: tuple[str, ...], *_: object) -> list[Target]:
        asked.append(versions)
        return targets

    monkeypatch.setattr("dpassay.properties.assay.targets.targets_of", targets_of)
    status, records, err = run(capsys, str(adapter), "--version", "1.0", "--version", "2.0")
    assert asked == [("1.0", "2.0")]
    assert (status, len(records)) == (1, 18)
    assert "liar, sound: unsound number -> ok" in err
    main(["assay", str(adapter), "--version", "1.0", "--version", "2.0", "--jobs", "1", "--calls", "500"])
    assert "1 changes" in capsys.readouterr().out


def test_each_version_is_judged_by_itself(adapter: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the expected failure of one version nor the checks that were run on it serve another one."""
    adapter.with_name("library.toml").write_text('distribution = "numpy"\n[[environment]]\n')
    newer = adapter.with_name("newer.py")
    newer.write_text(ADAPTER.replace("0.1", "0.39"))
    older_target, newer_target = (Target(sys.executable, str(path)) for path in (adapter, newer))
    targets: list[Target] = []
    monkeypatch.setattr("dpassay.properties.assay.targets.targets_of", lambda *_: targets)
    expect(adapter, KNOWN)
    for targets[:], expected in (
        ([older_target, older_target], 0),
        ([older_target, newer_target], 1),
        ([newer_target, older_target], 1),
    ):
        assert run(capsys, str(adapter), "--version", "1.0", "--version", "2.0")[0] == expected
    targets[:] = [older_target, older_target]
    ends = [time.time() + 3600, 0.0]
    monkeypatch.setattr(Budget, "left", lambda self, law: ends.pop(0) - time.time())
    status, records, _ = run(capsys, str(adapter), "--mechanism", "honest", "--law", "sound")
    assert (status, [one["finding"] for one in records]) == (1, ["ok", "not run"])


def test_an_interruption_prints_what_is_known(
    adapter: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, laws: list[Law]
) -> None:
    def check(*_: object) -> Finding:
        raise KeyboardInterrupt

    monkeypatch.setattr(shipped, "LAWS", [*laws, Law("last", "Nothing.", lambda case: None, check, sampled=False)])
    status, records, err = run(capsys, str(adapter))
    assert status == 130
    assert "interrupted; the results so far follow" in err
    found = {one["finding"] for one in records}
    assert {"unsound number", "wrong answer", "ok", "undecided"} <= found
    assert {one["detail"] for one in records if one["law"] == "last"} == {"interrupted"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unheard-of"], "LIBRARY 'unheard-of' is not one of"),
        (["ADAPTER", "--version", "1.0"], "needs a library.toml with an environment beside"),
        (["ADAPTER", "--version", "1.0", "--python", "x"], "give only one of them"),
        (["ADAPTER", "--python", "/nowhere/python"], "'/nowhere/python' is not an interpreter that can be started"),
        (["ADAPTER", "--budget", "soon"], "--budget 'soon' is not a time"),
        (["ADAPTER", "--alpha", "0"], "--alpha must lie strictly between 0 and 1"),
        (["ADAPTER", "--jobs", "0"], "--jobs must not be 0"),
        (["ADAPTER", "--mechanism", "z"], "--mechanism 'z' matches none of careless, honest, liar"),
        (["ADAPTER", "--json", "--format", "junit"], "--json and --format junit contradict each other"),
        (["ADAPTER", "--format", "toml"], "'toml' is not one of 'table', 'json'"),
        (["ADAPTER", "--calls", "0"], "'--calls': 0 is not in the range 1<=x"),
    ],
)
def test_wrong_usage_exits_2_with_one_line(adapter: Path, capsys: Capture, arguments: list[str], words: str) -> None:
    status = main(["assay", *(str(adapter) if word == "ADAPTER" else word for word in arguments)])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_worse_fault_beside_an_entry_is_reported(adapter: Path, capsys: Capture) -> None:
    """The answer of the liar is 3.8 times too small, as the entry says; then 38 times."""
    expect(adapter, KNOWN.replace("[[failure]]", '[[failure]]\nfactor = 4.0\ndirection = "below"', 1))
    assert run(capsys, str(adapter))[0] == 0
    adapter.write_text(ADAPTER.replace("count: 0.1", "count: 0.01"))
    status, records, _ = run(capsys, str(adapter))
    assert status == 1
    (worse,) = (one for one in records if not one["as_expected"])
    assert (worse["mechanism"], worse["law"], worse["expected"]) == ("liar", "sound", None)
    assert worse["detail"].startswith("worse than expected: by a factor of 38.29, expected at most 4; ")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("github", "::error file="),
        ("sarif", '"version": "2.1.0"'),
        ("junit", '<testsuite name="numpy'),
        ("markdown", "| liar | sound |"),
        ("table", "mechanism"),
        ("json", '"finding": "unsound number"'),
    ],
)
def test_a_report_in_each_form(adapter: Path, capsys: Capture, form: str, words: str) -> None:
    assert main(["assay", str(adapter), "--jobs", "1", "--calls", "500", "--format", form]) == 1
    assert words in capsys.readouterr().out


def test_a_misspelt_argument_of_a_domain_is_named(adapter: Path, capsys: Capture) -> None:
    adapter.write_text(
        ADAPTER.replace("lambda sigma, epsilon, count: 0.4", "lambda **_: 0.4, domain={'cuont': (1, 9)}")
    )
    status = main(["assay", str(adapter), "--jobs", "1", "--calls", "500"])
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "domain of the case 'honest' must name arguments of questions" in err
    assert "got 'cuont'" in err


def test_without_a_library_the_known_ones_are_listed(capsys: Capture) -> None:
    assert main(["assay"]) == 0
    assert "library" in capsys.readouterr().out
