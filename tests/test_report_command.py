"""The command `report`: what it writes, when it fails, and that it says so before it runs anything."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dpassay
from dpassay.cli import main
from dpassay.properties.drawing.call_guard import Habit
from dpassay.properties.verify import StatementReport
from dpassay.spec.statement import Statement, all_statements

Capture = pytest.CaptureFixture[str]

FEW, FEW_START = "pure_dp_of_permute*", "pure_dp_of_permute"
HUNT = {
    "schema": 2, "target": "module:target", "claim": "pure:1.0", "verdict": "not refuted", "epsilon_lower": 0.5,
    "delta_lower": 0.0, "rho_lower": None, "evidence": "sampled", "scope": "samples", "alpha": 1e-6,
    "e_value_log10": -1.0, "calls": 10, "seconds": 1.0, "witness": None, "replay": "dpassay hunt module:target",
}  # fmt: skip
WITNESS = {
    "left": [0.0], "right": [1.0], "event": "outcome > 0", "p_left": [0.1, 0.2], "p_right": [0.5, 0.6],
    "certified": True,
}  # fmt: skip
ITEM = {
    "schema": 2, "source": "somebody2020", "item": "Thm 2", "name": "a_theorem", "kind": "theorem",
    "covered_by": "none", "where": [], "reason": "an open question",
}  # fmt: skip
STATEMENT = {
    "schema": 2, "statement": "a_statement", "source": "somebody2020", "item": "Thm 1", "kind": "theorem",
    "verdict": "holds", "evidence": "exact", "scope": "points", "cases": 3, "undecided": 0, "tightness": 1.5,
    "seconds": 0.25, "witness": None, "as_expected": True,
}  # fmt: skip
FINDING = {
    "schema": 2, "library": "some-library", "version": "1.0", "mechanism": "Laplace", "law": "privacy_of_claim",
    "claim": "pure:1", "finding": "ok", "claimed": 1.0, "certified": 0.9, "evidence": "sampled", "scope": "samples",
    "alpha": 1e-8, "calls": 1000, "seconds": 1.0, "witness": None, "expected": None, "as_expected": True,
}  # fmt: skip


class Page(HTMLParser):
    """The rows of a page by kind, its text, and whatever it would load."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[str] = []
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        assert not {name for name in named if name.startswith("on")}, "a handler in an attribute"
        assert "src" not in named
        self.tags.append(tag)
        self.rows += [named["data-row"]] if "data-row" in named else []
        self.anchors += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(path: Path) -> Page:
    page = Page(path.read_text(encoding="utf-8"))
    assert len(set(page.anchors)) == len(page.anchors)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.anchors)
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    assert page.tags.count("script") == 1
    return page


def run(capsys: Capture, *arguments: object) -> tuple[int, dict[str, Any], str]:
    status = main(["report", *map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) <= 1
    return status, lines[0] if lines else {}, err


def saved(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_run_has_every_statement_once_and_counts_its_rows(capsys: Capture, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    arguments = ("--source", "lebensold2024", "--name", FEW, "--jobs", 1, "--output", output)
    status, summary, _ = run(capsys, *arguments)
    assert status == 0
    assert (summary["schema"], summary["report"], summary["as_expected"]) == (2, str(output), True)
    page = page_of(output)
    for kind, plural in (("statement", "statements"), ("erratum", "errata"), ("item", "items")):
        assert page.rows.count(kind) == summary[plural]
    names = [one.name for one in all_statements() if one.name.startswith(FEW_START)]
    assert summary["statements"] == len(names) > 1
    assert all(page.anchors.count(f"statement-{name}") == 1 for name in names)
    assert all(one.sentence.split("\n", maxsplit=1)[0] in page.text for one in all_statements() if one.name in names)
    assert "dpassay report --output" in page.text
    assert "unexpected" not in page.rows


def test_the_same_lines_make_the_same_page(capsys: Capture, tmp_path: Path) -> None:
    lines = saved(tmp_path / "lines.jsonl", STATEMENT, FINDING)
    output = tmp_path / "page.html"
    pages = []
    for _ in range(2):
        assert run(capsys, "--from", lines, "--output", output)[0] == 0
        text = output.read_text(encoding="utf-8").splitlines()
        pages.append([line for line in text if not line.startswith(("<dt>Started", "<dt>Duration"))])
    assert pages[0] == pages[1]


def test_nothing_of_a_line_becomes_markup(capsys: Capture, tmp_path: Path) -> None:
    evil = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'{{ 7 * 7 }}"
    hunt = HUNT | dict.fromkeys(("target", "claim", "replay"), evil)
    hunt |= {
        "verdict": "violated",
        "witness": WITNESS | {"event": evil, "snippet": evil},
        "notes": [evil],
        "epsilon_lower": "inf",
    }
    statement = STATEMENT | {
        "statement": evil, "source": evil, "item": evil, "kind": evil, "detail": evil,
        "verdict": "violated", "witness": {evil: evil}, "as_expected": False,
    }  # fmt: skip
    erratum = {
        "schema": 2, "erratum_of": evil, "source": evil, "item": evil, "class": "false", "printed": "violated",
        "corrected": "undecided", "witness": {evil: evil}, "evidence": "exact", "text": evil, "as_expected": False,
    }  # fmt: skip
    finding = FINDING | dict.fromkeys(("library", "version", "mechanism", "law", "claim", "expected"), evil)
    item = ITEM | dict.fromkeys(("source", "item", "name", "kind", "reason"), evil) | {"where": [evil]}
    mechanism = {
        "schema": 2, "where": evil, "claims": [evil], "neighbours": evil, "exact_distribution": True, "broken": True,
        "fault": evil, "caught_by": [evil], "sources": [evil],
    }  # fmt: skip
    lines = saved(tmp_path / "evil<b>.jsonl", hunt, statement, erratum, finding, item, mechanism)
    output = tmp_path / "page<i>.html"
    assert run(capsys, "--from", lines, "--output", output)[0] == 1
    page = page_of(output)  # which looks for images, handlers and a second script
    assert "b" not in page.tags
    assert "i" not in page.tags
    assert "{{ 7 * 7 }}" in page.text
    assert all(page.rows.count(kind) == 1 for kind in ("hunt", "statement", "erratum", "finding", "item", "mechanism"))
    assert page.rows.count("unexpected") == 3


@pytest.mark.parametrize(
    "record",
    [
        STATEMENT | {"verdict": "undecided", "undecided": 1, "as_expected": False},
        FINDING | {"finding": "violation", "as_expected": False},
        HUNT | {"verdict": "violated", "witness": WITNESS},
        HUNT | {"stopped": "interrupted"},
        HUNT | {"verdict": "undecided", "stopped": "call timeout"},
        HUNT | {"verdict": "undecided", "notes": [Habit.REPEATS_ITSELF.value]},
        ITEM | {"reason": None},
        FINDING | {"finding": "not applicable", "expected": "an entry that fits nothing", "as_expected": False},
    ],
)
def test_what_is_not_as_expected_comes_first_and_fails(
    capsys: Capture, tmp_path: Path, record: dict[str, Any]
) -> None:
    lines = saved(tmp_path / "lines.jsonl", STATEMENT, FINDING, HUNT, ITEM, record)
    status, summary, _ = run(capsys, "--from", lines, "--output", tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    assert (status, summary["unexpected"], summary["as_expected"]) == (1, 1, False)
    assert page.rows[0] == "unexpected"
    assert page.rows.count("unexpected") == 1
    assert (page.rows.count("statement"), page.rows.count("finding")) == (summary["statements"], summary["findings"])


def test_what_the_commands_print_can_be_read(capsys: Capture, tmp_path: Path) -> None:
    target = "dpassay.impl.broken.foundations:claims_the_maximum_norm"
    commands = {
        "statements": ["verify", "--name", FEW, "--jobs", "1"],
        "errata": ["verify", "--name", "pure_dp_of_gaussian_noisy_max", "--errata"],
        "items": ["list", "--source", "cohen2023"],
        "mechanisms": ["list", "--mechanisms"],
        "hunts": ["hunt", target],
    }
    arguments, counts = [], {}
    for kind, command in commands.items():
        main([*command, "--json"])
        text = capsys.readouterr().out
        (tmp_path / kind).write_text(text, encoding="utf-8")
        arguments += ["--from", str(tmp_path / kind)]
        counts[kind] = len(text.splitlines())
    main(["show", "rnm_pure_dp", "--json"])
    (tmp_path / "shown").write_text(capsys.readouterr().out, encoding="utf-8")
    counts["statements"] += 1
    output = tmp_path / "page.html"
    status, summary, _ = run(capsys, *arguments, "--from", tmp_path / "shown", "--output", output)
    assert {kind: summary[kind] for kind in counts} == counts
    assert (status, summary["unexpected"]) == (1, 1)  # the hunt's violation
    page = page_of(output)
    rows = ("statement", "erratum", "item", "mechanism", "hunt")
    assert [page.rows.count(row) for row in rows] == [counts[kind] for kind in commands]
    assert "from dpassay.testing import replay" in page.text
    assert "without the logarithm" in page.text
    assert "Gaussian noisy max over d queries" in page.text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("not JSON", "invalid JSON"),
        ('{"schema": 2}', "unrecognized record"),
        ("[1]", "not a JSON object"),
        (json.dumps(STATEMENT | {"schema": 1}), "schema must be 2, got 1"),
        (
            json.dumps(STATEMENT | {"verdict": "maybe"}),
            "invalid record of a statement: Invalid enum value 'maybe' - at `$.verdict`",
        ),
        (json.dumps(STATEMENT | {"cases": -1}), "Expected `int` >= 0 - at `$.cases`, got -1"),
        (
            json.dumps(STATEMENT | {"tightness": [1]}),
            "Expected `float | str | null`, got `array` - at `$.tightness`, got [1]",
        ),
        (json.dumps(STATEMENT | {"tightness": 10**400}), "Number out of range - at `$.tightness`, got 1000"),
        (json.dumps(STATEMENT | {"seconds": float("nan")}), "NaN"),
        (json.dumps(STATEMENT | {"as_expected": "true"}), "Expected `bool`, got `str` - at `$.as_expected`"),
        (json.dumps(HUNT | {"notes": "a note"}), "Expected `array`, got `str` - at `$.notes`"),
        (json.dumps(FINDING | {"witness": []}), "Expected `object | null`, got `array` - at `$.witness`"),
        (
            json.dumps({name: value for name, value in STATEMENT.items() if name != "scope"}),
            "missing required field `scope`",
        ),
        ("\udcff", "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(
    capsys: Capture, tmp_path: Path, text: str, complaint: str
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(f"{json.dumps(STATEMENT)}\n\n{text}\n".encode(errors="surrogateescape"))
    status, _, err = run(capsys, "--from", bad, "--output", tmp_path / "page.html")
    assert (status, len(err.splitlines())) == (2, 1)
    assert f"{bad}, line 3: " in err
    assert complaint in err
    assert not (tmp_path / "page.html").exists()


def test_a_file_without_lines_is_no_success(capsys: Capture, tmp_path: Path) -> None:
    empty = saved(tmp_path / "empty.jsonl")
    status, _, err = run(capsys, "--from", empty, "--output", tmp_path / "page.html")
    assert (status, "contains no record" in err) == (2, True)


def test_the_verdict_on_floats_is_shown_beside_the_ideal_one(capsys: Capture, tmp_path: Path) -> None:
    floats = {"evidence": "sampled", "calls": 4096, "witness": WITNESS | {"event": "lowest_bit(outcome) <= -56"}}
    hunts = [
        HUNT | {"verdict": "holds", "float64": floats | {"verdict": "violated", "epsilon_lower": 2.25}},
        HUNT | {"float64": floats | {"verdict": "not refuted", "epsilon_lower": 0.125, "witness": None}},
        HUNT | {"float64": None},
        HUNT | {"float64": floats | {"verdict": "violated", "epsilon_lower": 2.75, "is_same": True, "witness": None}},
    ]
    output = tmp_path / "page.html"
    assert run(capsys, "--from", saved(tmp_path / "lines.jsonl", *hunts), "--output", output)[0] == 0
    text = " ".join(page_of(output).text.split())
    assert text.count("in float64") == 4  # three verdicts and the title of a witness
    assert "epsilon at least 2.25 through low-order bits or rounding" in text
    assert "epsilon at least 2.75 by the same violation" in text
    assert "0.125" not in text
    assert "lowest_bit(outcome) <= -56" in text


def test_halves_of_surrogate_pairs_do_not_stop_the_page(capsys: Capture, tmp_path: Path) -> None:
    lines = saved(tmp_path / "lines.jsonl", STATEMENT | {"statement": "half \ud800"})
    assert run(capsys, "--from", lines, "--output", tmp_path / "page.html")[0] == 0
    assert "half \\ud800" in page_of(tmp_path / "page.html").text


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise AssertionError("something ran")

    monkeypatch.setattr("dpassay.properties.verify.verify_statement", fail)
    monkeypatch.setattr("dpassay.properties.verify.verify_errata", fail)


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--output", "{here}"], "--output"),
        (["--output", "{here}/no/page.html"], "existing folder"),
        (["--source", "nobody1999"], "nobody1999"),
        (["--name", "nothing"], "no statement"),
        (["--jobs", "0"], "--jobs"),
        (["--from", "{here}/none.jsonl"], "none.jsonl"),
        (["--from", "{here}/lines.jsonl", "--seed", "0"], "omit --seed"),
        (
            ["--from", "{here}/lines.jsonl", "--output", "{here}/lines.jsonl"],
            "would overwrite a file that --from reads",
        ),
    ],
)
def test_wrong_usage_is_said_before_anything_runs(
    capsys: Capture, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    lines = saved(tmp_path / "lines.jsonl", STATEMENT).read_bytes()
    filled = [argument.format(here=tmp_path) for argument in arguments]
    output = [] if "--output" in filled else ["--output", str(tmp_path / "page.html")]
    status, _, err = run(capsys, *filled, *output)
    assert (status, len(err.splitlines())) == (2, 1)
    assert complaint in err
    assert [path.name for path in tmp_path.iterdir()] == ["lines.jsonl"]
    assert (tmp_path / "lines.jsonl").read_bytes() == lines


def test_without_jinja2_it_says_what_to_install(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    status, _, err = run(capsys, "--output", tmp_path / "page.html")
    assert (status, "pip install 'dpassay[report]'" in err) == (2, True)


def test_an_interruption_writes_what_is_known(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpassay.properties.verify import verify

    def interrupted(statements: list[Statement], *_settings: object, **_options: object) -> Iterator[StatementReport]:
        yield from verify(statements[:1], jobs=1)
        raise KeyboardInterrupt

    names = [one.name for one in all_statements() if one.name.startswith(FEW_START)]
    monkeypatch.setattr("dpassay.properties.verify.verify", interrupted)
    output = tmp_path / "page.html"
    status, summary, err = run(capsys, "--name", FEW, "--output", output)
    assert status == 130
    assert (summary["interrupted"], summary["as_expected"]) == (True, False)
    assert (summary["statements"], summary["not_run"]) == (1, len(names) - 1)
    assert "interrupted" in err
    page = page_of(output)
    assert "interrupted" in page.anchors
    assert "Everything is as expected" not in page.text
    assert all(name in page.text for name in names)
    assert page.anchors.count(f"statement-{names[1]}") == 0


INTERRUPTIBLE = """
import sys
import dpassay.properties.verify as module
from dpassay.cli import main

def verify(*arguments, run=module.verify, **options):
    for report in run(*arguments, **options):
        yield report
        print("taken up", file=sys.stderr, flush=True)

module.verify = verify
sys.exit(main(["report", "--source", "cohen2023", "--jobs", "2", "--output", sys.argv[1]]))
"""


def test_ctrl_c_ends_the_run_and_its_workers_with_a_page(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    environment = os.environ | {"PYTHONPATH": str(Path(dpassay.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, str(output)],
        stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "taken up\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        err = process.stderr.read()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    page = page_of(output)
    assert "interrupted" in page.anchors
    assert 0 < page.rows.count("statement") < len([one for one in all_statements() if one.source.key == "cohen2023"])
