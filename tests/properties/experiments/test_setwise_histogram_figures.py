"""The experiments against the numbers recomputed independently, and that they write what they say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.properties.experiments.composition import count_figures as counts
from dpassay.properties.experiments.composition import histogram_figures as histograms
from dpassay.properties.experiments.composition import setwise_figure as mixed


@pytest.mark.parametrize(
    ("count", "epsilon", "optimal", "bounds"),
    [
        (20, 0.1, 1.7886, (1.2004, 1.5986, 1.9209, 2.2002, 2.4507)),
        (50, 0.1, 3.1729, (1.9210, 2.5448, 3.0946, 3.5360, 3.9667)),
        (100, 0.01, 0.3923, (0.2641, 0.3499, 0.4187, 0.4779, 0.5307)),
        (50, 1.0, 47.6494, (24.7497, 34.6044, 44.0203, 52.0501, 60.2751)),
    ],
)
def test_the_mixed_bound(count: int, epsilon: float, optimal: float, bounds: tuple[float, ...]) -> None:
    rows = mixed.mixed_rows(count, epsilon)
    assert rows[0]["optimal_pure"] == pytest.approx(optimal, abs=1e-4)
    assert [row["mixed_bound"] for row in rows] == pytest.approx(list(bounds), abs=1e-4)
    assert all(row["sharper_bound"] <= row["mixed_bound"] for row in rows)


def test_one_histogram() -> None:
    rows = {row["size"]: row for row in histograms.one_shot_rows(0.1)}
    curves = ("laplace", "analytic_gaussian", "zcdp_gaussian")
    assert [rows[10][c] for c in curves] == pytest.approx([0.9994, 0.9405, 1.2004], abs=1e-4)
    assert [rows[100][c] for c in curves] == pytest.approx([4.7746, 3.3076, 3.9669], abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "analytic", "zcdp"), [(0.05, 8, 16), (0.1, 9, 15), (0.2, 10, 16), (0.5, 13, 19), (1.0, 19, 25)]
)
def test_crossovers(epsilon: float, analytic: int, zcdp: int) -> None:
    assert histograms.crossover(epsilon, exact=True) == analytic
    assert histograms.crossover(epsilon, exact=False) == zcdp


def test_several_histograms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "COMPOSITIONS", (1, 2, 10))
    rows = histograms.composed_rows(0.1)
    columns = ("laplace", "zcdp_gaussian", "exact_gaussian")
    assert [rows[1][c] for c in columns] == pytest.approx([1.789, 1.712, 1.368], abs=1e-3)
    assert [rows[2][c] for c in columns] == pytest.approx([4.775, 3.967, 3.308], abs=1e-3)
    assert [row["composed_analytic"] for row in rows] == pytest.approx([0.941, 1.949, 10.493], abs=2e-2)


def test_errors_of_ordered_counts() -> None:
    rows = counts.error_rows(4000, 1)
    assert rows[0]["gaussian_deviation"] == pytest.approx(13.1005, abs=1e-3)
    first, last = (np.array([row["fit_rmse"] for row in part]) for part in (rows[:5], rows[-10:]))
    assert first.min() > 12.2
    assert first.max() < 13.7
    assert last.min() > 8.5
    assert last.max() < 12


def test_half_widths_grow_with_the_square_root() -> None:
    rows = {row["size"]: row for row in counts.threshold_rows()}
    assert [rows[n]["half_width"] for n in (1, 10, 100)] == pytest.approx([420.7, 1369.7, 4454.9], abs=0.06)
    assert rows[100]["half_width"] / rows[1]["half_width"] < 11


@pytest.mark.parametrize("run", [mixed.setwise_figure, histograms.histogram_figures, counts.count_figures])
def test_the_experiments_write_their_tables(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "COMPOSITIONS", (1, 2))
    monkeypatch.setattr(histograms, "LARGEST_CROSSOVER", 10)
    shares: list[float] = []
    if run is not counts.count_figures:  # one figure is enough
        monkeypatch.setattr(histograms, "draw", lambda *_: [])
        monkeypatch.setattr(mixed, "draw", lambda *_: [])
    paths = run(tmp_path, seed=0, trials=5, progress=lambda _what, share: shares.append(share))
    assert all(path.is_file() for path in paths)
    assert any(path.suffix == ".csv" for path in paths)
    assert all(0 <= share <= 1 for share in shares)
