"""Mutants of the foundations chapter: compositions, accuracy, reconstruction, local responses, project ideas."""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.laplace import log_laplace_interval
from dpassay.spec.distributions.local_responses import hadamard_response_distribution
from dpassay.spec.distributions.truncated_geometric import truncated_geometric_distribution
from dpassay.spec.interactions.transcripts import Interaction, randomised_response
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.foundations import (
    composition,
    laplace_accuracy,
    local_model,
    projects,
    reconstruction,
    truncated_geometric,
)
from dpassay.spec.verdict import Outcome, Violated


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


def kill(monkeypatch: pytest.MonkeyPatch, module: Any, attribute: str, mutant: Any, *names: str) -> None:
    """Put the mutant in its place and see the statements refuted."""
    monkeypatch.setattr(module, attribute, mutant)
    for name in names:
        assert outcome_of(name) is Outcome.VIOLATED, name


# --- composition --------------------------------------------------------------------------------------------


@pytest.mark.kills("pure_dp_of_basic_composition")
def test_the_first_mechanism_alone_does_not_pay_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    kill(
        monkeypatch, composition, "composed_ratio", lambda interaction: composition._pure_ratio(interaction.offer),
        "pure_dp_of_basic_composition",
    )  # fmt: skip


@pytest.mark.kills("pure_dp_of_basic_composition")
def test_the_sum_is_over_rounds_that_may_run_not_over_the_first_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    ratio = composition.composed_ratio

    def along_the_first_outcome(interaction: Interaction) -> Any:
        first = next(iter(interaction.after.values()), None)
        own = ratio(Interaction(interaction.offer))
        return own if first is None else own * ratio(Interaction(first.offer))

    monkeypatch.setattr(composition, "composed_ratio", along_the_first_outcome)
    later: dict[Hashable, Interaction] = {
        0: Interaction(randomised_response(Fraction(2))),
        1: Interaction(randomised_response(Fraction(5))),
    }
    adaptive = Interaction(randomised_response(Fraction(2)), later)
    verdict = find_statement("pure_dp_of_basic_composition")(interaction=adaptive)
    assert verdict.outcome is Outcome.VIOLATED


@pytest.mark.kills("basic_composition_is_attained")
def test_a_response_that_tells_less_does_not_attain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kill(
        monkeypatch, composition, "randomised_response", lambda ratio: randomised_response((ratio + 1) / 2),
        "basic_composition_is_attained",
    )  # fmt: skip


def without_the_two(copies: int, epsilon: arb, delta: Any) -> arb:
    return copies * epsilon * epsilon / 2 + epsilon * (-copies * ball(delta).log()).sqrt()


def with_decimal_logarithm(copies: int, epsilon: arb, delta: Any) -> arb:
    return copies * epsilon * epsilon / 2 + epsilon * (-2 * copies * ball(delta).log() / arb(10).log()).sqrt()


def without_the_quadratic_term(copies: int, epsilon: arb, delta: Any) -> arb:
    return epsilon * (-2 * copies * ball(delta).log()).sqrt()


@pytest.mark.kills("approximate_dp_of_advanced_composition")
@pytest.mark.parametrize("mutant", [without_the_two, with_decimal_logarithm, without_the_quadratic_term])
def test_a_smaller_epsilon_of_advanced_composition_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Any) -> None:
    kill(
        monkeypatch, composition, "advanced_composition_epsilon", mutant, "approximate_dp_of_advanced_composition"
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.kills(name))
        for name in ("advanced_share_exhausts_the_budget", "advanced_noise_is_of_order_root_n")
    ],
)
def test_a_root_without_its_two_is_not_proved(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    r, budget, tail, _, b = composition._share_symbols()
    wrong = r, budget, tail, sp.sqrt(2 * tail + budget), b
    monkeypatch.setattr(composition, "_share_symbols", lambda: wrong)
    assert outcome_of(name) is not Outcome.HOLDS


@pytest.mark.kills("advanced_split_beats_basic_split_iff_many")
@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_another_share_crosses_elsewhere(monkeypatch: pytest.MonkeyPatch, factor: Fraction) -> None:
    share = composition.advanced_share
    kill(
        monkeypatch, composition, "advanced_share", lambda *arguments: ball(factor) * share(*arguments),
        "advanced_split_beats_basic_split_iff_many",
    )  # fmt: skip


# --- Laplace noise ------------------------------------------------------------------------------------------


@pytest.mark.kills("laplace_error_exceeds_union_bound_rarely", "laplace_union_bound_is_tight")
def test_a_bound_for_one_query_does_not_hold_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    kill(
        monkeypatch, laplace_accuracy, "union_bound_radius", lambda queries, failure: -ball(failure).log(),
        "laplace_error_exceeds_union_bound_rarely", "laplace_union_bound_is_tight",
    )  # fmt: skip


@pytest.mark.kills("laplace_error_exceeds_union_bound_rarely", "laplace_union_bound_is_tight")
def test_a_one_sided_tail_is_not_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    one_sided = lambda queries, radius: -((queries * (-(-radius).exp() / 2).log1p()).expm1())
    monkeypatch.setattr(laplace_accuracy, "laplace_tail", one_sided)
    assert outcome_of("laplace_union_bound_is_tight") is Outcome.VIOLATED
    monkeypatch.setattr(laplace_accuracy, "laplace_tail", lambda queries, radius: 2 * (-radius).exp() * queries)
    assert outcome_of("laplace_error_exceeds_union_bound_rarely") is Outcome.VIOLATED


@pytest.mark.kills("pure_dp_of_laplace_mechanism", "laplace_probabilities_of_halves_and_pieces_sum_to_one")
def test_noise_of_half_the_scale_costs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = laplace_accuracy._cells
    with monkeypatch.context() as patch:
        patch.setattr(laplace_accuracy, "_cells", lambda block, rate: cells(block, 2 * rate))
        assert outcome_of("pure_dp_of_laplace_mechanism") is Outcome.VIOLATED
    one_sided = lambda low, high: log_laplace_interval(low, high) + (0 if low is None else ball(2).log())
    monkeypatch.setattr("dpassay.spec.distributions.laplace.log_laplace_interval", one_sided)
    assert outcome_of("laplace_probabilities_of_halves_and_pieces_sum_to_one") is Outcome.VIOLATED


# --- reconstruction -----------------------------------------------------------------------------------------

ATTACKS = (
    "hadamard_attack_errs_on_at_most_4_e_squared_bits",
    "hadamard_attack_by_differences_errs_on_at_most_16_e_squared_bits",
    "hadamard_attack_with_a_noisy_total_errs_on_one_more_bit",
)


@pytest.mark.kills(*ATTACKS)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_with_the_wrong_normalisation_errs_more(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    decoded = reconstruction.decoded
    half = lambda answers: [value / 2 for value in decoded(answers)]
    kill(monkeypatch, reconstruction, "decoded", half, name)


@pytest.mark.kills("hadamard_attack_errs_on_at_most_4_e_squared_bits")
def test_fewer_wrong_bits_than_4_e_squared_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = reconstruction._wrong
    monkeypatch.setattr(reconstruction, "_wrong", lambda bits, values: Fraction(5, 4) * wrong(bits, values))
    assert outcome_of(ATTACKS[0]) is Outcome.VIOLATED


@pytest.mark.kills("hadamard_attack_by_proof")
def test_a_wrong_induction_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruction, "identity", lambda left, right, step: identity(left, right / 2, step))
    assert outcome_of("hadamard_attack_by_proof") is not Outcome.HOLDS


@pytest.mark.kills("hadamard_rows_are_orthogonal")
def test_signs_by_the_binary_or_are_not_orthogonal(monkeypatch: pytest.MonkeyPatch) -> None:
    sign = lambda row, column: 1 - 2 * ((row | column).bit_count() % 2)
    kill(monkeypatch, reconstruction, "hadamard_sign", sign, "hadamard_rows_are_orthogonal")


@pytest.mark.kills(
    "bits_recovered_from_pure_dp_are_at_most_binomial", "bits_are_right_with_conditional_chance_at_most_c"
)
def test_a_smaller_epsilon_than_the_mechanism_has_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    ratio = reconstruction.largest_bit_ratio
    kill(
        monkeypatch, reconstruction, "largest_bit_ratio", lambda table: 1 + (ratio(table) - 1) / 4,
        "bits_recovered_from_pure_dp_are_at_most_binomial", "bits_are_right_with_conditional_chance_at_most_c",
    )  # fmt: skip


@pytest.mark.kills("randomised_response_attains_binomial_recovery")
def test_one_coin_for_all_bits_does_not_recover_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    def shared(bits: tuple[int, ...], truth: Fraction) -> FiniteDistribution:
        flipped = tuple(1 - bit for bit in bits)
        return FiniteDistribution({bits: truth, flipped: 1 - truth, ("neither",): Fraction(0)})

    monkeypatch.setattr(reconstruction, "responses", shared)
    verdict = outcome_or_error("randomised_response_attains_binomial_recovery", size=2, ratio=Fraction(3))
    assert verdict is not Outcome.HOLDS


def outcome_or_error(name: str, **values: Any) -> Outcome:
    try:
        return find_statement(name)(**values).outcome
    except (KeyError, ZeroDivisionError):
        return Outcome.UNDECIDED


# --- the local model ----------------------------------------------------------------------------------------


@pytest.mark.kills("pure_dp_of_hadamard_response", "hadamard_response_estimates_without_bias")
def test_a_response_with_the_square_of_the_ratio_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    squared = lambda value, values, ratio: hadamard_response_distribution(value, values, ratio**2)
    kill(
        monkeypatch, local_model, "hadamard_response_distribution", squared,
        "pure_dp_of_hadamard_response", "hadamard_response_estimates_without_bias",
    )  # fmt: skip


@pytest.mark.kills("hadamard_response_is_accurate")
def test_an_estimate_without_its_gain_is_not_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    exact_tail = local_model.hadamard_estimate_tail
    kill(
        monkeypatch, local_model, "hadamard_estimate_tail",
        lambda users, holders, ratio, error: exact_tail(users, holders, ratio, error / 4),
        "hadamard_response_is_accurate",
    )  # fmt: skip


@pytest.mark.kills("pure_dp_of_rappor")
def test_one_value_s_bits_alone_do_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_sided(hashes: int, permanent: Fraction, high: Fraction) -> Fraction:
        gain = (1 - permanent) * (2 * high - 1)
        return Fraction(((1 + gain) / (1 - gain)) ** hashes)

    kill(monkeypatch, local_model, "rappor_ratio", one_sided, "pure_dp_of_rappor")


@pytest.mark.kills("pure_dp_of_truncated_geometric", "truncated_geometric_has_integer_probabilities")
def test_a_truncation_that_drops_the_tails_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def renormalised(centre: int, largest: int, decay: Fraction) -> FiniteDistribution:
        weights = {z: decay ** abs(z - centre) for z in range(largest + 1)}
        total = sum(weights.values())
        return FiniteDistribution({z: w / total for z, w in weights.items()})

    kill(
        monkeypatch, truncated_geometric, "truncated_geometric_distribution", renormalised,
        "pure_dp_of_truncated_geometric", "truncated_geometric_has_integer_probabilities",
    )  # fmt: skip


@pytest.mark.kills("truncated_geometric_has_integer_probabilities")
def test_a_cumulative_function_that_is_off_by_one_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    cumulative = truncated_geometric.geometric_cumulative
    shifted = lambda centre, largest, bits: cumulative(min(centre + 1, largest), largest, bits)
    kill(
        monkeypatch, truncated_geometric, "geometric_cumulative", shifted,
        "truncated_geometric_has_integer_probabilities",
    )  # fmt: skip
    assert truncated_geometric_distribution(1, 2, Fraction(1, 2)).probability(0) == Fraction(1, 3)


# --- project ideas ------------------------------------------------------------------------------------------


@pytest.mark.kills("pure_dp_of_dual_query")
def test_the_factor_two_of_the_rounds_cannot_be_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    epsilon = projects.dual_query_epsilon
    kill(
        monkeypatch, projects, "dual_query_epsilon", lambda *arguments: epsilon(*arguments) / 2,
        "pure_dp_of_dual_query",
    )  # fmt: skip


@pytest.mark.kills("dual_query_error_at_most_its_regret")
def test_a_player_who_learns_the_wrong_way_has_more_regret() -> None:
    statement = find_statement("dual_query_error_at_most_its_regret")
    losses = ((Fraction(1), Fraction(-1)),) * 6
    assert statement(losses=losses, eta=1).outcome is Outcome.HOLDS
    own_errors = projects.errors_of_player
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projects, "errors_of_player", lambda losses, rate: own_errors(losses, -rate))
        assert isinstance(projects.dual_query_error_at_most_its_regret.claim(losses=losses, eta=1), Violated)


@pytest.mark.kills("hadamard_accuracy_has_the_best_exponent", "hadamard_response_is_accurate")
@pytest.mark.parametrize("name", ["hadamard_accuracy_has_the_best_exponent", "hadamard_response_is_accurate"])
@pytest.mark.parametrize("percent", [103, 97])
def test_an_exponent_that_is_three_percent_off_is_refuted(
    monkeypatch: pytest.MonkeyPatch, name: str, percent: int
) -> None:
    statement, original = find_statement(name), local_model.hoeffding_exponent
    monkeypatch.setattr(local_model, "hoeffding_exponent", lambda *point: original(*point) * percent / 100)
    assert verify_statement(statement).outcome is Outcome.VIOLATED


@pytest.mark.kills("pure_dp_of_posterior_sample")
def test_a_normaliser_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = projects.posterior
    kill(
        monkeypatch, projects, "posterior",
        lambda weights, *records: [w**3 for w in right(weights, *records)],
        "pure_dp_of_posterior_sample",
    )  # fmt: skip


@pytest.mark.kills("renyi_accountant_of_sampled_gaussian_is_sound")
def test_an_accountant_that_forgets_the_last_moment_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = projects.sampled_gaussian_log_moment
    kill(
        monkeypatch, projects, "sampled_gaussian_log_moment",
        lambda order, sampling, sigma: moment(order, Fraction(sampling) / 2, sigma),
        "renyi_accountant_of_sampled_gaussian_is_sound",
    )  # fmt: skip


@pytest.mark.kills("renyi_accountant_of_sampled_gaussian_is_sound")
def test_a_moment_that_is_a_third_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = projects.sampled_gaussian_log_moment
    kill(
        monkeypatch, projects, "sampled_gaussian_log_moment", lambda *given: moment(*given) * 2 / 3,
        "renyi_accountant_of_sampled_gaussian_is_sound",
    )  # fmt: skip
