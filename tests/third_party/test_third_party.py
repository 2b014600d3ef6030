"""A package elsewhere that has dpassay in its CI: its workflow's command, and what breaks it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from dpassay.cli import main

PACKAGE = Path(__file__).parent / "noisycounts"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACKAGE, tmp_path / "noisycounts"))


def run(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    paths = [str(checkout / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def workflow_command() -> list[str]:
    """The line of the package's own workflow that runs the suite."""
    workflow = (PACKAGE / ".github" / "workflows" / "privacy.yml").read_text()
    (command,) = re.findall(r"- run: (pytest .*)", workflow)
    return str(command).split()


def test_the_workflow_passes_with_named_tests(checkout: Path) -> None:
    result = run(checkout, *workflow_command(), "-v")
    assert result.returncode == 0, result.stdout
    assert "test_law[noisy_count(epsilon=1)-privacy_of_claim] PASSED" in result.stdout
    assert "test_law[noisy_count(epsilon=1)-claim_follows_from_parameters] PASSED" in result.stdout
    assert "test_law[approximate_histogram(epsilon=1)-privacy_of_claim] XFAIL" in result.stdout
    assert "test_law[noisy_count-rejects_invalid_calls] PASSED" in result.stdout
    assert "probability of any false alarm at most 1e-06" in result.stdout
    names = {case.get("name") for case in ET.parse(checkout / "privacy.xml").iter("testcase")}  # noqa: S314
    assert "test_law[noisy_sign(epsilon=0.5)-privacy_of_claim]" in names


CHANGES = {
    "a fault comes in": (
        ("-math.expm1(-epsilon)", "-math.expm1(-3 * epsilon)"),
        "noisy_count(*",
        {("violation", False)},
    ),
    "a known fault is mended": (("scale=0.5", "scale=1"), "approximate_histogram*", {("ok", True)}),
    "a check is lost": (("math.isfinite(epsilon) and epsilon > 0", "True"), "noisy_count", {("wrong answer", False)}),
}


@pytest.mark.parametrize(
    "change",
    [pytest.param(change, marks=pytest.mark.slow if "mended" in change else ()) for change in CHANGES],
)
def test_a_change_breaks_the_build(
    checkout: Path, change: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line that is not as expected: the finding, and whether an entry had expected another one."""
    (old, new), mechanism, unexpected = CHANGES[change]
    module = checkout / "src" / "noisycounts" / "__init__.py"
    assert old in module.read_text()
    module.write_text(module.read_text().replace(old, new))
    monkeypatch.setenv("PYTHONPATH", str(checkout / "src"), prepend=os.pathsep)
    adapter, jobs = str(checkout / "privacy" / "adapter.py"), ("--jobs", "1", "--budget", "1h")
    assert main(["assay", adapter, "--mechanism", mechanism, "--calls", "5000", *jobs, "--json"]) == 1
    records = map(json.loads, capsys.readouterr().out.splitlines())
    assert {
        (record["finding"], record["expected"] is not None) for record in records if not record["as_expected"]
    } == unexpected
