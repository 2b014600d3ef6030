import math

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.arguments import UsageError
from dpassay.impl.accounting.above_threshold_renyi import (
    _log_moment,
    _log_moment_bound,
    above_threshold_affine_rdp,
    above_threshold_rdp,
    above_threshold_rdp_by_halting_time,
    above_threshold_rdp_printed,
)
from dpassay.impl.accounting.conversions import best_probabilistic_epsilon, probabilistic_epsilon_of_affine_rdp
from dpassay.impl.accounting.gaussian_products import Factor, log_expectation

ROOT3 = 3**0.5
# sensitivity, sigma_X, rho, alpha; the printed bound, the direct one, and a lower bound of the truth by brute force
TABLE = [
    (0.5, 0.2, 0.0, 4, 42.079, 33.6631, 11.013),
    (1.0, 0.5, 0.0, 4, 27.079, 21.6595, 7.776),
    (0.3, 0.3, 0.2, 4, 7.409, 6.05374, 2.418),
    (0.1, 0.3, 0.0, 10, 1.9893, 1.62867, 0.6569),
]


@pytest.mark.parametrize(("step", "x", "rho", "alpha", "printed", "direct", "truth"), TABLE)
def test_known_values(
    step: float, x: float, rho: float, alpha: float, printed: float, direct: float, truth: float
) -> None:
    arguments = (alpha, rho, x, ROOT3 * x, 0, step)
    assert float(above_threshold_rdp_printed(*arguments)) == pytest.approx(printed, rel=3e-5)
    assert float(above_threshold_rdp(*arguments)) == pytest.approx(direct, rel=3e-6)
    assert truth < float(above_threshold_rdp(*arguments)) < float(above_threshold_rdp_by_halting_time(*arguments))


@pytest.mark.parametrize(
    ("records", "x", "rho", "printed", "direct"),
    [
        (6946, 0.09, 0.575, 0.02388, 0.01832),
        (6946, 0.15, 0.575, 0.01104, 0.00941),
        (5564, 0.04, 0.33, 0.07962, 0.05654),
        (5564, 0.16, 0.33, 0.01077, 0.00965),
    ],
)
def test_known_probabilistic_epsilons(records: int, x: float, rho: float, printed: float, direct: float) -> None:
    delta, noise = 1 / records, (rho, x, ROOT3 * x, 0, 1 / records)
    affine = probabilistic_epsilon_of_affine_rdp(*above_threshold_affine_rdp(*noise), delta)
    assert float(affine) == pytest.approx(printed, abs=6e-6)
    assert best_probabilistic_epsilon(lambda a: above_threshold_rdp(a, *noise), delta) == pytest.approx(
        direct, abs=6e-6
    )


@pytest.mark.parametrize(("r", "moment"), [(0, 12.96436), (0.1, 15.75936), (0.3, 24.12298), (0.4, 30.40078)])
def test_the_moment_of_the_halting_time(r: float, moment: float) -> None:
    excess = Factor(np.array([-2.0]), np.array([-r / ROOT3]), np.array([-1 / ROOT3]))
    log_moment = log_expectation(excess, least_curvature=np.array([1 / 3]))
    assert float(np.exp(log_moment)[0]) == pytest.approx(moment, rel=1e-6)


def test_it_is_invariant_under_shifts_and_scales() -> None:
    plain = above_threshold_rdp(5, 0.5, 0.25, 0.5, -0.25, 0.125)
    np.testing.assert_allclose(above_threshold_rdp(5, 4.5, 0.25, 0.5, 3.75, 0.125), plain, rtol=1e-12)
    np.testing.assert_allclose(above_threshold_rdp(5, 4, 2, 4, -2, 1), plain, rtol=1e-12)


def test_no_threshold_noise_ratio_is_needed_but_for_the_printed_bound() -> None:
    assert np.isfinite(above_threshold_rdp(5, 0.5, 0.5, 0.1, 0, 0.01))
    assert np.isinf(above_threshold_rdp_by_halting_time(5, 0.5, 0.5, 0.1, 0, 0.01))
    with pytest.raises(UsageError, match="sigma_query must be at least"):
        above_threshold_rdp_printed(5, 0.5, 0.1, 0.17, 0, 0.01)


def test_the_elementary_bound_of_the_moment_is_above_it() -> None:
    rng = np.random.default_rng(3)
    alpha = 1 + 10 ** rng.uniform(-1, 2, 50)
    arguments = (alpha, rng.normal(size=50), *10 ** rng.uniform(-1, 1, (2, 50)), np.zeros(50), rng.uniform(0, 0.3, 50))
    near = _log_moment(*arguments)
    assert np.all(near <= _log_moment_bound(*arguments) + 1e-12)
    assert np.all(near >= -1e-12)


@pytest.mark.parametrize(("alpha", "rho", "x", "z", "low", "step"), [
    (3.0, 0.5, 0.4, 0.7, -0.25, 0.2), (40.0, 0.0, 1.0, 1.0, 0.0, 0.3), (8.0, -2.0, 0.5, 0.5, 0.5, 0.1),
])  # fmt: skip
def test_the_elementary_bound_exceeds_its_expectation_by_less_than_log_two(
    alpha: float, rho: float, x: float, z: float, low: float, step: float
) -> None:
    """The expectation of e^((alpha - 1) (s sqrt(2/pi) + s^2/2 + s max(v, 0))), v normal, by two normal integrals.

    With m and d the mean and deviation of v, A = p m + p^2 d^2/2, a = P[v < 0] and b = P[v + p d^2 > 0], it is
    a + e^A b. As a + b >= 1, and b < 1/2 only if A < 0, the sum 1 + e^A is at most twice that.
    """
    s, deviation, mean = 2 * step / z, x / z, ((alpha - 1) * step + rho - low) / z
    p = (alpha - 1) * s
    below, above = norm.logcdf(-mean / deviation), norm.logcdf(mean / deviation + p * deviation)
    log_mean = np.logaddexp(below, p * mean + (p * deviation) ** 2 / 2 + above)
    truth = (alpha - 1) * (s * math.sqrt(2 / math.pi) + s**2 / 2) + log_mean
    arguments = (np.array([value]) for value in (alpha, rho, x, z, low, step))
    excess = float(_log_moment_bound(*arguments)[0]) - truth
    assert 0 <= excess <= math.log(2)


def test_huge_orders_and_no_sensitivity() -> None:
    assert np.isfinite(above_threshold_rdp(1e6, 0.5, 1, 1, 0, 0.1))
    assert float(above_threshold_rdp_printed(2, 100, 0.1, 1, 0, 0.01)) < np.inf  # e^(r^2) alone would overflow
    assert float(above_threshold_rdp(3, 0.5, 1, 1, 0, 0)) == 0


@pytest.mark.parametrize("alpha", [1, 0.5, np.nan])
def test_orders_of_at_most_one_are_refused(alpha: float) -> None:
    for bound in (above_threshold_rdp, above_threshold_rdp_by_halting_time, above_threshold_rdp_printed):
        with pytest.raises(UsageError, match="alpha must be"):
            bound(alpha, 0.5, 0.1, 0.2, 0, 0.01)
