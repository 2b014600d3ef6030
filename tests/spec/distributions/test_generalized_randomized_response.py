"""The guarantee of a response as a round: the largest likelihood ratio, in either order."""

from fractions import Fraction

import pytest

from dpassay.spec.distributions.generalized_randomized_response import RandomizedResponse


@pytest.mark.parametrize("top", [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4)])
def test_the_guarantee_of_a_round_is_its_largest_ratio(top: Fraction) -> None:
    """At the ends top = 1 and top = e^epsilon one answer never comes, and the bound is not attained."""
    offer = RandomizedResponse(Fraction(4), top).as_round()
    answers = [(offer.left.probability(o), offer.right.probability(o)) for o in (0, 1)]
    assert all(p <= offer.ratio_max * q and q <= offer.ratio_max * p for p, q in answers)
    if 1 < top < 4:
        assert offer.ratio_max == max(max(p / q, q / p) for p, q in answers)
