import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.experiments.output import draw, mean_and_error, repetitions, table


def test_rows_are_on_disk_before_the_table_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"

    def interrupted() -> None:
        with table(path, "sigma", "epsilon") as rows:
            rows.write(sigma=0.1, epsilon=np.float64(1 / 3))
            assert len(path.read_text().splitlines()) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    [row] = csv.DictReader(path.read_text().splitlines())
    assert float(row["epsilon"]) == 1 / 3


def test_a_row_with_a_missing_column_is_refused(tmp_path: Path) -> None:
    with (
        table(tmp_path / "rows.csv", "sigma", "epsilon") as rows,
        pytest.raises(ValueError, match="needs the columns"),
    ):
        rows.write(sigma=0.1)


def test_a_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    def paint(left: Any, right: Any) -> None:
        left.plot([0, 1], [0, 1])
        right.plot([0, 1], [1, 0])

    [path] = draw(tmp_path / "figure.png", 2, paint, lambda _what, _share: None)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_there_is_a_note_and_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    monkeypatch.setattr("dpassay.properties.experiments.output.can_draw", lambda: False)
    assert draw(tmp_path / "figure.png", 1, pytest.fail, lambda what, _share: notes.append(what)) == []
    assert "dpassay[report]" in notes[0]


def test_mean_and_standard_error() -> None:
    assert mean_and_error([1.0, 2.0, 3.0]) == pytest.approx((2.0, 1 / math.sqrt(3)))
    assert math.isnan(mean_and_error([1.0])[1])


def test_repetitions() -> None:
    assert repetitions(None, 50) == 50
    assert repetitions(3, 50) == 3
    with pytest.raises(UsageError, match="trials must be at least 1, got 0"):
        repetitions(0, 50)
