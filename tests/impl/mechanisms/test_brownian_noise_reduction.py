"""The Brownian sampler: distributions, sessions, prefixes, bad input. False alarms below 1e-10 for each statistic."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP
from dpassay.impl.broken.noise_reduction import draws_fresh_noise
from dpassay.impl.mechanisms.brownian_noise_reduction import (
    BrownianNoiseReduction,
    BrownianRun,
    brownian_noise,
    brownian_noise_reduction,
)
from dpassay.impl.mechanisms.noise_reduction import StopsAbove, never_stops, released_counts

Array = NDArray[np.float64]
TIMES = (9.0, 4.0, 3.9, 0.5, 0.01)
ALPHA = 1e-10


def has_unit_variance(numbers: Array) -> bool:
    """Whether the sum of squares of independent standard normal numbers is where it must be, but for 1e-10."""
    total = float(np.sum(numbers**2))
    return bool(chi2.ppf(ALPHA / 2, numbers.size) < total < chi2.isf(ALPHA / 2, numbers.size))


def are_brownian(times: tuple[float, ...], noise: Array) -> bool:
    """Whether the increments in information time have the right variances, and no two of them are correlated."""
    u = 1 / np.array(times)
    steps = np.diff(noise * u, axis=1, prepend=0.0) / np.sqrt(np.diff(u, prepend=0.0))
    pairs = itertools.combinations(range(len(times)), 2)
    mixed = [(steps[:, a] + sign * steps[:, b]) / math.sqrt(2) for a, b in pairs for sign in (1, -1)]
    return all(has_unit_variance(each) for each in (*steps.T, *mixed))


def test_the_noise_is_a_brownian_motion() -> None:
    noise = brownian_noise(TIMES, 20_000, np.random.default_rng(1))[..., 0]
    assert are_brownian(TIMES, noise)


def test_fresh_noise_is_none() -> None:
    noise = draws_fresh_noise.noise(20_000, np.random.default_rng(1))[..., 0]
    assert not are_brownian(draws_fresh_noise.times, noise)


def test_coordinates_are_independent() -> None:
    noise = brownian_noise((4.0, 1.0), 20_000, np.random.default_rng(2), dimension=2)
    first, second = noise[:, 1, 0], noise[:, 1, 1]
    assert has_unit_variance((first + second) / math.sqrt(2))
    assert has_unit_variance((first - second) / math.sqrt(2))


def test_a_session_is_one_row_of_the_vectorised_sampler() -> None:
    rows = brownian_noise(TIMES, 1, np.random.default_rng(3), dimension=2)[0]
    run = BrownianRun([5.0, -1.0], np.random.default_rng(3))
    for time, noise in zip(TIMES, rows, strict=True):
        np.testing.assert_allclose(run.refine(time), np.array([5.0, -1.0]) + noise, rtol=1e-13)
    assert run.time == pytest.approx(TIMES[-1])
    assert run.precision == 1 / TIMES[-1]


def test_a_session_starts_with_nothing() -> None:
    run = BrownianRun(1.0, np.random.default_rng(0))
    assert (run.time, run.precision, run.value) == (math.inf, 0.0, None)


def test_a_session_may_be_extended_after_it_stopped() -> None:
    run = BrownianRun(10.0, np.random.default_rng(0))
    times, values = run.refine_until([100.0, 1.0, 1e-4], StopsAbove(-1000.0))
    assert times.tolist() == [100.0]
    assert values.shape == (1, 1)
    times, values = run.refine_until([1.0, 1e-4])
    assert times.tolist() == [1.0, 1e-4]
    assert abs(values[-1, 0] - 10) < 0.1


def test_the_threshold_is_for_the_first_coordinate_of_the_latest_release() -> None:
    values = np.zeros((3, 2, 2))
    values[0, -1, 0] = values[1, -1, 1] = values[2, 0, 0] = 1.0
    assert StopsAbove(0.5)(np.array([2.0, 1.0]), values).tolist() == [True, False, False]


@pytest.mark.parametrize("time", [2.0, 3.0, 0.0, -1.0, math.nan, math.inf])
def test_a_session_refuses_a_time_that_does_not_fall(time: float) -> None:
    run = BrownianRun(0.0, np.random.default_rng(0))
    run.refine(2.0)
    before = run.value
    with pytest.raises(UsageError, match="time"):
        run.refine(time)
    assert run.value is before


@pytest.mark.parametrize(
    "times", [(), (1.0, 1.0), (1.0, 2.0), (1.0, 0.0), (1.0, -1.0), (math.nan,), (math.inf,), (5e-324,)]
)
def test_grids_that_do_not_fall_are_refused(times: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="times"):
        brownian_noise(times, 1, np.random.default_rng(0))
    with pytest.raises(UsageError, match="times"):
        BrownianNoiseReduction(size=1, times=times)


@pytest.mark.parametrize("answer", [math.nan, math.inf, "one", [[1.0], [2.0, 3.0]]])
def test_answers_that_are_no_numbers_are_refused(answer: object) -> None:
    with pytest.raises(UsageError, match="answer"):
        BrownianRun(answer, np.random.default_rng(0))  # type: ignore[arg-type]


@pytest.mark.parametrize(("runs", "dimension"), [(-1, 1), (1, 0), (1.5, 1)])
def test_counts_must_be_counts(runs: int, dimension: int) -> None:
    with pytest.raises(UsageError, match="must be an integer"):
        brownian_noise((1.0,), runs, np.random.default_rng(0), dimension=dimension)


def test_a_dense_grid_has_no_cancellation() -> None:
    times = 1 / np.linspace(1.0, 1.0 + 1e-9, 1000)
    times = times[np.diff(times, prepend=np.inf) < 0]
    noise = brownian_noise(times, 10, np.random.default_rng(0))
    assert np.isfinite(noise).all()
    assert float(np.ptp(noise, axis=1).max()) < 1e-3


def test_extreme_times_are_drawn() -> None:
    noise = brownian_noise((1e300, 1.0, 1e-300), 4, np.random.default_rng(0))
    assert np.isfinite(noise).all()


def test_a_rule_is_shown_prefixes_of_running_runs_only() -> None:
    shown: list[tuple[int, int]] = []

    def rule(times: Array, values: Array) -> NDArray[np.bool_]:
        shown.append((len(times), len(values)))
        assert values.shape[1] == len(times)
        first: NDArray[np.bool_] = np.arange(len(values)) == 0
        return first

    counts = released_counts(rule, np.array([3.0, 2.0, 1.0]), np.zeros((4, 3, 1)))
    assert shown == [(1, 4), (2, 3)]
    assert counts.tolist() == [1, 2, 3, 3]


def test_a_rule_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="stop must return"):
        released_counts(lambda times, values: np.zeros(1, dtype=bool), np.array([2.0, 1.0]), np.zeros((4, 2, 1)))


def test_outcomes_tell_what_was_released_and_nothing_else() -> None:
    rows = brownian_noise_reduction.sample(np.zeros(1), 200, np.random.default_rng(0))
    counts = rows[:, 0].astype(int)
    assert set(counts) == {1, 2, 3}
    for row, count in zip(rows, counts, strict=True):
        assert (row[1 + count :] == 0).all()
        assert (row[1:count] <= 1.0).all()
        assert count == 3 or row[count] > 1.0


def test_the_claim_is_the_price_of_the_whole_grid() -> None:
    (claim,) = BrownianNoiseReduction(size=3, times=(2.0, 0.5), stop=never_stops, sensitivity=2.0).claims
    assert isinstance(claim, ZCDP)
    assert 4.0 <= claim.rho < 4.0 * (1 + 1e-12)


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.nan])
def test_the_sensitivity_must_be_positive(sensitivity: float) -> None:
    with pytest.raises(UsageError, match="sensitivity"):
        BrownianNoiseReduction(size=1, times=(1.0,), sensitivity=sensitivity)


def test_data_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="data"):
        brownian_noise_reduction.sample(np.zeros(2), 1, np.random.default_rng(0))


def test_a_session_knows_the_time_that_was_asked_for() -> None:
    run = BrownianRun(0.0, np.random.default_rng(0))
    run.refine(49.0)  # 1/(1/49) is not 49
    assert run.time == 49.0
    close = [1.8999999999999995, 1.8999999999999992]
    assert 1 / close[0] == 1 / close[1]
    times, _ = run.refine_until(close)
    assert times.tolist() == close
