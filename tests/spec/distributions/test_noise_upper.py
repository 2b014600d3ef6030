"""Upper bounds on divergences of composed noise lie above exact values, and near them."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, float_lower, precision
from dpassay.spec.distributions.composed_responses import composed_response_delta
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.interpolated_losses import LossCurve, composed_delta_upper
from dpassay.spec.distributions.noise import NoiseDistribution, NoisePair
from dpassay.spec.distributions.noise_pairs import hockey_stick_of_noise
from dpassay.spec.distributions.noise_upper import (
    concentrated_upper_of_noise,
    hockey_stick_upper_of_noise,
    largest_loss_upper_of_noise,
)

BITS = 128


def pair(family: str, distance: float, scale: float, **ends: float) -> NoisePair:
    return NoiseDistribution(family, 0, scale, **ends), NoiseDistribution(family, distance, scale, **ends)


def response(epsilon0: Fraction) -> LossCurve:
    """Return the curve of one randomised response."""
    true = 1 / (1 + (-ball(epsilon0)).exp())

    def delta(epsilon: Fraction) -> arb:
        level = ball(epsilon).exp()
        return (true - level * (1 - true)).max(arb(0)) + (1 - true - level * true).max(arb(0))

    return LossCurve(delta, float(epsilon0))


@pytest.mark.parametrize("count", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.31])
def test_composed_responses_are_bounded_from_above(count: int, epsilon: float) -> None:
    with precision(BITS):
        unit = Fraction(1, 5)
        exact = composed_response_delta(unit, count, epsilon)
        upper = composed_delta_upper([response(unit)] * count, epsilon)
        assert ball(upper) >= exact
        assert upper <= 1.001 * float_lower(exact) + 1e-12


def normal(shift: float) -> LossCurve:
    return LossCurve(lambda epsilon: gaussian_hockey_stick(shift, epsilon), shift * shift / 2 + 12 * shift)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 4.0])
def test_composed_gaussians_are_bounded_from_above(epsilon: float) -> None:
    with precision(BITS):
        exact = gaussian_hockey_stick(math.sqrt(0.75), epsilon)
        upper = composed_delta_upper([normal(0.5), normal(math.sqrt(0.5))], epsilon)
        assert ball(upper) >= exact * (1 - ball(2.0**-50))
        assert upper <= 1.01 * float_lower(exact)


@pytest.mark.parametrize("reach", [0.01, 0.3, 40.0])
def test_any_reach_gives_a_bound(reach: float) -> None:
    with precision(BITS):
        curve = LossCurve(normal(1.0).delta, reach)
        assert ball(composed_delta_upper([curve, curve], 0.7)) >= gaussian_hockey_stick(ball(2).sqrt(), 0.7)


def test_products_that_underflow_are_bounded_by_a_positive_number() -> None:
    """Two pairs with a loss of 1 with probability 1e-200, else none: their float64 masses multiply to 0."""
    rare, step = Fraction(1, 10**200), Fraction(1)

    def delta(epsilon: Fraction) -> arb:
        nothing = (-ball(epsilon).expm1()).max(arb(0))
        return ball(rare) * response(step).delta(epsilon) + (1 - ball(rare)) * nothing if epsilon < step else arb(0)

    with precision(BITS):
        exact = ball(rare**2) * composed_response_delta(step, 2, 1.5)
        assert exact > 0
        assert ball(composed_delta_upper([LossCurve(delta, 1.0)] * 2, 1.5)) >= exact


@pytest.mark.parametrize("curves", [[], [LossCurve(normal(1.0).delta, 0.0)], [LossCurve(normal(1.0).delta, math.inf)]])
def test_curves_without_a_reach_are_refused(curves: list[LossCurve]) -> None:
    with pytest.raises(UsageError, match="reaches"):
        composed_delta_upper(curves, 0.5)


COMPOSED = [
    [pair("laplace", 1, 2)],
    [pair("laplace", 1, 2), pair("laplace", 1, 3)],
    [pair("laplace", 1, 2), pair("gaussian", 1, 3), pair("gaussian", 2, 4)],
    [pair("discrete laplace", 3, 5), pair("laplace", 1, 3), pair("laplace", 2, 40)],
]


@pytest.mark.parametrize("moved", COMPOSED, ids=range(len(COMPOSED)))
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.45])
def test_both_bounds_enclose_a_delta(moved: list[NoisePair], epsilon: float) -> None:
    with precision(BITS):
        lower, upper = hockey_stick_of_noise(moved, epsilon), hockey_stick_upper_of_noise(moved, epsilon)
        assert upper is not None
        assert not lower > upper
        assert upper - lower < 0.003 * upper


BOUNDS: list[Callable[[list[NoisePair]], arb | None]] = [
    largest_loss_upper_of_noise,
    concentrated_upper_of_noise,
    lambda moved: hockey_stick_upper_of_noise(moved, 0.5),
]


@pytest.mark.parametrize("bound", BOUNDS)
def test_different_scales_have_no_upper_bound(bound: Callable[[list[NoisePair]], arb | None]) -> None:
    first = NoiseDistribution("laplace", 0, 1), NoiseDistribution("laplace", 1, 2)
    assert bound([pair("laplace", 1, 2), first]) is None
    between = NoiseDistribution("discrete laplace", 0, 1), NoiseDistribution("discrete laplace", 0.5, 1)
    assert bound([between]) is None


def test_a_rho_adds_up() -> None:
    with precision(BITS):
        rho = concentrated_upper_of_noise([pair("laplace", 1, 2), pair("gaussian", 1, 3)])
        assert rho is not None
        assert rho.overlaps(ball(Fraction(1, 8) + Fraction(1, 18)))
