"""The reference values that adapters share agree with accountants and enclosures that were written apart from them."""

import pytest

from dpassay.impl.accounting.gaussian import gaussian_delta as upper_delta
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon, near, sampled_gaussian_divergence


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.7, 0.0), (0.7, 3.0), (2.3, 0.4)])
def test_the_curve_of_gaussian_noise_is_that_of_our_accountant(sigma: float, epsilon: float) -> None:
    assert gaussian_delta(sigma, epsilon) == pytest.approx(float(upper_delta(epsilon, sigma)), rel=1e-9)


def test_epsilon_is_the_inverse_of_delta() -> None:
    assert gaussian_epsilon(1.3, gaussian_delta(1.3, 0.8)) == pytest.approx(0.8, abs=1e-9)
    assert gaussian_epsilon(1.3, 0.9) == 0.0


def test_the_divergence_of_a_whole_sample_is_that_of_gaussian_noise() -> None:
    assert sampled_gaussian_divergence(1.7, 1.0, 3.0) == pytest.approx(3.0 / (2 * 1.7**2), rel=1e-9)
    assert sampled_gaussian_divergence(1.7, 0.2, 3.0) < 0.2 * sampled_gaussian_divergence(1.7, 1.0, 3.0)


def test_a_number_outside_the_slack_is_outside_the_bounds() -> None:
    low, value, high = near(2.0 + 3e-9, 2.0)
    assert not low <= value <= high
    low, value, high = near(2.0 + 1e-9, 2.0)
    assert low <= value <= high
