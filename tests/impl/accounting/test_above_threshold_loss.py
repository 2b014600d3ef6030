from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from dpassay.arguments import UsageError
from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_all_below_loss as all_below
from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_loss as halted

ROOT3 = 3**0.5


@pytest.mark.parametrize(
    ("arguments", "digits"),
    [
        ((3, 0.5, 0.15, 0.26, 0, 1, 0.1), 2.35273),
        ((3, 1.5, 0.15, 0.26, 1, 2, 0.1), 2.35273),
        ((10, 1.5, 0.15, 0.26, 1, 2, 0.1), 4.545318),
        ((50, 1.5, 0.15, 0.26, 1, 2, 0.1), 6.883954),
        ((3, 0.5, 0.5, 0.1, 0, 1, 0.05), 6.634569),
        ((4, 0.2, 0.3, 0.05, 0, 1, 0.2), 98.47533),
        ((3, -1.5, 0.2, 0.35, -2, -1, 0.2), 2.70128),
        ((2, 0.5, 0.15, 0.15 * ROOT3, 0, 1, 0.001), 0.017794),
        ((5, 1, 0.05, 0.1, 0, 1, 0.01), 1.47900),
        ((5, 1, 0.1, 0.1, 0, 1, 0.01), 1.59395),
        ((1000, 0, 1, 10, 0, 1, 0.01), 0.157080),
    ],
)
def test_known_losses_of_halting(arguments: tuple[float, ...], digits: float) -> None:
    assert float(halted(*arguments)) == pytest.approx(digits, rel=3e-5)


def test_the_loss_grows_slowly_and_without_bound() -> None:
    times = [10, 1e3, 1e6, 1e12, 1e24, 1e48]
    losses = halted(times, 0.5, 0.15, 0.15 * ROOT3, 0, 1, 0.001)
    np.testing.assert_allclose(losses, [0.0487, 0.1006, 0.1373, 0.1836, 0.2458, 0.3318], atol=6e-5)


def test_known_loss_of_an_uneventful_stream() -> None:
    assert float(all_below(3, 0.5, 0.15, 0.26, 0, 1, 0.1)) == pytest.approx(1.37186, rel=1e-5)


def test_halting_at_once_has_a_closed_form() -> None:
    total = np.hypot(0.3, 0.4)
    truth = np.log(ndtr((0.2 + 0.1 - 0.6) / total) / ndtr((0.2 - 0.6) / total))
    assert float(halted(1, 0.6, 0.3, 0.4, 0.2, 0.9, 0.1)) == pytest.approx(truth, rel=1e-9)
    truth = np.log(ndtr((0.6 - 0.9 + 0.1) / total) / ndtr((0.6 - 0.9) / total))
    assert float(all_below(1, 0.6, 0.3, 0.4, 0.2, 0.9, 0.1)) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize(("x", "z"), [(0.3, 0.4), (0.4, 0.2)])
def test_two_queries_are_a_bivariate_normal(x: float, z: float) -> None:
    rho, low, high, step = 0.6, 0.2, 0.9, 0.1
    total, correlation = np.hypot(x, z), x**2 / (x**2 + z**2)

    def orthant(u: float, sign: int) -> float:
        corner = [(rho - high + u) / total, ((low - rho) if sign < 0 else (rho - high)) / total + u / total]
        return float(multivariate_normal.cdf(corner, cov=[[1, sign * correlation], [sign * correlation, 1]]))

    halting = np.log(orthant(step, -1) / orthant(0, -1))
    staying = np.log(orthant(step, 1) / orthant(0, 1))
    assert float(halted(2, rho, x, z, low, high, step)) == pytest.approx(halting, rel=1e-6)
    assert float(all_below(2, rho, x, z, low, high, step)) == pytest.approx(staying, rel=1e-6)


@pytest.mark.parametrize("bound", [halted, all_below])
def test_shifts_and_scales_change_nothing(bound) -> None:  # type: ignore[no-untyped-def]
    arguments = np.array([0.3, 0.2, 0.5, -0.25, 1.0, 0.125])  # rho, sigmas, low, high, sensitivity
    shift = np.array([1, 0, 0, 1, 1, 0]) * 4.0
    for time in (1, 2, 30):
        plain = bound(time, *arguments)
        np.testing.assert_allclose(bound(time, *(arguments + shift)), plain, rtol=1e-12)
        np.testing.assert_allclose(bound(time, *(arguments * 8)), plain, rtol=1e-12)


def test_two_queries_do_not_tell_the_ends_apart() -> None:
    mirrored = halted(2, [0.2, 0.8], 0.15, 0.3, 0, 1, 0.01)
    assert mirrored[0] == pytest.approx(mirrored[1], rel=1e-9)


def test_the_two_ways_to_integrate_an_uneventful_stream_agree_where_they_meet() -> None:
    below, above = all_below(40, 0.3, 0.2, [0.2 * (1 - 1e-12), 0.2 * (1 + 1e-12)], 0, 1, 0.1)
    assert below == pytest.approx(above, rel=1e-9)


def test_more_noise_can_mean_more_loss_outside_the_range() -> None:
    losses = halted(1, -0.5, np.array([0.06, 0.3]), np.array([0.08, 0.4]), 0, 1, 0.1)
    assert losses[0] == pytest.approx(2.9e-7, rel=0.02)
    assert losses[1] == pytest.approx(0.0505, rel=1e-3)


def test_thresholds_far_outside_the_range() -> None:
    with np.errstate(all="raise", under="ignore"):
        losses = halted([2, 2, 9], [-1e3, 1e3, 1e3], 1, 2, 0, 1, 0.5)
        quiet = all_below([2, 2, 9], [-1e3, 1e3, 1e3], 1, 2, 0, 1, 0.5)
    assert np.all(np.isfinite(losses) & (losses > 0))
    assert np.all(np.isfinite(quiet) & (quiet > 0))  # underflow is rounded up
    assert quiet[1] < 1e-300


def test_zero_sensitivity_or_width_reveals_nothing() -> None:
    np.testing.assert_array_equal(halted([1, 3], 0.5, 1, 1, 0, [1, 1], 0), 0)
    np.testing.assert_array_equal(all_below([1, 3], 0.5, 1, 1, 1, [1, 1], 0.3), 0)


def test_a_sensitivity_above_the_width_counts_as_the_width() -> None:
    assert float(halted(3, 0.5, 0.3, 0.5, 0, 1, 1.2)) == float(halted(3, 0.5, 0.3, 0.5, 0, 1, 1))


@pytest.mark.parametrize("bound", [halted, all_below])
@pytest.mark.parametrize(
    ("place", "value"), [(0, 0), (0, 1.5), (1, np.nan), (2, 0), (3, -1), (4, 2), (5, np.inf), (6, -0.1)]
)
def test_bad_input_is_refused(bound, place: int, value: float) -> None:  # type: ignore[no-untyped-def]
    arguments = [3, 0.5, 0.15, 0.26, 0, 1, 0.1]
    arguments[place] = value
    with pytest.raises(UsageError, match="must"):
        bound(*arguments)


@pytest.mark.parametrize("bound", [halted, all_below])
def test_extreme_ratios_give_a_number_or_a_refusal(bound) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(8)
    points = 300
    rho = rng.choice([-1.0, 1.0], points) * 2 ** rng.uniform(-5, 19, points)
    sigmas = 2 ** rng.choice([0.0, 10.0, 19.5], (2, points))
    losses = bound(
        np.floor(10 ** rng.uniform(0, 9, points)), rho, *sigmas, -0.5, 2**18, 2 ** rng.uniform(-20, 18, points)
    )
    assert np.all(np.isfinite(losses) & (losses > 0))
    with pytest.raises(UsageError, match="at least 2\\^-20"):
        bound(3, 0.5, 1e-7, 1, 0, 1, 0.1)


@pytest.mark.parametrize("bound", [halted, all_below])
@pytest.mark.parametrize(("sigma_threshold", "sigma_query", "high"), [(1e-7, 1, 1e-7), (1, 1e-7, 1e-7), (1, 1, 2e6)])
def test_every_ratio_of_two_scales_is_guarded(
    bound: Callable[..., NDArray[np.float64]], sigma_threshold: float, sigma_query: float, high: float
) -> None:
    for count in (3, np.array([1, 3])):
        with pytest.raises(UsageError, match="at least 2\\^-20"):
            bound(count, 0, sigma_threshold, sigma_query, 0, high, high / 10)
