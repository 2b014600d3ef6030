"""The wealth of a bettor who may stop whenever he likes, against an enumeration of all runs."""

import itertools
from fractions import Fraction

import pytest

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.theorems.auditing.side_bets import (
    largest_stake,
    largest_stakes,
    side_bet,
    stake_of_belief,
    stopped_wealth,
    two_sided_bet,
)

HALF = Fraction(1, 2)
PAIR = PairAtRatio(FiniteDistribution.of(9, 1), FiniteDistribution.of(1, 9), Fraction(1))
DELTA = Fraction(8, 10)


def test_the_chance_to_double_is_that_of_all_runs_that_ever_do() -> None:
    """Two calls have (outcome, side) in 16 ways; their chances multiply, and so do the factors."""
    cap = largest_stake(PAIR.ratio, DELTA, HALF)
    stake = stake_of_belief(PAIR, PAIR.ratio, HALF, cap)
    calls = [
        (HALF * distribution.probability(outcome), side_bet(stake(outcome), PAIR.ratio, DELTA, HALF, cap)[side])
        for side, distribution in enumerate((PAIR.left, PAIR.right))
        for outcome in PAIR.left.outcomes
    ]
    for rounds in (1, 2, 3, 4):
        doubled = Fraction(0)
        for run in itertools.product(calls, repeat=rounds):
            wealth = list(itertools.accumulate((factor for _, factor in run), lambda x, y: x * y))
            if max(wealth) >= 2:
                chance = Fraction(1)
                for share, _ in run:
                    chance *= share
                doubled += chance
        assert stopped_wealth(PAIR, (PAIR, PAIR), (HALF, HALF), rounds)[1] == doubled
    assert doubled > 0


@pytest.mark.parametrize("weight", [Fraction(1, 10), Fraction(1, 3), HALF, Fraction(9, 10)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 7), Fraction(1)])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(5, 2), Fraction(40)])
def test_a_lost_bet_of_the_largest_stake_leaves_exactly_nothing(
    ratio: Fraction, delta: Fraction, weight: Fraction
) -> None:
    cap = largest_stake(ratio, delta, weight)
    won, lost = side_bet(cap, ratio, delta, weight, cap)
    assert lost == 0 < won
    up, down = caps = largest_stakes(ratio, delta, weight)
    assert two_sided_bet(up, Fraction(0), ratio, delta, weight, caps)[1] == 0
    assert two_sided_bet(Fraction(0), down, ratio, delta, weight, caps)[0] == 0
