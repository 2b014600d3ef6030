import math

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.experiments.gaussian_selection.halting_times import halting_time_quantile, survival
from dpassay.spec.ball import midpoint
from dpassay.spec.distributions.above_threshold import log_halting_probability


def test_survival_agrees_with_its_enclosure() -> None:
    for time, height, sigma in ((1, 0.2, 0.05), (24, 0.5, 0.15), (10257, 1.0, 0.15)):
        sigma_query = math.sqrt(3) * sigma
        enclosed = midpoint(log_halting_probability([(0, time)], None, height, sigma, sigma_query).exp())
        assert survival(time, height, sigma, sigma_query) == pytest.approx(enclosed, abs=1e-11)


@pytest.mark.parametrize(
    ("height", "median", "eightieth"), [(0.2, 3, 9), (0.5, 24, 107), (0.8, 600, 4237), (1.0, 10257, 100896)]
)
def test_quantiles_of_the_catalogue(height: float, median: float, eightieth: float) -> None:
    sigma_query = math.sqrt(3) * 0.15
    assert halting_time_quantile(0.5, height, 0.15, sigma_query) == median
    assert halting_time_quantile(0.8, height, 0.15, sigma_query) == eightieth


def test_medians_far_beyond_simulation() -> None:
    sigma_query = math.sqrt(3) * 0.05
    assert halting_time_quantile(0.5, 0.8, 0.05, sigma_query) == pytest.approx(4.6e19, rel=0.02)
    assert halting_time_quantile(0.5, 1.0, 0.05, sigma_query) == pytest.approx(1.5e30, rel=0.02)


def test_the_quantile_is_the_smallest_time_that_reaches_the_level() -> None:
    sigma_query = math.sqrt(3) * 0.05
    median = halting_time_quantile(0.5, 0.2, 0.05, sigma_query)
    # enclosed: Pr[T <= 61] = 0.49957..., Pr[T <= 62] = 0.50297...
    assert median == 62
    assert midpoint(1 - log_halting_probability([(0, 61)], None, 0.2, 0.05, sigma_query).exp()) < 0.5
    assert midpoint(1 - log_halting_probability([(0, 62)], None, 0.2, 0.05, sigma_query).exp()) > 0.5
    assert halting_time_quantile(0.5, -5.0, 0.05, sigma_query) == 1


@pytest.mark.parametrize(("level", "sigma"), [(0.0, 0.1), (1.0, 0.1), (math.nan, 0.1), (0.5, 0.0), (0.5, math.inf)])
def test_bad_quantiles_are_refused(level: float, sigma: float) -> None:
    with pytest.raises(UsageError):
        halting_time_quantile(level, 0.5, sigma, 0.1)
    with pytest.raises(UsageError, match="exceeds"):
        halting_time_quantile(0.5, 100.0, 0.1, 0.1)
