"""Every proxy of set-wise composition, and both directions of its bound, against the enclosures of spec."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side

from dpassay.impl.accounting.setwise import (
    LossProxy,
    SetwiseAdaptive,
    approximate_zcdp_proxy,
    bounded_range_proxy,
    concentrated_proxy,
    pure_proxy,
    setwise_delta,
    setwise_epsilon,
)
from dpassay.spec.ball import Real, ball
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.verdict import Outcome

checked = settings(max_examples=40, deadline=None, derandomize=True, database=None)
levels = st.one_of(st.sampled_from([1e-6, 0.1, 1.0, 3.0, 20.0]), st.floats(-6, 2).map(lambda e: 10.0**e))
ACCURACY = Fraction(1, 10**12)


def holds(bound: float, truth: Real, accuracy: Fraction = ACCURACY) -> None:
    verdict = on_the_safe_side(bound, truth, accuracy)
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@checked
@given(levels)
def test_proxies_of_pure_privacy(epsilon: float) -> None:
    """The mean is KL(epsilon) = rho, the variance epsilon^2 (eq 3) or, sharply, 2 rho of the zCDP parameter."""
    rho: Real = lambda: zcdp_rho_of_pure(ball(epsilon))
    plain, sharp = pure_proxy(epsilon), pure_proxy(epsilon, sharp=True)
    holds(plain.mean, rho)
    holds(plain.variance, lambda: ball(epsilon) ** 2)
    holds(sharp.mean, rho)
    holds(sharp.variance, lambda: (2 * rho()).min(ball(epsilon) ** 2))


@checked
@given(levels)
def test_proxies_of_bounded_range(width: float) -> None:
    """The mean is kappa, the variance a^2/4 (eq 3) or, sharply, 2 kappa."""
    kappa: Real = lambda: mean_loss_of_bounded_range(ball(width))
    plain, sharp = bounded_range_proxy(width), bounded_range_proxy(width, sharp=True)
    holds(plain.mean, kappa)
    holds(plain.variance, lambda: ball(width) ** 2 / 4)
    holds(sharp.mean, kappa)
    holds(sharp.variance, lambda: (2 * kappa()).min(ball(width) ** 2 / 4))


@checked
@given(levels, st.floats(-0.999, 3), st.floats(0, 1))
def test_proxies_of_concentrated_privacy(rho: float, share: float, delta: float) -> None:
    """(xi, rho)-zCDP has the mean xi + rho and the variance 2 rho; (mu, tau)-CDP has mu and tau^2."""
    xi = share * rho
    made = approximate_zcdp_proxy(rho, delta, xi)
    holds(made.mean, lambda: ball(Fraction(rho) + Fraction(xi)))
    assert (made.variance, made.delta) == (2 * rho, delta)
    other = concentrated_proxy(rho, abs(xi))
    assert (other.mean, other.delta) == (rho, 0.0)
    holds(other.variance, lambda: ball(xi) ** 2)


def formula_delta(proxies: list[LossProxy], epsilon: float) -> arb:
    """Enclose exp(-(epsilon - M)^2/(2 V)), epsilon at least M."""
    mean, variance = (sum((Fraction(getattr(p, name)) for p in proxies), Fraction(0)) for name in ("mean", "variance"))
    gap = ball(Fraction(epsilon) - mean)
    return (-gap * gap / (2 * ball(variance))).exp()


@checked
@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0.01, 3)), min_size=1, max_size=20), st.floats(0.01, 30))
@example([(0.5, 1.0)] * 4, 0.25)
@example([(0.0, 2.0)], 1.0)
def test_delta_at_a_chosen_epsilon(pairs: list[tuple[float, float]], deviations: float) -> None:
    """Within the stated relative 2^-42 (1 + epsilon^2/V) above the formula, and never below."""
    proxies = [concentrated_proxy(mu, tau) for mu, tau in pairs]
    mean, variance = sum(p.mean for p in proxies), sum(p.variance for p in proxies)
    epsilon = mean + deviations * math.sqrt(variance)
    accuracy = Fraction(2.0**-42 * (1 + epsilon**2 / variance))
    bound = setwise_delta(proxies, epsilon)
    holds(bound.delta, lambda: formula_delta(proxies, epsilon), accuracy)
    assert bound.epsilon == epsilon


@checked
@given(levels, st.integers(1, 30), st.floats(1e-12, 0.5))
def test_epsilon_and_delta_are_inverse_for_every_proxy(level: float, count: int, delta: float) -> None:
    """A claim made at one of them is claimed at the other: neither direction is optimistic."""
    proxies = [pure_proxy(level), pure_proxy(level, sharp=True), bounded_range_proxy(level, sharp=True)] * count
    proxies.append(approximate_zcdp_proxy(level, 0.0, level))
    epsilon = setwise_epsilon(proxies, delta).epsilon
    assert setwise_delta(proxies, epsilon).delta == pytest.approx(delta, rel=1e-9)
    holds(setwise_delta(proxies, epsilon).delta, lambda: formula_delta(proxies, epsilon), Fraction(1, 10**9))


@pytest.mark.parametrize("tail", [1e-9, 0.3, 1.0])
def test_what_is_left_out_is_added_once(tail: float) -> None:
    """delta + (1 - delta)(1 - prod (1 - delta_i)), in both directions, rounded up."""
    leaks = [0.01, 0.2, 0.0, 1e-12]
    proxies = [approximate_zcdp_proxy(0.1, leak) for leak in leaks]
    lost = 1 - math.prod((1 - Fraction(leak) for leak in leaks), start=Fraction(1))
    made = setwise_epsilon(proxies, tail)
    holds(made.delta, lambda: ball(min(Fraction(1), Fraction(tail) + (1 - Fraction(tail)) * lost)))
    back = setwise_delta(proxies, made.epsilon)
    assert back.delta == pytest.approx(made.delta, rel=1e-9)


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 1e-3])
def test_sums_of_many_parameters_are_not_rounded_down(value: float) -> None:
    """A running sum of 10^5 float64 numbers is wrong by up to a relative 10^-11, in either direction."""
    proxies = [LossProxy(value, value)] * 10**5
    mean = 10**5 * Fraction(value)
    epsilon = lambda: ball(mean) + (-2 * ball(mean) * ball(0.01).log()).sqrt()
    holds(setwise_epsilon(proxies, 0.01).epsilon, epsilon)
    assert setwise_delta(proxies, setwise_epsilon(proxies, 0.01).epsilon).delta == pytest.approx(0.01, rel=1e-7)


@pytest.mark.parametrize("make", [pure_proxy, bounded_range_proxy, lambda x: concentrated_proxy(x, x)])
def test_proxies_below_the_range_of_float64_do_not_become_certain(make: Callable[[float], LossProxy]) -> None:
    """The square of 1e-180 is no float64: with a variance of 0, every loss above the mean would be impossible."""
    made = make(1e-180)
    assert made.mean > 0
    assert made.variance > 0
    assert make(0.0).variance == 0
    assert setwise_delta([made], 2e-180).delta > 0.5


def test_without_a_variance_the_loss_is_at_most_the_mean() -> None:
    fixed = [LossProxy(0.5, 0.0)] * 2
    assert setwise_delta(fixed, 1.5) == SetwiseAdaptive(1.5, 0.0)
    assert setwise_delta(fixed, 0.9).delta == 1
    assert setwise_epsilon(fixed, 0.1).epsilon == pytest.approx(1.0)
    certain = [LossProxy(0.0, 1.0, 1.0)]
    assert setwise_delta(certain, 5.0).delta == 1
