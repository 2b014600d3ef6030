"""Statements of others, verified and listed from a file of theirs."""

import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli import main
from dpassay.init_command import KINDS, write_template

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("own_registries")

FALSE = """
from fractions import Fraction
from typing import Annotated
from dpassay.statements import Integers, Source, Verdict, at_most, ball, statement

OTHER = Source(key="other", authors="A", title="T", year=2026, venue="V", url="")
Count = Annotated[int, Integers("a count", 0, 1000)]

@statement(OTHER, "Remark 7")
def counts_are_small(count: Count) -> Verdict:
    \"\"\"Every count is below 42.\"\"\"
    return at_most(lambda: ball(count), lambda: ball(41))
"""


GENEROUS = """
@statement(OTHER, "Remark 8", examples=({"count": 1},), cases=1)
def counts_are_not_large(count: Count) -> Verdict:
    \"\"\"Every count is at most 500, with room to spare.\"\"\"
    return at_most(lambda: ball(count), lambda: ball(500), slack=Fraction(5))
"""


def test_a_slack_is_shown(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "generous.py"
    file.write_text(FALSE + GENEROUS, encoding="utf-8")
    assert main(["verify", str(file), "--name", "counts_are_not_large", "--jobs", "1"]) == 0
    assert "enclosed, slack 5" in capsys.readouterr().out
    assert main(["show", "counts_are_not_large", "--module", str(file)]) == 0
    assert "slack 5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("0, 1000)", "7, 5)", "quantifier 'count', a count, must have low <= high, got low 7 and high 5: it is empty"),
        ("0, 1000)", "0, 9, (3, 10))", "quantifier 'count', a count, must have its corners in [0, 9], got 10"),
        ("ball(count)", "ball(3)", "must read every quantifier, but does not read count"),
        ("return at_most(lambda: ball(count), lambda: ball(41))", "count", "must return a verdict, as at_most"),
    ],
)
def test_a_statement_that_says_nothing_is_refused(
    before: str, after: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "vacuous.py"
    file.write_text(FALSE.replace(before, after), encoding="utf-8")
    assert main(["verify", str(file), "--jobs", "1"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "counts_are_small" in err


@pytest.fixture
def paper(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    name = f"paper_{abs(hash(request.node.name)) % 10**8}"  # a module name of its own for every test
    write_template("paper", name, tmp_path / name)
    return tmp_path / name / f"{name}.py"


def run(capsys: Capture, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, [json.loads(line) for line in out.splitlines()], err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_statements_of_a_file_are_verified_on_any_number_of_workers(
    paper: Path, capsys: Capture, jobs: str
) -> None:
    status, records, err = run(capsys, "verify", str(paper), "--jobs", jobs, "--json")
    assert status == 0
    assert [(record["statement"], record["verdict"], record["scope"]) for record in records] == [
        ("pure_dp_of_randomised_response", "holds", "points"),
        ("epsilon_of_randomised_response_is_attained", "holds", "points"),
        ("estimate_is_unbiased", "holds", "all"),
    ]
    assert {record["source"] for record in records} == {paper.stem}
    assert "3 of 3 statements as expected" in err


def test_errata_items_and_a_card_of_a_file(paper: Path, capsys: Capture) -> None:
    status, (erratum,), _ = run(capsys, "verify", str(paper), "--errata", "--json")
    assert (status, erratum["printed"], erratum["corrected"]) == (0, "violated", "holds")
    status, items, _ = run(capsys, "list", str(paper), "--source", paper.stem, "--json")
    assert [(item["item"], item["covered_by"]) for item in items] == [
        ("Theorem 1", "statement"),
        ("Lemma 2", "statement"),
    ]
    assert items[1]["where"] == [f"{paper.stem}:estimate_is_unbiased"]
    status, (card,), _ = run(capsys, "show", "estimate_is_unbiased", "--module", str(paper), "--json")
    assert (status, card["verdict"], len(card["proof"])) == (0, "holds", 4)


def test_an_item_without_a_statement_is_listed_with_a_reason(paper: Path, capsys: Capture) -> None:
    text = paper.read_text(encoding="utf-8")
    line = '        ("Lemma 2", "unbiased_estimate", "lemma"),\n'
    paper.write_text(text.replace(line, line + '        ("Figure 3", "figure_3", "figure"),\n'), encoding="utf-8")
    _, items, _ = run(capsys, "list", str(paper), "--json")
    assert [item["covered_by"] for item in items] == ["statement", "statement", "none"]
    assert items[2]["reason"] == "no statement covers it"


def test_a_false_statement_of_a_file_is_refuted(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "false_statements_of_others.py"
    file.write_text(FALSE, encoding="utf-8")
    status, (record,), _ = run(capsys, "verify", str(file), "--jobs", "1", "--json")
    assert (status, record["verdict"], record["witness"]) == (1, "violated", {"count": 42})
    _, (item,), _ = run(capsys, "list", str(file), "--json")  # a document without a table: the label is the item
    assert (item["item"], item["covered_by"]) == ("Remark 7", "statement")


def test_a_page_of_the_statements_of_a_file(paper: Path, tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("jinja2")
    page = tmp_path / "page.html"
    assert main(["report", "--module", str(paper), "--jobs", "1", "--output", str(page)]) == 0
    capsys.readouterr()
    text = page.read_text(encoding="utf-8")
    assert "estimate_is_unbiased" in text
    assert "noisy_max" not in text


def test_an_entry_point_names_the_statements_of_a_package(
    paper: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = paper.parent / "mypaper-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypaper\nVersion: 1\n", encoding="utf-8")
    entry = f"[dpassay.statements]\nmypaper = {paper.stem}\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")
    monkeypatch.syspath_prepend(str(paper.parent))
    status, records, _ = run(capsys, "verify", "mypaper", "--name", "estimate*", "--jobs", "1", "--json")
    assert (status, [record["statement"] for record in records]) == (0, ["estimate_is_unbiased"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "no_such_module"), "statements of 'no_such_module': ModuleNotFoundError"),
        (("verify", "no_such_file.py"), "file no_such_file.py does not exist"),
        (("verify", "json"), "'json' has no statements"),
        (("show", "x", "--module", "json"), "'json' has no statements"),
        (("list", "json", "--mechanisms"), "--mechanisms lists the mechanisms of dpassay; omit the modules"),
        (("verify", "{paper}", "--source", "elsewhere"), "--source 'elsewhere' is not one of"),
        (("verify", "{paper}", "--name", "nothing"), "no statement matches --name 'nothing'"),
    ],
)
def test_wrong_use_is_named(paper: Path, capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    assert main([part.format(paper=paper) for part in arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
def test_init_writes_an_example(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", kind]) == 0
    listed = capsys.readouterr().out.split()
    assert all(Path(path).is_file() for path in listed)
    assert f"my_{kind}/my_{kind}.py" in listed
    assert not any("PROJECT" in path or "PROJECT" in Path(path).read_text(encoding="utf-8") for path in listed)
    assert main(["init", kind]) == 2
    assert f"my_{kind} exists" in capsys.readouterr().err
    assert main(["init", kind, "my-name"]) == 2
    assert "NAME must be a Python identifier" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return count < 42", "counts_are_small must return a verdict, as at_most, at_most_exact or proof make it"),
        ("return at_most_exact(1 // (count - count), 1)", "statement counts_are_small raises ZeroDivisionError: "),
    ],
)
def test_a_statement_that_cannot_be_decided_is_an_error_in_one_line(
    body: str, message: str, jobs: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "undecidable.py"
    text = FALSE.replace("return at_most(lambda: ball(count), lambda: ball(41))", body)
    file.write_text(text.replace("at_most, ball", "at_most_exact"), encoding="utf-8")
    assert main(["verify", str(file), "--jobs", jobs]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert "verdict" in line or f"({file}:12)" in line
