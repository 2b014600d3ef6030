"""The Laplace samplers: distributions in both directions, bad input. False alarms below 1e-10 for each statistic."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from dpassay.arguments import UsageError
from dpassay.claims import ExPost
from dpassay.impl.broken.noise_reduction import draws_fresh_laplace_noise, keeps_the_noise_too_often
from dpassay.impl.mechanisms.laplace_noise_reduction import (
    LaplaceNoiseReduction,
    LaplaceRun,
    backward_laplace_noise,
    backward_laplace_step,
    forward_laplace_noise,
    laplace_noise_reduction,
)
from dpassay.properties.betting.intervals import clopper_pearson

Array = NDArray[np.float64]
Sampler = Callable[..., Array]
TIMES = (9.0, 3.0, 2.9, 0.5)
ALPHA = 1e-10
RUNS = 30_000


def has_scale(numbers: Array, scale: float) -> bool:
    """Whether the sum of moduli of independent Laplace numbers is where it must be, but for 1e-10."""
    total = 2 * float(np.sum(np.abs(numbers))) / scale
    return bool(chi2.ppf(ALPHA / 2, 2 * numbers.size) < total < chi2.isf(ALPHA / 2, 2 * numbers.size))


def has_probability(event: NDArray[np.bool_], probability: float) -> bool:
    low, high = clopper_pearson(int(event.sum()), event.size, 1 - ALPHA)
    return low <= probability <= high


def is_the_process(times: tuple[float, ...], noise: Array) -> bool:
    """Whether marginals, flat steps, sizes of the steps and their signs are those of the process."""
    good = [has_scale(noise[:, k], t) for k, t in enumerate(times)]
    for k in range(1, len(times)):
        t, s = times[k - 1], times[k]
        step = noise[:, k - 1] - noise[:, k]
        moved = step != 0
        good.append(has_probability(~moved, (s / t) ** 2))
        good.append(has_scale(step[moved], t))
        good.append(has_probability((step[moved] > 0) == (noise[moved, k] > 0), 1 / 2))
        large = np.abs(noise[:, k]) > s  # whether it moves does not depend on where it is
        good.append(has_probability(~moved[large], (s / t) ** 2))
    return all(good)


@pytest.mark.parametrize("sampler", [forward_laplace_noise, backward_laplace_noise])
def test_both_samplers_draw_the_process(sampler: Sampler) -> None:
    assert is_the_process(TIMES, sampler(TIMES, RUNS, np.random.default_rng(1))[..., 0])


@pytest.mark.parametrize("mutant", [draws_fresh_laplace_noise, keeps_the_noise_too_often])
def test_mutants_do_not(mutant: object) -> None:
    noise = mutant.noise(RUNS, np.random.default_rng(1))[..., 0]  # type: ignore[attr-defined]
    assert not is_the_process(mutant.times, noise)  # type: ignore[attr-defined]


@pytest.mark.parametrize("sampler", [forward_laplace_noise, backward_laplace_noise])
def test_times_that_nearly_coincide(sampler: Sampler) -> None:
    times = (1.0, math.nextafter(1.0, 0.0), 1 - 1e-9)
    noise = sampler(times, 1000, np.random.default_rng(0))
    assert np.isfinite(noise).all()
    assert has_probability((noise[:, 0] == noise[:, 1])[:, 0], 1 - 2.0**-52)


def test_steps_over_many_orders_of_magnitude() -> None:
    rng = np.random.default_rng(0)
    values = backward_laplace_step([0.0, 1.0, -2.0, 1e300], 1e-280, 1e10, rng)
    assert np.isfinite(values).all()
    assert np.abs(values).max() < 1e-270


def test_a_backward_step_is_odd() -> None:
    values = np.array([0.3, 2.0, 7.0])
    up = backward_laplace_step(values, 0.5, 1.0, np.random.default_rng(5))
    down = backward_laplace_step(-values, 0.5, 1.0, np.random.default_rng(5))
    np.testing.assert_array_equal(up, -down)


@pytest.mark.parametrize(
    ("time", "earlier", "name"),
    [
        (1.0, 1.0, "time"),
        (1e-300, 10.0, "time"),
        (2.0, 1.0, "time"),
        (0.0, 1.0, "time"),
        (math.nan, 1.0, "time"),
        (1.0, math.inf, "earlier"),
    ],
)
def test_times_of_a_step_must_fall(time: float, earlier: float, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        backward_laplace_step(0.0, time, earlier, np.random.default_rng(0))


def test_values_of_a_step_must_be_finite() -> None:
    with pytest.raises(UsageError, match="values"):
        backward_laplace_step([0.0, math.nan], 0.5, 1.0, np.random.default_rng(0))


@pytest.mark.parametrize("sampler", [forward_laplace_noise, backward_laplace_noise])
@pytest.mark.parametrize("times", [(), (1.0, 1.0), (1.0, 2.0), (1.0, 0.0), (math.nan,)])
def test_grids_that_do_not_fall_are_refused(sampler: Sampler, times: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="times"):
        sampler(times, 1, np.random.default_rng(0))


def test_a_session_draws_the_process() -> None:
    rng = np.random.default_rng(4)
    run = LaplaceRun(np.full(RUNS, 3.0), rng)  # independent processes, one for each coordinate
    noise = np.stack([run.refine(time) - 3.0 for time in TIMES], axis=1)
    steps = np.diff(noise, axis=1)
    noise[:, 1:][np.abs(steps) < 1e-12] = noise[:, :-1][np.abs(steps) < 1e-12]  # flat but for rounding
    assert run.time == TIMES[-1]
    assert has_probability(noise[:, 0] == noise[:, 1], 1 / 9)
    assert all(has_scale(noise[:, k], t) for k, t in enumerate(TIMES))


@pytest.mark.parametrize("time", [2.0, 3.0, 0.0, math.nan, math.inf])
def test_a_session_refuses_a_time_that_does_not_fall(time: float) -> None:
    run = LaplaceRun(0.0, np.random.default_rng(0))
    run.refine(2.0)
    with pytest.raises(UsageError, match="time"):
        run.refine(time)
    assert run.time == 2.0


def test_the_ex_post_bound_is_the_price_of_the_last_release() -> None:
    rows = laplace_noise_reduction.sample(np.zeros(1), 100, np.random.default_rng(0))
    (claim,) = laplace_noise_reduction.claims
    assert isinstance(claim, ExPost)
    bounds = {int(row[0]): claim.epsilon_of(tuple(row)) for row in rows}
    assert set(bounds) == {1, 2, 3}
    assert all(1 / t <= bounds[k] < (1 + 1e-12) / t for k, t in ((1, 4.0), (2, 2.0), (3, 1.0)))


@pytest.mark.parametrize("released", [0, -1, 4, 1.5])
def test_no_bound_for_a_number_of_releases_that_cannot_be(released: int) -> None:
    with pytest.raises(UsageError, match="released"):
        LaplaceNoiseReduction(size=1, times=(4.0, 2.0, 1.0)).ex_post_epsilon(released)


def test_the_ex_post_bound_is_a_quotient_rounded_up() -> None:
    times = tuple(k / 7 for k in range(40, 0, -1))
    mechanism = LaplaceNoiseReduction(size=1, sensitivity=0.3, times=times)
    for released, time in enumerate(times, start=1):
        exact = Fraction(0.3) / Fraction(time)
        assert exact <= Fraction(mechanism.ex_post_epsilon(released)) <= exact * (1 + Fraction(1, 2**49))
