import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.claims import BoundedRange
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.generalized_randomized_response import RandomizedResponse, pure_response
from dpassay.spec.notions.base import find_notion
from dpassay.spec.notions.bounded_range import bounded_range_holds, range_ratio
from dpassay.spec.verdict import Evidence, Outcome

RESPONSE = pure_response(Fraction(2))


def outcome(epsilon: float, left: FiniteDistribution, right: FiniteDistribution) -> Outcome:
    return bounded_range_holds(BoundedRange(epsilon), left, right).outcome


def test_randomised_response_has_twice_the_range() -> None:
    assert range_ratio(RESPONSE.left, RESPONSE.right) == 4
    assert outcome(1.3862, RESPONSE.left, RESPONSE.right) is Outcome.VIOLATED
    assert outcome(1.3863, RESPONSE.left, RESPONSE.right) is Outcome.HOLDS


def test_equal_distributions_have_range_0() -> None:
    half = FiniteDistribution.of(1, 1)
    assert outcome(0.0, half, half) is Outcome.HOLDS


@pytest.mark.parametrize("swap", [False, True])
def test_an_outcome_of_one_side_alone_has_no_range(swap: bool) -> None:
    pair = FiniteDistribution.of(1, 0), FiniteDistribution.of(1, 1)
    left, right = reversed(pair) if swap else pair
    assert range_ratio(left, right) == math.inf
    assert outcome(100.0, left, right) is Outcome.VIOLATED


def test_outcomes_that_neither_side_produces_do_not_count() -> None:
    constant = RandomizedResponse(Fraction(3), Fraction(1))
    assert outcome(0.0, constant.left, constant.right) is Outcome.HOLDS


def test_enclosed_distributions() -> None:
    distributions = [ExponentialMechanismDistribution(scores, 1, 1) for scores in ((0, 0, 5), (1, -1, 5))]
    assert bounded_range_holds(BoundedRange(1.01), *distributions).outcome is Outcome.HOLDS
    refuted = bounded_range_holds(BoundedRange(0.99), *distributions)
    assert refuted.outcome is Outcome.VIOLATED
    assert refuted.evidence is Evidence.ENCLOSED


def test_the_notion_is_registered() -> None:
    assert find_notion(BoundedRange(1.0)).decide is bounded_range_holds


@pytest.mark.parametrize(("ratio", "top"), [(1, 1), (2, 3), (2, 0)])
def test_responses_outside_their_domain(ratio: int, top: int) -> None:
    with pytest.raises(UsageError, match=r"ratio|top"):
        RandomizedResponse(Fraction(ratio), Fraction(top))
