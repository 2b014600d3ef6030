from collections import defaultdict

import numpy as np
import pytest

from dpassay.impl.accounting.gaussian import gaussian_delta
from dpassay.properties.experiments.gaussian_selection.bike_selection import (
    DELTA,
    SELECTION_COLUMNS,
    WINDOWS,
    contenders,
    selection_rows,
)
from dpassay.spec.ball import float_upper
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon

STEP = 1 / 6946


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    return list(selection_rows(40, np.random.default_rng(11), (0.003, 0.02, 0.05, 0.3)))


def test_rows_have_their_columns_and_cover_every_window(rows: list[dict[str, object]]) -> None:
    assert all(tuple(row) == SELECTION_COLUMNS for row in rows)
    assert {row["window"] for row in rows} == set(WINDOWS)
    assert len({row["mechanism"] for row in rows}) == 6


def test_the_calibrated_noise_meets_its_target_and_hardly_more() -> None:
    for contender in contenders(365, STEP, (0.01, 0.1, 1.0)):
        if contender.label == "Gaussian noisy max":
            attained = float_upper(noisy_max_epsilon(365, contender.noise, 1, STEP))
            assert attained <= contender.epsilon == pytest.approx(attained, rel=1e-8)
        if contender.label == "Gaussian post-processed":
            attained = float(gaussian_delta(contender.epsilon, contender.noise, STEP * 365**0.5))
            assert attained <= DELTA == pytest.approx(attained, rel=1e-8)


def test_samples_agree_with_the_exact_accuracy() -> None:
    # six standard errors of the exact distribution: about 2e-9 for each of the six, at a fixed seed besides
    answers = np.linspace(0.2, 1, 9)
    rng, trials = np.random.default_rng(2), 20_000
    for contender in contenders(9, 0.05, (0.5,)):
        probabilities = contender.probabilities(answers)
        mean = float(probabilities @ answers)
        deviation = float(np.sqrt(probabilities @ (answers - mean) ** 2 / trials))
        sampled = answers[np.asarray(contender.mechanism.sample(answers, trials, rng))].mean()
        assert abs(sampled - mean) < 6 * deviation, contender.label


def test_the_order_of_the_mechanisms(rows: list[dict[str, object]]) -> None:
    exact: dict[tuple[object, float], dict[str, float]] = defaultdict(dict)
    for row in rows:
        exact[row["window"], float(str(row["epsilon"]))][str(row["mechanism"])] = float(str(row["exact"]))
    for (window, epsilon), by_mechanism in exact.items():
        assert by_mechanism["permute-and-flip"] >= by_mechanism["exponential mechanism"] - 1e-12
        gain = by_mechanism["Gaussian noisy max"] - by_mechanism["Gaussian post-processed"]
        if epsilon < 0.1 and window == 365:
            assert gain > 0  # the bound pays where the budget is small and the queries many
        if epsilon > 0.03 and window == 90:
            assert gain < 0
        assert by_mechanism["Laplace noisy max"] > by_mechanism["Gaussian noisy max"]
        if epsilon < 0.5:
            assert by_mechanism["Gaussian noisy max"] > by_mechanism["Laplace post-processed"]
