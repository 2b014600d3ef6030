import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtri

from dpassay.arguments import UsageError
from dpassay.impl.accounting.conversions import (
    approximate_epsilon,
    best_approximate_epsilon,
    best_probabilistic_epsilon,
    probabilistic_epsilon,
    probabilistic_epsilon_of_affine_rdp,
)
from dpassay.impl.accounting.gaussian import gaussian_epsilon


@pytest.mark.parametrize(("mu", "digits"), [(0.1, 0.48485), (0.5, 2.5243), (2.0, 11.597)])
def test_gaussian_curves(mu: float, digits: float) -> None:
    searched = best_probabilistic_epsilon(lambda alpha: alpha * mu**2 / 2, 1e-5)
    closed = float(probabilistic_epsilon_of_affine_rdp(mu**2 / 2, 0, 1e-5))
    assert closed == pytest.approx(digits, rel=2e-5)
    assert closed * (1 - 1e-12) <= searched <= closed * (1 + 1e-6)
    exact = mu**2 / 2 - mu * float(ndtri(1e-5))
    assert exact < closed


@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
def test_the_sharper_conversion_is_valid_as_approximate_but_not_as_probabilistic_dp(mu: float) -> None:
    def curve(alpha: np.ndarray) -> np.ndarray:
        return alpha * mu**2 / 2

    sharp = best_approximate_epsilon(curve, 1e-5)
    assert float(gaussian_epsilon(1e-5, 1 / mu)) < sharp < best_probabilistic_epsilon(curve, 1e-5)
    if mu == 0.1:
        assert sharp < mu**2 / 2 - mu * float(ndtri(1e-5)), "the privacy loss exceeds it with probability above delta"


def test_the_affine_optimum_against_a_grid() -> None:
    linear, constant, delta = 1e-5, 3.0, 1e-4
    alpha = 1 + np.geomspace(1, 1e5, 20001)
    grid = probabilistic_epsilon(alpha, alpha * linear + constant / (alpha - 1), delta).min()
    assert float(probabilistic_epsilon_of_affine_rdp(linear, constant, delta)) == pytest.approx(grid, rel=1e-6)


def test_a_curve_that_is_infinite_from_some_order_on() -> None:
    def curve(alpha: np.ndarray) -> np.ndarray:
        return np.where(alpha < 3, alpha * 0.1, np.inf)

    best = best_probabilistic_epsilon(curve, 0.01)
    assert 0.3 + np.log(100) / 2 <= best < (0.3 + np.log(100) / 2) * 1.02


def test_the_approximate_epsilon_is_never_negative() -> None:
    assert float(approximate_epsilon(2.0, 0.0, 0.9)) == 0


def test_bad_input() -> None:
    for convert in (probabilistic_epsilon, approximate_epsilon):
        with pytest.raises(UsageError, match="alpha must be"):
            convert(1.0, 0.1, 0.1)
        with pytest.raises(UsageError, match="delta must be"):
            convert(2.0, 0.1, 0.0)
        with pytest.raises(UsageError, match="rdp must be"):
            convert(2.0, -0.1, 0.1)


def test_conversions_are_never_below_their_formulas() -> None:
    """One rounding upwards at each of 300 points of many magnitudes, against 60 digits."""
    rng = np.random.default_rng(3)
    exponents = rng.uniform((-6, -9, -300), (4, 4, 0), (300, 3))
    with mp.workdps(60):
        for alpha, rdp, delta in 10.0**exponents + (1.0, 0.0, 0.0):
            a, tail = mp.mpf(alpha), mp.log(mp.mpf(delta))
            probabilistic = rdp - tail / (a - 1)
            approximate = rdp + mp.log((a - 1) / a) - (tail + mp.log(a)) / (a - 1)
            assert probabilistic <= float(probabilistic_epsilon(alpha, rdp, delta)) <= probabilistic * (1 + 1e-10)
            bound = float(approximate_epsilon(alpha, rdp, delta))
            assert approximate <= bound <= max(approximate, 0) + 1e-10 * probabilistic
