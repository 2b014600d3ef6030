"""The probability that a composition exceeds its bounds depends on the order of the pair."""

from fractions import Fraction

import pytest

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.adaptive_rounds import ex_post
from dpassay.spec.interactions.transcripts import chain
from dpassay.spec.theorems.accuracy_first.ex_post_composition import excess_probability


@pytest.mark.parametrize(("rounds", "excess"), [(1, Fraction(1, 10)), (2, Fraction(19, 100))])
def test_a_leak_of_the_left_is_none_of_the_right(rounds: int, excess: Fraction) -> None:
    tenth = ex_post(FiniteDistribution.of(9, 1), FiniteDistribution.of(10, 0), {0: Fraction(10, 9), 1: Fraction(1)})
    assert excess_probability(chain(*[tenth] * rounds)) == excess
    assert excess_probability(chain(*[tenth] * rounds), reverse=True) == 0
