"""The pairs of classes that games are played with are extremal: a pair that loses less than its class tests nothing."""

from fractions import Fraction

import pytest

from dpassay.spec.interactions.setwise import Parameter

F = Fraction


@pytest.mark.parametrize("ratio", [F(3, 2), F(5)])
@pytest.mark.parametrize("share", [F(1, 5), F(1, 2), F(9, 10)])
def test_a_bounded_range_pair_has_all_of_its_range(ratio: Fraction, share: Fraction) -> None:
    left, right = Parameter("range", ratio).response(share)
    losses = [left.probability(o) / right.probability(o) for o in (0, 1)]
    assert losses == [1 + share * (ratio - 1), (1 + share * (ratio - 1)) / ratio]


@pytest.mark.parametrize("ratio", [F(3, 2), F(5)])
def test_a_pure_pair_has_its_epsilon_on_both_sides(ratio: Fraction) -> None:
    left, right = Parameter("pure", ratio).response()
    assert [left.probability(o) / right.probability(o) for o in (0, 1)] == [ratio, 1 / ratio]
