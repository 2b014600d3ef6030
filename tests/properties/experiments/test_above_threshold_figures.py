import csv
import math
from pathlib import Path

import pytest

from dpassay.properties.experiments.gaussian_selection.above_threshold_ante import ante_by_halting_moment, ante_direct
from dpassay.properties.experiments.gaussian_selection.above_threshold_figures import (
    COMPARISON_COLUMNS,
    LOSS_COLUMNS,
    LOSS_SIGMA,
    LOSS_THRESHOLDS,
    NOISE_RATIO,
    QUANTILE_COLUMNS,
    above_threshold_figures,
    comparison_rows,
    loss_rows,
    quantile_rows,
)
from dpassay.spec.ball import float_lower
from dpassay.spec.distributions.above_threshold import log_halting_probability


def losses(time: int, thresholds: tuple[float, ...] = LOSS_THRESHOLDS) -> list[float]:
    return [row["ex_post"] for row in loss_rows((time,), thresholds)]


def test_at_time_two_the_loss_is_least_in_the_middle() -> None:
    values = losses(2)
    assert min(values) == pytest.approx(0.017794, abs=6e-7)
    assert LOSS_THRESHOLDS[values.index(min(values))] == pytest.approx(0.5, abs=1e-9)
    assert (values[0], values[-1]) == pytest.approx((0.01819, 0.01819), abs=6e-6)


@pytest.mark.parametrize(("time", "expected"), [(3, (0.02889, 0.02536, 0.02271)), (100, (0.09954, 0.08093, 0.06314))])
def test_later_losses_fall_with_the_threshold(time: int, expected: tuple[float, ...]) -> None:
    assert losses(time, (0.0, 0.5, 1.0)) == pytest.approx(expected, abs=6e-6)
    values = losses(time)
    assert values == sorted(values, reverse=True)


def test_at_time_one_the_loss_grows_with_the_threshold() -> None:
    assert losses(1, (0.0, 0.5, 1.0)) == pytest.approx((0.00266, 0.00693, 0.01198), abs=6e-6)
    values = losses(1)
    assert values == sorted(values)


@pytest.mark.parametrize(("time", "threshold"), [(1, 0.5), (2, 0.5), (10, 1.0), (100, 0.0)])
def test_losses_are_those_of_the_worst_pair(time: int, threshold: float) -> None:
    scales = (threshold, LOSS_SIGMA, NOISE_RATIO * LOSS_SIGMA)
    step = 1e-3
    moved = log_halting_probability([(1 - step, time - 1)], step, *scales)
    loss = float_lower(moved - log_halting_probability([(1, time - 1)], 0, *scales))
    assert loss == pytest.approx(losses(time, (threshold,))[0], rel=2e-9)


QUANTILES_OF_THE_CATALOGUE = {  # sigma_X = .15: ex ante, ex post at the median and at the 80th percentile
    0.2: (0.0668, 0.0274, 0.0535),
    0.5: (0.0781, 0.0631, 0.0816),
    0.8: (0.0939, 0.0851, 0.0979),
    1.0: (0.1061, 0.0947, 0.1061),
}


@pytest.mark.parametrize("threshold", QUANTILES_OF_THE_CATALOGUE)
def test_losses_at_the_quantiles_of_the_halting_time(threshold: float) -> None:
    median, eightieth = quantile_rows(threshold, (0.15,))
    figures = (median["halting_moment"], median["ex_post"], eightieth["ex_post"])
    assert figures == pytest.approx(QUANTILES_OF_THE_CATALOGUE[threshold], abs=6e-5)
    assert (median["quantile"], eightieth["quantile"]) == (0.5, 0.8)


@pytest.mark.parametrize(
    ("threshold", "post", "ante"),
    [(0.2, 0.6015, 0.2494), (0.5, 0.7736, 0.4205), (0.8, 0.8665, 0.6216), (1.0, 0.9235, 0.7610)],
)
def test_with_little_noise_the_median_outcome_reveals_more_than_the_bound(
    threshold: float, post: float, ante: float
) -> None:
    median = quantile_rows(threshold, (0.05,))[0]
    assert (median["ex_post"], median["halting_moment"]) == pytest.approx((post, ante), abs=6e-5)
    assert median["saving"] < 0


def test_with_much_noise_the_median_outcome_reveals_less() -> None:
    for threshold in (0.2, 0.5, 0.8, 1.0):
        assert quantile_rows(threshold, (0.3,))[0]["saving"] > 0
    signs = [quantile_rows(threshold, (0.1,))[0]["saving"] > 0 for threshold in (0.2, 0.5, 0.8, 1.0)]
    assert signs == [True, False, False, False]


def test_the_saving_falls_with_time_and_the_direct_bound_is_the_sharper_one() -> None:
    rows = comparison_rows(0.5, (0.1, 0.2), (1, 10, 1000))
    for group in (rows[:3], rows[3:]):
        savings = [row["saving"] for row in group]
        assert savings == sorted(savings, reverse=True)
    assert all(row["direct"] < row["halting_moment"] for row in rows)


@pytest.mark.parametrize(
    ("sigma", "share", "moment", "direct"),
    [(0.09, 1, 0.02388, 0.01832), (0.15, 1, 0.01104, 0.00941), (0.12, 1, 0.01524, None),
     (0.09, 731, 0.02613, None), (0.12, 731, 0.01719, None), (0.15, 731, 0.01274, None)],
)  # fmt: skip
def test_bounds_in_advance(sigma: float, share: int, moment: float, direct: float | None) -> None:
    delta, noise = 1 / 6946 / share, (0.575, sigma, math.sqrt(3) * sigma)
    assert ante_by_halting_moment(delta, *noise, low=0, sensitivity=1 / 6946) == pytest.approx(moment, abs=6e-6)
    if direct is not None:
        assert ante_direct(delta, *noise, low=0, sensitivity=1 / 6946) == pytest.approx(direct, abs=6e-6)


def test_the_experiment_writes_its_tables(tmp_path: Path) -> None:
    paths = above_threshold_figures(tmp_path, seed=0, trials=None, progress=lambda _what, _share: None)
    headers = {
        path.name: tuple(next(csv.reader(path.read_text().splitlines()))) for path in paths if path.suffix == ".csv"
    }
    assert headers == {
        "expost_vs_exante.csv": COMPARISON_COLUMNS,
        "expost_at_quantiles.csv": QUANTILE_COLUMNS,
        "expost_vs_threshold.csv": LOSS_COLUMNS,
    }
