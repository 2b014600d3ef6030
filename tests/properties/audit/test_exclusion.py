import math

import mpmath
import numpy as np
import pytest

from dpassay.claims import ZCDP, ApproximateDP, BoundedRange, Claim, ExPost, PureDP
from dpassay.properties.audit.betting import log_factors
from dpassay.properties.audit.exclusion import exclusion, laplace_growth, laplace_range_growth


def closed_form(true_epsilon: float, epsilon: float) -> float:
    """The growth by its antiderivative, a derivation of its own: with s the logistic function,

    int e^(u/2) log s(u) du = 2 e^(u/2) log s(u) - 4 arctan e^(u/2).
    """
    with mpmath.workdps(50):
        top, claim = mpmath.mpf(true_epsilon), mpmath.mpf(epsilon)

        def log_expit(u: mpmath.mpf) -> mpmath.mpf:
            return -mpmath.log1p(mpmath.exp(-u))

        def antiderivative(u: mpmath.mpf) -> mpmath.mpf:
            return 2 * mpmath.exp(u / 2) * log_expit(u) - 4 * mpmath.atan(mpmath.exp(u / 2))

        up, down = log_expit(claim), log_expit(-claim)
        between = antiderivative(top) - antiderivative(claim) - 2 * up * (mpmath.exp(top / 2) - mpmath.exp(claim / 2))
        between += antiderivative(-claim) - antiderivative(-top)
        between -= 2 * down * (mpmath.exp(-claim / 2) - mpmath.exp(-top / 2))
        atom = (log_expit(top) - up) + mpmath.exp(-top) * (log_expit(-top) - down)
        return float(mpmath.exp(-top / 2) * between / 4 + atom / 2)


@pytest.mark.parametrize(("true_epsilon", "epsilon"), [(1, 0.5), (1, 0.8), (1, 0), (0.2, 0.1), (3, 2.9), (12, 5)])
def test_the_growth_is_that_of_the_closed_form(true_epsilon: float, epsilon: float) -> None:
    assert laplace_growth(true_epsilon, epsilon) == pytest.approx(closed_form(true_epsilon, epsilon), rel=1e-9)


def test_nothing_grows_against_a_true_claim() -> None:
    assert laplace_growth(1.0, 1.0) == pytest.approx(0, abs=1e-15)
    assert laplace_growth(0.5, 1.0) == 0
    assert laplace_growth(1.0, 0.5, delta=0.5) == 0
    assert laplace_range_growth(1.0, 2.0) == pytest.approx(0, abs=1e-15)  # its losses span 2
    assert 0 < laplace_growth(1.0, 0.5, 0.01) < laplace_growth(1.0, 0.5)


def test_a_simulated_bettor_gains_the_growth() -> None:
    """A mean of 200,000 gains: off by 6 standard errors with probability below 1e-8, and the seed is fixed."""
    rng = np.random.default_rng(0)
    is_left = rng.random(200_000) < 0.5
    outcomes = rng.laplace(np.where(is_left, 0.0, 1.0), 0.5)
    losses = 2 * (np.abs(outcomes - 1) - np.abs(outcomes))
    on_left, on_right = log_factors(losses, 1.0)
    gains = np.where(is_left, on_left, on_right)
    assert abs(gains.mean() - laplace_growth(2.0, 1.0)) < 6 * gains.std() / math.sqrt(gains.size)
    half = gains.size // 2
    left, right = rng.laplace(0, 0.5, half), rng.laplace(1, 0.5, half)
    of_left, of_right = (2 * (np.abs(x - 1) - np.abs(x)) for x in (left, right))
    duels = log_factors(of_left - of_right, 1.0)[0]
    assert abs(duels.mean() / 2 - laplace_range_growth(2.0, 1.0)) < 6 * duels.std() / math.sqrt(half) / 2


@pytest.mark.parametrize(
    ("claim", "truth"),
    [(PureDP(1), 1.0), (PureDP(0), 0.0), (ApproximateDP(1, 1e-3), 1.0), (BoundedRange(1), 0.5), (ZCDP(0.5), 0.0)],
)
def test_more_calls_exclude_more_and_never_what_is_claimed(claim: Claim, truth: float) -> None:
    found = [exclusion(claim, calls=calls, alpha=1e-6).laplace_epsilon for calls in (10**3, 10**5, 10**7)]
    few, some, many = (value if value is not None else math.nan for value in found)
    assert truth < many < some < few


def test_the_weight_and_the_level_are_paid_for() -> None:
    plain = exclusion(PureDP(1), calls=1000, alpha=1e-6)
    assert plain.rate == pytest.approx((math.log(1e6) + 0.125) / 1000)
    assert exclusion(PureDP(1), calls=1000, alpha=1e-6, log_weight=-1.0).rate == pytest.approx(plain.rate + 1e-3)
    assert plain.laplace_epsilon is not None
    assert laplace_growth(plain.laplace_epsilon, 1.0) >= plain.rate > laplace_growth(plain.laplace_epsilon - 1e-3, 1.0)


def test_what_cannot_be_said_is_not_said() -> None:
    assert exclusion(PureDP(1), calls=1, alpha=1e-6).laplace_epsilon == math.inf
    assert exclusion(PureDP(1e308), calls=10**9, alpha=0.5).laplace_epsilon == math.inf
    assert exclusion(ExPost(lambda _: 1.0), calls=100, alpha=0.5).laplace_epsilon is None
