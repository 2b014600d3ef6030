import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.claims import ZCDP, ApproximateDP, BoundedRange, Claim, ExPost, PureDP, RenyiDP
from dpassay.properties.betting.bounds import OWN_SHARE, lower_bound
from dpassay.properties.betting.families import epsilon_family
from dpassay.properties.notions.base import families_of
from dpassay.properties.notions.renyi import renyi_curve
from dpassay.properties.notions.zcdp import zcdp_curve
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick, renyi_divergence

weights = st.lists(st.integers(1, 30), min_size=3, max_size=3)


@given(p=weights, q=weights, alpha=st.sampled_from([1.1, 1.5, 2.0, 8.0, 64.0]), delta=st.floats(1e-8, 0.9))
def test_the_implied_curve_bounds_the_hockey_stick(p: list[int], q: list[int], alpha: float, delta: float) -> None:
    left, right = FiniteDistribution.of(*p), FiniteDistribution.of(*q)
    divergence = max(0.0, float(renyi_divergence(left, right, ball(alpha)).upper()))
    epsilon = renyi_curve(alpha, divergence, delta)
    assert not hockey_stick(left, right, ball(epsilon)) > ball(delta) * (1 + ball(2.0**-40))


def test_the_zcdp_curve_is_the_best_renyi_curve() -> None:
    direct = min(renyi_curve(alpha, 0.5 * alpha, 1e-5) for alpha in np.linspace(1.01, 40, 2000))
    assert zcdp_curve(0.5, 1e-5) == pytest.approx(direct, rel=1e-3)
    gaussian = 0.5 + math.sqrt(4 * 0.5 * math.log(1e5))  # the conversion of Bun and Steinke 2016, Prop 1.3
    assert zcdp_curve(0.5, 1e-5) < gaussian


@pytest.mark.parametrize(
    "claim",
    [PureDP(0.0), PureDP(0.1), BoundedRange(30.0), ApproximateDP(1, 1e-6), RenyiDP(2, 0.3), ZCDP(0.0), ZCDP(5)],
)
def test_grids_increase_through_the_claim(claim: Claim) -> None:
    for family in families_of(claim):
        assert np.all(np.diff(family.grid) >= 0)
        assert family.epsilon.shape == family.delta.shape
        assert np.all(np.diff(family.epsilon, axis=0) >= 0) or np.all(np.diff(family.delta, axis=0) >= 0)
        if family.claimed >= 0:
            value = {"epsilon": "epsilon", "delta": "delta", "rho": "rho", "renyi_epsilon": "epsilon"}[
                family.parameter
            ]
            assert family.grid[family.claimed] == getattr(claim, value, 0.0)


def test_the_shares_of_the_wealth_against_a_stronger_claim_sum_to_one() -> None:
    """Its own bets have 1/16, those against the claim the rest: neither part refutes it before it is worth it."""
    family, needed = epsilon_family(1.0, 0.0), math.log(1e6)
    evidence = math.log1p(-OWN_SHARE)  # of a wealth of 1 against the claim

    def bound(own: float, claim: float) -> float:
        return lower_bound(family, needed, claim + evidence, lambda rows: np.full(len(family.grid[rows]), own))

    for excess, refuted in ((-1e-6, False), (1e-6, True)):
        assert (bound(needed - math.log(OWN_SHARE) + excess, -math.inf) > 0) is refuted
        assert (bound(-math.inf, needed - evidence + excess) == 1.0) is refuted
        assert (bound(needed + excess, needed + excess) > 0) is refuted


def test_an_ex_post_claim_is_no_member_of_the_grid() -> None:
    assert [family.claimed for family in families_of(ExPost(lambda _: 1.0))] == [-1]
