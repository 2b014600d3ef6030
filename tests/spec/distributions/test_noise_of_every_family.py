"""Every notion on noise of every family, against sums over densities in float64 that know no closed form.

The bounds of :mod:`dpassay.spec.distributions.noise_pairs` are exact or certified on one side; both sides are asked:
none is above the truth (or below, for an upper bound), and none is far from it.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpassay.claims import ZCDP, ApproximateDP, BoundedRange, Claim, PureDP, RenyiDP
from dpassay.spec.distributions.noise import FAMILIES, NoiseDistribution, NoisePair
from dpassay.spec.notions.base import all_notions, find_notion

Array = NDArray[np.float64]
F = Fraction

PLACES: list[tuple[tuple[Any, Any], tuple[Any, Any]]] = [
    ((1, 1), (1, 1)),
    ((0, 2), (-3, 2)),
    ((0, 1), (1, F(3, 2))),
    ((0, F(3, 2)), (1, 1)),
    ((F(-3, 4), 1), (F(5, 4), 2)),
    ((F(1, 2), F(5, 2)), (-2, F(5, 2))),
]
"""(location, scale) on the left and on the right; the last is the middle and an end of noise with ends: its largest
losses in the two orders are the farthest apart.
"""
LEVELS = (0.0, 0.3, 0.9)
ORDERS = (1.25, 2.0, 3.0)
NEAR = 0.05
"""By which share a lower bound by cells may fall short, beside an absolute millionth."""
COARSE = 0.5
"""The same for the delta of continuous Gaussians of two scales: the levels of the losses reach far into the tails."""
ROUNDING = 1e-5
"""Errors of the sums over densities; the locations are among their points, so that no maximum is missed."""


def pairs() -> list[NoisePair]:
    found = []
    for family in FAMILIES:
        ends: dict[str, Any] = {"low": -2, "high": 3} if family.split()[0] in ("bounded", "clamped") else {}
        for left, right in PLACES:
            if family != "discrete gaussian" or all(F(place).denominator == 1 for place, _ in (left, right)):
                found.append((NoiseDistribution(family, *left, **ends), NoiseDistribution(family, *right, **ends)))
    return found


def logs_of(noise: NoiseDistribution) -> tuple[Array, Array]:
    """Return the logarithms of a density at many points, and the weights with which they are summed."""
    location, scale = float(noise.location), float(noise.scale)
    if noise.is_discrete:
        points = np.arange(-600.0, 601.0)
        weights = np.ones_like(points)
    else:
        low, high = (-60.0, 60.0) if noise.low is None or noise.high is None else (float(noise.low), float(noise.high))
        points = np.linspace(low, high, 40_001)
        weights = np.full_like(points, points[1] - points[0])
        weights[[0, -1]] /= 2
    z = np.abs(points - location) / scale
    logs = -z * z / 2 if noise.family.endswith("gaussian") else -z
    if noise.family == "clamped laplace":
        ends = [stats.laplace.logcdf(low, location, scale), stats.laplace.logsf(high, location, scale)]
        logs, weights = np.append(logs - math.log(2 * scale), ends), np.append(weights, [1.0, 1.0])
    return logs - math.log(float(np.sum(weights * np.exp(logs)))), weights


def truth(claim: Claim, pair: NoisePair) -> float:
    (p, weights), (q, _) = (logs_of(noise) for noise in pair)
    if isinstance(claim, ApproximateDP):
        return float(np.sum(weights * np.maximum(np.exp(p) - np.exp(claim.epsilon + q), 0)))
    if isinstance(claim, RenyiDP):
        return renyi(p, q, weights, claim.alpha)
    if isinstance(claim, ZCDP):
        orders = [1 + 10 ** (k / 10) for k in range(-30, 31)]
        return max(renyi(p, q, weights, order) / order for order in orders)
    largest = float(np.max(p - q))
    return largest if isinstance(claim, PureDP) else largest + float(np.max(q - p))


def renyi(p: Array, q: Array, weights: Array, order: float) -> float:
    exponents = order * p + (1 - order) * q
    top = float(exponents.max())
    return (top + math.log(float(np.sum(weights * np.exp(exponents - top))))) / (order - 1)


def unbounded(claim: Claim, pair: NoisePair) -> bool:
    """Return whether the truth is infinite, which no sum over a part of the line shows."""
    left, right = pair
    gaussian, falls = left.family.endswith("gaussian"), F(left.scale) > F(right.scale)
    if left.has_ends or left == right:
        return False
    if isinstance(claim, RenyiDP):
        a, b = (F(noise.scale) ** (2 if gaussian else 1) for noise in pair)
        return F(claim.alpha) * b + (1 - F(claim.alpha)) * a <= 0
    if isinstance(claim, ZCDP):
        return falls
    if isinstance(claim, PureDP):
        return falls or (gaussian and left.scale == right.scale)
    return not isinstance(claim, ApproximateDP) and (gaussian or left.scale != right.scale)


CLAIMS: list[Claim] = [
    PureDP(1.0),
    BoundedRange(1.0),
    *(ApproximateDP(level, 0.1) for level in LEVELS),
    *(RenyiDP(order, 1.0) for order in ORDERS),
    ZCDP(1.0),
]


def test_every_notion_of_noise_is_asked() -> None:
    assert {n.claim_type for n in all_notions() if n.of_noise} == {type(claim) for claim in CLAIMS}
    assert all(n.of_noise for n in all_notions() if n.of_noise_upper)


def shortfall(claim: Claim, pair: NoisePair) -> float:
    left, right = pair
    is_coarse = isinstance(claim, ApproximateDP) and left.family == "gaussian" and left.scale != right.scale
    return COARSE if is_coarse else NEAR


def name_of(pair: NoisePair) -> str:
    return f"{pair[0].family}-{'-'.join(str(F(x)) for noise in pair for x in (noise.location, noise.scale))}"


@pytest.mark.parametrize("pair", pairs(), ids=name_of)
def test_bounds_are_on_their_side_of_the_truth_and_near_it(pair: NoisePair) -> None:
    for claim in CLAIMS:
        notion: Any = find_notion(claim)
        lower = notion.of_noise(claim, [pair])
        upper = notion.of_noise_upper(claim, [pair]) if notion.of_noise_upper is not None else None
        if unbounded(claim, pair):
            assert upper is None or not upper.is_finite(), claim
            assert lower > 2, claim
        else:
            known = truth(claim, pair)
            assert lower < known * (1 + ROUNDING) + 1e-6, claim
            assert lower > known * (1 - shortfall(claim, pair)) - 1e-6, claim
            assert upper is None or upper > known * (1 - ROUNDING) - 1e-6, claim
