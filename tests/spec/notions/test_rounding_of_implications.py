"""Every number of an implication is rounded to the safe side, and by one rounding only; formulas by mpmath."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from mpmath import mp, mpf

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    ConcentratedDP,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.spec.notions import concentrated_conversions as concentrated
from dpassay.spec.notions import gdp_conversions as gaussian
from dpassay.spec.notions import implications

LEVELS = (0.01, 0.1, 1 / 3, 0.7, 1.1, 2.3, 3.7)
"""None of the formulas has a float64 as its value at any of them."""

Formula = Callable[[Any], Any]


def mean_loss(epsilon: Any) -> Any:
    """The kappa of a bounded range: q - 1 - log q with q = epsilon / (e^epsilon - 1)."""
    q = epsilon / mpmath.expm1(epsilon)
    return q - 1 - mpmath.log(q)


def pure_mean_loss(epsilon: Any) -> Any:
    return epsilon * mpmath.tanh(epsilon / 2)


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    """Balle and Wang 2018, Theorem 8."""
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def gaussian_log_odds(mu: Any) -> Any:
    return mpmath.log(mpmath.ncdf(mu / 2) / mpmath.ncdf(-mu / 2))


def tail_of(delta: float, left_out: float) -> Any:
    return (mpf(delta) - mpf(left_out)) / (1 - mpf(left_out))


def optimal_rho(epsilon: Any, tail: Any) -> Any:
    """The root of rho + 2 sqrt(rho log(1/tail)) = epsilon."""
    return (mpmath.sqrt(epsilon + mpmath.log(1 / tail)) - mpmath.sqrt(mpmath.log(1 / tail))) ** 2


UPWARDS: dict[str, tuple[Callable[[float], float], Formula]] = {
    "delta of pure DP": (
        lambda x: implications.pure_to_approximate(PureDP(x), epsilon=x / 3).delta,
        lambda x: (mpmath.exp(x) - mpmath.exp(mpf(float(x) / 3))) / (mpmath.exp(x) + 1),
    ),
    "zCDP of pure DP": (lambda x: implications.pure_to_zcdp(PureDP(x)).rho, pure_mean_loss),
    "Renyi DP of zCDP": (lambda x: implications.zcdp_to_renyi(ZCDP(x), alpha=1.7).epsilon, lambda x: x * mpf(1.7)),
    "probabilistic DP of zCDP": (
        lambda x: implications.zcdp_to_probabilistic(ZCDP(x), delta=0.003).epsilon,
        lambda x: x + 2 * mpmath.sqrt(x * mpmath.log(1 / mpf(0.003))),
    ),
    "probabilistic DP of Renyi DP": (
        lambda x: implications.renyi_to_probabilistic(RenyiDP(3.5, x), delta=0.003).epsilon,
        lambda x: x + mpmath.log(1 / mpf(0.003)) / mpf(2.5),
    ),
    "approximate DP of Renyi DP": (
        lambda x: implications.renyi_to_approximate(RenyiDP(3.5, x), delta=0.003).epsilon,
        lambda x: x + mpmath.log(mpf(2.5) / mpf(3.5)) - mpmath.log(mpf(0.003) * mpf(3.5)) / mpf(2.5),
    ),
    "mean of pure DP": (lambda x: concentrated.pure_to_concentrated(PureDP(x)).mu, pure_mean_loss),
    "mean of bounded range": (lambda x: concentrated.bounded_range_to_concentrated(BoundedRange(x)).mu, mean_loss),
    "zCDP of bounded range": (lambda x: concentrated.bounded_range_to_zcdp(BoundedRange(x)).rho, mean_loss),
    "rho of concentrated DP": (
        lambda x: concentrated.concentrated_to_approximate_zcdp(ConcentratedDP(0.9, x)).rho,
        lambda x: x**2 / 2,
    ),
    "xi of concentrated DP": (
        lambda x: concentrated.concentrated_to_approximate_zcdp(ConcentratedDP(9.1, x)).xi,
        lambda x: mpf(9.1) - x**2 / 2,
    ),
    "approximate DP of approximate zCDP": (
        lambda x: concentrated.approximate_zcdp_to_approximate(ApproximateZCDP(x, 1e-3, 0.2), delta=0.01).epsilon,
        lambda x: mpf(0.2) + x + 2 * mpmath.sqrt(x * mpmath.log(1 / tail_of(0.01, 1e-3))),
    ),
    "mu of pure DP": (
        lambda x: gaussian.pure_to_gaussian(PureDP(x)).mu,
        lambda x: 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(x / 2)),
    ),
    "delta of Gaussian DP": (
        lambda x: gaussian.gaussian_to_approximate(GaussianDP(x), epsilon=0.4).delta,
        lambda x: gaussian_delta(x, mpf(0.4)),
    ),
    "zCDP of Gaussian DP": (lambda x: gaussian.gaussian_to_zcdp(GaussianDP(x)).rho, lambda x: x**2 / 2),
}

# the last Renyi claim that implies another one has the order 256
DOWNWARDS: dict[str, tuple[Callable[[float], float], Formula]] = {
    "pure DP for approximate DP": (
        lambda x: implications.pure_implying_approximate(ApproximateDP(x, 0.2))[0].epsilon,
        lambda x: mpmath.log((mpmath.exp(x) + mpf(0.2)) / (1 - mpf(0.2))),
    ),
    "Renyi DP for probabilistic DP": (
        lambda x: implications.renyi_implying_probabilistic(ProbabilisticDP(x, 0.99))[-1].epsilon,
        lambda x: x - mpmath.log(1 / mpf(0.99)) / 255,
    ),
    "Renyi DP for approximate DP": (
        lambda x: implications.renyi_implying_approximate(ApproximateDP(x, 0.9))[-1].epsilon,
        lambda x: x - mpmath.log(mpf(255) / 256) + mpmath.log(mpf(0.9) * 256) / 255,
    ),
    "zCDP for Renyi DP": (lambda x: implications.zcdp_implying_renyi(RenyiDP(1.7, x))[0].rho, lambda x: x / mpf(1.7)),
    "zCDP for probabilistic DP": (
        lambda x: implications.zcdp_implying_probabilistic(ProbabilisticDP(x, 0.02))[0].rho,
        lambda x: optimal_rho(x, mpf(0.02)),
    ),
    "mean for approximate zCDP": (
        lambda x: concentrated.concentrated_implying_approximate_zcdp(ApproximateZCDP(x, 0.0, 0.77))[0].mu,
        lambda x: x + mpf(0.77),
    ),
    "scale for approximate zCDP": (
        lambda x: concentrated.concentrated_implying_approximate_zcdp(ApproximateZCDP(x, 0.0, 0.77))[0].tau,
        lambda x: mpmath.sqrt(2 * x),
    ),
    "zCDP for approximate zCDP": (
        lambda x: concentrated.zcdp_implying_approximate_zcdp(ApproximateZCDP(x, 0.0, -x / 7))[0].rho,
        lambda x: x + mpf(-float(x) / 7),
    ),
    "approximate zCDP for approximate DP": (
        lambda x: concentrated.approximate_zcdp_implying_approximate(ApproximateDP(x, 0.02))[0].rho,
        lambda x: optimal_rho(x, tail_of(0.02, 0.01)),
    ),
    "pure DP for Gaussian DP": (
        lambda x: gaussian.pure_implying_gaussian(GaussianDP(x))[0].epsilon,
        gaussian_log_odds,
    ),
    "Gaussian DP for zCDP": (
        lambda x: gaussian.gaussian_implying_zcdp(ZCDP(x))[0].mu,
        lambda x: mpmath.sqrt(2 * x),
    ),
}

BY_BISECTION: dict[str, tuple[Callable[[float], float], Formula]] = {
    "pure DP for zCDP": (lambda x: implications.pure_implying_zcdp(ZCDP(x))[0].epsilon, pure_mean_loss),
    "pure DP for concentrated DP": (
        lambda x: concentrated.pure_implying_concentrated(ConcentratedDP(x, 99.0))[0].epsilon,
        pure_mean_loss,
    ),
    "bounded range for concentrated DP": (
        lambda x: concentrated.bounded_range_implying_concentrated(ConcentratedDP(x, 99.0))[0].epsilon,
        mean_loss,
    ),
    "bounded range for zCDP": (lambda x: concentrated.bounded_range_implying_zcdp(ZCDP(x))[0].epsilon, mean_loss),
    "Gaussian DP for approximate DP": (
        lambda x: gaussian.gaussian_implying_approximate(ApproximateDP(0.4, x / 7))[0].mu,
        lambda mu: gaussian_delta(mu, mpf(0.4)),
    ),
}
"""What is searched for, and the increasing function whose value there must stay below the level."""


@pytest.mark.parametrize("name", UPWARDS)
def test_what_follows_is_rounded_up(name: str) -> None:
    convert, formula = UPWARDS[name]
    with mp.workdps(60):
        for level in LEVELS:
            value, truth = convert(level), formula(mpf(level))
            assert math.nextafter(value, -math.inf) < truth <= value, level


@pytest.mark.parametrize("name", DOWNWARDS)
def test_what_implies_is_rounded_down(name: str) -> None:
    convert, formula = DOWNWARDS[name]
    with mp.workdps(60):
        for level in LEVELS:
            value, truth = convert(level), formula(mpf(level))
            assert value <= truth < math.nextafter(value, math.inf), level


@pytest.mark.parametrize("name", BY_BISECTION)
def test_what_is_searched_for_is_the_largest_that_implies(name: str) -> None:
    convert, formula = BY_BISECTION[name]
    with mp.workdps(60):
        for level in LEVELS:
            value = convert(level)
            bound = mpf(level / 7) if "approximate" in name else mpf(level)
            assert formula(mpf(value)) <= bound < formula(mpf(value) * (1 + mpf(2) ** -50)), level
