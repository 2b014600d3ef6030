"""A verdict that violates names an order at which the divergence really exceeds the claim."""

import math

import pytest

from dpassay.claims import ZCDP, ApproximateZCDP
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.discrete import FiniteDistribution, renyi_divergence
from dpassay.spec.notions.base import find_notion
from dpassay.spec.verdict import Outcome

PAIRS = [
    (FiniteDistribution.of(1, 99), FiniteDistribution.of(1, 9999)),
    (FiniteDistribution.of(1, 199), FiniteDistribution.of(1, 99_999)),
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("xi", [0.0, 0.05])
def test_the_order_of_a_violation_refutes_the_claim(pair: tuple[FiniteDistribution, ...], xi: float) -> None:
    left, right = pair
    worst = max((float(renyi_divergence(left, right, ball(1 + k / 20))) - xi) / (1 + k / 20) for k in range(1, 200))
    rho = worst * 0.999
    claim = ApproximateZCDP(rho, 0.0, xi) if xi else ZCDP(rho)
    verdict = find_notion(claim).decide(claim, left, right)
    assert verdict.outcome is Outcome.VIOLATED
    with precision(128):
        order = ball(verdict.witness["alpha"])
        assert order > 1
        assert renyi_divergence(left, right, order) > ball(xi) + ball(rho) * order
    assert math.isfinite(float(verdict.witness["alpha"]))
