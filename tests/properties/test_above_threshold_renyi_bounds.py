"""The accountants of AboveThreshold's Renyi privacy away from low = 0, and with arrays of arguments.

At whole orders the direct bound is compared with an enclosure by another quadrature; the others with what they are at
low = 0, with closed forms, and entry by entry with themselves.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.checks.bounds import on_the_safe_side

from dpassay.arguments import UsageError
from dpassay.impl.accounting.above_threshold_renyi import (
    above_threshold_affine_rdp,
    above_threshold_rdp,
    above_threshold_rdp_by_halting_time,
    above_threshold_rdp_printed,
)
from dpassay.spec.ball import ball
from dpassay.spec.domains.streams import ThresholdSetting
from dpassay.spec.theorems.gaussian_selection.above_threshold_renyi import rdp_nonneg
from dpassay.spec.theorems.gaussian_selection.second_renyi import log_direct_moment, log_moment_of_worst_time
from dpassay.spec.verdict import Outcome

Bound = Callable[..., Any]

# low, sensitivity, threshold, sigma_threshold, sigma_query: all dyadic, so that both sides read the same numbers
SETTINGS = [
    (-2.5, 0.25, -1.0, 0.5, 1.25),
    (3.0, 0.125, 3.75, 0.25, 0.5),
    (3.0, 0.5, 3.0, 1.0, 2.5),
    (-0.75, 0.375, -0.25, 0.625, 1.5),
]
BY_ORDER: list[Bound] = [above_threshold_rdp, above_threshold_rdp_by_halting_time, above_threshold_rdp_printed]


def setting_of(low: float, step: float, rho: float, sigma_x: float, sigma_z: float) -> ThresholdSetting:
    exact = [Fraction(x) for x in (low, low + 10, step, rho, sigma_x, sigma_z)]
    return ThresholdSetting(*exact)


@pytest.mark.parametrize("numbers", SETTINGS)
@pytest.mark.parametrize("alpha", [2, 5])
def test_the_direct_bound_away_from_zero(numbers: tuple[float, ...], alpha: int) -> None:
    low, step, rho, sigma_x, sigma_z = numbers
    setting = setting_of(*numbers)
    shift = alpha * Fraction(step / sigma_x) ** 2 / 2
    truth = lambda: ball(shift) + log_direct_moment(setting, alpha - 1) / (alpha - 1)
    bound = float(above_threshold_rdp(alpha, rho, sigma_x, sigma_z, low, step))
    verdict = on_the_safe_side(bound, truth, Fraction(1, 10**8))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize("numbers", SETTINGS)
def test_the_closed_bound_away_from_zero(numbers: tuple[float, ...]) -> None:
    low, step, rho, sigma_x, sigma_z = numbers
    bound = float(above_threshold_rdp_printed(3, rho, sigma_x, sigma_z, low, step))
    verdict = on_the_safe_side(bound, lambda: rdp_nonneg(setting_of(*numbers), 3))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize("numbers", SETTINGS)
def test_the_bound_by_halting_time_is_the_best_of_its_exponents(numbers: tuple[float, ...]) -> None:
    low, step, rho, sigma_x, sigma_z = numbers
    alpha, gamma, w = 40.0, 2, step / sigma_x
    moment = log_moment_of_worst_time(ball(sigma_x / sigma_z), ball((rho - low) / sigma_z), gamma)
    at_two = gamma * alpha * w**2 / 2 + 2 * alpha * (step / sigma_z) ** 2 + float(moment) / (gamma * (alpha - 1))
    assert alpha * w**2 / 2 < above_threshold_rdp_by_halting_time(alpha, rho, sigma_x, sigma_z, low, step) < at_two


@pytest.mark.parametrize("bound", BY_ORDER)
@pytest.mark.parametrize("alpha", [1.5, 30.0, 2.0**14])
@pytest.mark.parametrize("low", [-7.5, 4.0])
def test_only_the_distance_from_low_matters(bound: Bound, alpha: float, low: float) -> None:
    for rho, sigma_x, sigma_z, step in ((0.5, 0.25, 0.5, 0.125), (0.0, 1.0, 2.0, 0.75), (2.0, 0.5, 1.5, 0.25)):
        at_zero = bound(alpha, rho, sigma_x, sigma_z, 0.0, step)
        moved = bound(alpha, rho + low, sigma_x, sigma_z, low, step)
        np.testing.assert_allclose(moved, at_zero, rtol=1e-12)
        higher = bound(alpha, rho + 1.0, sigma_x, sigma_z, 0.0, step)
        assert higher > at_zero  # a threshold farther from low lets the run go on longer


@pytest.mark.parametrize("bound", BY_ORDER)
def test_arrays_are_bounded_entry_by_entry(bound: Bound) -> None:
    columns = [np.array(column) for column in zip(*SETTINGS, strict=True)]
    low, step, rho, sigma_x, sigma_z = columns
    together = bound(np.array([[2.0], [2.0**12]]), rho, sigma_x, sigma_z, low, step)
    for i, alpha in enumerate((2.0, 2.0**12)):
        for j, (a, d, r, x, z) in enumerate(SETTINGS):
            np.testing.assert_allclose(together[i, j], bound(alpha, r, x, z, a, d), rtol=1e-9)


GOOD = {"threshold": 3.5, "sigma_threshold": 0.5, "sigma_query": 1.0, "low": 3.0, "sensitivity": 0.25}


@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        ("threshold", 1e8, "2\\^-20 of each other"),
        ("low", -1e8, "2\\^-20 of each other"),
        ("sigma_threshold", 1e-8, "2\\^-20 of each other"),
        ("sigma_query", 1e8, "2\\^-20 of each other"),
        ("sigma_threshold", 0.0, "sigma_threshold"),
        ("sensitivity", -1.0, "sensitivity"),
        ("low", np.nan, "low"),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_one_bad_entry_is_refused(name: str, bad: float, message: str, place: int) -> None:
    values = np.full(3, GOOD[name])
    values[place] = bad
    arguments = GOOD | {name: values}
    for bound in BY_ORDER:
        with pytest.raises(UsageError, match=message):
            bound(alpha=2.0, **arguments)
    with pytest.raises(UsageError, match=message):
        above_threshold_affine_rdp(**arguments)


@pytest.mark.parametrize("place", [0, 2])
def test_one_noise_ratio_below_the_root_of_three_is_refused_by_the_closed_form(place: int) -> None:
    noise = np.full(3, 1.0)
    noise[place] = 0.86  # sqrt(3)/2 is 0.866
    with pytest.raises(UsageError, match="sigma_query must be at least sqrt"):
        above_threshold_affine_rdp(**GOOD | {"sigma_query": noise})


@pytest.mark.parametrize("place", [0, 2])
def test_one_order_of_at_most_one_is_refused(place: int) -> None:
    orders = np.full(3, 2.0)
    orders[place] = 1.0
    for bound in BY_ORDER:
        with pytest.raises(UsageError, match="alpha"):
            bound(alpha=orders, **GOOD)


def test_far_orders_have_the_elementary_bound() -> None:
    """Above a reach of 256: s sqrt(2/pi) + s^2/2 and log(1 + e^(power centre + (power slope)^2/2)), by hand."""
    alpha, low, step, rho, sigma_x, sigma_z = 2.0**12 + 1, -3.0, 0.25, -2.0, 0.5, 1.0
    s, power = 0.5, 2.0**11  # (alpha - 1) s; the reach is 1024
    centre = 2.0**12 * step + (rho - low)
    moment = 2.0**12 * (s * np.sqrt(2 / np.pi) + s * s / 2) + power * centre + (power / 2) ** 2 / 2
    expected = alpha * 0.5**2 / 2 + moment / 2.0**12
    np.testing.assert_allclose(above_threshold_rdp(alpha, rho, sigma_x, sigma_z, low, step), expected, rtol=1e-8)


@pytest.mark.parametrize(("sigma_x", "sigma_z"), [(0.25, 1.0), (1.0, 1.0), (1.0, 0.5)])
def test_the_elementary_bound_begins_at_a_reach_of_256(sigma_x: float, sigma_z: float) -> None:
    """The reach is (alpha - 1) s sigma_X/sigma_Z; there the divergence by orders jumps by more than a 5000th part."""
    step = 0.25
    orders = 1 + np.array([255.9, 256.1]) * sigma_z**2 / (2 * step * sigma_x)
    before, beyond = above_threshold_rdp(orders, 0.0, sigma_x, sigma_z, 0.0, step) / orders
    assert beyond > before * (1 + 1 / 5000)


def test_one_entry_without_sensitivity_costs_nothing_beside_others() -> None:
    together = above_threshold_rdp(3.0, 0.5, 1.0, 1.0, 0.0, np.array([0.0, 0.25]))
    assert together[0] == 0
    np.testing.assert_allclose(together[1], above_threshold_rdp(3.0, 0.5, 1.0, 1.0, 0.0, 0.25), rtol=1e-9)


def test_the_distance_of_threshold_and_low_is_limited_and_not_their_size() -> None:
    for bound in BY_ORDER:  # the last one is far: its log-ratio has the elementary bound
        for alpha in (3.0, 30.0, 2.0**14):
            plain = bound(alpha, 0.5, 0.5, 1.0, 0.0, 0.25)
            np.testing.assert_allclose(bound(alpha, 2.0**50 + 0.5, 0.5, 1.0, 2.0**50, 0.25), plain, rtol=1e-12)
    with pytest.raises(UsageError, match="2\\^-20 of each other"):
        above_threshold_rdp(3.0, 2.0**22, 0.5, 1.0, -(2.0**22), 0.25)


def test_the_moment_of_the_halting_time_is_infinite_only_where_the_noise_says_so() -> None:
    bounds = above_threshold_rdp_by_halting_time(3.0, 3.5, np.array([0.5, 1.0, 1.5]), 1.0, 3.0, 0.25)
    assert np.isinf(bounds).tolist() == [False, True, True]
