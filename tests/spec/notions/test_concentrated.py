"""Concentrated DP and approximate zCDP: three-valued decisions, exact events, corners."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateZCDP, BoundedRange, ConcentratedDP, PureDP, parse_claim
from dpassay.spec.ball import precision
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.notions.approximate_zcdp import clipped_pair
from dpassay.spec.notions.base import find_notion
from dpassay.spec.notions.concentrated_conversions import (
    approximate_zcdp_to_approximate,
    bounded_range_implying_concentrated,
    bounded_range_to_zcdp,
    concentrated_to_approximate_zcdp,
    pure_to_concentrated,
)
from dpassay.spec.notions.zcdp import Cumulants, _walk, zcdp_divergence
from dpassay.spec.verdict import Outcome

RESPONSE = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
LEAK = FiniteDistribution.of(1, 9, 0), FiniteDistribution.of(0, 9, 1)
LOG_3 = math.log(3)
MEAN = LOG_3 * math.tanh(LOG_3 / 2)
PROXY = math.sqrt(2 * MEAN)  # of randomised response, exactly (Kearns and Saul 1998)


@pytest.mark.parametrize(
    ("claim", "pair", "outcome"),
    [
        (ConcentratedDP(MEAN + 1e-9, LOG_3 + 1e-9), RESPONSE, Outcome.HOLDS),
        (ConcentratedDP(MEAN - 1e-9, LOG_3), RESPONSE, Outcome.VIOLATED),
        (ConcentratedDP(1, PROXY * 1.01), RESPONSE, Outcome.HOLDS),
        (ConcentratedDP(1, PROXY * 0.99), RESPONSE, Outcome.VIOLATED),
        (ConcentratedDP(9, 9), LEAK, Outcome.VIOLATED),
        (ConcentratedDP(0, 0), (RESPONSE[0], RESPONSE[0]), Outcome.HOLDS),
        (ApproximateZCDP(0.0, 0.1), LEAK, Outcome.HOLDS),
        (ApproximateZCDP(0.0, 0.09), LEAK, Outcome.VIOLATED),
        (ApproximateZCDP(9.0, 1.0), LEAK, Outcome.HOLDS),
        (ApproximateZCDP(0.01, 0.5), RESPONSE, Outcome.HOLDS),
        (ApproximateZCDP(0.1, 0.4), RESPONSE, Outcome.HOLDS),
        (ApproximateZCDP(0.001, 0.1), RESPONSE, Outcome.VIOLATED),
        (ApproximateZCDP(0.01, 0.4), RESPONSE, Outcome.UNDECIDED),
        (ApproximateZCDP(LOG_3**2 / 2, 0.0, MEAN - LOG_3**2 / 2 + 1e-9), RESPONSE, Outcome.HOLDS),
        (ApproximateZCDP(LOG_3**2 / 2, 0.0, MEAN - LOG_3**2 / 2 - 1e-3), RESPONSE, Outcome.VIOLATED),
    ],
)
def test_decisions(
    claim: ConcentratedDP | ApproximateZCDP, pair: tuple[FiniteDistribution, FiniteDistribution], outcome: Outcome
) -> None:
    assert find_notion(claim).decide(claim, *pair).outcome is outcome


def test_the_divergence_of_zcdp_is_found_between_the_orders_that_are_always_tried() -> None:
    """A rare outcome 1000 times as likely: D_alpha/alpha is largest near alpha = 4.09, 4 % above its value at 5."""
    common, rare = 10**7, (1000, 1)
    left, right = (FiniteDistribution.of(count, common - count) for count in rare)
    orders = np.linspace(1.01, 66, 100_000)
    parts = [(math.log(a), math.log(b)) for a, b in (rare, [common - count for count in rare])]
    moments = np.logaddexp(*(orders * a + (1 - orders) * b for a, b in parts)) - math.log(common)
    found = float(zcdp_divergence(ZCDP(1.0), left, right))
    assert found == pytest.approx(float((moments / (orders * (orders - 1))).max()), rel=1e-4)


BENT = [((350, 650), (6, 994)), ((350, 640, 10), (6, 990, 4)), ((1, 9), (1, 99)), ((1, 999), (1, 10**6))]
"""Pairs whose D_alpha/alpha is largest at an order above 1; of the first two the walk ends near that order."""


@pytest.mark.parametrize("weights", BENT)
@pytest.mark.parametrize("offset", [Fraction(0), Fraction(1, 8), Fraction(-1, 8)])
def test_the_walk_alone_passes_what_holds_and_nothing_else(weights: Any, offset: Fraction) -> None:
    """Without the suspicious order that is looked at before; the supremum is found on a fine grid of orders."""
    left, right = (FiniteDistribution.of(*each) for each in weights)
    p = np.array([float(left.probability(o)) for o in left.outcomes])
    loss = np.log(p) - np.log([float(right.probability(o)) for o in right.outcomes])
    s = np.geomspace(1e-4, 100, 40_000)
    moments = np.log(np.exp(np.outer(s, loss)) @ p)
    least = float(((moments / s - float(offset)) / (s + 1)).max())
    assert least > 1.01 * (p @ loss - float(offset))
    cumulants = Cumulants.of(left, right)
    with precision(256):
        for share in (0.5, 0.9, 0.99, 0.999, 0.9999):
            assert _walk(cumulants, Fraction(least * share), offset) is None
        assert _walk(cumulants, Fraction(least * 1.001), offset) is not None


def test_the_curvature_of_a_cumulant_is_bounded_by_the_range_of_the_loss() -> None:
    """R^2/8 for losses of range R: half of the variance of two values R apart with equal weights."""
    for odds in (2, 5, 100):
        bound = Cumulants.of(FiniteDistribution.of(odds, 1), FiniteDistribution.of(1, odds)).curvature
        assert float(bound) == pytest.approx((2 * math.log(odds)) ** 2 / 8)


def test_the_excess_over_what_a_claim_of_concentrated_dp_implies() -> None:
    """Delta at mu + tau sqrt(2 k log 2) less 2^-k: by the zCDP of rho = tau^2/2 and xi = mu - rho."""
    claim = ConcentratedDP(2.0**-7, 2.0**-4)
    levels = {k: claim.mu + claim.tau * math.sqrt(2 * k * math.log(2)) for k in (1, 2, 4, 8, 16, 32, 64)}
    expected = max((3 - math.exp(level)) / 4 - 2.0**-k for k, level in levels.items())
    assert float(find_notion(claim).divergence(claim, *RESPONSE)) == pytest.approx(expected, rel=1e-12)


def test_the_clipped_pair_loses_at_most_delta() -> None:
    left, right = FiniteDistribution.of(5, 3, 1, 1), FiniteDistribution.of(1, 2, 3, 4)
    for delta in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 3)):
        clipped = clipped_pair(left, right, delta)
        assert clipped is not None
        for kept, whole in zip(clipped, (left, right), strict=True):
            assert all((1 - delta) * p <= whole.probability(o) for o, p in kept.weights.items())
        before = max(left.probability(o) / right.probability(o) for o in left.outcomes)
        assert hockey_stick_exact(*clipped, before) == 0
    assert clipped_pair(*LEAK, Fraction(1, 11)) is None


def test_conversions_round_to_the_safe_side() -> None:
    assert pure_to_concentrated(PureDP(LOG_3)).mu == pytest.approx(MEAN)
    assert bounded_range_to_zcdp(BoundedRange(1.0)).rho == pytest.approx(0.12330156, abs=1e-8)
    weaker = concentrated_to_approximate_zcdp(ConcentratedDP(0.1, 0.5))
    assert weaker == ApproximateZCDP(0.125, 0.0, weaker.xi)
    assert weaker.xi == pytest.approx(-0.025)
    assert weaker.xi >= Fraction(0.1) - Fraction(1, 8)
    (source,) = bounded_range_implying_concentrated(ConcentratedDP(1.0, 0.5))
    assert source == BoundedRange(1.0)
    with pytest.raises(UsageError, match="delta"):
        approximate_zcdp_to_approximate(ApproximateZCDP(0.1, 0.01), delta=0.01)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ApproximateZCDP(-1, 0.1), "rho"),
        (lambda: ApproximateZCDP(1, 1.1), "delta"),
        (lambda: ApproximateZCDP(1, 0.1, -1.5), "xi"),
        (lambda: ConcentratedDP(math.nan, 1), "mu"),
        (lambda: ConcentratedDP(1, -1), "tau"),
    ],
)
def test_claims_refuse_what_is_out_of_their_domain(make: object, name: str) -> None:
    assert callable(make)
    with pytest.raises(UsageError, match=name):
        make()


def test_words_of_the_new_claims() -> None:
    for words in ("approx-zcdp:0.1,0.01", "cdp:0.1,0.5"):
        assert str(parse_claim(words)) == words
    assert str(ApproximateZCDP(0.2, 0.0, -0.1)) == "approx-zcdp:0.2,0.0,-0.1"
