"""The bet on a Renyi moment: its mean under the claim, its faulty variants, and what it finds."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import ZCDP, Claim, RenyiDP
from dpassay.properties.betting.bets import LEVELS, to_levels
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.moments import CAPS, STAKES, log_moment_wealth, moment_factors
from dpassay.properties.betting.wealth import Ledger
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

Array = NDArray[np.float64]

PAIRS = [np.random.default_rng(7).dirichlet(np.full(6, 0.7), 2) for _ in range(3)] + [
    np.random.default_rng(seed).dirichlet(np.full(5, 1.5), 2) for seed in range(20)
]


def moment(p: Array, q: Array, alpha: float) -> float:
    return float(np.sum(p**alpha * q ** (1 - alpha)))


def mean_of_factor(p: Array, q: Array, alpha: float, epsilon: float, cap: float, stake: float, weight: float) -> float:
    on_p, on_q = moment_factors(np.log(p / q), alpha, epsilon, cap=cap, stake=stake, weight=weight)
    return float(weight * np.sum(p * np.exp(on_p)) + (1 - weight) * np.sum(q * np.exp(on_q)))


@pytest.mark.parametrize("alpha", [1.25, 2.0, 5.0])
def test_the_factor_has_mean_at_most_one_where_the_claim_is_attained(alpha: float) -> None:
    for (p, q), cap, stake, weight in product(PAIRS, (0.1, 0.5, *CAPS), (0.999, *STAKES), (0.5, 1 / 8, 7 / 8)):
        epsilon = math.log(moment(p, q, alpha)) / (alpha - 1)
        if 0 < epsilon < 20:
            assert mean_of_factor(p, q, alpha, epsilon, cap, stake, weight) <= 1 + 1e-12


def largest_mean(*, exchanged: bool = False, first: float = 1.0, limit: float = 1.0, height: float = 1.0) -> float:
    """Return the largest mean of the factor, and of variants with a fault, over pairs that attain the claim.

    A negative factor would lose more than all: where the stake exceeds its limit, what is left is clipped at 0.
    """
    best = 0.0
    for (p, q), alpha, cap in product(PAIRS, (1.5, 3.0), (0.1, 0.3, 0.6, 1.0)):
        moment_bound = moment(p, q, alpha)
        beta = alpha / (alpha - 1)
        a, b = (beta, alpha) if exchanged else (alpha, beta)
        t = math.exp(-cap / beta)
        c1, c2 = first * t**a * moment_bound / a, t**-b / b
        h = height * np.minimum(1, (p / q) ** (alpha - 1) * math.exp(-(alpha - 1) * cap))
        stake = limit / (c2 + c1 / 2)
        on_p, on_q = 1 + stake * (h - c1 / 2), 1 + stake * (-c2 * h**b - c1 / 2)
        mean = (np.sum(p * np.maximum(on_p, 0)) + np.sum(q * np.maximum(on_q, 0))) / 2
        best = max(best, float(mean))
    return best


def test_faulty_bets_on_the_moment_are_noticed() -> None:
    assert largest_mean() <= 1 + 1e-12
    assert largest_mean(exchanged=True) > 1.001
    assert largest_mean(first=0.5) > 1.001
    assert largest_mean(limit=3.0) > 1.001
    assert largest_mean(height=5.0) > 1.001


def test_the_factor_has_a_mean_above_one_where_the_claim_is_broken() -> None:
    p, q = np.array([0.9, 0.1]), np.array([0.1, 0.9])
    assert max(mean_of_factor(p, q, 2.0, 1.0, cap, 0.5, 0.5) for cap in CAPS) > 1.01


def test_wealth_grows_on_a_gaussian_that_the_curve_does_not_refute() -> None:
    """N(0, 1) at distance 1.25 has divergence 1.5625 at order 2; the best bettor against 1 needs 2,014 calls."""
    rng = np.random.default_rng(0)
    ledger = Ledger()
    calls = 4 * 2014
    is_left = rng.random(calls) < 0.5
    outcomes = rng.normal(0, 1, calls) + 1.25 * is_left
    ledger.record(to_levels(1.25 * outcomes - 1.25**2 / 2), is_left)
    assert log_moment_wealth(ledger, 2.0, 1.0) >= math.log(20)
    assert log_moment_wealth(ledger, 2.0, 1.5625) < math.log(20)
    turned = Ledger()
    turned.record(len(LEVELS) - 1 - to_levels(1.25 * outcomes - 1.25**2 / 2), ~is_left)
    assert log_moment_wealth(turned, 2.0, 1.0) == pytest.approx(log_moment_wealth(ledger, 2.0, 1.0), abs=1e-6)


def gaussian(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(1.25 * data[0] + rng.normal(0, 1, size))


# a claim of zCDP is refuted through a mixture of orders, which takes more calls than the order that tells most
@pytest.mark.parametrize(("claim", "times"), [(RenyiDP(2.0, 1.0), 4), (ZCDP(0.5), 8)])
def test_a_gaussian_is_refuted_that_the_curve_of_the_claim_allows(claim: Claim, times: int) -> None:
    campaign = Campaign(claim, [(np.zeros(1), np.ones(1))], seed=0, ignored=frozenset({LOWEST_BIT}))
    most = times * 2014
    while campaign.calls < most and campaign.evidence.log_value() < math.log(20):
        campaign.play_round(lambda draws: [sample_side(gaussian, draw) for draw in draws], most_calls=most)
    assert campaign.evidence.log_value() >= math.log(20)
