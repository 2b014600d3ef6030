import math
from typing import Any

import numpy as np
import pytest

from dpassay.claims import UsageError
from dpassay.impl.accounting.odometers import Odometer, half_normal_boundary, mixture_boundary, tuned_for


def test_a_new_odometer_reads_nothing() -> None:
    assert Odometer(delta=0.1).reading == 0.0
    assert Odometer(delta=0.1).information == 0.0


def test_noise_reduction_counts_the_last_release_only() -> None:
    odometer = Odometer(delta=1e-6)
    odometer.spend_noise_reduction(time=0.25, sensitivity=3.0)
    odometer.spend(rho=0.5)
    assert odometer.information == 36.0 + 1.0


def test_the_reading_grows_and_can_be_asked_beforehand() -> None:
    odometer = Odometer(delta=1e-3, tuning=2.0)
    readings = []
    for _ in range(5):
        promised = odometer.reading_after(0.7)
        odometer.spend(0.7)
        assert odometer.reading == promised
        readings.append(odometer.reading)
    assert readings == sorted(set(readings))


def test_the_one_sided_boundary_is_the_sharper_one() -> None:
    v, d = np.geomspace(1e-3, 1e6, 50), 1e-6
    assert (half_normal_boundary(v, 1.0, d) < mixture_boundary(v, 1.0, d)).all()
    assert (half_normal_boundary(v, 1.0, d) > mixture_boundary(v, 1.0, 2 * d)).all()
    assert float(half_normal_boundary(1.0, 1.0, d)) == pytest.approx(7.3400, abs=1e-4)
    assert float(mixture_boundary(1.0, 1.0, d)) == pytest.approx(7.5265, abs=1e-4)


@pytest.mark.parametrize("information", [1e-9, 2.706, 1e12])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.5])
def test_the_tuning_is_the_best_one(information: float, delta: float) -> None:
    best = tuned_for(information, delta)
    at = [float(mixture_boundary(information, g, delta)) for g in (best / 1.1, best, best * 1.1)]
    assert at[1] < min(at[0], at[2])


def test_the_budget_of_the_experiments_reads_less_than_eleven() -> None:
    assert tuned_for(2.706, 1e-6) == pytest.approx(0.087, abs=2e-3)
    odometer = Odometer(delta=1e-6, tuning=tuned_for(2.706, 1e-6))
    odometer.spend(2.706 / 2)
    assert 10.0 < odometer.reading < 10.67


@pytest.mark.parametrize(("information", "tuning"), [(0.0, 1e-300), (1e300, 1e-300), (1e-300, 1e300), (0.0, 5e-324)])
@pytest.mark.parametrize("delta", [5e-324, 1 - 2.0**-53])
def test_extreme_arguments_have_finite_bounds(information: float, tuning: float, delta: float) -> None:
    for bound in (half_normal_boundary, mixture_boundary):
        value = float(bound(information, tuning, delta))
        assert math.isfinite(value)
        assert value >= 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1.0, 1.0, 0.1), "information"),
        ((math.nan, 1.0, 0.1), "information"),
        ((1.0, 0.0, 0.1), "tuning"),
        ((1.0, math.inf, 0.1), "tuning"),
        ((1.0, 1.0, 0.0), "delta"),
        ((1.0, 1.0, 1.0), "delta"),
        ((1e301, 1.0, 0.1), "information"),
        ((1.0, 1e301, 0.1), "tuning"),
    ],
)
def test_arguments_out_of_domain_are_refused(arguments: tuple[float, float, float], name: str) -> None:
    for bound in (half_normal_boundary, mixture_boundary):
        with pytest.raises(UsageError, match=name):
            bound(*arguments)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_an_odometer_needs_a_level(delta: float) -> None:
    with pytest.raises(UsageError, match="delta"):
        Odometer(delta)
    with pytest.raises(UsageError, match="delta"):
        tuned_for(1.0, delta)


@pytest.mark.parametrize("tuning", [0.0, -1.0, math.inf, math.nan])
def test_an_odometer_needs_a_positive_tuning(tuning: float) -> None:
    with pytest.raises(UsageError, match="tuning"):
        Odometer(0.1, tuning)


def test_bad_charges_leave_the_odometer_as_it_was() -> None:
    odometer = Odometer(0.1)
    odometer.spend(1.0)
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="rho"):
            odometer.spend(bad)
        with pytest.raises(UsageError, match="time"):
            odometer.spend_noise_reduction(bad)
        with pytest.raises(UsageError, match="sensitivity"):
            odometer.spend_noise_reduction(1.0, bad)
    assert odometer.information == 2.0


def test_many_small_charges_add_up_exactly() -> None:
    odometer = Odometer(0.1)
    for _ in range(1000):
        odometer.spend(0.05)
    assert odometer.information == pytest.approx(100.0, rel=1e-15)


def test_beyond_float64_the_reading_is_infinite() -> None:
    odometer = Odometer(0.1)
    for _ in range(3):
        odometer.spend(1e308)
    assert odometer.information == odometer.reading == math.inf
    odometer = Odometer(0.1)
    odometer.spend_noise_reduction(5e-324)
    assert odometer.reading == math.inf


def test_integers_of_numpy_do_not_overflow() -> None:
    odometer = Odometer(0.1)
    whole: Any = np.int64(2**32)
    odometer.spend_noise_reduction(1.0, whole)
    assert odometer.information == 2.0**64


@pytest.mark.parametrize("delta", ["0.1", None, [0.1]])
def test_levels_that_are_no_numbers_are_refused(delta: Any) -> None:
    with pytest.raises(UsageError, match="delta"):
        Odometer(delta)
    with pytest.raises(UsageError, match="delta"):
        tuned_for(1.0, delta)
