"""Mutants of the chapter on filters and of selection utility: wrong rules, wrong bounds, wrong laws.

Equivalent mutants, which no statement about privacy can refute: the self-reporting rule that halts on > instead
of >= (both satisfy the theorem; `self_reporting_filter_halts_before_it_runs` tells them apart), and a filter that
charges more than the ex-post bound (it halts sooner). Thm 20 is loose (by more than a factor of 2 on randomised
response), so that its rule without "+ V / 2", or without the look-ahead on equal small rounds, stays private in
these cases; the lengths 41639, 42 and 4 in tests/spec/test_interactions.py pin its formula down.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from flint import arb

from dpassay.lazy import mpmath  # not mpmath itself: what is read late while it is patched would stay so
from dpassay.properties.verify import verify_statement
from dpassay.spec.interactions.filter_rules import (
    FullyAdaptiveRule,
    FullyAdaptiveState,
    SelfReportingRule,
    within_advanced_budget,
)
from dpassay.spec.interactions.transcripts import Analyst, Branch, FilterRule, Round
from dpassay.spec.rational import Ratio
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection import (
    filtered_composition,
    fully_adaptive_filter,
    gaussian_sparse_vector,
    quadrature_claims,
    selection_utility,
)
from dpassay.spec.verdict import Outcome

State = tuple[Ratio, Fraction]


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


# --- self-reporting rules that are wrong --------------------------------------------------------------------


class ChecksAfterRunning(SelfReportingRule):
    """Looks at what is spent, not at what the offer may cost."""

    def admits(self, state: State, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return bool(state[0] < self.budget)


class ForgetsWhatWasSpent(SelfReportingRule):
    def admits(self, state: State, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return bool(offer.ratio_max < self.budget)


class ChargesThePriorEpsilon(SelfReportingRule):
    """S grows by epsilon_max: private only while no outcome is worse, and halts at the wrong time."""

    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        return state[0] * offer.ratio_max, super().spend(state, offer, outcome)[1]


class NeverStops(SelfReportingRule):
    def admits(self, state: State, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return True


class ChargesNothing(SelfReportingRule):
    """The all-below outcome of a finite stream, charged 0, is of this kind."""

    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        return state[0], super().spend(state, offer, outcome)[1]


class ChargesTheLogarithmOfTheBound(SelfReportingRule):
    """A slip of scale: every charge is halved."""

    def spend(self, state: State, offer: Round, outcome: Hashable) -> State:
        charge = offer.charge(outcome)
        halved = Fraction(float(charge) ** 0.5).limit_denominator(1000) if charge != float("inf") else charge
        return state[0] * halved, super().spend(state, offer, outcome)[1]


WRONG_RULES = (
    ChecksAfterRunning,
    ForgetsWhatWasSpent,
    ChargesThePriorEpsilon,
    NeverStops,
    ChargesNothing,
    ChargesTheLogarithmOfTheBound,
)


@pytest.mark.kills("self_reporting_filter_halts_before_it_runs")
@pytest.mark.parametrize("rule", WRONG_RULES)
def test_a_wrong_rule_runs_or_halts_at_the_wrong_time(
    monkeypatch: pytest.MonkeyPatch, rule: type[SelfReportingRule]
) -> None:
    monkeypatch.setattr(filtered_composition, "SelfReportingRule", rule)
    assert outcome_of("self_reporting_filter_halts_before_it_runs") is Outcome.VIOLATED


@pytest.mark.kills("self_reporting_filter_halts_before_it_runs")
def test_halting_on_greater_only_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(budget: Fraction, halts_on_equality: bool = True) -> SelfReportingRule:
        return SelfReportingRule(budget, halts_on_equality=False)

    monkeypatch.setattr(filtered_composition, "SelfReportingRule", lenient)
    assert outcome_of("self_reporting_filter_halts_before_it_runs") is Outcome.VIOLATED


@pytest.mark.kills("probabilistic_dp_of_self_reporting_filter")
@pytest.mark.parametrize("rule", [rule for rule in WRONG_RULES if rule is not ChargesThePriorEpsilon])
def test_a_wrong_rule_is_not_private(monkeypatch: pytest.MonkeyPatch, rule: type[SelfReportingRule]) -> None:
    monkeypatch.setattr(filtered_composition, "SelfReportingRule", rule)
    assert outcome_of("probabilistic_dp_of_self_reporting_filter") is Outcome.VIOLATED


@pytest.mark.kills("self_reporting_filter_protects_both_orders")
@pytest.mark.parametrize("rule", [rule for rule in WRONG_RULES if rule is not ChargesThePriorEpsilon])
def test_a_wrong_rule_is_not_private_in_both_orders(
    monkeypatch: pytest.MonkeyPatch, rule: type[SelfReportingRule]
) -> None:
    monkeypatch.setattr(filtered_composition, "SelfReportingRule", rule)
    assert outcome_of("self_reporting_filter_protects_both_orders") is Outcome.VIOLATED


@pytest.mark.kills("self_reporting_filter_protects_both_orders")
def test_charges_of_one_order_do_not_protect_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filtered_composition, "two_sided", lambda interaction: interaction)
    assert outcome_of("self_reporting_filter_protects_both_orders") is Outcome.VIOLATED


def largest_single_delta(complete: list[Branch]) -> Fraction:
    return max((offer.probabilistic_delta for branch in complete for offer in branch.rounds), default=Fraction(0))


def last_delta(complete: list[Branch]) -> Fraction:
    return max((branch.rounds[-1].probabilistic_delta for branch in complete if branch.rounds), default=Fraction(0))


def ignores_adaptivity(complete: list[Branch]) -> Fraction:
    """The deltas of one path, not of the worst one."""
    return filtered_composition.accumulated_delta(offer.probabilistic_delta for offer in complete[0].rounds)


@pytest.mark.kills("probabilistic_dp_of_self_reporting_filter")
@pytest.mark.parametrize("mutant", [largest_single_delta, last_delta, ignores_adaptivity])
def test_a_delta_that_does_not_accumulate_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[list[Branch]], Fraction]
) -> None:
    monkeypatch.setattr(filtered_composition, "largest_accumulated_delta", mutant)
    assert outcome_of("probabilistic_dp_of_self_reporting_filter") is Outcome.VIOLATED


class IgnoresTheDeltaBudget(SelfReportingRule):
    def admits(self, state: State, offer: Round) -> bool:
        return bool(state[0] * offer.ratio_max < self.budget)


class LooksAtTheDeltaOfOneRound(SelfReportingRule):
    def admits(self, state: State, offer: Round) -> bool:
        return bool(state[0] * offer.ratio_max < self.budget) and offer.probabilistic_delta <= self.delta


@pytest.mark.kills("approximate_dp_of_self_reporting_filter_with_delta_budget")
@pytest.mark.parametrize("rule", [IgnoresTheDeltaBudget, LooksAtTheDeltaOfOneRound, ChecksAfterRunning])
def test_a_rule_without_delta_budget_is_refuted(
    monkeypatch: pytest.MonkeyPatch, rule: type[SelfReportingRule]
) -> None:
    monkeypatch.setattr(filtered_composition, "SelfReportingRule", rule)
    assert outcome_of("approximate_dp_of_self_reporting_filter_with_delta_budget") is Outcome.VIOLATED


def union_bound(deltas: Iterable[Fraction]) -> Fraction:
    return sum(deltas, Fraction(0))


def single(deltas: Iterable[Fraction]) -> Fraction:
    return max(deltas)


@pytest.mark.kills("self_reporting_filter_delta_is_attained")
@pytest.mark.parametrize("mutant", [union_bound, single])
def test_another_delta_is_not_attained(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Iterable[Fraction]], Fraction]
) -> None:
    monkeypatch.setattr(filtered_composition, "accumulated_delta", mutant)
    assert outcome_of("self_reporting_filter_delta_is_attained") is Outcome.VIOLATED


@pytest.mark.kills("summable_deltas_need_no_number_of_rounds")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda deltas: arb(0),  # nothing leaks
        lambda deltas: sum(deltas, arb(0)) * (len(deltas) + 1),  # all rounds like the mean one
        lambda deltas: deltas[0],  # the first round only
    ],
)
def test_a_leak_of_another_size_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[list[arb]], arb]
) -> None:
    monkeypatch.setattr(filtered_composition, "leaked_by_then", mutant)
    assert outcome_of("summable_deltas_need_no_number_of_rounds") is Outcome.VIOLATED


@pytest.mark.kills("constant_deltas_accumulate")
@pytest.mark.parametrize(
    "share",
    [
        lambda t: 6 / (sp.pi * (t + 1)) ** 2,  # counted from 2
        lambda t: 1 / (t * (t + 2)),
        lambda t: 2 / (t * (t + 1)),
    ],
)
def test_shares_with_another_sum_are_refuted(monkeypatch: pytest.MonkeyPatch, share: Callable[[Any], Any]) -> None:
    monkeypatch.setattr(filtered_composition, "SUMMABLE_SHARES", (share,))
    assert outcome_of("constant_deltas_accumulate") is Outcome.VIOLATED


@pytest.mark.kills("constant_deltas_accumulate")
def test_another_geometric_sum_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filtered_composition, "geometric_leak", lambda survival, rounds: 1 - survival ** (rounds + 1))
    assert outcome_of("constant_deltas_accumulate") is not Outcome.HOLDS  # open where no number remains
    monkeypatch.setattr(filtered_composition, "geometric_leak", lambda survival, rounds: 2 - survival**rounds)
    assert outcome_of("constant_deltas_accumulate") is Outcome.VIOLATED


# --- the Gaussian sparse vector -----------------------------------------------------------------------------

RUNS = gaussian_sparse_vector.RestartedAboveThreshold


@pytest.mark.kills("probabilistic_dp_of_restarted_gaussian_above_threshold")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda runs: runs.delta,  # one run, as printed
        lambda runs: -((runs.rounds - 1) * runs.log_halts_at_once[0]).expm1(),  # one run forgotten
        lambda runs: -(runs.rounds * runs.log_halts_at_once[1]).expm1(),  # the other data set
    ],
)
def test_a_delta_of_fewer_runs_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Any], arb]) -> None:
    monkeypatch.setattr(RUNS, "accumulated_delta", property(mutant))
    name = "probabilistic_dp_of_restarted_gaussian_above_threshold"
    worst = {"rounds": 200, "lead": Fraction(10, 3), "relative_sensitivity": Fraction(3, 10), "width": Fraction(10, 3)}
    assert find_statement(name)(**worst).outcome is Outcome.VIOLATED


# --- fully adaptive rules that are wrong --------------------------------------------------------------------


class DropsTheLookAhead(FullyAdaptiveRule):
    def admits(self, state: FullyAdaptiveState, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return within_advanced_budget(state[0], self.budget, self.slack_delta) and bool(state[1] <= self.delta)


class IgnoresDeltas(FullyAdaptiveRule):
    def spend(self, state: FullyAdaptiveState, offer: Round, outcome: Hashable) -> FullyAdaptiveState:
        return super().spend(state, offer, outcome)[0], Fraction(0)


class LargestEpsilonOnly(FullyAdaptiveRule):
    def spend(self, state: FullyAdaptiveState, offer: Round, outcome: Hashable) -> FullyAdaptiveState:
        counts, delta = super().spend(state, offer, outcome)
        return tuple((ratio, 1) for ratio, _ in counts[-1:]), delta


class AdmitsAll(FullyAdaptiveRule):
    def admits(self, state: FullyAdaptiveState, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return True


@pytest.mark.kills("approximate_dp_of_fully_adaptive_filter")
@pytest.mark.parametrize("rule", [DropsTheLookAhead, IgnoresDeltas, LargestEpsilonOnly, AdmitsAll])
def test_a_wrong_fully_adaptive_rule_is_not_private(
    monkeypatch: pytest.MonkeyPatch, rule: type[FullyAdaptiveRule]
) -> None:
    monkeypatch.setattr(fully_adaptive_filter, "FullyAdaptiveRule", rule)
    assert outcome_of("approximate_dp_of_fully_adaptive_filter") is Outcome.VIOLATED


def without_concentration(ratio: Fraction, rule: FullyAdaptiveRule) -> int:
    """V / 2 <= epsilon only: the square root forgotten."""
    return int(2 * math.log(rule.budget) / math.log(ratio) ** 2)


def without_logarithm(ratio: Fraction, rule: FullyAdaptiveRule) -> int:
    """Sqrt(2 delta' V) in place of sqrt(2 log(1/delta') V)."""
    squares, slope = math.log(ratio) ** 2, math.sqrt(2 * rule.slack_delta)
    root = math.sqrt(slope**2 + 2 * math.log(rule.budget)) - slope
    return int(root**2 / squares)


@pytest.mark.kills("approximate_dp_of_filtered_randomised_response")
@pytest.mark.parametrize("mutant", [without_concentration, without_logarithm])
def test_a_filter_that_is_too_long_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Fraction, FullyAdaptiveRule], int]
) -> None:
    monkeypatch.setattr(fully_adaptive_filter, "longest_run", lambda *args: min(mutant(*args), 2000))
    assert outcome_of("approximate_dp_of_filtered_randomised_response") is Outcome.VIOLATED


def inverted(offers: Sequence[Round], rule: FullyAdaptiveRule) -> bool:
    length = fully_adaptive_filter.filter_length(offers, rule)
    return length is None or length > len(offers)


def off_by_one(offers: Sequence[Round], rule: FullyAdaptiveRule) -> bool:
    length = fully_adaptive_filter.filter_length(offers, rule)
    return length is not None and length < len(offers) - 1


def last_round_only(offers: Sequence[Round], rule: FullyAdaptiveRule) -> bool:
    return fully_adaptive_filter.filter_length(offers[-1:], rule) is not None


@pytest.mark.kills("filter_halts_iff_release_would_overspend")
@pytest.mark.parametrize("mutant", [inverted, off_by_one, last_round_only])
def test_a_wrong_answer_of_the_filter_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Sequence[Round], FullyAdaptiveRule], bool]
) -> None:
    monkeypatch.setattr(fully_adaptive_filter, "filter_halts", mutant)
    assert outcome_of("filter_halts_iff_release_would_overspend") is Outcome.VIOLATED


Running = tuple[Any, Any, Fraction, Fraction, Any]


def run_then_release(before: Running, analyst: Analyst, rule: FilterRule) -> Iterator[Running]:
    """Release what the filter refused."""
    vector, released, left, right, state = before
    offer = analyst(released)
    if offer is None:
        yield before
        return
    for outcome in offer.outcomes:
        p, q = left * offer.left.probability(outcome), right * offer.right.probability(outcome)
        admitted = rule.admits(state, offer)
        after = rule.spend(state, offer, outcome) if admitted else state
        yield (*vector, outcome), (*released, outcome) if admitted else released, p, q, after


def run_then_charge(before: Running, analyst: Analyst, rule: FilterRule) -> Iterator[Running]:
    """Discard what the filter refused, and charge its outcome all the same: the spend is not what was released."""
    vector, released, left, right, state = before
    offer = analyst(released)
    if offer is None:
        yield before
        return
    for outcome in offer.outcomes:
        p, q = left * offer.left.probability(outcome), right * offer.right.probability(outcome)
        after = rule.spend(state, offer, outcome)
        if rule.admits(state, offer):
            yield (*vector, outcome), (*released, outcome), p, q, after
        else:
            yield (*vector, fully_adaptive_filter.DISCARDED), released, p, q, after


@pytest.mark.kills("running_before_the_check_changes_nothing")
def test_releasing_what_was_refused_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fully_adaptive_filter, "_run_then_ask", run_then_release)
    assert outcome_of("running_before_the_check_changes_nothing") is Outcome.VIOLATED


@pytest.mark.kills("printing_the_spend_is_post_processing")
def test_a_spend_that_depends_on_discarded_outcomes_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fully_adaptive_filter, "_run_then_ask", run_then_charge)
    assert outcome_of("printing_the_spend_is_post_processing") is Outcome.VIOLATED


# --- utility ------------------------------------------------------------------------------------------------

ACCURACY = selection_utility.noisy_max_accuracy
Blocks = list[tuple[Fraction, int]]


@pytest.mark.kills("noisy_max_is_no_worse_than_a_uniform_choice")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda blocks, sigma: 2 - ACCURACY(blocks, sigma),  # the sign of the loss
        lambda blocks, sigma: (
            ACCURACY([(max(blocks)[0] - q + Fraction(1), n) for q, n in blocks], sigma) - 1
        ),  # argmin
        lambda blocks, sigma: (
            ACCURACY([(q, 1) for q, _ in blocks], sigma) - 1 + ACCURACY(blocks, sigma)
        ),  # charged twice
    ],
)
def test_another_accuracy_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Blocks, Fraction], arb]
) -> None:
    monkeypatch.setattr(selection_utility, "noisy_max_accuracy", mutant)
    assert outcome_of("noisy_max_is_no_worse_than_a_uniform_choice") is Outcome.VIOLATED


def zero_when_empty(tp: int, fp: int, fn: int) -> Fraction:
    return Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else Fraction(0)


def precision_only(tp: int, fp: int, fn: int) -> Fraction:
    return Fraction(tp, tp + fp) if tp + fp else Fraction(1)


def without_the_two(tp: int, fp: int, fn: int) -> Fraction:
    return Fraction(2 * tp, tp + fp + fn) if tp + fp + fn else Fraction(1)


@pytest.mark.kills("f1_score_is_a_share")
@pytest.mark.parametrize("mutant", [zero_when_empty, precision_only, without_the_two])
def test_another_f1_score_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Fraction]) -> None:
    monkeypatch.setattr(selection_utility, "f1_score", mutant)
    assert outcome_of("f1_score_is_a_share") is Outcome.VIOLATED


@pytest.mark.kills("f1_score_is_the_harmonic_mean_of_precision_and_recall")
def test_another_formula_is_not_the_harmonic_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    name, formula = "f1_score_is_the_harmonic_mean_of_precision_and_recall", selection_utility.f1_formula
    monkeypatch.setattr(selection_utility, "f1_formula", lambda tp, fp, fn: 1 + formula(tp, fp, fn))
    assert outcome_of(name) is Outcome.VIOLATED
    for wrong in (lambda tp, fp, fn: tp / (tp + fp + fn), lambda tp, fp, fn: tp / (tp + fp)):
        monkeypatch.setattr(selection_utility, "f1_formula", wrong)
        assert outcome_of(name) is not Outcome.HOLDS  # open where no number remains


@pytest.mark.kills("windowed_quadrature_agrees_with_enclosure")
@pytest.mark.parametrize("pieces", [1])
def test_a_window_without_pieces_at_low_degree_is_refuted(monkeypatch: pytest.MonkeyPatch, pieces: int) -> None:
    quad = mpmath.quad
    monkeypatch.setattr(quadrature_claims, "PIECES", pieces)
    monkeypatch.setattr(mpmath, "quad", lambda f, nodes: quad(f, nodes, maxdegree=2))
    assert outcome_of("windowed_quadrature_agrees_with_enclosure") is Outcome.VIOLATED


@pytest.mark.kills("windowed_quadrature_agrees_with_enclosure")
def test_default_quadrature_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quadrature_claims, "windowed_quadrature_epsilon", quadrature_claims.default_quadrature_epsilon)
    assert outcome_of("windowed_quadrature_agrees_with_enclosure") is Outcome.VIOLATED
