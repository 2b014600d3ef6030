"""The examples that ``dpassay init`` writes pass their tests and commands as they stand."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.cli import main
from dpassay.init_command import KINDS, write_template


def test_the_readme_of_an_adapter_says_what_its_workflow_runs(tmp_path: Path) -> None:
    write_template("adapter", "example", tmp_path)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    workflow = (tmp_path / ".github" / "workflows" / "privacy.yml").read_text(encoding="utf-8")
    assert "pytest --pyargs" in workflow
    assert ("runs both" in readme) <= ("dpassay assay" in workflow)


def test_a_name_that_hides_a_folder_of_the_example_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "adapter", "privacy"]) == 2
    assert "a folder of the example itself" in capsys.readouterr().err
    assert not (tmp_path / "privacy").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_the_commands_of_the_readme_pass(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "example"
    write_template(kind, "example", folder)
    (block,) = re.findall(r"```sh\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    program = "from dpassay.cli import main; import sys; sys.exit(main())"
    for line in filter(None, block.splitlines()):
        words = [word for word in shlex.split(line, comments=True) if word != "PYTHONPATH=."]
        start = ["-m", "pytest", "-p", "no:cacheprovider"] if words[0] == "pytest" else ["-c", program]
        paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
        done = subprocess.run(
            [sys.executable, *start, *words[1:]], cwd=folder, env=os.environ | {"PYTHONPATH": paths},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, line + done.stdout + done.stderr
