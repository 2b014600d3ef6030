"""Exact relations of the searches of dp-accounting for the smallest noise and for the parts of a composition.

Noise is proportional to the sensitivity, so both are drawn far from 1.
"""

from __future__ import annotations

import math

import dp_accounting as dp
from dp_accounting import pld
from dp_accounting.pld import accountant as composition

from dpassay.adapter import Relations
from dpassay.impl.libraries.counted_target import CountedTarget, EndlessSearchError
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon
from dpassay.impl.libraries.refusing import raises

__all__ = ["search_relations"]

_MOST_LOSSES = 1e9
"""Privacy losses on a grid that take several gigabytes."""

_COARSE, _COARSEST = 0.1, 100.0
"""Grid of the losses of noise 1 that is asked instead, nats, and the coarsest one: less noise has larger losses."""

_ROUNDING = 1e-9
"""Absolute, of numbers that are not far from 1."""

_TOLERANCE = 1e-7
"""The documented tolerance of the searches, in units of the noise."""


def _target(epsilon, delta):
    return pld.common.DifferentialPrivacyParameters(epsilon, delta)


def _sensitivity(random):
    return 10 ** random.uniform(-2, 5)


def _smallest_noise(random):
    """Check that the noise meets its target, and that less noise does not."""
    epsilon, delta = random.uniform(0.5, 3), 10 ** random.uniform(-7, -3)
    count, sensitivity = random.randint(1, 4), _sensitivity(random)
    sigma = composition.get_smallest_gaussian_noise(_target(epsilon, delta), count, sensitivity)
    words = f"get_smallest_gaussian_noise({epsilon!r}, {delta!r}, {count}, {sensitivity!r})"
    one = sigma / sensitivity / math.sqrt(count)
    yield f"{words}, delta", 0.0, gaussian_delta(one, epsilon), delta * (1 + 1e-6)
    yield f"{words}, delta with less noise", delta, gaussian_delta(one * 0.99, epsilon), 1.0


def _smallest_laplace_noise(random):
    """Check that the noise is that of the formula, for one mechanism with a delta, and for several without."""
    epsilon, count, sensitivity = random.uniform(0.5, 3), random.randint(1, 4), _sensitivity(random)
    scale = composition.get_smallest_laplace_noise(_target(epsilon, 0.0), count, sensitivity)
    least = count * sensitivity / epsilon
    words = f"get_smallest_laplace_noise({epsilon!r}, 0, {count}, {sensitivity!r})"
    yield words, least * (1 - 1e-9), scale, least * (1 + 1e-9) + 2 * _TOLERANCE
    leak = 10 ** random.uniform(-4, -0.7)
    scale = composition.get_smallest_laplace_noise(_target(epsilon, leak), 1, sensitivity)
    words = f"get_smallest_laplace_noise({epsilon!r}, {leak!r}, 1, {sensitivity!r})"
    least = sensitivity / (epsilon - 2 * math.log1p(-leak))
    yield words, least * (1 - 1e-6), scale, least * (1 + 1e-6) + 2 * _TOLERANCE


def _tolerances(random):
    """Check that a search for Gaussian noise ends within its tolerance."""
    tolerance = random.choice([1e-6, 1e-2])
    sigma, delta = random.uniform(0.5, 4), 10 ** random.uniform(-7, -3)
    epsilon = gaussian_epsilon(sigma, delta)
    slack = tolerance + _ROUNDING
    words = f"sigma {sigma!r}, epsilon {epsilon!r}, delta {delta!r}, tolerance {tolerance}"
    found = dp.get_epsilon_gaussian(sigma, delta, tolerance)
    yield f"get_epsilon_gaussian, {words}", epsilon - slack, found, epsilon + slack
    found = dp.get_sigma_gaussian(epsilon, delta, tolerance)
    yield f"get_sigma_gaussian, {words}", sigma - slack, found, sigma + slack


def _delta_of_many(epsilon, delta, count, place):
    """Return the delta of many mechanisms at an epsilon of `count - 2 * place` times that of one.

    The worst mechanism is a response that reveals the input with probability delta: Theorem 3.3 of Kairouz, Oh and
    Viswanath 2015. The sum is over the number of true answers among many responses.
    """
    chances = [1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))]
    growth = math.exp(epsilon * (count - 2 * place))

    def chance(true, false):
        return math.comb(count, true) * chances[0] ** true * chances[1] ** false

    terms = (max(chance(k, count - k) - growth * chance(count - k, k), 0.0) for k in range(count + 1))
    none_revealed = (1 - delta) ** count
    return 1 - none_revealed + none_revealed * math.fsum(terms)


def _advanced(random):
    """Check advanced composition between the deltas at which its epsilon changes, and below the least of them."""
    epsilon, count = random.uniform(0.1, 1.5), random.randint(2, 20)
    for part in (0.0, 10 ** random.uniform(-4, -1.5)):
        words = f"advanced_composition({epsilon!r}, {part!r}, {count}, "
        deltas = [_delta_of_many(epsilon, part, count, place) for place in range(count // 2 + 1)]
        for place, (low, high) in enumerate(zip(deltas, [*deltas[1:], (1 + deltas[-1]) / 2])):
            if high - low > _ROUNDING:
                total, exact = random.uniform(0.9 * low + 0.1 * high, high), epsilon * (count - 2 * place)
                found = composition.advanced_composition(_target(epsilon, part), count, total)
                yield f"{words}{total!r})", exact - _ROUNDING, _or_infinite(found), exact + _ROUNDING
        if part:
            total = random.uniform(part, 0.01 * part + 0.99 * deltas[0])
            found = composition.advanced_composition(_target(epsilon, part), count, total)
            yield f"{words}{total!r}), less than what is revealed", math.inf, _or_infinite(found), math.inf
            found = composition.get_smallest_epsilon_from_advanced_composition(_target(epsilon, total), count, part)
            yield f"the inverse of {words}{total!r})", math.inf, _or_infinite(found), math.inf


def _or_infinite(epsilon):
    return math.inf if epsilon is None else epsilon


def _parts(random):
    """Check that advanced composition costs at most the sum of its parts, and that its inverse is one."""
    epsilon, delta, count = random.uniform(0.5, 3), 10 ** random.uniform(-7, -3), random.randint(1, 4)
    part = delta / (2 * count)
    total = composition.advanced_composition(_target(epsilon / count, part), count, delta)
    yield "advanced composition costs at most the sum", 0.0, total, epsilon * (1 + 1e-9)
    back = composition.get_smallest_epsilon_from_advanced_composition(_target(total, delta), count, part)
    yield "advanced composition is inverted", epsilon / count * (1 - 1e-6), back, epsilon / count * (1 + 1e-2)


def _ends():
    """Return whether a search for noise of a standard deviation above 2**29 ends."""
    target = _target(0.01, CountedTarget(1e-6))
    return not raises(EndlessSearchError, lambda: composition.get_smallest_gaussian_noise(target, 1, 1e7))


def _ends_on_a_sample():
    """Return whether a search ends that any noise suffices: delta is above the probability of being sampled."""
    module = composition.privacy_loss_distribution
    given = module.from_gaussian_mechanism

    def coarse(sigma, **options):
        if 0.5 / sigma**2 / options["value_discretization_interval"] > _MOST_LOSSES:
            raise EndlessSearchError
        grid = min(_COARSE / sigma**2, _COARSEST)
        return given(sigma, **{**options, "value_discretization_interval": grid})

    module.from_gaussian_mechanism = coarse
    try:
        return not raises(
            EndlessSearchError,
            lambda: composition.get_smallest_subsampled_gaussian_noise(_target(1.0, 0.3), 1, 1, 0.2),
        )
    finally:
        module.from_gaussian_mechanism = given


def search_relations():
    """Yield the relations."""
    attained = {
        "the smallest Laplace noise is that of the formula": _smallest_laplace_noise,
        "noise is found within a tolerance": _tolerances,
    }
    yield Relations(
        "searches for noise",
        {
            **attained,
            "the smallest noise suffices": _smallest_noise,
            "advanced composition is that of responses": _advanced,
            "advanced composition is inverted": _parts,
        },
        {"a search for large noise ends": _ends},
        understated=attained,
    )
    yield Relations(
        "searches for noise on samples",
        {},
        {"a search ends where any noise suffices": _ends_on_a_sample},
    )
