"""The reference values that adapters share agree with accountants and enclosures that were written apart from them."""

import math
from random import Random

import pytest

from dpassay.impl.accounting.gaussian import gaussian_delta as upper_delta
from dpassay.impl.libraries.references import (
    composition_bounds,
    composition_delta,
    deltas_with_response,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    least_error_rate,
    many_equal_steps,
    near,
    no_deltas,
    normal_cdf,
    sampled_gaussian_deltas,
    sampled_gaussian_divergence,
)
from dpassay.spec.distributions.composed_responses import heterogeneous_delta


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.7, 0.0), (0.7, 3.0), (2.3, 0.4)])
def test_the_curve_of_gaussian_noise_is_that_of_our_accountant(sigma: float, epsilon: float) -> None:
    assert gaussian_delta(sigma, epsilon) == pytest.approx(float(upper_delta(epsilon, sigma)), rel=1e-9)


def test_epsilon_is_the_inverse_of_delta() -> None:
    assert gaussian_epsilon(1.3, gaussian_delta(1.3, 0.8)) == pytest.approx(0.8, abs=1e-9)
    assert gaussian_epsilon(1.3, 0.9) == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-6), (1.0, 0.2), (4.0, 1e-12)])
def test_sigma_is_the_inverse_of_delta(epsilon: float, delta: float) -> None:
    assert gaussian_delta(gaussian_sigma(epsilon, delta), epsilon) == pytest.approx(delta, rel=1e-8)


@pytest.mark.parametrize(("count", "epsilon", "least"), [(3, 1.5, 0), (100, 0.02, 1), (100, 0.15, 2)])
def test_each_bound_on_a_composition_holds_and_is_the_least_in_turn(count: int, epsilon: float, least: int) -> None:
    """The delta of responses is a sum over the number of truthful ones."""
    slack = 1e-3 if least < 2 else 0.3
    bounds = composition_bounds([epsilon] * count, slack)
    assert bounds.index(min(bounds)) == least
    truthful = 1 / (1 + math.exp(-epsilon))
    chances = [math.comb(count, k) * truthful**k * (1 - truthful) ** (count - k) for k in range(count + 1)]
    losses = [(2 * k - count) * epsilon for k in range(count + 1)]
    for bound in bounds:
        delta = sum(-math.expm1(min(bound - loss, 0)) * chance for loss, chance in zip(losses, chances, strict=True))
        assert delta <= slack
    assert composition_bounds([0.5, 0.25], 0.0) == (0.75, math.inf, math.inf)


def test_the_bounds_on_a_composition_are_those_of_the_theorem() -> None:
    drift, squares = 0.3 * math.tanh(0.15) + 0.7 * math.tanh(0.35), 0.3**2 + 0.7**2
    by_squares, by_slack = math.log(math.e + math.sqrt(squares) / 1e-4), math.log(1e4)
    expected = [1.0, drift + math.sqrt(2 * squares * by_squares), drift + math.sqrt(2 * squares * by_slack)]
    assert list(composition_bounds([0.3, 0.7], 1e-4)) == pytest.approx(expected, rel=1e-12)


def test_the_divergence_of_a_whole_sample_is_that_of_gaussian_noise() -> None:
    assert sampled_gaussian_divergence(1.7, 1.0, 3.0) == pytest.approx(3.0 / (2 * 1.7**2), rel=1e-9)
    assert sampled_gaussian_divergence(1.7, 0.2, 3.0) < 0.2 * sampled_gaussian_divergence(1.7, 1.0, 3.0)


@pytest.mark.parametrize("epsilon", [-1.3, -0.1, 0.0, 0.1, 1.3])
def test_the_deltas_of_a_sample_are_those_of_its_distributions(epsilon: float) -> None:
    """The densities are integrated by the midpoint rule, on both sides of the noise."""
    sigma, rate, width = 0.9, 0.3, 1e-3
    removed = added = 0.0
    for place in range(-9000, 9000):
        x = (place + 0.5) * width
        zero, one = (math.exp(-0.5 * ((x - mean) / sigma) ** 2) / sigma / math.sqrt(2 * math.pi) for mean in (0, 1))
        mixture = (1 - rate) * zero + rate * one
        removed += max(0.0, mixture - math.exp(epsilon) * zero) * width
        added += max(0.0, zero - math.exp(epsilon) * mixture) * width
    assert sampled_gaussian_deltas(sigma, rate, epsilon) == pytest.approx((removed, added), abs=1e-6)


def test_a_response_that_may_leak_has_its_parameters() -> None:
    alone = deltas_with_response(no_deltas, 0.7, 0.1)
    assert alone(0.7) == pytest.approx((0.1, 0.1))
    assert alone(0.0) == pytest.approx((0.1 + 0.9 * math.tanh(0.35),) * 2)
    twice = deltas_with_response(alone, 0.7, 0.1)
    assert twice(1.4) == pytest.approx((0.19, 0.19))


def test_the_least_error_rate_of_gaussian_noise_is_its_trade_off() -> None:
    curve = [(k / 100, gaussian_delta(1.3, k / 100)) for k in range(-600, 601)]
    assert least_error_rate(curve, normal_cdf(-0.4)) == pytest.approx(normal_cdf(0.4 - 1 / 1.3), abs=1e-5)
    assert least_error_rate([(0.0, 0.3), (1.0, 0.1)], 0.5) == pytest.approx(0.2)
    assert least_error_rate([(0.0, 0.3), (1.0, 0.1)], 0.9) == 0.0


STEPS = [(0.3, 1e-4, 4), (0.9, 1e-3, 2)]


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.5])
def test_the_composition_of_steps_is_that_of_the_enclosure(epsilon: float) -> None:
    epsilons, deltas = [0.3] * 4 + [0.9] * 2, [1e-4] * 4 + [1e-3] * 2
    exact = heterogeneous_delta(epsilons, deltas, epsilon)
    assert composition_delta(STEPS, epsilon) == pytest.approx(float(exact), rel=1e-9)


def test_a_tiny_delta_of_composed_steps_keeps_its_digits() -> None:
    exact = heterogeneous_delta([0.15] * 94, [0.0] * 94, 12.5)
    assert composition_delta([(0.15, 0.0, 94)], 12.5) == pytest.approx(float(exact), rel=1e-9, abs=0)
    assert composition_delta([(0.15, 1.0, 2)], 12.5) == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_the_closed_formula_of_many_steps_is_sound_and_less_than_the_sum(seed: int) -> None:
    for steps in many_equal_steps(Random(seed)):  # noqa: S311  # a draw that can be repeated
        plain, *bounds = composition_bounds([own for own, _, times in steps for _ in range(times)], 5e-7)
        assert min(bounds) < plain
        assert composition_delta([(own, 0.0, times) for own, _, times in steps], min(bounds)) <= 5e-7


def test_a_number_outside_the_slack_is_outside_the_bounds() -> None:
    low, value, high = near(2.0 + 3e-9, 2.0)
    assert not low <= value <= high
    low, value, high = near(2.0 + 1e-9, 2.0)
    assert low <= value <= high
