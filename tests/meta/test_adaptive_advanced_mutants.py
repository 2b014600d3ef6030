"""Mutants of the advanced bound of target charging for adaptive calls of different parameters."""

from fractions import Fraction

from dpassay.properties.verify import verify_statement
from dpassay.spec.distributions.binomial import binomial_at_most_exact
from dpassay.spec.interactions.charged_calls import ChargingRule, charged_delta, not_prior_response
from dpassay.spec.interactions.transcripts import chain
from dpassay.spec.statement import Statement
from dpassay.spec.theorems.target_charging import adaptive_advanced as advanced
from dpassay.spec.verdict import Outcome

NAME = "advanced_bound_holds_for_adaptive_calls_of_different_parameters"
own_value = advanced.best_charged_delta

REFUTED = [
    (NAME, "no tail of calls", advanced, "binomial_at_most_exact", lambda successes, trials, chance: Fraction(0)),
    (NAME, "one hit fewer", advanced, "binomial_at_most_exact",
     lambda successes, trials, chance: binomial_at_most_exact(successes - 1, trials, chance)),
    (NAME, "the largest quality", advanced, "not_prior_quality", lambda ratio: Fraction(1)),
    (NAME, "hits are not counted", advanced, "best_charged_delta",
     lambda menu, rule, calls, budget: own_value(menu, ChargingRule(99, delta=rule.delta), calls, Fraction(1))),
]  # fmt: skip


def test_a_wrong_bound_is_refuted(refuted: Statement) -> None:
    assert verify_statement(refuted).outcome is Outcome.VIOLATED


def test_the_best_adversary_with_one_call_on_the_menu_repeats_it() -> None:
    """Backward induction agrees with the enumeration of all transcripts of a chain."""
    call, rule = not_prior_response(Fraction(3)), ChargingRule(2)
    for budget in (Fraction(1), Fraction(4), Fraction(20)):
        chains = [charged_delta(chain(*[call] * n), rule, budget) for n in range(1, 6)]
        assert own_value([call], rule, 5, budget) == max(chains)
