"""The command ``dpassay experiment``: folders that cannot be written, and figures that cannot be drawn."""

from pathlib import Path

import pytest
from tests.checks.commands import Capture

from dpassay.cli import main
from dpassay.properties.experiments.output import NO_FIGURES


def test_what_the_system_refuses_is_one_line(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status = main(["experiment", "noisy-max-figures", "--out", str(tmp_path / "file" / "out")])
    out, err = capsys.readouterr()
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "file/out" in err


def test_tables_without_figures_say_how_to_get_them(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("dpassay.properties.experiments.output.can_draw", lambda: False)
    assert main(["experiment", "bike-sharing", "--trials", "1", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert all(Path(line).suffix == ".csv" for line in out.splitlines())
    assert err.splitlines() == [f"dpassay: {NO_FIGURES}"]
