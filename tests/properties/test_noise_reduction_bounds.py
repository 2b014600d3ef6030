"""Odometer and samplers of impl against the enclosures of spec, over the domains that they state."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side

from dpassay.impl.accounting.filters import ConcentratedOffer
from dpassay.impl.accounting.odometers import Odometer, half_normal_boundary, mixture_boundary
from dpassay.impl.mechanisms.brownian_noise_reduction import brownian_noise
from dpassay.impl.mechanisms.laplace_noise_reduction import backward_laplace_noise, forward_laplace_noise
from dpassay.properties.betting.intervals import clopper_pearson
from dpassay.spec.ball import midpoint, precision
from dpassay.spec.distributions.stopped_brownian import StoppedRun, stopped_probability_below
from dpassay.spec.theorems.accuracy_first import time_uniform_loss
from dpassay.spec.theorems.accuracy_first.odometer import odometer_reading
from dpassay.spec.verdict import Outcome

ACCURACY = Fraction(1, 10**12)
ALPHA = 1e-10
RUNS = 100_000
magnitudes = st.one_of(st.sampled_from([1e-6, 1.0, 2.706, 1e6]), st.floats(-12, 12).map(lambda e: 10.0**e))
levels = st.one_of(st.sampled_from([1e-300, 1e-6, 0.1, 0.5, 1 - 1e-10]), st.floats(-300, -0.01).map(lambda e: 10.0**e))
checked = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@checked
@given(magnitudes, magnitudes, levels)
def test_boundaries(information: float, tuning: float, delta: float) -> None:
    one = float(half_normal_boundary(information, tuning, delta))
    two = float(mixture_boundary(information, tuning, delta))
    for bound, truth in (
        (one, lambda: time_uniform_loss.half_normal_boundary(information, tuning, delta)),
        (two, lambda: time_uniform_loss.mixture_boundary(information, tuning, delta)),
    ):
        verdict = on_the_safe_side(bound, truth, ACCURACY)
        assert verdict.outcome is Outcome.HOLDS, verdict.detail


@checked
@given(st.lists(magnitudes, min_size=1, max_size=5), magnitudes, levels)
def test_readings(charges: list[float], tuning: float, delta: float) -> None:
    odometer = Odometer(delta, tuning)
    for rho in charges:
        odometer.spend(ConcentratedOffer(rho))
    information = 2 * sum(map(Fraction, charges))
    verdict = on_the_safe_side(odometer.reading, lambda: odometer_reading(information, tuning, delta), ACCURACY)
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


def test_a_reading_that_forgets_a_charge_is_told() -> None:
    odometer = Odometer(1e-6)
    odometer.spend(ConcentratedOffer(1.0))
    truth = lambda: odometer_reading(Fraction(3), Fraction(1), Fraction(1, 10**6))
    assert on_the_safe_side(odometer.reading, truth, ACCURACY).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("end", [Fraction(-1), Fraction(1, 2), Fraction(3)])
def test_stopped_brownian_runs_follow_their_distribution(
    end: Fraction,
) -> None:  # fails falsely with probability 1e-10
    run = StoppedRun(Fraction(1, 4), Fraction(1), Fraction(-1), Fraction(2), inside=True)
    noise = brownian_noise((4.0, 1.0), RUNS, np.random.default_rng(3))[..., 0]
    early = (noise[:, 0] > -1) & (noise[:, 0] < 2)
    motion = np.where(early, noise[:, 0] / 4, noise[:, 1])
    low, high = clopper_pearson(int((motion < float(end)).sum()), RUNS, 1 - ALPHA)
    with precision(64):
        truth = midpoint(stopped_probability_below(run, lambda _: end))
    assert low < truth < high
    other = StoppedRun(run.first, run.second, run.low, run.high, inside=False)
    with precision(64):
        wrong = midpoint(stopped_probability_below(other, lambda _: end))
    assert not low < wrong < high


@pytest.mark.parametrize("sampler", [forward_laplace_noise, backward_laplace_noise])
def test_laplace_noise_between_two_looks_follows_its_distribution(sampler) -> None:  # type: ignore[no-untyped-def]
    """Pr[X(s) > 0, X(t) <= 0] by the increments: (1 - (s/t)^2) Pr[X(s) > 0, J < -X(s)]; falsely 1e-10."""
    t, s = 3.0, 1.0
    noise = sampler((t, s), RUNS, np.random.default_rng(4))[..., 0]
    count = int(((noise[:, 1] > 0) & (noise[:, 0] <= 0)).sum())
    low, high = clopper_pearson(count, RUNS, 1 - ALPHA)
    chance = 1 / 4 / (1 + s / t)  # of X(s) > 0 and a Laplace number of scale t below -X(s)
    assert low < (1 - (s / t) ** 2) * chance < high
    assert not low < (1 - s / t) * chance < high
