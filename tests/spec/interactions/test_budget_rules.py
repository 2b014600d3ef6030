"""Rounds and rules of the accuracy-first filters: what they refuse, and their numbers."""

import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.adaptive_rounds import (
    ExPostRound,
    concentrated,
    concentrated_leak,
    concentrated_response,
    ex_post,
    ex_post_leak,
    ex_post_response,
    levels_of,
    rho_of_ratio,
    stopped_run,
)
from dpassay.spec.interactions.budget_rules import ConcentratedRule, ExPostRule, TwoBudgetRule, UnifiedRule
from dpassay.spec.interactions.transcripts import chain

ONE = Fraction(1)


def test_the_parameter_of_a_response() -> None:
    assert float(rho_of_ratio(Fraction(3))) == pytest.approx(math.log(3) * math.tanh(math.log(3) / 2), rel=1e-11)
    assert rho_of_ratio(Fraction(3)) >= Fraction(math.log(3)) * Fraction(math.tanh(math.log(3) / 2)) - Fraction(
        1, 2**50
    )
    assert rho_of_ratio(ONE) == 0
    assert concentrated_response(Fraction(3)).rho == rho_of_ratio(Fraction(3))
    assert concentrated_leak(Fraction(1, 4)).rho == 0


def test_mixtures_carry_their_decomposition() -> None:
    left, right = FiniteDistribution.of(1, 3), FiniteDistribution.of(3, 1)
    made = concentrated(left, right, Fraction(1, 2), FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1))
    assert made.left.probability(0) == Fraction(5, 8)
    assert made.core is not None
    assert made.core.left == left
    with pytest.raises(UsageError, match="same support"):
        concentrated(FiniteDistribution.of(1, 0), right)
    with pytest.raises(UsageError, match="delta"):
        concentrated(left, right, Fraction(1, 2))


def test_ex_post_bounds_and_what_they_miss() -> None:
    assert ex_post_response(Fraction(3)).largest_charge == 3
    assert ex_post_response(Fraction(3)).delta == 0
    assert ex_post_leak(Fraction(1, 10)).delta == Fraction(1, 10)
    assert ex_post_leak(Fraction(1, 10)).largest_charge == 1
    sure = ex_post(FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1))
    assert sure.largest_charge == math.inf
    with pytest.raises(UsageError, match="charge"):
        ExPostRound(FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 1), ONE, {0: ONE})


def test_a_run_is_charged_for_what_it_ran() -> None:
    steps = [concentrated_response(Fraction(2))] * 3
    run = stopped_run(steps, lambda seen: seen[-1] == 0)
    assert set(run.outcomes) == {(0,), (1, 0), (1, 1, 0), (1, 1, 1)}
    assert run.costs[(0,)] == steps[0].rho
    assert run.largest_cost == run.costs[(1, 1, 1)] == 3 * steps[0].rho
    assert run.left.probability((1, 0)) == Fraction(2, 9)
    with pytest.raises(UsageError, match="at least one step"):
        stopped_run([], lambda _: True)
    with pytest.raises(UsageError, match="none with a delta"):
        stopped_run([concentrated_leak(Fraction(1, 2))], lambda _: True)


def admitted(rule: ConcentratedRule, ratio: Fraction) -> int:
    state, count, offer = rule.start(), 0, concentrated_response(ratio)
    while rule.admits(state, offer):
        state, count = rule.spend(state, offer, 0), count + 1
    return count


@pytest.mark.parametrize(("budget", "slack"), [(20, "1/100"), (3, "1/2"), (10**4, "1/100000")])
def test_the_zcdp_rule_stops_at_the_formula(budget: int, slack: str) -> None:
    ratio, delta = Fraction(11, 10), Fraction(slack)
    level, epsilon = -math.log(delta), math.log(budget)
    whole = (epsilon / (math.sqrt(level + epsilon) + math.sqrt(level))) ** 2
    assert admitted(ConcentratedRule(Fraction(budget), delta), ratio) == int(whole / float(rho_of_ratio(ratio)))


def test_rules_admit_up_to_equality_and_the_first_may_be_refused() -> None:
    offer = ex_post_response(Fraction(3))
    rule = ExPostRule(Fraction(9))
    state = rule.spend(rule.spend(rule.start(), offer, 0), offer, 1)
    assert not rule.admits(state, offer)
    assert rule.admits(rule.spend(rule.start(), offer, 0), offer)
    assert not ExPostRule(Fraction(2)).admits((ONE, Fraction(0)), offer)
    response = concentrated_response(Fraction(3))
    assert UnifiedRule(response.rho).admits((Fraction(0), Fraction(0)), response)
    assert not UnifiedRule(response.rho).admits((Fraction(1, 10**9), Fraction(0)), response)


def test_two_budgets_add() -> None:
    rule = TwoBudgetRule(ConcentratedRule(Fraction(2), Fraction(1, 10), Fraction(1, 5)), ExPostRule(Fraction(3), ONE))
    assert rule.budget == 6
    assert rule.total_delta == Fraction(13, 10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConcentratedRule(ONE, Fraction(1, 2)),
        lambda: ConcentratedRule(Fraction(2), Fraction(0)),
        lambda: ConcentratedRule(Fraction(2), ONE, Fraction(-1)),
        lambda: ExPostRule(Fraction(1, 2)),
        lambda: ExPostRule(Fraction(2), Fraction(2)),
        lambda: UnifiedRule(Fraction(-1)),
    ],
)
def test_bad_budgets(make: object) -> None:
    assert callable(make)
    with pytest.raises(UsageError):
        make()


def test_levels_of_an_interaction() -> None:
    offers = concentrated_response(Fraction(2)), concentrated_leak(Fraction(1, 2))
    assert [len(level) for level in levels_of(chain(*offers))] == [1, 2]
