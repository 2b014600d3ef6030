import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_loss
from dpassay.impl.accounting.calibration import above_threshold_sigma, gaussian_sigma, noisy_max_sigma
from dpassay.impl.accounting.gaussian import gaussian_log_delta
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon

EPSILONS = np.array([0.01, 0.5, 3.0, 200.0])


def test_noisy_max_sigma_is_enough_and_no_less_would_be() -> None:
    sigma = noisy_max_sigma(EPSILONS, 50, 1, 0.01)
    assert np.all(gaussian_noisy_max_epsilon(50, sigma, 1, 0.01) <= EPSILONS)
    assert np.all(gaussian_noisy_max_epsilon(50, sigma * (1 - 1e-8), 1, 0.01) > EPSILONS)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_above_threshold_sigma_is_enough_and_no_less_would_be(threshold: float) -> None:
    sigma = above_threshold_sigma(EPSILONS, 20, threshold, 0, 1, 0.01)

    def loss(scale: np.ndarray) -> np.ndarray:
        return gaussian_above_threshold_loss(20, threshold, scale, 3**0.5 * scale, 0, 1, 0.01)

    assert np.all(loss(sigma) <= EPSILONS)
    assert np.all(loss(sigma * (1 - 1e-8)) > EPSILONS)


@pytest.mark.parametrize("threshold", [-0.01, 1.01])
def test_above_threshold_sigma_refuses_thresholds_outside_the_range(threshold: float) -> None:
    with pytest.raises(UsageError, match="not monotone in the noise"):
        above_threshold_sigma(1.0, 20, threshold, 0, 1, 0.01)


def test_gaussian_sigma_is_enough_and_no_less_would_be() -> None:
    sigma = gaussian_sigma(EPSILONS, 1e-9, 2.0)
    assert np.all(gaussian_log_delta(EPSILONS, sigma, 2.0) <= np.log(1e-9))
    assert np.all(gaussian_log_delta(EPSILONS, sigma * (1 - 1e-8), 2.0) > np.log(1e-9))


def test_scales() -> None:
    assert float(noisy_max_sigma(1, 9, 64, 2)) == pytest.approx(
        64 * float(noisy_max_sigma(1, 9, 1, 2 / 64)), rel=1e-12
    )


@pytest.mark.parametrize(
    "arguments", [(0, 5, 1, 0.1), (1, 1, 1, 0.1), (1, 5, 0, 0.1), (1, 5, 1, 0), (np.nan, 5, 1, 1)]
)
def test_bad_input_of_noisy_max_sigma(arguments: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="must be"):
        noisy_max_sigma(*arguments)


def test_bad_input_of_the_others() -> None:
    with pytest.raises(UsageError, match="low must be below high"):
        above_threshold_sigma(1.0, 20, 0.5, 1, 1, 0.01)
    with pytest.raises(UsageError, match="delta must lie"):
        gaussian_sigma(1.0, 1.0)
    with pytest.raises(UsageError, match="too small"):
        noisy_max_sigma(1e-20, 5, 1, 1)
    with pytest.raises(UsageError, match="too large"):
        noisy_max_sigma(1e14, 5, 1, 1)
