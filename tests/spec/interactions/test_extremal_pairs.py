"""The pairs that games are played with are extremal in their class: one that loses less tests less."""

from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
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


@pytest.mark.parametrize("share", [F(0), F(1), F(-1, 2), F(3, 2)])
def test_a_share_at_an_end_would_lose_nothing_and_is_refused(share: Fraction) -> None:
    with pytest.raises(UsageError, match=r"^share must lie in \(0, 1\)"):
        Parameter("range", F(2)).response(share)
