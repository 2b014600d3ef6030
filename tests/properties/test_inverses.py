"""Every accountant that inverts another one: what it returns is enough, by the enclosure of the other one.

An inverse that is compared with the number it started from, to some digits, may be rounded to the unsafe side; one
that starts its search from an end it takes for granted is wrong where that end is not enough. So the parameters run
over decades, each one to where it dominates the others.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.impl.accounting.advanced_composition import best_share
from dpassay.impl.accounting.calibration import gaussian_sigma
from dpassay.impl.accounting.gaussian import gaussian_epsilon
from dpassay.impl.accounting.histograms import gaussian_histogram_multiplier, laplace_histogram_epsilon
from dpassay.impl.accounting.truncation import truncation_half_width
from dpassay.impl.accounting.zcdp_budget import largest_rho
from dpassay.spec.ball import Real, at_most, ball
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.interactions.budget_rules import concentrated_epsilon
from dpassay.spec.theorems.composition import histograms, truncated_gaussian
from dpassay.spec.theorems.target_charging.main_theorem import advanced_epsilon_of_target_charging
from dpassay.spec.verdict import Outcome

RNG = np.random.default_rng(20261126)
EPSILONS = RNG.permutation(np.geomspace(1e-3, 30, 24)).tolist()
DELTAS = RNG.permutation(np.geomspace(1e-15, 0.9, 24)).tolist()
SIGMAS = RNG.permutation(np.geomspace(0.1, 100, 24)).tolist()
COUNTS = [int(n) for n in RNG.permutation(np.geomspace(1, 10**9, 24))]
STEPS = RNG.permutation(np.geomspace(1e-3, 1e3, 24)).tolist()
POINTS = list(zip(EPSILONS, DELTAS, SIGMAS, COUNTS, STEPS, strict=True))

Sides = tuple[Real, Real]
"""What must not be larger, and its target."""


def multiplier(epsilon: float, delta: float, _sigma: float, count: int, _step: float) -> Sides:
    found = float(gaussian_histogram_multiplier(epsilon, delta, count))
    return lambda: histograms.gaussian_histogram_epsilon(count, ball(found), ball(delta)), lambda: ball(epsilon)


def half_width(_epsilon: float, delta: float, sigma: float, count: int, step: float) -> Sides:
    found = Fraction(float(truncation_half_width(delta, sigma, step, count))) / Fraction(step)
    return lambda: truncated_gaussian.truncation_delta(found, sigma, count), lambda: ball(delta)


def half_width_of_many(_epsilon: float, delta: float, sigma: float, count: int, step: float) -> Sides:
    """A delta above 1: almost every count may tell its data set."""
    many, target = count + 1, (count + 1) * delta
    found = Fraction(float(truncation_half_width(target, sigma, step, many))) / Fraction(step)
    return lambda: truncated_gaussian.truncation_delta(found, sigma, many), lambda: ball(target)


def share(epsilon: float, delta: float, _sigma: float, count: int, _step: float) -> Sides:
    found = float(best_share(count, epsilon, delta))
    advanced: Real = lambda: advanced_epsilon_of_target_charging(ball(count), ball(found), ball(delta))
    return lambda: advanced().min(count * ball(found)), lambda: ball(epsilon)


def rho(epsilon: float, delta: float, *_: Any) -> Sides:
    found = largest_rho(epsilon, delta)
    return lambda: concentrated_epsilon(ball(found), ball(delta)), lambda: ball(epsilon)


def sigma_of_noise(epsilon: float, delta: float, _sigma: float, _count: int, step: float) -> Sides:
    shift = Fraction(step) / Fraction(float(gaussian_sigma(epsilon, delta, step)))
    return lambda: gaussian_hockey_stick(ball(shift), ball(epsilon)), lambda: ball(delta)


def epsilon_of_noise(_epsilon: float, delta: float, sigma: float, _count: int, step: float) -> Sides:
    found, shift = float(gaussian_epsilon(delta, sigma, step)), Fraction(step) / Fraction(sigma)
    return lambda: gaussian_hockey_stick(ball(shift), ball(found)), lambda: ball(delta)


def epsilon_of_counts(epsilon: float, delta: float, _sigma: float, count: int, _step: float) -> Sides:
    size = count % 200 + 1
    found = float(laplace_histogram_epsilon(delta, epsilon, size))
    return lambda: histograms.laplace_histogram_delta(ball(epsilon), size, ball(found)), lambda: ball(delta)


INVERSES: list[Callable[..., Sides]] = [
    multiplier, half_width, half_width_of_many, share, rho, sigma_of_noise, epsilon_of_noise, epsilon_of_counts,
]  # fmt: skip


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
@pytest.mark.parametrize("inverse", INVERSES, ids=lambda inverse: inverse.__name__)
def test_an_inverse_is_enough(inverse: Callable[..., Sides], point: tuple[Any, ...]) -> None:
    verdict = at_most(*inverse(*point))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail
