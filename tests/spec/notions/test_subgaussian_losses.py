"""The least scale at which a loss is subgaussian, against a search over lambda in float64: decided on both sides."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpassay.spec.ball import precision
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions import cdp
from dpassay.spec.notions.cdp import subgaussian_holds
from dpassay.spec.verdict import Outcome

PAIRS = {
    "symmetric": ((1, 1), (1, 3)),
    "skewed up": ((1, 30), (2, 29)),
    "skewed down": ((30, 1), (29, 2)),
    "rare gain": ((1, 200, 40), (7, 190, 44)),
    "rare loss": ((40, 200, 1), (44, 190, 7)),
    "three steps": ((5, 3, 2), (2, 3, 5)),
}


def least_tau(left: FiniteDistribution, right: FiniteDistribution) -> float:
    """Return the largest sqrt(2 K(lambda)) / |lambda| over a fine grid, the standard deviation included."""
    p = np.array([float(left.probability(o)) for o in left.outcomes])
    loss = np.log(p) - np.log([float(right.probability(o)) for o in left.outcomes])
    centred = loss - p @ loss
    width = centred.max() - centred.min()
    orders = np.concatenate([sign * np.geomspace(1e-3, 300, 20_000) / width for sign in (1, -1)])
    log_moments = np.log(np.exp(np.outer(orders, centred)) @ p)
    return max(math.sqrt(p @ centred**2), math.sqrt(float(np.max(2 * log_moments / orders**2))))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("swap", [False, True])
def test_the_least_scale_is_bracketed(name: str, swap: bool) -> None:
    pair = [FiniteDistribution.of(*weights) for weights in PAIRS[name]]
    left, right = reversed(pair) if swap else pair
    least = least_tau(left, right)
    assert subgaussian_holds(Fraction(least * 1.001), left, right).outcome is Outcome.HOLDS
    for share in (0.5, 0.99, 0.999):
        assert subgaussian_holds(Fraction(least * share), left, right).outcome is not Outcome.HOLDS


@pytest.mark.parametrize("name", PAIRS)
def test_a_scale_between_deviation_and_least_is_not_passed(name: str) -> None:
    """Near 0 the parabola stays below every claim above the variance: the walk must not jump over what follows."""
    left, right = (FiniteDistribution.of(*weights) for weights in PAIRS[name])
    p = np.array([float(left.probability(o)) for o in left.outcomes])
    loss = np.log(p) - np.log([float(right.probability(o)) for o in left.outcomes])
    deviation, least = math.sqrt(p @ (loss - p @ loss) ** 2), least_tau(left, right)
    for share in (1e-9, 1e-3, 0.5, 0.9, 0.99):
        tau = math.sqrt(deviation**2 + share * (least**2 - deviation**2))
        if tau < least * (1 - 1e-9):
            assert subgaussian_holds(Fraction(tau), left, right).outcome is not Outcome.HOLDS
            with precision(256):  # nor by the walk alone, before which suspects are looked at
                walks = [cdp._walk(Fraction(tau), sign, left, right) for sign in (1, -1)]
            assert None in walks
