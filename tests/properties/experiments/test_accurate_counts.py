import csv
from pathlib import Path

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.experiments.accuracy_first import filter_tightness
from dpassay.properties.experiments.accuracy_first.accurate_counts import METHODS, Protocol, release
from dpassay.properties.experiments.accuracy_first.zipf import (
    ACCOUNTS,
    COLUMNS,
    SIZES,
    ZIPF,
    printed_rho,
    run_word_counts,
    run_zipf,
    zipf_histogram,
)
from dpassay.properties.games.filter_tightness import filter_games

SILENT = lambda _what, _share: None


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_the_budgets_are_those_of_the_two_constants() -> None:
    assert ZIPF.budget == pytest.approx(2.70603, abs=1e-5)
    assert 2 * printed_rho(10.0, 1e-6) == pytest.approx(1.54139, abs=1e-5)


def test_histograms_have_all_samples() -> None:
    counts = zipf_histogram(8000, np.random.default_rng(0))
    assert counts.sum() == 8000
    assert counts.size == 300
    assert counts[:10].mean() > 10 * counts[-100:].mean()


def test_noise_reduction_returns_more_than_doubling(tmp_path: Path) -> None:
    path, *_ = run_zipf(tmp_path, seed=3, trials=12, progress=SILENT)
    rows = rows_of(path)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(SIZES) * len(ACCOUNTS)
    for size in SIZES:
        proved, printed, doubling = (
            next(
                row
                for row in rows
                if (int(row["samples"]), row["method"], row["accounting"]) == (size, a.method, a.accounting)
            )
            for a in ACCOUNTS
        )
        assert 1.15 < float(proved["released"]) / float(doubling["released"]) < 1.7
        assert float(printed["released"]) < float(proved["released"])
        assert 0.9 < float(proved["precision"]) <= 1


def test_the_stand_in_for_words_has_the_same_ordering(tmp_path: Path) -> None:
    [path] = run_word_counts(tmp_path, seed=3, trials=12, progress=SILENT)
    proved, _, doubling = rows_of(path)
    assert float(proved["released"]) > 1.3 * float(doubling["released"])


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_for_nothing_releases_nothing(method: str) -> None:
    poor = Protocol(budget=1e-3, smallest=1e-4, accuracy=0.1, selection_epsilon=0.01)
    got = release(method, np.array([3.0, 2.0]), poor, 50, np.random.default_rng(0))
    assert not got.counts.any()
    assert (got.precision == 1).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_large_budget_releases_everything(method: str) -> None:
    rich = Protocol(budget=1e4, smallest=1e-4, accuracy=0.1, selection_epsilon=0.1)
    got = release(method, np.array([300.0, 200.0, 100.0]), rich, 50, np.random.default_rng(0))
    assert (got.counts == 3).all()


def test_the_tightness_of_filters_is_written_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = [game for game in filter_games() if game.name.startswith("ex-post")]
    monkeypatch.setattr(filter_tightness, "filter_games", lambda: iter(short))
    path, *figures = filter_tightness.run_filter_tightness(tmp_path, seed=0, trials=None, progress=SILENT)
    assert all(figure.stat().st_size > 1000 for figure in figures)
    rows = rows_of(path)
    assert [row["filter"] for row in rows] == ["ex-post", "ex-post, pure"]
    assert float(rows[1]["claimed_over_worst"]) == pytest.approx(1, rel=1e-9)


def test_bad_numbers_of_trials(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="trials"):
        run_zipf(tmp_path, seed=0, trials=0, progress=SILENT)
