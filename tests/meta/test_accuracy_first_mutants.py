"""Mutants of concurrent composition, doubling, relative accuracy, Gumbel selection and sensitivity."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import pytest
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions import interactive_systems as systems
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.accuracy_first import (
    doubling,
    gumbel_selection,
    relative_error,
    sensitivity,
)
from dpassay.spec.theorems.accuracy_first import interactive_systems as concurrent
from dpassay.spec.verdict import Outcome


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


# --- concurrent composition ---------------------------------------------------------------------------------

Parameters = Sequence[tuple[Fraction, Fraction]]


def without_subsets(parameters: Parameters, ratio: Fraction) -> Fraction:
    """Only the event that every response is true."""
    everything = prod(r for r, _ in parameters)
    excess = max(Fraction(0), everything - ratio) / prod(1 + r for r, _ in parameters)
    return 1 - prod(1 - d for _, d in parameters) * (1 - excess)


def without_deltas(parameters: Parameters, ratio: Fraction) -> Fraction:
    return systems.optimal_composition_delta([(r, Fraction(0)) for r, _ in parameters], ratio)


def basic(parameters: Parameters, ratio: Fraction) -> Fraction:
    """Sums of epsilons and deltas: valid from the sum of the epsilons on, nothing below."""
    whole = prod(r for r, _ in parameters)
    return sum((d for _, d in parameters), Fraction(0)) if ratio >= whole else Fraction(1)


@pytest.mark.kills("optimal_composition_is_attained")
@pytest.mark.parametrize("formula", [without_subsets, without_deltas, basic])
def test_another_composition_is_not_attained(
    monkeypatch: pytest.MonkeyPatch, formula: Callable[[Parameters, Fraction], Fraction]
) -> None:
    monkeypatch.setattr(concurrent, "optimal_composition_delta", formula)
    assert outcome_of("optimal_composition_is_attained") is Outcome.VIOLATED


@pytest.mark.kills("concurrent_composition_is_no_worse_than_optimal_composition")
@pytest.mark.parametrize("formula", [without_subsets, without_deltas])
def test_too_good_a_composition_is_refuted(
    monkeypatch: pytest.MonkeyPatch, formula: Callable[[Parameters, Fraction], Fraction]
) -> None:
    monkeypatch.setattr(concurrent, "optimal_composition_delta", formula)
    assert outcome_of("concurrent_composition_is_no_worse_than_optimal_composition") is Outcome.VIOLATED


@pytest.mark.kills("systems_see_their_own_history_only")
def test_a_system_that_reads_the_answers_of_another_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole_history(transcript: Any, system: int) -> Any:  # the signature
        return tuple((query, answer) for _, query, answer in transcript)

    monkeypatch.setattr(systems, "own_history", whole_history)
    assert outcome_of("systems_see_their_own_history_only") is Outcome.VIOLATED


@pytest.mark.kills("concurrent_delta_is_that_of_the_best_deterministic_adversary")
@pytest.mark.parametrize("orders", [1, 2])
def test_a_lazy_adversary_is_not_the_best(monkeypatch: pytest.MonkeyPatch, orders: int) -> None:
    def first_moves_only(parts: Any, ratio: Fraction) -> Fraction:
        """Ask in the order of the systems, whatever comes out; in one order of the data sets or in both."""
        swapped = tuple(part.swapped for part in parts)
        plans = [(each, next(iter(systems.adversaries(each)))) for each in (parts, swapped)[:orders]]
        return max(systems.delta_of_adversary(each, plan, ratio) for each, plan in plans)

    monkeypatch.setattr(concurrent, "concurrent_delta", first_moves_only)
    assert outcome_of("concurrent_delta_is_that_of_the_best_deterministic_adversary") is Outcome.VIOLATED


# --- doubling -----------------------------------------------------------------------------------------------


@pytest.mark.kills("doubling_costs_at_most_four_times_the_ideal")
@pytest.mark.parametrize("factor", [4, 3])
def test_doubling_epsilon_in_place_of_its_square_is_refuted(monkeypatch: pytest.MonkeyPatch, factor: int) -> None:
    def multiplied(smallest: Fraction, ideal: Fraction) -> list[Fraction]:
        precisions = [smallest]
        while precisions[-1] < ideal:
            precisions.append(factor * precisions[-1])
        return precisions

    monkeypatch.setattr(doubling, "doubled_precisions", multiplied)
    assert outcome_of("doubling_costs_at_most_four_times_the_ideal") is Outcome.VIOLATED


@pytest.mark.kills("doubling_is_private_at_the_sum_of_its_steps")
@pytest.mark.parametrize("charged", [max, lambda precisions: sum(precisions) / 4])
def test_charging_the_last_step_only_is_refuted(
    monkeypatch: pytest.MonkeyPatch, charged: Callable[[list[Fraction]], Fraction]
) -> None:
    monkeypatch.setattr(doubling, "charged_precision", charged)
    assert outcome_of("doubling_is_private_at_the_sum_of_its_steps") is Outcome.VIOLATED


@pytest.mark.kills("doubling_cost_is_a_geometric_sum")
def test_tripled_precisions_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubling, "symbolic_precision", lambda smallest, doublings: 3**doublings * smallest)
    assert outcome_of("doubling_cost_is_a_geometric_sum") is not Outcome.HOLDS


# --- relative accuracy --------------------------------------------------------------------------------------


@pytest.mark.kills("stopping_rule_is_a_threshold")
@pytest.mark.parametrize(
    ("mutated", "by"), [("threshold_below", "threshold_above"), ("threshold_above", "threshold_below")]
)
def test_symmetric_thresholds_are_refuted(monkeypatch: pytest.MonkeyPatch, mutated: str, by: str) -> None:
    monkeypatch.setattr(relative_error, mutated, getattr(relative_error, by))
    assert outcome_of("stopping_rule_is_a_threshold") is Outcome.VIOLATED


@pytest.mark.kills("noise_within_one_deviation_is_half_the_accuracy")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda deviation, accuracy: deviation * (2 - accuracy) / accuracy,
        lambda deviation, accuracy: deviation / accuracy,
    ],
)
def test_a_lower_threshold_is_not_accurate(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Fraction, Fraction], Fraction]
) -> None:
    monkeypatch.setattr(relative_error, "threshold_above", mutant)
    assert outcome_of("noise_within_one_deviation_is_half_the_accuracy") is Outcome.VIOLATED


@pytest.mark.kills("edge_cases_of_the_relative_error", "noise_within_one_deviation_is_half_the_accuracy")
@pytest.mark.parametrize(
    "name", ["edge_cases_of_the_relative_error", "noise_within_one_deviation_is_half_the_accuracy"]
)
def test_an_error_of_exactly_alpha_is_not_accurate(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def lenient(noisy: Fraction, count: Fraction, accuracy: Fraction) -> bool:
        return count != 0 and abs(abs(noisy / count) - 1) <= 11 * accuracy / 10

    monkeypatch.setattr(relative_error, "is_accurate", lenient)
    assert outcome_of(name) is Outcome.VIOLATED


# --- selection ----------------------------------------------------------------------------------------------


def half_the_scale(counts: Sequence[int], ratio: Fraction) -> FiniteDistribution:
    return FiniteDistribution.of(*(ratio ** (2 * (count - max(counts))) for count in counts))


@pytest.mark.kills("zcdp_of_gumbel_selection", "bounded_range_of_gumbel_selection")
@pytest.mark.parametrize("name", ["zcdp_of_gumbel_selection", "bounded_range_of_gumbel_selection"])
def test_half_the_scale_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(gumbel_selection, "gumbel_selection_distribution", half_the_scale)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("zcdp_of_gumbel_selection")
@pytest.mark.parametrize("mutant", [lambda epsilon: epsilon**2 / 9, lambda epsilon: (epsilon / 8) ** 2])
def test_less_than_an_eighth_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[[arb], arb]) -> None:
    monkeypatch.setattr(gumbel_selection, "selection_rho", mutant)
    assert outcome_of("zcdp_of_gumbel_selection") is Outcome.VIOLATED


# --- sensitivity --------------------------------------------------------------------------------------------


@pytest.mark.kills("sensitivity_bounds_every_path")
@pytest.mark.parametrize("kept", [lambda i, j: i == 0, lambda i, j: (i, j) != (1, 3) and (j, i) != (1, 3)])
def test_neighbours_that_are_forgotten_are_missed(
    monkeypatch: pytest.MonkeyPatch, kept: Callable[[int, int], bool]
) -> None:
    pairs = [pair for pair in sensitivity.neighbours() if kept(*pair)]
    monkeypatch.setattr(sensitivity, "neighbours", lambda: iter(pairs))
    assert outcome_of("sensitivity_bounds_every_path") is Outcome.VIOLATED


@pytest.mark.kills("sensitivity_bounds_every_path")
def test_a_step_in_one_direction_only_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(query: sensitivity.Table, power: int) -> int:
        """Count rises only, and only when a record is added."""
        added = [(i, j) for i, j in sensitivity.neighbours() if i < j]
        steps = [[max(b - a, 0) for a, b in zip(query[i], query[j], strict=True)] for i, j in added]
        sums: list[int] = [sum(step**power for step in each) for each in steps]
        return max(sums)

    monkeypatch.setattr(sensitivity, "sensitivity_power", signed)
    assert outcome_of("sensitivity_bounds_every_path") is Outcome.VIOLATED


@pytest.mark.kills("histograms_have_sensitivity_one")
def test_replacement_is_not_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitivity, "neighbours", lambda: iter([(1, 2), (2, 1)]))
    assert outcome_of("histograms_have_sensitivity_one") is Outcome.VIOLATED
