"""The example of docs/ci.md, as it is printed."""

import os
import re
import runpy
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the blocks of code of the page in one language."""
    found = re.findall(rf"^ *```{language}(?: notest)?\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    library, adapter, *_ = blocks("python")
    (expected,) = blocks("toml")
    (tmp_path / "privacy").mkdir()
    (tmp_path / "mylibrary.py").write_text(library, encoding="utf-8")
    (tmp_path / "privacy" / "adapter.py").write_text(adapter, encoding="utf-8")
    (tmp_path / "privacy" / "expected_failures.toml").write_text(expected, encoding="utf-8")
    return tmp_path


def test_the_example_passes_as_printed(checkout: Path) -> None:
    (workflow,) = blocks("yaml")
    (command,) = re.findall(r"- run: pytest (.*)", workflow)
    paths = os.pathsep.join(filter(None, [str(checkout), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *shlex.split(command), "-v", "-p", "no:cacheprovider"],
        cwd=checkout, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_law[noisy_count(epsilon=1)-privacy_of_claim] PASSED" in done.stdout
    assert "test_law[noisy_histogram(epsilon=1)-privacy_of_claim] XFAIL" in done.stdout
    assert "test_law[noisy_count-rejects_invalid_calls] PASSED" in done.stdout


def test_the_example_draws_the_same_in_every_run(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(checkout))
    adapter: dict[str, Any] = runpy.run_path(str(checkout / "privacy" / "adapter.py"))
    monkeypatch.delitem(sys.modules, "mylibrary")
    mechanisms = [case for case in adapter["CASES"] if hasattr(case, "sample_one")]
    assert len(mechanisms) == 2
    for case in mechanisms:
        runs = []
        for _ in range(2):
            case.seed(7)
            runs.append(case.draw([0.25, 1.0], 20))
        assert runs[0] == runs[1]
        case.seed(8)
        assert case.draw([0.25, 1.0], 20) != runs[0]
