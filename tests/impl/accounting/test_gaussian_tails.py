import mpmath
import numpy as np
import pytest

from dpassay.impl.accounting.gaussian_tails import hazard, log_cdf, log_cdf_gain, log_cdf_step

POINTS = [-3e4, -700.0, -38.5, -3.0, -1e-3, 0.0, 0.4, 3.0, 7.9, 8.1, 29.0, 36.0]
STEPS = [1e-12, 1e-6, 0.2, 0.3, 5.0, 60.0]


def log_phi(y: mpmath.mpf) -> mpmath.mpf:
    if y > 5:
        return mpmath.log1p(-mpmath.erfc(y / mpmath.sqrt(2)) / 2)
    return mpmath.log(mpmath.erfc(-y / mpmath.sqrt(2)) / 2)


def digits_for(y: float) -> int:
    return 60 + int(max(y, 0) ** 2)


@pytest.mark.parametrize("y", POINTS)
def test_log_cdf_and_hazard(y: float) -> None:
    with mpmath.workdps(digits_for(y)):
        log_density = -(mpmath.mpf(y) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2
        truth = log_phi(mpmath.mpf(y))
        rate = mpmath.exp(log_density - truth)
    assert float(log_cdf(np.array(y))) == pytest.approx(float(truth), rel=1e-13)
    assert float(hazard(np.array(y))) == pytest.approx(float(rate), rel=2e-13)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("y", POINTS)
def test_a_gain_keeps_its_digits_however_small(y: float, step: float) -> None:
    with mpmath.workdps(digits_for(y)):
        truth = mpmath.log(log_phi(mpmath.mpf(y) + mpmath.mpf(step)) - log_phi(mpmath.mpf(y)))
    assert abs(float(log_cdf_gain(np.array(y), np.array(step))) - float(truth)) < 2.0**-40


@pytest.mark.parametrize("step", [s for size in STEPS for s in (size, -size)])
@pytest.mark.parametrize("y", POINTS)
def test_a_step_does_not_cancel_squares(y: float, step: float) -> None:
    with mpmath.workdps(120):
        truth = float(log_phi(mpmath.mpf(y) + mpmath.mpf(step)) - log_phi(mpmath.mpf(y)))
    assert abs(float(log_cdf_step(np.array(y), np.array(step))) - truth) < 2.0**-48 * (1 + abs(truth))


def test_a_gain_of_nothing_is_nothing() -> None:
    assert float(log_cdf_gain(np.array(1.0), np.array(0.0))) == -np.inf
