import csv
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.experiments.base import all_experiments, find_experiment
from dpassay.properties.experiments.gaussian_selection import bike_sharing
from dpassay.properties.experiments.gaussian_selection.bike_selection import SELECTION_COLUMNS
from dpassay.properties.experiments.gaussian_selection.bike_threshold import BUDGET_COLUMNS, SPENT_COLUMNS
from dpassay.spec.sources import item_table


def test_experiments_are_registered_with_items_that_exist() -> None:
    experiments = {experiment.name: experiment for experiment in all_experiments()}
    assert {"bike-sharing", "noisy-max-figures", "above-threshold-figures"} <= set(experiments)
    items = {item for experiment in experiments.values() for item in experiment.items}
    assert items <= set(item_table())
    assert (
        find_experiment("bike-sharing").where
        == "dpassay.properties.experiments.gaussian_selection.bike_sharing:bike_sharing"
    )


def run(out: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(bike_sharing, "SIGMAS", (0.15,))
    monkeypatch.setattr(bike_sharing, "EPSILONS", (0.01, 0.1))
    out.mkdir()
    paths = bike_sharing.bike_sharing(out, seed=seed, trials=2, progress=lambda _what, _share: None)
    assert all(path.is_file() for path in paths)
    return {path.name: path.read_text() for path in paths if path.suffix == ".csv"}


def test_the_experiment_writes_its_tables_and_repeats_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tmp_path / "first", 1, monkeypatch)
    monkeypatch.setattr(bike_sharing, "draw", lambda *_: [])  # figures are slow and not compared
    again = run(tmp_path / "again", 1, monkeypatch)
    other = run(tmp_path / "other", 2, monkeypatch)
    assert first == again
    assert all(first[name] != other[name] for name in first)
    headers = {name: tuple(next(csv.reader(text.splitlines()))) for name, text in first.items()}
    assert headers == {
        "bike_peak_day.csv": SELECTION_COLUMNS,
        "bike_busy_days.csv": SPENT_COLUMNS,
        "bike_busy_days_at_budget.csv": BUDGET_COLUMNS,
    }


def test_rows_written_before_an_interruption_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_what: str, share: float) -> None:
        if share > 0.1:
            raise KeyboardInterrupt

    monkeypatch.setattr(bike_sharing, "EPSILONS", (0.01, 0.1))
    with pytest.raises(KeyboardInterrupt):
        bike_sharing.bike_sharing(tmp_path, seed=0, trials=2, progress=interrupt)
    assert len((tmp_path / "bike_peak_day.csv").read_text().splitlines()) > 5


def test_no_repetition_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="trials must be at least 1, got 0"):
        bike_sharing.bike_sharing(tmp_path, seed=0, trials=0, progress=lambda _what, _share: None)
