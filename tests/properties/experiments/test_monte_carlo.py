import numpy as np
import pytest

from dpassay.properties.experiments.monte_carlo import NoisyMaxPoint, importance_estimate, naive_estimate
from dpassay.properties.experiments.output import mean_and_error

POINT = NoisyMaxPoint(size=100, sigma=0.3, width=1, sensitivity=0.01)
EXACT = 0.35867


def test_importance_sampling_meets_the_exact_value() -> None:
    rng = np.random.default_rng(5)
    mean, error = mean_and_error([importance_estimate(POINT, 10_000, rng) for _ in range(50)])
    assert error < 0.001
    assert abs(mean - EXACT) < 6 * error  # six standard errors, false alarms below 1e-6 and none at this seed


def test_the_naive_estimate_is_unusable_at_the_same_cost() -> None:
    rng = np.random.default_rng(5)
    estimates = [naive_estimate(POINT, 10_000, rng) for _ in range(20)]
    assert np.std(estimates) > 1  # three times the quantity itself


def test_both_are_right_where_the_integrand_is_not_in_the_tail() -> None:
    easy, rng = NoisyMaxPoint(size=2, sigma=1, width=1, sensitivity=0.3), np.random.default_rng(6)
    # closed form at d = 2: log Phi((2 Delta - c)/(sigma sqrt 2)) - log Phi(-c/(sigma sqrt 2))
    exact = np.log(0.38864868) - np.log(0.23975006)
    assert naive_estimate(easy, 400_000, rng) == pytest.approx(exact, abs=0.015)
    assert importance_estimate(easy, 100_000, rng) == pytest.approx(exact, abs=0.015)
