"""Claims given as functions."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import GaussianDP
from dpassay.curves import profile, trade_off
from dpassay.spec.notions.gdp_conversions import gaussian_to_approximate
from dpassay.testing import assert_private

BIT = "vector:size=1,linf=1,low=0,high=1,integer"


def gaussian(mu: float) -> Callable[[float], float]:
    normal = NormalDist()

    def beta(alpha: float) -> float:
        return normal.cdf(normal.inv_cdf(1 - alpha) - mu) if 0 < alpha < 1 else 1 - alpha

    return beta


def test_a_trade_off_function_implies_no_less_than_its_curve() -> None:
    for claim in trade_off(gaussian(1.0)):
        exact = gaussian_to_approximate(GaussianDP(1.0), epsilon=claim.epsilon).delta
        assert exact <= claim.delta <= exact + 0.002


def test_pure_claims_are_points_of_their_curve() -> None:
    last = profile(lambda epsilon: 0.0 if epsilon >= 1 else 0.5)[-1]
    assert last.epsilon == pytest.approx(1, abs=1e-12)
    assert last.delta == 0


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (lambda epsilon: 2.0, "in \\[0, 1\\], got 2.0"),
        (lambda epsilon: math.nan, "got nan"),
        (lambda epsilon: "x", "got 'x'"),
        (lambda epsilon: 1.0, "below 1 at some epsilon"),
    ],
)
def test_errors_of_use(curve: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        profile(curve)


def test_a_curve_that_raises_is_wrong_use() -> None:
    with pytest.raises(UsageError, match=r"it raises ZeroDivisionError: .* at epsilon 0$"):
        profile(lambda epsilon: 1 / epsilon)
    with pytest.raises(UsageError, match=r"trade_off must .* it raises ZeroDivisionError: .* at alpha 0$"):
        trade_off(lambda alpha: 1 / alpha)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda alpha: None, "got None at alpha 0$"),
        (lambda alpha: -alpha, "got -.* at alpha"),
        (lambda alpha: math.nan, "got nan at alpha 0$"),
        (lambda alpha: min(alpha, 1 - alpha) / 2, r"got \S+ at alpha \S+ and \S+ at \S+$"),
    ],
)
def test_a_wrong_trade_off_function_is_shown_with_its_value(function: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trade_off(function)


def test_a_trade_off_function_above_the_diagonal_is_refused() -> None:
    with pytest.raises(UsageError, match="1 - alpha"):
        trade_off(lambda alpha: 1.0)


def revealing(data: Any, size: int, rng: np.random.Generator) -> list[float]:
    return [float(data[0] + rng.integers(2) / 2) for _ in range(size)]


def test_a_curve_is_tested_at_its_points() -> None:
    with pytest.raises(AssertionError, match=r"ApproximateDP\(0.0, 0.01\)(.*\n)*.*ApproximateDP\(0.009"):
        assert_private(revealing, lambda epsilon: max(0.0, 0.01 - epsilon), BIT, calls=200, trace=False)
