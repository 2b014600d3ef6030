"""The list of what expected failures excuse tells entries that are wider than their findings."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import excuses

from dpassay.impl.libraries.registry import Library
from dpassay.properties.assay.expected import load_expected

ENTRIES = """
[[failure]]
mechanism = "mean*"
law = "sound"
versions = ""
finding = "violation"
reason = "-"
upstream = "-"
{more}
[[failure]]
mechanism = "sum"
law = ["sound", "private"]
versions = ""
finding = "violation"
reason = "-"
upstream = "-"
"""


def record(mechanism: str, law: str, finding: str) -> dict[str, Any]:
    return {"library": "toy", "version": "1", "mechanism": mechanism, "law": law, "finding": finding}


LINES = [
    record("mean of one", "sound", "violation"),
    record("mean of two", "sound", "not applicable"),
    record("sum", "sound", "violation"),
    record("sum", "private", "violation"),
    record("count", "sound", "ok"),
]


def run(lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> int:
    (tmp_path / "expected_failures.toml").write_text(ENTRIES.format(more=more))
    monkeypatch.setattr(excuses, "find_library", lambda name: Library(name, tmp_path / "adapter.py"))
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, lines))))
    return excuses.main()


def test_entries_as_wide_as_their_findings_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(LINES, tmp_path, monkeypatch) == 0


def test_an_entry_that_covers_a_pass_is_too_wide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [*LINES, record("mean of three", "sound", "ok")]
    assert run(lines, tmp_path, monkeypatch) == 1
    out = capsys.readouterr().out
    assert "'mean*', 'sound': violation\n    mean of one, sound: violation\n  ! mean of three, sound: ok\n" in out
    assert out.endswith("3 entries, 1 wider than needed\n")
    assert run(lines, tmp_path, monkeypatch, 'common = "one noise"') == 0


def test_each_law_of_a_list_is_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "expected_failures.toml"
    path.write_text(ENTRIES.format(more=""))
    assert [(one.mechanism, one.law) for one in load_expected(path, "1")] == [
        ("mean*", "sound"),
        ("sum", "sound"),
        ("sum", "private"),
    ]
