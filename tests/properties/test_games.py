"""The optimal adversary: his value by another route, the theorems against him, and wrong theorems refuted."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.filter_games import (
    fully_adaptive_filter_is_private,
    largest_path_delta,
    self_reporting_filter_is_private,
)

from dpassay.arguments import UsageError
from dpassay.properties.games.adversary import Game, exceeds, hockey_stick_payoff
from dpassay.properties.strategies.interactions import interactions, rounds
from dpassay.spec.interactions.filter_rules import FullyAdaptiveRule, SelfReportingRule
from dpassay.spec.interactions.transcripts import (
    Interaction,
    Round,
    branches,
    leak_or_nothing,
    loss_distribution_of_branches,
    randomised_response,
    star_or_nothing,
)
from dpassay.spec.verdict import Outcome

RATIOS = st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(4), Fraction(6), Fraction(20)])
MENUS = st.lists(rounds(), min_size=1, max_size=2)


def offers_of(interaction: Interaction) -> list[Round]:
    return [interaction.offer, *(offer for child in interaction.after.values() for offer in offers_of(child))]


@settings(max_examples=40, deadline=None)
@given(MENUS, RATIOS, st.integers(0, 3))
def test_value_is_what_the_strategy_achieves_on_every_transcript(
    menu: list[Round], budget: Fraction, horizon: int
) -> None:
    rule = SelfReportingRule(budget)
    stick = Game(menu, rule, horizon, hockey_stick_payoff(budget))
    tail = Game(menu, rule, horizon, exceeds(budget))
    assert loss_distribution_of_branches(branches(stick.analyst, rule)).hockey_stick(budget) == stick.value
    assert loss_distribution_of_branches(branches(tail.analyst, rule)).tail(budget) == tail.value


@settings(max_examples=40, deadline=None)
@given(interactions(3), RATIOS)
def test_no_analyst_achieves_more_than_the_value(interaction: Interaction, budget: Fraction) -> None:
    rule = SelfReportingRule(budget)
    distribution = loss_distribution_of_branches(branches(interaction, rule))
    game = Game(offers_of(interaction), rule, 3, hockey_stick_payoff(budget))
    assert distribution.hockey_stick(budget) <= game.value
    assert distribution.tail(budget) <= Game(game.menu, rule, 3, exceeds(budget)).value


@settings(max_examples=40, deadline=None)
@given(MENUS, RATIOS, st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(0)]), st.booleans())
def test_corrected_theorem_against_the_adversary(
    menu: list[Round],
    budget: Fraction,
    delta: Fraction,
    strict: bool,  # drawn
) -> None:
    rule = SelfReportingRule(budget, delta, halts_on_equality=strict)
    assert self_reporting_filter_is_private(menu, rule, 4).outcome is Outcome.HOLDS
    assert self_reporting_filter_is_private(menu, rule, 4, delta).outcome is Outcome.HOLDS


@settings(max_examples=40, deadline=None)
@given(MENUS, RATIOS, st.sampled_from([Fraction(1), Fraction(1, 10)]), st.sampled_from([Fraction(0), Fraction(1, 5)]))
def test_fully_adaptive_filter_against_the_adversary(
    menu: list[Round], budget: Fraction, slack_delta: Fraction, delta: Fraction
) -> None:
    rule = FullyAdaptiveRule(budget, slack_delta, delta)
    assert fully_adaptive_filter_is_private(menu, rule, 4).outcome is Outcome.HOLDS


def test_the_corrected_theorem_is_attained_by_leaks() -> None:
    verdict = self_reporting_filter_is_private([leak_or_nothing(Fraction(1, 10))], SelfReportingRule(Fraction(2)), 20)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.tightness == 1


def test_tightness_for_finite_losses() -> None:
    menu = [star_or_nothing(Fraction(1, 100), Fraction(8)), randomised_response(Fraction(2))]
    rule = SelfReportingRule(Fraction(8))
    assert largest_path_delta(menu, rule, 10) == 1 - Fraction(99, 100) ** 10
    verdict = self_reporting_filter_is_private(menu, rule, 10)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.tightness == pytest.approx(1.41874, rel=1e-5)


def test_the_adversary_refutes_the_printed_theorem_unaided() -> None:
    menu = [randomised_response(Fraction(2)), star_or_nothing(Fraction(1, 100), Fraction(8))]
    verdict = self_reporting_filter_is_private(menu, SelfReportingRule(Fraction(8)), 10, Fraction(1, 100))
    assert verdict.outcome is Outcome.VIOLATED


def test_advanced_composition_over_a_lattice_of_losses() -> None:
    small = [randomised_response(Fraction(11, 10)), randomised_response(Fraction(121, 100))]
    game = Game(small, FullyAdaptiveRule(Fraction(3), Fraction(1, 100)), 40, hockey_stick_payoff(Fraction(3)))
    assert float(game.value) == pytest.approx(1.88189e-5, rel=1e-5)
    assert game.positions < 1000  # against more than 3^40 transcripts
    leaks = [randomised_response(Fraction(2)), randomised_response(Fraction(4)), leak_or_nothing(Fraction(1, 100))]
    verdict = fully_adaptive_filter_is_private(
        leaks, FullyAdaptiveRule(Fraction(100), Fraction(1, 10), Fraction(1, 20)), 40
    )
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.tightness == pytest.approx(3.0606, rel=1e-4)


class OffByOneRound(FullyAdaptiveRule):
    """The look-ahead dropped: one round more than the budget allows."""

    def admits(self, state: tuple[tuple[tuple[Fraction, int], ...], Fraction], offer: Round) -> bool:  # noqa: ARG002  # the signature
        return super().admits(state, randomised_response(Fraction(1)))


def test_a_filter_without_look_ahead_is_refuted() -> None:
    rule = OffByOneRound(Fraction(3), Fraction(1, 100))
    menu = [randomised_response(Fraction(9))]
    assert fully_adaptive_filter_is_private(menu, rule, 2).outcome is Outcome.VIOLATED


def test_adaptivity_pays() -> None:
    # one lattice, two step sizes: the best adaptive mixture beats every fixed number of equal offers
    menu = [randomised_response(Fraction(2)), randomised_response(Fraction(4))]
    rule = SelfReportingRule(Fraction(33))
    payoff = hockey_stick_payoff(Fraction(6))
    alone = [Game([offer], rule, 6, payoff).value for offer in menu]
    assert Game(menu, rule, 6, payoff).value > max(alone)


def test_games_refuse_what_cannot_be_played() -> None:
    rule = SelfReportingRule(Fraction(2))
    with pytest.raises(UsageError, match="menu"):
        Game([], rule, 1, exceeds(Fraction(2)))
    with pytest.raises(UsageError, match="horizon"):
        Game([randomised_response(Fraction(2))], rule, -1, exceeds(Fraction(2)))
