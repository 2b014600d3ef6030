"""Certified values for the composition of randomised responses, the worst case of pure DP."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from dpassay.arguments import UsageError
from dpassay.properties.assay.enclosures import LARGEST, WORKING_BITS, Truth, Truths, exceeds, least_argument
from dpassay.spec.ball import exact, float_lower, float_upper, precision
from dpassay.spec.distributions.composed_responses import (
    composed_approximate_delta,
    composed_response_delta,
    heterogeneous_delta,
    response_renyi_divergence,
)

__all__ = ["COMPOSITION_TRUTHS", "responses_delta"]

MOST_RESPONSES = 20_000
"""Largest number of responses whose binomial tail is summed term by term."""


@lru_cache(maxsize=256)
def responses_delta(unit: Fraction, epsilon: float, count: int) -> Truth:
    """Enclose the delta of `count` responses of which each has an epsilon of `unit`, a fraction."""
    if count > MOST_RESPONSES:
        raise UsageError(f"count must be at most {MOST_RESPONSES}, got {count}")
    with precision(WORKING_BITS):
        value = composed_response_delta(unit, count, epsilon)
    if value == 0:
        return Truth(0.0, 0.0)
    return Truth(max(0.0, float_lower(value)), float_upper(value))


def response_delta(epsilon0: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of `count` randomised responses: the worst of all epsilon0-DP mechanisms."""
    return responses_delta(exact("epsilon0", epsilon0), epsilon, count)


def response_epsilon(epsilon0: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    return least_argument(lambda epsilon: response_delta(epsilon0, epsilon, count), delta)


def approximate_epsilon(epsilon0: float, delta0: float, count: int, delta: float) -> Truth:
    """Enclose the least epsilon of `count` mechanisms of which each is (epsilon0, delta0)-DP and no better.

    Infinite, with nothing known from above, where the leaks alone exceed delta.

    Parameters
    ----------
    epsilon0, delta0 : float
        Tight privacy parameters of each mechanism.
    count : int
        Number of mechanisms.
    delta : float
        Delta of the composition.
    """

    def curve(epsilon: float) -> Truth:
        return Truth.of(lambda: composed_approximate_delta(epsilon0, delta0, count, epsilon))

    if exceeds(curve(LARGEST), delta):
        return Truth(math.inf, None)
    return least_argument(curve, delta)


def heterogeneous_epsilon(epsilons: Sequence[float], deltas: Sequence[float], delta: float) -> Truth:
    """Enclose the least epsilon of mechanisms with these parameters."""

    def curve(epsilon: float) -> Truth:
        return Truth.of(lambda: heterogeneous_delta(epsilons, deltas, epsilon))

    if exceeds(curve(LARGEST), delta):
        return Truth(math.inf, None)
    return least_argument(curve, delta, steps=40)


def response_renyi(epsilon0: float, order: float) -> Truth:
    """Enclose the Renyi divergence of one response."""
    return Truth.of(lambda: response_renyi_divergence(epsilon0, order))


COMPOSITION_TRUTHS: Truths = {
    "randomised_response_delta": response_delta,
    "pure_composition_delta": response_delta,
    "randomised_response_epsilon": response_epsilon,
    "pure_composition_epsilon": response_epsilon,
    "approximate_composition_epsilon": approximate_epsilon,
    "heterogeneous_composition_epsilon": heterogeneous_epsilon,
    "randomised_response_renyi": response_renyi,
}
"""Certified values by question."""
