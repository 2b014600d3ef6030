"""The odometer against interactions of many rounds, by simulation; false alarms below 1e-10 for each test."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.impl.accounting.filters import ConcentratedOffer, NoiseReductionOffer
from dpassay.impl.accounting.odometers import Odometer, half_normal_boundary
from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianRun, brownian_noise
from dpassay.properties.audit.intervals import clopper_pearson

Array = NDArray[np.float64]
ALPHA = 1e-10
RUNS, DELTA = 40_000, 0.05
LOOKS = np.geomspace(0.05, 500.0, 60)
"""Information at which the analyst looks; stopping there is what every sequence of rounds comes down to."""


def losses(seed: int) -> Array:
    """Draw the losses of queries that move by 1, at all looks: u/2 + W(u)."""
    noise = brownian_noise(1 / LOOKS, RUNS, np.random.default_rng(seed))[..., 0]
    return LOOKS * (0.5 + noise)


def crossed(reading: Array, seed: int) -> tuple[float, float]:
    """Return an interval for the probability that the loss reaches the reading at some look."""
    count = int((losses(seed) >= reading).any(axis=1).sum())
    return clopper_pearson(count, RUNS, 1 - ALPHA)


@pytest.mark.parametrize("tuning", [0.1, 1.0, 30.0])
def test_the_reading_is_kept_at_all_times(tuning: float) -> None:
    reading = LOOKS / 2 + half_normal_boundary(LOOKS, tuning, DELTA)
    low, high = crossed(reading, seed=1)
    assert low <= DELTA
    assert high > DELTA / 4  # nor is it idle: with more looks the probability tends to DELTA


def test_a_quantile_for_a_fixed_time_is_not() -> None:
    low, _ = crossed(LOOKS / 2 - np.sqrt(LOOKS) * ndtri(DELTA), seed=2)
    assert low > 2 * DELTA


def test_the_printed_bound_of_thm_5_is_not() -> None:
    low, _ = crossed(np.sqrt((LOOKS + 1) * np.log((LOOKS + 1) / DELTA**2)), seed=3)
    assert low > 0.9


def test_an_analyst_who_refines_while_the_odometer_allows_it() -> None:
    """Rounds are run online: refine while the reading after the step stays below a limit, then take the next query."""
    rng, limit = np.random.default_rng(5), 6.0
    odometer = Odometer(delta=1e-3, tuning=1.0, limit=limit)
    rounds = 0
    while not odometer.would_exceed(ConcentratedOffer(0.05)):
        run = BrownianRun(float(rounds), rng)
        for time in (10.0, 5.0, 2.0, 1.0):
            if odometer.would_exceed(NoiseReductionOffer.of_time(time)):
                break
            run.refine(time)
        odometer.spend(NoiseReductionOffer.of_time(run.time), run.precision)
        rounds += 1
        assert odometer.reading <= limit
    assert rounds >= 1
    assert odometer.reading_after(0.05) > limit
