"""Closed forms of the Gaussian pair against independent arithmetic (mpmath) and published values."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, enclosure, normal_cdf, precision
from dpassay.spec.distributions.gaussian import (
    gaussian_hockey_stick,
    gaussian_loss_tail,
    gaussian_probabilistic_epsilon,
    gaussian_renyi_divergence,
    gaussian_shift,
)
from dpassay.spec.notions.zcdp_conversions import optimal_probabilistic_epsilon

POINTS = [(0.5, 0.3), (1.0, 0.1), (2.0, 3.0), (1.0, -0.5), (0.01, 0.2)]


def integral(shift: float, integrand: str, level: float) -> float:
    """Integrate over the bad half-line, in 50 digits, with cells of a noise scale."""
    with mpmath.workdps(50):
        m, epsilon = mpmath.mpf(shift), mpmath.mpf(level)
        end = epsilon / m + m / 2
        p: Callable[[Any], Any] = lambda x: mpmath.npdf(x - m)
        forms = {
            "hockey-stick": lambda x: p(x) - mpmath.exp(epsilon) * mpmath.npdf(x),
            "tail": p,
        }
        return float(mpmath.quad(forms[integrand], [end + k for k in range(20)]))


@pytest.mark.parametrize(("shift", "epsilon"), POINTS)
def test_hockey_stick_and_tail_are_the_integrals(shift: float, epsilon: float) -> None:
    delta = enclosure(lambda: gaussian_hockey_stick(shift, epsilon))
    assert float(delta) == pytest.approx(integral(shift, "hockey-stick", epsilon), rel=1e-12)
    tail = enclosure(lambda: gaussian_loss_tail(shift, epsilon))
    assert float(tail) == pytest.approx(integral(shift, "tail", epsilon), rel=1e-12)


@pytest.mark.parametrize(
    ("shift", "epsilon", "delta"),
    [
        (0.5, 0.3, 0.0963528240623431),
        (1, 0.1, 0.352325171681367),
        (2, 3, 0.183813076544472),
        (1, -0.5, 0.538079416212226),
    ],
)
def test_known_values_of_delta(shift: float, epsilon: float, delta: float) -> None:
    assert float(gaussian_hockey_stick(shift, epsilon)) == pytest.approx(delta, rel=1e-14)


def test_tiny_deltas_keep_their_relative_accuracy() -> None:
    delta = enclosure(lambda: gaussian_hockey_stick(Fraction(1, 100), Fraction(1, 2)), relative_bits=53)
    with mpmath.workdps(1400):
        m, epsilon = mpmath.mpf(1) / 100, mpmath.mpf(1) / 2
        truth = mpmath.ncdf(m / 2 - epsilon / m) - mpmath.exp(epsilon) * mpmath.ncdf(-m / 2 - epsilon / m)
        assert abs(mpmath.mpf(delta.str(20, radius=False)) / truth - 1) < mpmath.mpf(10) ** -15


@pytest.mark.parametrize(
    ("shift", "converted", "true"), [("0.1", 0.48485, 0.43149), ("0.5", 2.5243, 2.2574), ("2", 11.597, 10.530)]
)
def test_the_conversion_of_the_renyi_curve_against_the_true_epsilon(shift: str, converted: float, true: float) -> None:
    m, delta = Fraction(shift), Fraction(1, 10**5)
    assert float(optimal_probabilistic_epsilon(m**2 / 2, delta)) == pytest.approx(converted, rel=1e-4)
    assert float(gaussian_probabilistic_epsilon(m, delta)) == pytest.approx(true, rel=1e-4)


def test_renyi_divergence_is_the_integral() -> None:
    shift, alpha = 0.7, 3.5
    integrand = lambda x: mpmath.npdf(x - shift) ** alpha * mpmath.npdf(x) ** (1 - alpha)
    moment = mpmath.quad(integrand, list(range(-8, 14)))
    assert float(gaussian_renyi_divergence(shift, alpha)) == pytest.approx(float(mpmath.log(moment)) / (alpha - 1))


def test_equal_distributions_are_a_corner_not_a_division_by_zero() -> None:
    assert gaussian_hockey_stick(0, 1) == 0
    assert gaussian_hockey_stick(0, -1) > 0
    assert gaussian_loss_tail(0, 0) == 0
    assert gaussian_loss_tail(0, -1) == 1
    assert gaussian_renyi_divergence(0, 5) == 0


def test_the_shift_is_in_noise_scales() -> None:
    assert gaussian_shift(3, 1, Fraction(1, 2)) == 4
    with pytest.raises(UsageError, match="sigma"):
        gaussian_shift(0, 1, 0)
    with pytest.raises(UsageError, match="mean"):
        gaussian_shift(float("nan"), 1, 1)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2])
def test_delta_must_be_a_proper_probability(delta: float) -> None:
    with pytest.raises(UsageError, match="delta"):
        gaussian_probabilistic_epsilon(1, delta)


def test_hockey_stick_far_out_keeps_its_relative_accuracy() -> None:
    delta = enclosure(lambda: gaussian_hockey_stick(Fraction(17, 8_323_200_000), 1), relative_bits=40)
    assert delta > 0


def test_hockey_stick_is_continued_where_erfc_ends() -> None:
    values = []
    for shift in (Fraction(1, 99), Fraction(1, 101)):  # epsilon/m - m/2 on both sides of FAR, for epsilon 1
        exact = enclosure(partial(gaussian_hockey_stick, shift, 1))
        with precision(400):
            m = ball(shift)
            plain = normal_cdf(m / 2 - 1 / m) - arb(1).exp() * normal_cdf(-m / 2 - 1 / m)
            values.append(float((exact / plain - 1).abs_upper()))
    assert max(values) < 1e-11
