"""Mutants of the chapter on target charging: its main theorem, sessions, selection. Each must be refuted.

Equivalent mutants, which no statement about privacy can refute: comparing the deltas by >= in place of > (it halts
sooner); halting when the *largest* of several counters reaches tau (safe, but another law, which
`run_with_both_answers_lasts_until_the_rarer` tells); charging a release that was withheld, or all records whether they
take part or not (both halt sooner); a revision that is charged at epsilon instead of 2 epsilon, as all calls on one
outcome are post-processing of a single one.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.distributions.binomial import binomial_at_most_exact
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.interactions.charged_calls import ChargingRule, ChargingState, not_prior_quality
from dpassay.spec.interactions.transcripts import Analyst, Round
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.target_charging import (
    composition,
    failure_events,
    holder_calls,
    individual_svt,
    individual_svt_run,
    main_theorem,
    multi_target,
    one_shot_selection,
    silent_hits,
    simulation,
    sweep,
)
from dpassay.spec.theorems.target_charging.main_theorem import response_delta_exact
from dpassay.spec.verdict import Outcome


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


def refuted(name: str) -> bool:
    return outcome_of(name) is Outcome.VIOLATED


# --- composition and failure events -------------------------------------------------------------------------


def without_the_two(count: arb, epsilon: arb, delta: arb) -> arb:
    return count * epsilon * epsilon / 2 + epsilon * (-count * delta.log()).sqrt()


@pytest.mark.kills("approximate_dp_of_pure_composition")
def test_advanced_composition_without_the_two_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "advanced_composition", without_the_two)
    assert refuted("approximate_dp_of_pure_composition")


def largest_delta_only(analyst: Analyst) -> tuple[Fraction, Fraction]:
    ratio, delta = original_parameters(analyst)
    return ratio, delta / 2


original_parameters = composition.composed_parameters


@pytest.mark.kills("approximate_dp_of_adaptive_composition")
def test_half_the_sum_of_the_deltas_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "composed_parameters", largest_delta_only)
    assert refuted("approximate_dp_of_adaptive_composition")


@pytest.mark.kills("delta_of_worst_approximate_composition")
def test_a_leak_on_one_side_only_has_another_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    original = composition.leaking_response
    monkeypatch.setattr(composition, "leaking_response", lambda ratio, delta: original(ratio, delta / 2))
    assert refuted("delta_of_worst_approximate_composition")


@pytest.mark.kills("approximate_dp_of_rare_failures")
def test_failures_twice_as_likely_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = failure_events.with_failures

    def doubled(
        pair: PairAtRatio, failures: PairAtRatio, chances: tuple[Fraction, Fraction]
    ) -> tuple[FiniteDistribution, FiniteDistribution]:
        return original(pair, failures, (min(2 * chances[0], Fraction(1)), min(2 * chances[1], Fraction(1))))

    monkeypatch.setattr(failure_events, "with_failures", doubled)
    assert refuted("approximate_dp_of_rare_failures")


# --- holder calls -------------------------------------------------------------------------------------------

WRONG_EXPONENTS: dict[str, Callable[[arb, arb], arb]] = {
    "no 1 + alpha": lambda tau, a: -a * a * tau / 2,
    "lost 2": lambda tau, a: -a * a * tau / (1 + a),
    "2 + alpha": lambda tau, a: -a * a * tau / (2 + a),
    "linear": lambda tau, a: -a * tau / 2,
}


@pytest.mark.kills("holder_calls_within_chernoff_tail")
@pytest.mark.parametrize("fault", WRONG_EXPONENTS)
def test_a_wrong_exponent_is_refuted_by_the_exact_tail(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(holder_calls, "raw_chernoff_tail", lambda tau, a: WRONG_EXPONENTS[fault](tau, a).exp())
    monkeypatch.setattr(holder_calls, "chernoff_tail", lambda tau, a: arb(1))
    assert refuted("holder_calls_within_chernoff_tail")


@pytest.mark.kills("holder_calls_within_chernoff_tail")
@pytest.mark.parametrize("fault", [name for name in WRONG_EXPONENTS if name != "linear"])
def test_a_wrong_simplification_is_refuted_by_the_raw_bound(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(holder_calls, "chernoff_tail", lambda tau, a: WRONG_EXPONENTS[fault](tau, a).exp())
    assert refuted("holder_calls_within_chernoff_tail")


@pytest.mark.kills("quoted_target_hits_suffice")
@pytest.mark.parametrize("factor", ["0.31", "0.48"])
def test_other_constants_are_refuted(monkeypatch: pytest.MonkeyPatch, factor: str) -> None:
    monkeypatch.setattr(holder_calls, "QUOTED", {Fraction(5): Fraction(factor)})
    assert refuted("quoted_target_hits_suffice")


# --- the main theorem ---------------------------------------------------------------------------------------


class StopsOneHitLate(ChargingRule):
    def halts(self, counts: tuple[int, ...]) -> bool:
        return min(counts) > self.hits


class NeverHalts(ChargingRule):
    def halts(self, counts: tuple[int, ...]) -> bool:  # noqa: ARG002  # that is the fault
        return False


class ForgetsDeltas(ChargingRule):
    def spend(self, state: ChargingState, offer: Round, outcome: Any) -> ChargingState:
        return super().spend(state, offer, outcome)[0], Fraction(0)


class ChecksAfterRelease(ChargingRule):
    def admits(self, state: ChargingState, offer: Round) -> bool:  # noqa: ARG002  # that is the fault
        return not self.halts(state[0]) and state[1] <= self.delta


@pytest.mark.kills("approximate_dp_of_target_charging")
def test_the_theorem_without_the_two_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_theorem, "advanced_epsilon_of_target_charging", without_the_two)
    assert refuted("approximate_dp_of_target_charging")


@pytest.mark.kills("approximate_dp_of_target_charging")
def test_tau_q_calls_are_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_theorem, "_calls", lambda hits, quality, slack: ball(hits * quality))
    assert refuted("approximate_dp_of_target_charging")


@pytest.mark.kills("basic_dp_of_target_charging")
@pytest.mark.parametrize("rule", [ForgetsDeltas, ChecksAfterRelease, NeverHalts])
def test_a_wrong_session_is_refuted(monkeypatch: pytest.MonkeyPatch, rule: type[ChargingRule]) -> None:
    monkeypatch.setattr(main_theorem, "ChargingRule", rule)
    assert refuted("basic_dp_of_target_charging")


@pytest.mark.kills("approximate_dp_of_truncated_target_charging")
def test_a_session_that_never_halts_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_theorem, "ChargingRule", NeverHalts)
    assert refuted("approximate_dp_of_truncated_target_charging")


@pytest.mark.kills("approximate_dp_of_truncated_target_charging")
def test_an_account_without_its_tail_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        main_theorem,
        "truncated_delta",
        lambda hits, ratio, quality, calls, budget: main_theorem.response_delta_exact(calls, ratio, budget),
    )
    assert refuted("approximate_dp_of_truncated_target_charging")


@pytest.mark.kills("approximate_dp_of_truncated_target_charging")
def test_twice_the_quality_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_theorem, "not_prior_quality", lambda ratio: 2 * not_prior_quality(ratio))
    assert refuted("approximate_dp_of_truncated_target_charging")


@pytest.mark.kills("approximate_dp_of_target_charging")
def test_the_quality_of_one_for_misses_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_theorem, "family_quality", lambda family, ratio: Fraction(1))
    assert refuted("approximate_dp_of_target_charging")


@pytest.mark.kills("basic_dp_of_target_charging", "approximate_dp_of_truncated_target_charging")
@pytest.mark.parametrize("name", ["basic_dp_of_target_charging", "approximate_dp_of_truncated_target_charging"])
def test_a_session_that_halts_one_hit_late_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(main_theorem, "ChargingRule", StopsOneHitLate)
    assert refuted(name)


APPROACHED = "account_of_target_charging_is_approached_where_hits_tell_nothing"
WRONG_ACCOUNTS: dict[str, Callable[[int, Fraction, Fraction, int, Fraction], Fraction]] = {
    "one trial too many": lambda hits, ratio, q, calls, budget: (
        response_delta_exact(calls, ratio, budget) + binomial_at_most_exact(hits - 1, calls + 1, q)
    ),
    "one hit too few": lambda hits, ratio, q, calls, budget: (
        response_delta_exact(calls, ratio, budget) + binomial_at_most_exact(hits - 2, calls, q)
    ),
    "a hundredth more quality": lambda hits, ratio, q, calls, budget: main_theorem.truncated_delta(
        hits, ratio, min(q * Fraction(101, 100), Fraction(1)), calls, budget
    ),
    "one call fewer is composed": lambda hits, ratio, q, calls, budget: (
        response_delta_exact(max(calls - 1, 0), ratio, budget) + binomial_at_most_exact(hits - 1, calls, q)
    ),
}


@pytest.mark.kills(APPROACHED)
@pytest.mark.parametrize("fault", WRONG_ACCOUNTS)
def test_an_account_that_is_a_little_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(silent_hits, "truncated_delta", WRONG_ACCOUNTS[fault])
    assert refuted(APPROACHED)


# --- the simulation -----------------------------------------------------------------------------------------


@pytest.mark.kills("simulated_transcript_has_the_distribution_of_the_run")
def test_hits_of_the_common_part_must_count(monkeypatch: pytest.MonkeyPatch) -> None:
    original = simulation.Simulation
    monkeypatch.setattr(
        simulation, "Simulation", lambda hits, share, counts_common_hits: original(hits, share, None, False)
    )
    assert refuted("simulated_transcript_has_the_distribution_of_the_run")


@pytest.mark.kills("truncated_run_is_a_composition")
def test_one_call_more_than_allowed_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = simulation.Simulation
    monkeypatch.setattr(simulation, "Simulation", lambda hits, share, calls: original(hits, share, calls + 1))
    assert refuted("truncated_run_is_a_composition")


@pytest.mark.kills("truncated_run_is_a_composition")
def test_a_binomial_tail_with_one_trial_too_many_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    tail = binomial_at_most_exact
    monkeypatch.setattr(simulation, "binomial_at_most_exact", lambda j, trials, q: tail(j, trials + 1, q))
    assert refuted("truncated_run_is_a_composition")


# --- several targets ----------------------------------------------------------------------------------------


@pytest.mark.kills("delta_of_several_targets")
def test_several_targets_without_the_factor_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = multi_target._sum_of_single_deltas
    monkeypatch.setattr(multi_target, "_sum_of_single_deltas", lambda *point: original(*point) / 2)
    assert refuted("delta_of_several_targets")


class HaltsAtTheLargest(ChargingRule):
    def halts(self, counts: tuple[int, ...]) -> bool:
        return max(counts) >= self.hits


class HaltsAtTheSum(ChargingRule):
    def halts(self, counts: tuple[int, ...]) -> bool:
        return sum(counts) >= self.hits


@pytest.mark.kills("run_with_both_answers_lasts_until_the_rarer")
@pytest.mark.parametrize("rule", [HaltsAtTheLargest, HaltsAtTheSum, StopsOneHitLate])
def test_halting_by_another_counter_is_told_apart(monkeypatch: pytest.MonkeyPatch, rule: type[ChargingRule]) -> None:
    monkeypatch.setattr(multi_target, "ChargingRule", rule)
    assert refuted("run_with_both_answers_lasts_until_the_rarer")


# --- selection ----------------------------------------------------------------------------------------------


def finishes_the_level(scores: Sequence[int], k: int) -> list[tuple[int, int]]:
    exact = sweep.one_shot_top_k(scores, k)
    return [entry for entry in sweep.one_shot_top_k(scores, len(scores)) if entry[1] >= exact[-1][1]]


def goes_upwards(scores: Sequence[int], k: int) -> list[tuple[int, int]]:
    return sorted(enumerate(scores), key=lambda entry: (entry[1], entry[0]))[:k]


@pytest.mark.kills("one_shot_top_k_equals_the_sweep")
@pytest.mark.parametrize("wrong", [finishes_the_level, goes_upwards])
def test_another_sweep_is_not_the_one_shot(monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any]) -> None:
    monkeypatch.setattr(sweep, "sweep_by_revisions", wrong)
    assert refuted("one_shot_top_k_equals_the_sweep")


@pytest.mark.kills("top_one_equals_the_sweep")
def test_the_lowest_threshold_is_not_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    def lowest(scores: Sequence[int], levels: Sequence[int] = sweep.LEVELS) -> tuple[int, int] | None:
        found = [(i, s) for level in sorted(levels) for i, s in enumerate(scores) if s >= level]
        return found[0] if found else None

    monkeypatch.setattr(sweep, "top_one_by_sweep", lowest)
    assert refuted("top_one_equals_the_sweep")


@pytest.mark.kills("above_threshold_selection_is_the_first_level_of_a_sweep")
def test_a_weak_inequality_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "above_threshold", lambda scores, t: [(i, s) for i, s in enumerate(scores) if s >= t])
    assert refuted("above_threshold_selection_is_the_first_level_of_a_sweep")


@pytest.mark.kills("approximate_dp_of_one_shot_top_k")
def test_a_tenth_of_the_epsilon_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = one_shot_selection.top_k_epsilon
    monkeypatch.setattr(one_shot_selection, "top_k_epsilon", lambda k, epsilon, log: original(k, epsilon, log) / 10)
    assert refuted("approximate_dp_of_one_shot_top_k")


@pytest.mark.kills("approximate_dp_of_one_shot_top_k")
def test_an_explicit_form_without_the_square_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        one_shot_selection,
        "explicit_epsilon",
        lambda k, epsilon, log: one_shot_selection.leading_epsilon(k, epsilon, log, arb(8)),
    )
    assert refuted("approximate_dp_of_one_shot_top_k")


@pytest.mark.kills("small_epsilon_top_k_costs_four_roots")
def test_another_slack_does_not_solve_for_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_shot_selection, "symbolic_slack", lambda log, k, root: root / k)
    assert outcome_of("small_epsilon_top_k_costs_four_roots") is not Outcome.HOLDS
    monkeypatch.setattr(one_shot_selection, "symbolic_slack", lambda log, k, root: (log + root) / k + 1)
    assert outcome_of("small_epsilon_top_k_costs_four_roots") is not Outcome.HOLDS


@pytest.mark.kills("approximate_dp_of_best_of_candidates")
def test_the_quality_of_one_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_shot_selection, "not_prior_quality", lambda ratio: Fraction(1))
    assert refuted("approximate_dp_of_best_of_candidates")


@pytest.mark.kills("approximate_dp_of_best_k_of_candidates")
@pytest.mark.parametrize("fault", ["quality one", "one hit fewer", "epsilon for 2 epsilon", "the first only"])
def test_wrong_accounts_of_the_k_best_are_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    best = one_shot_selection.best_k_of_candidates
    name, mutant = {
        "quality one": ("not_prior_quality", lambda ratio: Fraction(1)),
        "one hit fewer": ("binomial_at_most_exact", lambda most, calls, q: binomial_at_most_exact(most - 1, calls, q)),
        "epsilon for 2 epsilon": ("not_prior_quality", lambda ratio: not_prior_quality(1 + (ratio - 1) / 2)),
        "the first only": ("best_k_of_candidates", lambda m, k, ratio: best(m, 1, ratio)),
    }[fault]
    monkeypatch.setattr(one_shot_selection, name, mutant)
    assert refuted("approximate_dp_of_best_k_of_candidates")


@pytest.mark.kills("pure_loss_of_best_of_candidates_adds_up")
def test_candidates_on_one_side_only_have_another_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    original = one_shot_selection.best_of_candidates
    monkeypatch.setattr(one_shot_selection, "best_of_candidates", lambda m, ratio: original(m, ratio)[::-1])
    assert refuted("pure_loss_of_best_of_candidates_adds_up")


# --- individual charging ------------------------------------------------------------------------------------


@pytest.mark.kills("approximate_dp_of_individual_svt")
def test_calls_of_quality_one_are_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(individual_svt, "not_prior_quality", lambda ratio: Fraction(1))
    assert refuted("approximate_dp_of_individual_svt")


def by_value(records: Sequence[str], query: frozenset[str], counts: dict[int, int]) -> None:
    for place in counts:
        copies = sum(records[other] == records[place] for other in counts)
        counts[place] += copies if records[place] in query else 0


def everybody(records: Sequence[str], query: frozenset[str], counts: dict[int, int]) -> None:
    for place in counts:
        counts[place] += 1


@pytest.mark.kills("counters_of_the_others_agree")
@pytest.mark.parametrize("wrong", [by_value, everybody])
def test_a_wrong_counter_is_refuted(monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., None]) -> None:
    monkeypatch.setattr(individual_svt, "count_each_record", wrong)
    assert refuted("counters_of_the_others_agree")


@pytest.mark.kills("counters_of_the_others_agree")
def test_removal_one_hit_late_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = individual_svt.active_after
    monkeypatch.setattr(individual_svt, "active_after", lambda data, queries, hits: original(data, queries, hits + 1))
    assert refuted("counters_of_the_others_agree")


@pytest.mark.kills("individual_svt_is_target_charging_of_each_record")
@pytest.mark.parametrize("name", ["released_transcripts", "active_after"])
def test_a_record_that_stays_for_another_hit_is_seen_in_the_run(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In the run of the mechanism, or among the other records of the calls that it is held against."""
    original = getattr(individual_svt_run, name)
    monkeypatch.setattr(
        individual_svt_run, name, lambda data, queries, hits, *others: original(data, queries, hits + 1, *others)
    )
    assert refuted("individual_svt_is_target_charging_of_each_record")


@pytest.mark.kills("individual_svt_is_target_charging_of_each_record")
def test_noise_that_depends_on_the_size_is_seen_in_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    original = individual_svt_run.released_transcripts

    def quieter(records: Sequence[str], queries: Any, hits: int, ratio: Fraction, threshold: int) -> Any:
        return original(records, queries, hits, ratio + len(records) // 4, threshold)

    monkeypatch.setattr(individual_svt_run, "released_transcripts", quieter)
    assert refuted("individual_svt_is_target_charging_of_each_record")
