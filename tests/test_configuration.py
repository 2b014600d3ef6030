"""Defaults from pyproject.toml, names for a shell, and tables for terminals and pipes."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rich.console
from click.shell_completion import BashComplete

from dpassay.arguments import UsageError
from dpassay.cli import cli, main
from dpassay.command_line import print_table
from dpassay.configuration import defaults_of, read_defaults

Capture = pytest.CaptureFixture[str]

TABLE = """
[tool.dpassay]
seed = 7
level = 1e-3
seconds = 20

[tool.dpassay.verify]
jobs = 1
"""


def test_defaults_reach_the_commands(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE, encoding="utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'without the table'\n", encoding="utf-8")
    defaults = read_defaults(cli, below)
    assert defaults["hunt"] == {"seed": 7, "alpha": 1e-3, "budget": "20"}
    assert defaults["verify"] == {"seed": 7, "jobs": 1}
    assert defaults["list"] == {}


def test_the_command_line_takes_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    seeds = []
    for words in ([], ["--seed", "3"]):
        main(["hunt", "NoisyMax3", "--no-trace", "--json", *words])
        seeds.append(json.loads(capsys.readouterr().out)["seed"])
    assert seeds == [7, 3]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"sed": 1}, r"FILE: \[tool.dpassay\] sed is no option of a command; did you mean seed"),
        ({"seed": "x"}, r"FILE: \[tool.dpassay\] seed: 'x' is not"),
        ({"seed": True}, r"FILE: \[tool.dpassay\] seed must be a number or text, got True"),
        ({"seconds": "soon"}, r"FILE: \[tool.dpassay\] seconds 'soon' is not a time"),
        ({"hunt": {"no-trace": 1}}, r"FILE: \[tool.dpassay.hunt\] no-trace must be true or false, got 1"),
        ({"verify": {"level": 0.1}}, r"FILE: \[tool.dpassay.verify\] level is no option of verify"),
        ({"verfy": {}}, r"FILE: \[tool.dpassay.verfy\] is no command; did you mean verify"),
        ({"verify": {"profile": "slow"}}, r"FILE: \[tool.dpassay.verify\] profile: 'slow' is not one of"),
    ],
)
def test_errors_of_use_name_the_key(table: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        defaults_of(table, cli, "FILE")


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("seed = ", encoding="utf-8")
    with pytest.raises(UsageError, match="is not TOML"):
        read_defaults(cli, tmp_path)


@pytest.mark.parametrize(
    ("words", "begun", "found"),
    [
        (["hunt"], "svt", "SVT3"),
        (["assay"], "open", "opendp"),
        (["verify", "--source"], "leb", "lebensold2024"),
        (["verify", "--name"], "pure_dp_of_gaussian_noisy", "pure_dp_of_gaussian_noisy_max"),
        (["experiment"], "bike", "bike-sharing"),
    ],
)
def test_names_are_completed(words: list[str], begun: str, found: str) -> None:
    completed = BashComplete(cli, {}, "dpassay", "_DPASSAY_COMPLETE").get_completions(words, begun)
    assert found in [item.value for item in completed]


def test_python_m_dpassay_leaves_nothing_behind(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "dpassay", "verify", "--name", "noisy_max_ratio_monotone_by_proof", "--jobs", "1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_experiments_are_listed_as_json(capsys: Capture) -> None:
    assert main(["experiment", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "bike-sharing" in {line["experiment"] for line in lines}


def test_an_interruption_prints_what_is_known(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def reports(statements, *_):  # type: ignore[no-untyped-def]
        from dpassay.properties.verify import verify_statement

        yield verify_statement(statements[0])
        raise KeyboardInterrupt

    monkeypatch.setattr("dpassay.verify_command.statement_reports", reports)
    assert main(["verify", "--name", "noisy_max_ratio_monotone*"]) == 130
    printed = capsys.readouterr()
    assert "noisy_max_ratio_monotone" in printed.out
    assert "interrupted: the results until then; 1 of 1" in printed.err


NAME = "a_statement_with_a_name_of_more_than_forty_letters"
RECORDS: list[dict[str, Any]] = [
    {"name": NAME, "text": "some words " * 20, "value": 0.5},
    {"name": "b", "text": None, "value": 1},
]


def printed(monkeypatch: pytest.MonkeyPatch, columns: tuple[str, ...], *, width: int | None) -> list[str]:
    stream = io.StringIO()
    real = rich.console.Console

    def console(**options):  # type: ignore[no-untyped-def]
        options.setdefault("width", width)
        return real(file=stream, force_terminal=width is not None, color_system=None, **options)

    monkeypatch.setattr("rich.console.Console", console)
    print_table(RECORDS, columns)
    return stream.getvalue().splitlines()


def test_a_pipe_receives_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, ("name", "text", "value"), width=None)
    assert len(lines) == 3
    assert NAME in lines[1]
    assert ("some words " * 20).strip() in lines[1]


def test_a_pipe_receives_no_blanks_for_long_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    heading, long, short = printed(monkeypatch, ("value", "name", "text"), width=None)
    assert heading == f"value  {'name':40}  text"
    assert long == f"0.5    {NAME}  {('some words ' * 20).strip()}"
    assert short == f"1      {'b':40}  -"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_terminal_never_receives_broken_names(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = printed(monkeypatch, ("name", "text", "value"), width=width)
    assert any(NAME in line for line in lines)
    assert any("b" in line.split() for line in lines)
    assert all(len(line) <= max(width, len(NAME)) for line in lines)
