import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.arguments import UsageError
from dpassay.properties.strategies.interactions import interactions, rounds
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact, loss_tail_exact
from dpassay.spec.interactions.filter_rules import (
    FullyAdaptiveRule,
    SelfReportingRule,
    longest_run,
    within_advanced_budget,
)
from dpassay.spec.interactions.transcripts import (
    AdaptiveInteractions,
    Interaction,
    Round,
    branches,
    leak_or_nothing,
    loss_distribution,
    loss_distribution_of_branches,
    randomised_response,
    repeated,
    star_or_nothing,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
BUDGETS = st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(9), Fraction(50)])


@given(interactions(3), BUDGETS)
def test_transcripts_are_a_distribution_on_both_sides(interaction: Interaction, budget: Fraction) -> None:
    complete = list(branches(interaction, SelfReportingRule(budget)))
    assert sum(branch.left for branch in complete) == 1
    assert sum(branch.right for branch in complete) == 1
    assert len({branch.transcript for branch in complete}) == len(complete)


@given(st.lists(rounds(), max_size=4), BUDGETS, BUDGETS)
def test_merged_states_have_the_distribution_of_the_transcripts(
    offers: list[Round], budget: Fraction, ratio: Fraction
) -> None:
    rule = SelfReportingRule(budget)
    merged = loss_distribution(offers, rule)
    listed = loss_distribution_of_branches(branches(repeated(offers), rule))
    assert merged.tail(ratio) == listed.tail(ratio)
    assert merged.hockey_stick(ratio) == listed.hockey_stick(ratio)


@given(rounds(), BUDGETS)
def test_one_round_compares_as_its_two_distributions(offer: Round, ratio: Fraction) -> None:
    distribution = loss_distribution([offer], FullyAdaptiveRule(Fraction(10**9), HALF, Fraction(1)))
    assert distribution.hockey_stick(ratio) == hockey_stick_exact(offer.left, offer.right, ratio)
    assert distribution.tail(ratio) == loss_tail_exact(offer.left, offer.right, ratio)


def test_two_randomised_responses_by_hand() -> None:
    distribution = loss_distribution([randomised_response(Fraction(2))] * 2, SelfReportingRule(Fraction(100)))
    assert distribution.masses == {
        Fraction(4): Fraction(4, 9),
        Fraction(1): Fraction(4, 9),
        Fraction(1, 4): Fraction(1, 9),
    }
    assert distribution.hockey_stick(Fraction(2)) == Fraction(2, 9)


def test_mechanisms_of_the_worst_cases_have_the_parameters_they_claim() -> None:
    assert randomised_response(Fraction(3)).approximate_delta == 0
    assert randomised_response(Fraction(3)).probabilistic_delta == 0
    leak = leak_or_nothing(THIRD)
    assert (leak.probabilistic_delta, leak.approximate_delta) == (THIRD, THIRD)
    assert leak.charge("left") == math.inf
    star = star_or_nothing(Fraction(1, 100), Fraction(20))
    assert star.probabilistic_delta == Fraction(1, 100)
    assert star.approximate_delta == Fraction(1, 100) * Fraction(19, 20)


def test_an_ex_post_bound_below_the_loss_is_refused() -> None:
    coin, biased = FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 3)
    with pytest.raises(UsageError, match="ex-post bounds"):
        Round(coin, biased, Fraction(2), {0: Fraction(3, 2)})
    with pytest.raises(UsageError, match="ex-post bounds"):
        Round(coin, biased, Fraction(2), {1: HALF})  # a negative loss is charged 0 at least
    with pytest.raises(UsageError, match="ratio_max"):
        Round(coin, biased, HALF)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: SelfReportingRule(HALF), "budget"),
        (lambda: SelfReportingRule(Fraction(2), Fraction(2)), "delta"),
        (lambda: FullyAdaptiveRule(Fraction(1), HALF), "budget"),
        (lambda: FullyAdaptiveRule(Fraction(2), Fraction(0)), "slack_delta"),
        (lambda: FullyAdaptiveRule(Fraction(2), HALF, Fraction(-1)), "delta"),
        (lambda: longest_run(Fraction(1), FullyAdaptiveRule(Fraction(2), HALF)), "offer_ratio"),
    ],
)
def test_rules_refuse_what_is_no_budget(make: object, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        make()  # type: ignore[operator]  # a thunk of either rule


def test_the_self_reporting_rule_at_equality() -> None:
    offer = randomised_response(Fraction(2))
    strict, lenient = SelfReportingRule(Fraction(4)), SelfReportingRule(Fraction(4), halts_on_equality=False)
    after_one = strict.spend(strict.start(), offer, 0)
    assert after_one == (Fraction(2), Fraction(1))
    assert not strict.admits(after_one, offer)
    assert lenient.admits(after_one, offer)
    free = Round(offer.left, offer.right, Fraction(2), {0: Fraction(2), 1: Fraction(1)})
    assert strict.spend(strict.start(), free, 1) == (Fraction(1), Fraction(1))


def test_filter_lengths_of_the_catalogue() -> None:
    def close(log_ratio: str) -> Fraction:  # a rational just above e^x, and the filter is far from its boundary
        return Fraction(math.exp(float(log_ratio))).limit_denominator(10**12)

    def length(log_ratio: str, log_budget: str, slack_delta: str) -> int:
        return longest_run(close(log_ratio), FullyAdaptiveRule(close(log_budget), Fraction(slack_delta)))

    assert length("1e-3", "1", "1e-5") == 41639
    assert length("0.01", "0.2", "0.01") == 42
    assert length("0.1", "1", "1e-5") == 4
    assert length("10", "1", "1e-5") == 0


def test_spend_of_nothing_is_within_every_budget() -> None:
    assert within_advanced_budget((), Fraction(1001, 1000), Fraction(1, 10**9))


def test_domain_knows_its_members() -> None:
    domain = AdaptiveInteractions("an interaction", largest_depth=2)
    one = Interaction(leak_or_nothing(HALF))
    two = Interaction(leak_or_nothing(HALF), {"nothing": one})
    three = Interaction(leak_or_nothing(HALF), {"nothing": two})
    assert domain.contains(two)
    assert not domain.contains(three)
    assert not domain.contains(Interaction(leak_or_nothing(HALF), {"leak": one, "nothing": two}))
    assert not domain.contains(leak_or_nothing(HALF))
