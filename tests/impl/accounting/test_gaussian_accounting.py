import mpmath
import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_rdp,
    gaussian_zcdp,
)


def log_delta(epsilon: float, m: float) -> float:
    with mpmath.workdps(700):
        y = mpmath.mpf(m) / 2 - mpmath.mpf(epsilon) / m
        half = mpmath.erfc(-y / mpmath.sqrt(2)) - mpmath.exp(epsilon) * mpmath.erfc((m - y) / mpmath.sqrt(2))
        return float(mpmath.log(half / 2))


@pytest.mark.parametrize("m", [1e-6, 1e-4, 0.01, 0.2, 0.5, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("tail", [-3.0, -0.1, 0.0, 2.0, 12.0, 37.0])
def test_log_delta_keeps_its_digits(m: float, tail: float) -> None:
    epsilon = max(m * m / 2 + tail * m, 0.0)
    truth, bound = log_delta(epsilon, m), float(gaussian_log_delta(epsilon, 1.0, m))
    assert truth <= bound
    assert bound - truth < 2.0**-30 + 2.0**-48 * abs(truth)


def test_the_back_off_covers_the_quadrature_and_not_much_more() -> None:
    rng = np.random.default_rng(5)
    y = np.concatenate([rng.uniform(-1, 1, 60), rng.choice([-1.0, 1.0], 60) * 10 ** rng.uniform(0, 1.4, 60)])
    m = 0.2499 / (1.01 + np.abs(y)) * 10 ** rng.uniform(-3, 0, 120)
    epsilon = m * np.maximum(m / 2 - y, 0)
    bound = gaussian_log_delta(epsilon, 1.0, m)
    excess = bound - [log_delta(e, shift) for e, shift in zip(epsilon, m, strict=True)]
    assert np.all(excess >= 0)
    assert np.all(excess[:60] < 2.0**-42)


def test_delta_down_to_the_smallest_floats() -> None:
    epsilon = float(gaussian_epsilon(1e-300, 1.0))
    assert log_delta(epsilon, 1.0) == pytest.approx(np.log(1e-300), rel=1e-10)
    assert float(gaussian_delta(epsilon, 1.0)) == pytest.approx(1e-300, rel=1e-6)


def test_known_epsilons() -> None:
    sensitivities = 0.01 * np.sqrt([10, 100, 1000])
    np.testing.assert_allclose(gaussian_epsilon(1e-5, 0.3, sensitivities), [0.361, 1.271, 4.653], atol=5e-4)


def test_epsilon_is_enough_and_not_much_more() -> None:
    delta = np.geomspace(1e-200, 0.1, 30)
    epsilon = gaussian_epsilon(delta, 0.8)
    assert np.all(gaussian_log_delta(epsilon, 0.8) <= np.log(delta))
    assert np.all(gaussian_log_delta(epsilon * (1 - 1e-9), 0.8) > np.log(delta))


def test_a_large_delta_needs_no_epsilon() -> None:
    assert float(gaussian_epsilon(0.9, 1.0)) == 0


def test_renyi_and_concentrated() -> None:
    assert 0.125 < float(gaussian_zcdp(2.0)) < 0.125 * (1 + 1e-14)
    assert float(gaussian_rdp(3.0, 2.0)) == pytest.approx(0.375, rel=1e-14)
    assert float(gaussian_zcdp(2.0, 0.0)) == 0


def test_no_sensitivity_no_delta() -> None:
    assert float(gaussian_delta(0.0, 1.0, 0.0)) == 0
    assert float(gaussian_epsilon(1e-9, 1.0, 0.0)) == 0


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="delta must be"):
        gaussian_epsilon(0.0, 1.0)
    with pytest.raises(UsageError, match="epsilon must be"):
        gaussian_delta(-1.0, 1.0)
    with pytest.raises(UsageError, match="sigma must be"):
        gaussian_zcdp(0.0)
    with pytest.raises(UsageError, match="alpha must be"):
        gaussian_rdp(1.0, 1.0)
