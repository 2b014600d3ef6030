import math
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters import (
    BudgetExceeded,
    ConcentratedOffer,
    ExPostOffer,
    NoiseReductionOffer,
    OfferedMechanism,
    run_filtered,
)
from dpassay.impl.accounting.odometers import Odometer, half_normal_boundary, mixture_boundary, tuned_for


def test_a_new_odometer_reads_nothing() -> None:
    assert Odometer(delta=0.1).reading == 0.0
    assert Odometer(delta=0.1).information == 0.0


def test_noise_reduction_counts_the_last_release_only() -> None:
    odometer = Odometer(delta=1e-6)
    odometer.spend(NoiseReductionOffer.of_time(0.125, sensitivity=3.0), 4.0)
    odometer.spend(ConcentratedOffer(0.5))
    assert odometer.information == 36.0 + 1.0


def test_the_reading_grows_and_can_be_asked_beforehand() -> None:
    odometer = Odometer(delta=1e-3, tuning=2.0)
    readings = []
    for _ in range(5):
        promised = odometer.reading_after(0.7)
        odometer.spend(ConcentratedOffer(0.7))
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
    odometer.spend(ConcentratedOffer(2.706 / 2))
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
    odometer.spend(ConcentratedOffer(1.0))
    for bad in (-1.0, 0.0, 1.5, math.nan, math.inf):
        with pytest.raises(UsageError, match="precision at the stop"):
            odometer.spend(NoiseReductionOffer(1.0), bad)
    for offer in (ConcentratedOffer(0.1, 0.01), ExPostOffer(0.1), None):
        with pytest.raises(UsageError, match="offer"):
            odometer.spend(offer)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="rho"):
        odometer.reading_after(math.nan)
    assert odometer.information == 2.0


def test_many_small_charges_add_up_exactly() -> None:
    odometer = Odometer(0.1)
    for _ in range(1000):
        odometer.spend(ConcentratedOffer(0.05))
    assert odometer.information == pytest.approx(100.0, rel=1e-15)


def test_beyond_float64_the_reading_is_infinite() -> None:
    odometer = Odometer(0.1)
    for _ in range(3):
        odometer.spend(ConcentratedOffer(1e308))
    assert odometer.information == odometer.reading == math.inf
    assert Odometer(0.1).reading_after(1e308) == math.inf
    assert Odometer(0.1, limit=1e308).would_exceed(ConcentratedOffer(1e308))


def test_integers_of_numpy_do_not_overflow() -> None:
    odometer = Odometer(0.1)
    whole: Any = np.int64(2**32)
    odometer.spend(NoiseReductionOffer(1.0, whole), 1.0)
    assert odometer.information == 2.0**64


def test_a_limit_is_kept_and_used_up() -> None:
    odometer = Odometer(1e-6, tuned_for(2.7, 1e-6), limit=10.0)
    offer = NoiseReductionOffer(0.8)
    run_filtered(odometer, lambda _: OfferedMechanism(offer, lambda: 0.3, lambda _: 0.3))
    assert odometer.reading <= 10 < odometer.reading_after(0.4)
    assert odometer.claim == ApproximateDP(10.0, 1e-6)
    before = odometer.information
    with pytest.raises(BudgetExceeded) as refused:
        odometer.spend(offer, 0.1)
    left = refused.value.remaining.rho
    assert odometer.information == before
    assert 0 < left < 0.4
    assert not odometer.would_exceed(ConcentratedOffer(left))
    assert odometer.would_exceed(ConcentratedOffer(left * (1 + 1e-9)))


def test_without_a_limit_nothing_is_refused_and_nothing_claimed() -> None:
    odometer = Odometer(0.1)
    assert odometer.remaining.rho == math.inf
    assert not odometer.would_exceed(ConcentratedOffer(1e300))
    with pytest.raises(UsageError, match="epsilon"):
        _ = odometer.claim


@pytest.mark.parametrize("limit", [0.0, -1.0, math.nan, -math.inf, "1"])
def test_limits_are_positive(limit: Any) -> None:
    with pytest.raises(UsageError, match="limit"):
        Odometer(0.1, limit=limit)


@pytest.mark.parametrize("delta", ["0.1", None, [0.1]])
def test_levels_that_are_no_numbers_are_refused(delta: Any) -> None:
    with pytest.raises(UsageError, match="delta"):
        Odometer(delta)
    with pytest.raises(UsageError, match="delta"):
        tuned_for(1.0, delta)
