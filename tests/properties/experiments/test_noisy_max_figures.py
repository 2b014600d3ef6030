import csv
from pathlib import Path

import pytest

from dpassay.properties.experiments.gaussian_selection import noisy_max_figures as figures
from dpassay.properties.experiments.gaussian_selection.noisy_max_figures import (
    GAIN_COLUMNS,
    GROWTH_COLUMNS,
    MONTE_CARLO_COLUMNS,
    gain_rows,
    growth_rows,
    noisy_max_figures,
)
from dpassay.spec.ball import float_lower
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon


def test_growth_with_the_number_of_queries() -> None:
    rows = growth_rows((2, 10, 100, 829, 100_000), (0.3, 0.05), 0.01)
    values = [row["noisy_max"] for row in rows]
    assert values[:5] == pytest.approx([0.12594, 0.26614, 0.35867, 0.41286, 0.50052], abs=6e-6)
    assert values[5:] == pytest.approx([3.98, 7.28, 8.42, 8.86, 9.47], abs=6e-3)
    for row in rows[:4]:
        enclosed = float_lower(noisy_max_epsilon(row["size"], row["sigma"], 1, row["sensitivity"]))
        assert enclosed <= row["noisy_max"] <= enclosed * (1 + 2e-9)


def test_the_post_processing_bound_grows_with_the_square_root_of_the_number() -> None:
    rows = growth_rows((10, 100, 1000), (0.3,), 0.01)
    assert [row["analytic_gaussian"] for row in rows] == pytest.approx([0.361, 1.271, 4.653], abs=6e-4)


def test_the_gain_over_the_renyi_bound() -> None:
    by_point = {(row["sigma"], row["size"]): row for row in gain_rows((10, 1000), (0.05, 1.0), 0.01)}
    assert by_point[0.05, 1000]["renyi"] == pytest.approx(50.35, abs=6e-3)
    assert by_point[0.05, 10]["renyi"] == pytest.approx(3.23, abs=6e-3)
    assert by_point[1.0, 1000]["renyi"] == pytest.approx(1.567, abs=6e-4)
    assert by_point[1.0, 1000]["analytic_gaussian"] == pytest.approx(1.199, abs=6e-4)
    assert by_point[0.05, 1000]["gain_over_renyi"] == pytest.approx(50.35 - 8.89, abs=2e-2)
    assert by_point[0.05, 10]["gain_over_renyi"] < 0


def test_signs_of_the_gain_at_a_small_sensitivity() -> None:
    rows = gain_rows((2, 10, 100), (0.05,), 0.001)
    assert [row["renyi"] for row in rows] == pytest.approx([0.136, 0.305, 0.980], abs=6e-4)
    assert [row["noisy_max"] for row in rows] == pytest.approx([0.402, 0.735, 0.848], abs=6e-4)
    assert [row["gain_over_renyi"] > 0 for row in rows] == [False, False, True]
    assert rows[2]["analytic_gaussian"] == pytest.approx(0.7255, abs=6e-5)
    assert rows[2]["gain_over_analytic"] < 0


@pytest.mark.parametrize("sensitivity", [0.01, 0.001])
def test_noisy_max_beats_the_renyi_bound_from_a_hundred_queries_on(sensitivity: float) -> None:
    assert all(row["gain_over_renyi"] > 0 for row in gain_rows((100, 300, 1000), (0.05, 0.1, 0.3, 1.0), sensitivity))


def test_the_experiment_writes_its_tables_and_repeats_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    monkeypatch.setattr(figures, "MONTE_CARLO_SAMPLES", (1000,))

    def run(name: str, seed: int) -> dict[str, str]:
        (tmp_path / name).mkdir()
        paths = noisy_max_figures(
            tmp_path / name, seed=seed, trials=2, progress=lambda _what, share: shares.append(share)
        )
        assert all(path.is_file() for path in paths)
        return {path.name: path.read_text() for path in paths if path.suffix == ".csv"}

    first = run("first", 4)
    monkeypatch.setattr(figures, "draw", lambda *_: [])  # figures are slow and not compared
    again, other = run("again", 4), run("other", 5)
    assert first == again
    assert first["noisy_max_monte_carlo.csv"] != other["noisy_max_monte_carlo.csv"]
    headers = {name: tuple(next(csv.reader(text.splitlines()))) for name, text in first.items()}
    assert headers == {
        "noisy_max_vs_size.csv": GROWTH_COLUMNS,
        "noisy_max_gain.csv": GAIN_COLUMNS,
        "noisy_max_monte_carlo.csv": MONTE_CARLO_COLUMNS,
    }
    assert all(0 <= share <= 1 for share in shares)
