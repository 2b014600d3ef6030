"""Events that show a divergence of coins and of small distributions."""

import math
from fractions import Fraction

import pytest

from dpassay.claims import ZCDP, Claim, GaussianDP, RenyiDP
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.base import find_notion
from dpassay.spec.notions.threshold_events import Coin, binary_renyi, binary_separation

FAIR, CERTAIN, NEVER = (0.5, 0.5), (1.0, 0.0), (0.0, 1.0)


def test_the_divergences_of_coins() -> None:
    assert binary_separation(None, (0.8413447460685429, 0.15865525393145707), FAIR) == pytest.approx(1)
    assert binary_renyi(2.0, (0.9, 0.1), FAIR) == pytest.approx(math.log(2 * (0.81 + 0.01)))
    assert binary_separation(None, FAIR, NEVER) == math.inf
    assert binary_renyi(3.0, FAIR, NEVER) == math.inf
    assert binary_renyi(3.0, CERTAIN, FAIR) == pytest.approx(math.log(2))


@pytest.mark.parametrize("coins", [(CERTAIN, CERTAIN), (NEVER, FAIR), (FAIR, CERTAIN)])
def test_events_that_show_nothing(coins: tuple[Coin, Coin]) -> None:
    assert binary_separation(None, *coins) == 0


@pytest.mark.parametrize("claim", [GaussianDP(1.0), RenyiDP(2.0, 1.0), ZCDP(0.5)])
def test_the_event_holds_the_outcomes_that_are_likelier_on_the_left(claim: Claim) -> None:
    left = FiniteDistribution({"a": Fraction(4, 8), "b": Fraction(3, 8), "c": Fraction(1, 8)})
    right = FiniteDistribution({"a": Fraction(1, 8), "b": Fraction(1, 8), "c": Fraction(6, 8)})
    assert set(find_notion(claim).event(claim, left, right)) == {"a", "b"}


@pytest.mark.parametrize("claim", [GaussianDP(1.0), RenyiDP(2.0, 1.0), ZCDP(0.5)])
def test_an_outcome_that_one_side_lacks_is_the_event(claim: Claim) -> None:
    left = FiniteDistribution({"a": Fraction(1, 8), "b": Fraction(7, 8)})
    right = FiniteDistribution({"b": Fraction(7, 8), "c": Fraction(1, 8)})
    assert find_notion(claim).event(claim, left, right) == ("a",)
