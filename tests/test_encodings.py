"""Every command in a locale of ASCII alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpassay

COMMANDS = [
    ["list"],
    ["show", "rnm_pure_dp"],
    ["verify", "--name", "noisy_max_ratio_monotone_by_proof", "--jobs", "1"],
    [
        "hunt",
        "targets.py:f",
        "--claim",
        "pure:1",
        "--neighbours",
        "vector:size=1,linf=1,low=0,high=1,integer",
        "--calls",
        "2000",
    ],
    [
        "hunt",
        "targets.py:f",
        "--claim",
        "pure:1",
        "--neighbours",
        "vector:size=1,linf=1,low=0,high=1,integer",
        "--calls",
        "2000",
        "--json",
    ],
    ["hunt", "nowhere\N{SNOWMAN}.py:f"],
    ["hunt", "--help"],
    ["assay", "--help"],
    ["report", "--help"],
    ["experiment"],
]

RUN_ALL = """
import json, sys
from dpassay.cli import main
for command in json.loads(sys.argv[1]):
    print("status", main(command), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = "def f(data, size, rng):\n    return ['\N{GREEK SMALL LETTER EPSILON}' * (1 + int(data[0] > 0))] * size\n"
    (tmp_path / "targets.py").write_text(code, encoding="utf-8")
    return tmp_path


def test_no_command_needs_more_than_ascii(folder: Path) -> None:
    """All in one process, where streams are as the first command left them: that is how each begins."""
    environment = os.environ | {
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii",
        "PYTHONPATH": str(Path(dpassay.__file__).parents[1]),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(COMMANDS)],
        cwd=folder, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 0, err
    statuses = [int(line.split()[1]) for line in out.splitlines() if line.startswith("status ")]
    expected = [2 if "nowhere" in words[-1] else 1 if "targets.py:f" in words else 0 for words in COMMANDS]
    assert statuses == expected, err
    assert "Traceback" not in err
    records = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert any("\N{GREEK SMALL LETTER EPSILON}" in json.dumps(record, ensure_ascii=False) for record in records)
