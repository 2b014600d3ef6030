"""The delta of the best adversary, against calls whose delta is known."""

from fractions import Fraction

from dpassay.spec.interactions.charged_calls import ChargingRule, not_prior_response, with_leak
from dpassay.spec.theorems.target_charging.adaptive_advanced import best_charged_delta


def test_a_leak_counts_once_whatever_the_budget() -> None:
    """Two calls that name the data set with probability 1/10 each fail with 1 - (9/10)^2, beyond all losses."""
    leak = Fraction(1, 10)
    menu = [with_leak(not_prior_response(Fraction(2)), leak)]
    rule = ChargingRule(hits=2, delta=Fraction(1))
    for calls, expected in ((0, Fraction(0)), (1, leak), (2, 1 - (1 - leak) ** 2)):
        assert best_charged_delta(menu, rule, calls, Fraction(10**6)) == expected
