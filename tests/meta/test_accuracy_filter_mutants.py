"""Mutants of the filters of accuracy-first privacy: wrong rules, wrong sums, wrong guarantees.

The constant 2 before the square root is told from 1.9 only at tiny delta'', where the conversion is sharp
(`filter-tightness` shows how loose it is elsewhere). Charging noise reduction 1/t in place of 1/(2t) is safe.
"""

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.interactions.adaptive_rounds import ConcentratedRound, ConcentratedRun, ExPostRound, levels_of
from dpassay.spec.interactions.budget_rules import (
    ConcentratedRule,
    ExPostRule,
    TwoBudgetRule,
    UnifiedRule,
    within_concentrated_budget,
)
from dpassay.spec.interactions.transcripts import Round
from dpassay.spec.rational import product
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.accuracy_first import (
    ex_post_composition,
    ex_post_filter,
    unified_filter,
    zcdp_conversions,
    zcdp_filter,
)
from dpassay.spec.verdict import Outcome

State = tuple[Any, Fraction]


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


def nearly_two(rho: arb, slack_delta: arb) -> arb:
    """The conversion with 1.9 in place of the 2 before the square root."""
    return rho + 19 * (-rho * slack_delta.log()).sqrt() / 10


# --- the zCDP filter ----------------------------------------------------------------------------------------


class LooksBackOnly(ConcentratedRule):
    """Sums up to n in place of n + 1: the mechanism that exceeds the budget still runs."""

    def admits(self, state: State, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return state[1] <= self.delta and within_concentrated_budget(state[0], self.budget, self.slack_delta)


class ForgetsDeltas(ConcentratedRule):
    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        return super().spend(state, offer, outcome)[0], Fraction(0)


class LargestDeltaOnly(ConcentratedRule):
    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        assert isinstance(offer, ConcentratedRound)
        return super().spend(state, offer, outcome)[0], max(state[1], offer.delta)


class LastRhoOnly(ConcentratedRule):
    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        assert isinstance(offer, ConcentratedRound)
        return offer.rho, super().spend(state, offer, outcome)[1]


class AdmitsAll(ConcentratedRule):
    def admits(self, state: State, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return True


WRONG_ZCDP = [LooksBackOnly, ForgetsDeltas, LargestDeltaOnly, AdmitsAll]


@pytest.mark.kills("approximate_dp_of_zcdp_filter")
@pytest.mark.parametrize("rule", WRONG_ZCDP)
def test_a_wrong_zcdp_rule_is_not_private(monkeypatch: pytest.MonkeyPatch, rule: type[ConcentratedRule]) -> None:
    monkeypatch.setattr(zcdp_filter, "ConcentratedRule", rule)
    assert outcome_of("approximate_dp_of_zcdp_filter") is Outcome.VIOLATED


@pytest.mark.kills("privacy_filter_is_a_stopping_time")
@pytest.mark.parametrize("rule", [*WRONG_ZCDP, LastRhoOnly])
def test_a_wrong_zcdp_rule_stops_at_the_wrong_time(
    monkeypatch: pytest.MonkeyPatch, rule: type[ConcentratedRule]
) -> None:
    monkeypatch.setattr(zcdp_filter, "ConcentratedRule", rule)
    assert outcome_of("privacy_filter_is_a_stopping_time") is Outcome.VIOLATED


@pytest.mark.kills("approximate_dp_of_zcdp_filtered_responses")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda rho, budget, slack: rho <= ball(budget).log().mid(),  # the square root dropped
        lambda rho, budget, slack: rho + 2 * (rho * slack) ** 0.5 <= ball(budget).log().mid(),  # delta'' for its log
    ],
)
def test_a_budget_without_concentration_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., bool]
) -> None:
    monkeypatch.setattr(
        zcdp_filter,
        "within_concentrated_budget",
        lambda rho, budget, slack: bool(mutant(ball(rho), budget, ball(slack))),
    )
    monkeypatch.setattr(zcdp_filter.concentrated_run_length, "__defaults__", (2000,))
    assert outcome_of("approximate_dp_of_zcdp_filtered_responses") is Outcome.VIOLATED


@pytest.mark.kills("approximate_dp_of_zcdp_filtered_responses")
def test_a_budget_by_a_smaller_constant_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def within(rho: Fraction, budget: Fraction, slack: Fraction) -> bool:
        return bool(nearly_two(ball(rho), ball(slack)) <= ball(budget).log())

    monkeypatch.setattr(zcdp_filter, "within_concentrated_budget", within)
    assert outcome_of("approximate_dp_of_zcdp_filtered_responses") is Outcome.VIOLATED


# --- ex-post composition and filter -------------------------------------------------------------------------


def largest(deltas: Iterable[Fraction]) -> Fraction:
    return max(deltas)


@pytest.mark.kills("ex_post_bounds_and_deltas_add", "ex_post_composition_is_attained")
@pytest.mark.parametrize("name", ["ex_post_bounds_and_deltas_add", "ex_post_composition_is_attained"])
def test_the_largest_delta_is_not_enough(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(ex_post_composition, "composed_delta", largest)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("ex_post_composition_is_attained")
def test_the_sum_of_deltas_is_not_attained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ex_post_composition, "composed_delta", lambda deltas: sum(deltas, Fraction(0)))
    assert outcome_of("ex_post_composition_is_attained") is Outcome.VIOLATED


@pytest.mark.kills("ex_post_bounds_and_deltas_add")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda branch: max((r.charge(o) for r, o in zip(branch.rounds, branch.transcript, strict=True)), default=1),
        lambda branch: branch.rounds[-1].charge(branch.transcript[-1]),  # the last bound only
    ],
)
def test_bounds_that_do_not_add_are_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Any], Any]) -> None:
    monkeypatch.setattr(ex_post_composition, "_sum_of_bounds", mutant)
    assert outcome_of("ex_post_bounds_and_deltas_add") is Outcome.VIOLATED


@pytest.mark.kills("ex_post_privacy_does_not_survive_post_processing")
def test_merging_that_keeps_outcomes_apart_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ex_post_composition, "merged", lambda weights, cells: weights)
    assert outcome_of("ex_post_privacy_does_not_survive_post_processing") is Outcome.VIOLATED


class LooksBackOnlyExPost(ExPostRule):
    def admits(self, state: State, offer: Round) -> bool:
        assert isinstance(offer, ExPostRound)
        return bool(state[0] <= self.budget) and state[1] + offer.delta <= self.delta


class WaitsForEquality(ExPostRule):
    def admits(self, state: State, offer: Round) -> bool:
        assert isinstance(offer, ExPostRound)
        return bool(state[0] != self.budget) and state[1] + offer.delta <= self.delta


class ChargesNothing(ExPostRule):
    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        return state[0], super().spend(state, offer, outcome)[1]


class IgnoresDelta(ExPostRule):
    def admits(self, state: State, offer: Round) -> bool:
        assert isinstance(offer, ExPostRound)
        return bool(product(state[0], offer.largest_charge) <= self.budget)


WRONG_EX_POST = [LooksBackOnlyExPost, WaitsForEquality, ChargesNothing, IgnoresDelta]


@pytest.mark.kills("probabilistic_dp_of_ex_post_filter")
@pytest.mark.parametrize("rule", WRONG_EX_POST)
def test_a_wrong_ex_post_rule_is_not_private(monkeypatch: pytest.MonkeyPatch, rule: type[ExPostRule]) -> None:
    monkeypatch.setattr(ex_post_filter, "ExPostRule", rule)
    assert outcome_of("probabilistic_dp_of_ex_post_filter") is Outcome.VIOLATED


@pytest.mark.kills("filtered_transcript_survives_post_processing")
@pytest.mark.parametrize("rule", [LooksBackOnlyExPost, ChargesNothing, IgnoresDelta])
def test_what_a_wrong_rule_releases_may_not_be_processed(
    monkeypatch: pytest.MonkeyPatch, rule: type[ExPostRule]
) -> None:
    monkeypatch.setattr(ex_post_composition, "ExPostRule", rule)
    assert outcome_of("filtered_transcript_survives_post_processing") is Outcome.VIOLATED


class HaltsOnReaching(ExPostRule):
    """Refuses the offer that would use the budget up exactly: private, but not tight."""

    def admits(self, state: State, offer: Round) -> bool:
        assert isinstance(offer, ExPostRound)
        return bool(product(state[0], offer.largest_charge) < self.budget)


@pytest.mark.kills("loss_of_pure_ex_post_filter_reaches_the_budget")
def test_a_rule_that_wastes_the_last_round_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ex_post_filter, "ExPostRule", HaltsOnReaching)
    assert outcome_of("loss_of_pure_ex_post_filter_reaches_the_budget") is Outcome.VIOLATED


class OneBudgetForBoth(TwoBudgetRule):
    """Promises the larger of the two epsilons."""

    @property
    def budget(self) -> Fraction:
        return max(self.concentrated.budget, self.ex_post.budget)


class OneDeltaForBoth(TwoBudgetRule):
    @property
    def composed_delta(self) -> Fraction:
        return max(self.concentrated.delta, self.ex_post.delta)


class ChargesTheOther(TwoBudgetRule):
    def spend(self, state: Any, offer: Round, outcome: Hashable) -> Any:  # noqa: ARG002  # the signature of a rule
        return state


class ForgetsConcentratedRounds(TwoBudgetRule):
    """Charges a concentrated round, and drops what the earlier ones were charged."""

    def spend(self, state: Any, offer: Round, outcome: Hashable) -> Any:
        start = state if isinstance(offer, ExPostRound) else (self.concentrated.start(), state[1])
        return super().spend(start, offer, outcome)


@pytest.mark.kills("approximate_dp_of_two_budget_filter")
@pytest.mark.parametrize("rule", [OneBudgetForBoth, OneDeltaForBoth, ChargesTheOther, ForgetsConcentratedRounds])
def test_a_wrong_two_budget_rule_is_refuted(monkeypatch: pytest.MonkeyPatch, rule: type[TwoBudgetRule]) -> None:
    monkeypatch.setattr(ex_post_filter, "TwoBudgetRule", rule)
    assert outcome_of("approximate_dp_of_two_budget_filter") is Outcome.VIOLATED


# --- conversions and composition ----------------------------------------------------------------------------


@pytest.mark.kills("approximate_zcdp_of_approximate_dp")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda heavy, other, ratio, mass: heavy,  # the masses left as they are
        lambda heavy, other, ratio, mass: {
            o: w * mass / (sum(heavy.values()) or 1) for o, w in heavy.items()
        },  # scaled down
    ],
)
def test_a_core_that_is_not_pure_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Any]) -> None:
    monkeypatch.setattr(zcdp_conversions, "_lightened", mutant)
    assert outcome_of("approximate_zcdp_of_approximate_dp") is Outcome.VIOLATED


@pytest.mark.kills("approximate_dp_of_approximate_zcdp")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda rho, slack: rho,
        lambda rho, slack: rho + 2 * (rho * slack).sqrt(),
        lambda rho, slack: 2 * (-rho * slack.log()).sqrt() / 2,
        nearly_two,
    ],
)
def test_a_wrong_conversion_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[[arb, arb], arb]) -> None:
    monkeypatch.setattr(zcdp_conversions, "concentrated_epsilon", mutant)
    assert outcome_of("approximate_dp_of_approximate_zcdp") is Outcome.VIOLATED


def largest_of_parameters(interaction: Any) -> tuple[Fraction, Fraction]:
    levels = list(levels_of(interaction))
    offers: list[Any] = [offer for level in levels for offer in level]
    return max(o.rho for o in offers), max(o.delta for o in offers)


@pytest.mark.kills("parameters_of_approximate_zcdp_add")
def test_the_maximum_in_place_of_the_sum_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zcdp_conversions, "composed_rho", largest_of_parameters)
    assert outcome_of("parameters_of_approximate_zcdp_add") is Outcome.VIOLATED


# --- the unified filter -------------------------------------------------------------------------------------


class GuardsWithWhatIsSpent(UnifiedRule):
    def admits(self, state: State, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return bool(state[0] <= self.rho) and state[1] <= self.delta


class ChargesTheFirstStep(UnifiedRule):
    """1/(2t) at the first time of the grid in place of the one at which the run stopped."""

    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        if isinstance(offer, ConcentratedRun):
            return state[0] + offer.steps[0].rho, state[1]
        return super().spend(state, offer, outcome)


class ChargesAQuarter(UnifiedRule):
    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        spent, delta = super().spend(state, offer, outcome)
        return state[0] + (spent - state[0]) / 4, delta


class ForgetsTheDelta(UnifiedRule):
    def admits(self, state: State, offer: Round) -> bool:
        return super().admits((state[0], Fraction(-1)), offer)


class ChargesTheWholeGrid(UnifiedRule):
    """Safe, but not what Thm 6 says."""

    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        if isinstance(offer, ConcentratedRun):
            return state[0] + offer.largest_cost, state[1]
        return super().spend(state, offer, outcome)


@pytest.mark.kills("approximate_dp_of_unified_filter", "cores_weigh_what_is_left_of_delta")
@pytest.mark.parametrize("name", ["approximate_dp_of_unified_filter", "cores_weigh_what_is_left_of_delta"])
@pytest.mark.parametrize("rule", [GuardsWithWhatIsSpent, ForgetsTheDelta])
def test_a_wrong_unified_rule_is_refuted(monkeypatch: pytest.MonkeyPatch, rule: type[UnifiedRule], name: str) -> None:
    monkeypatch.setattr(unified_filter, "UnifiedRule", rule)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("unified_filter_agrees_with_its_increments")
@pytest.mark.parametrize("rule", [GuardsWithWhatIsSpent, ChargesTheFirstStep, ChargesAQuarter, ChargesTheWholeGrid])
def test_a_rule_that_disagrees_with_the_increments_is_refuted(
    monkeypatch: pytest.MonkeyPatch, rule: type[UnifiedRule]
) -> None:
    monkeypatch.setattr(unified_filter, "UnifiedRule", rule)
    assert outcome_of("unified_filter_agrees_with_its_increments") is Outcome.VIOLATED


@pytest.mark.kills("approximate_dp_of_exhausted_noise_reduction")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda rho, slack: ball(rho),
        lambda rho, slack: 2 * (-ball(rho) * ball(slack).log()).sqrt() / 2,  # one square root in place of two
        lambda rho, slack: ball(rho) + 2 * (ball(rho) * ball(slack)).sqrt(),
        lambda rho, slack: nearly_two(ball(rho), ball(slack)),
    ],
)
def test_a_smaller_epsilon_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Fraction, Fraction], arb]
) -> None:
    monkeypatch.setattr(unified_filter, "unified_epsilon", mutant)
    assert outcome_of("approximate_dp_of_exhausted_noise_reduction") is Outcome.VIOLATED


@pytest.mark.kills("tilted_loss_is_a_supermartingale")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda offer, outcome: UnifiedRule(Fraction(9)).spend((Fraction(0), Fraction(0)), offer, outcome)[0] / 2,
        lambda offer, outcome: Fraction(0),  # nothing charged
    ],
)
def test_an_undercharged_supermartingale_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Round, Hashable], Fraction]
) -> None:
    monkeypatch.setattr(unified_filter, "cost_of", mutant)
    assert outcome_of("tilted_loss_is_a_supermartingale") is Outcome.VIOLATED


@pytest.mark.kills("precondition_must_cover_the_round_to_come")
def test_a_filter_that_looks_back_only_does_not_cover_the_round_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    statement, values = (
        find_statement("precondition_must_cover_the_round_to_come"),
        {"budget": Fraction(3), "excess": Fraction(2)},
    )
    assert statement(**values).outcome is Outcome.HOLDS
    monkeypatch.setattr(ex_post_filter, "ExPostRule", ex_post_filter.LooksBackOnly)
    assert statement(**values).outcome is Outcome.VIOLATED
