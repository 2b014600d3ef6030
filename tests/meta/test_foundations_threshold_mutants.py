"""Mutants of AboveThreshold, sparse vector and noisy max: wrong calibration, laws and steps. Each must be refuted."""

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.distributions.above_threshold import ALL_BELOW
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.laplace_above_threshold import LaplaceAboveThresholdDistribution
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.distributions.noisy_max_values import NoisyMaxValueDistribution
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.distributions.selection import selection_rate
from dpassay.spec.distributions.sparse_vector import SparseVectorDistribution
from dpassay.spec.domains.laplace_streams import ThresholdStream
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.foundations import laplace_above_threshold, noisy_max_values, sparse_vector
from dpassay.spec.theorems.foundations.threshold_corners import CornerLosses
from dpassay.spec.verdict import Outcome


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


# --- AboveThreshold -----------------------------------------------------------------------------------------

TOO_LITTLE_NOISE_ON_ANSWERS = (
    "pure_dp_of_laplace_above_threshold",
    "pure_dp_of_laplace_above_threshold_for_monotone_streams",
    "densities_pay_half_of_epsilon_twice",
    "naive_above_threshold_cost_is_linear",
)
TOO_LITTLE_NOISE_ON_THE_THRESHOLD = (
    "pure_dp_of_laplace_above_threshold",
    "never_halting_costs_half_of_epsilon",
    "densities_pay_half_of_epsilon_twice",
)


@pytest.mark.kills(*TOO_LITTLE_NOISE_ON_ANSWERS)
@pytest.mark.parametrize("name", TOO_LITTLE_NOISE_ON_ANSWERS)
def test_half_of_the_noise_on_the_answers_is_too_little(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(laplace_above_threshold, "QUERY_SHARE", Fraction(1, 2))
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills(*TOO_LITTLE_NOISE_ON_THE_THRESHOLD)
@pytest.mark.parametrize("name", TOO_LITTLE_NOISE_ON_THE_THRESHOLD)
def test_half_of_the_noise_on_the_threshold_is_too_little(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(laplace_above_threshold, "THRESHOLD_SHARE", Fraction(1))
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("epsilon_of_laplace_above_threshold_is_approached")
@pytest.mark.parametrize("share", ["QUERY_SHARE", "THRESHOLD_SHARE"])
def test_more_noise_than_needed_is_noticed(monkeypatch: pytest.MonkeyPatch, share: str) -> None:
    monkeypatch.setattr(laplace_above_threshold, share, getattr(laplace_above_threshold, share) * Fraction(9, 10))
    assert outcome_of("epsilon_of_laplace_above_threshold_is_approached") is Outcome.VIOLATED


@pytest.mark.kills("laplace_above_threshold_distribution_sums_to_one")
def test_a_law_without_the_outcome_of_never_halting_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = vars(LaplaceAboveThresholdDistribution)["outcomes"].fget
    halting = property(lambda law: tuple(outcome for outcome in complete(law) if outcome != ALL_BELOW))
    monkeypatch.setattr(LaplaceAboveThresholdDistribution, "outcomes", halting)
    assert outcome_of("laplace_above_threshold_distribution_sums_to_one") is Outcome.VIOLATED


@pytest.mark.kills("laplace_above_threshold_distribution_is_invariant")
@pytest.mark.parametrize("fault", ["noise not scaled", "threshold not shifted"])
def test_a_law_that_depends_on_the_units_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    if fault == "noise not scaled":
        monkeypatch.setattr(LaplaceThreshold, "scaled", lambda noise, by: noise.shifted((by - 1) * noise.centre))
    else:
        monkeypatch.setattr(LaplaceThreshold, "shifted", lambda noise, by: noise)
    assert outcome_of("laplace_above_threshold_distribution_is_invariant") is Outcome.VIOLATED


# --- the steps of its proof ---------------------------------------------------------------------------------


@pytest.mark.kills("largest_noisy_answer_moves_by_at_most_the_sensitivity")
def test_a_sum_in_place_of_the_maximum_moves_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        laplace_above_threshold, "_largest_before_last", lambda answers, noises: sum(answers[:-1]) + sum(noises[:-1])
    )
    assert outcome_of("largest_noisy_answer_moves_by_at_most_the_sensitivity") is Outcome.VIOLATED


def halts_strictly_above(answers: Any, noises: Any, noisy_threshold: Fraction) -> int:
    above = [answer + noise > noisy_threshold for answer, noise in zip(answers, noises, strict=True)]
    return above.index(True) + 1 if any(above) else ALL_BELOW


@pytest.mark.kills("halting_last_is_an_interval_of_the_noisy_threshold")
def test_ties_count_as_above(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_above_threshold, "halts_at", halts_strictly_above)
    assert outcome_of("halting_last_is_an_interval_of_the_noisy_threshold") is Outcome.VIOLATED


@pytest.mark.kills("substitution_carries_one_data_set_to_the_other")
@pytest.mark.parametrize("wrong", [lambda a, b: (a, -b), lambda a, b: (-a, b), lambda a, b: (Fraction(0), b)])
def test_a_wrong_substitution_is_refuted(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    moves = laplace_above_threshold._moves
    monkeypatch.setattr(laplace_above_threshold, "_moves", lambda run: wrong(*moves(run)))
    assert outcome_of("substitution_carries_one_data_set_to_the_other") is Outcome.VIOLATED


# --- sparse vector ------------------------------------------------------------------------------------------

CALIBRATED = (
    "pure_dp_of_restarted_above_threshold",
    "pure_dp_of_sparse_vector_with_one_noisy_threshold",
    "pure_dp_of_numeric_sparse_vector",
    "released_tested_answers_cost_every_query",
    "loss_of_comparisons_with_one_noisy_threshold",
)


@pytest.mark.kills(*CALIBRATED)
@pytest.mark.parametrize("name", CALIBRATED)
def test_half_of_all_noise_is_too_little(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    noise = ThresholdStream.noise
    monkeypatch.setattr(ThresholdStream, "noise", lambda stream, a, b: noise(stream, 2 * a, 2 * b))
    assert outcome_of(name) is Outcome.VIOLATED


TIGHTLY_CALIBRATED = (
    "pure_dp_of_laplace_above_threshold",
    "pure_dp_of_restarted_above_threshold",
    "pure_dp_of_sparse_vector_with_one_noisy_threshold",
    "pure_dp_of_numeric_sparse_vector",
)


@pytest.mark.kills(*TIGHTLY_CALIBRATED)
@pytest.mark.parametrize("name", TIGHTLY_CALIBRATED)
@pytest.mark.parametrize("factors", [(1, Fraction(101, 100)), (Fraction(101, 100), 1)])
def test_noise_that_is_one_per_cent_too_small_is_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, factors: tuple[Fraction, Fraction]
) -> None:
    noise, (a, b) = ThresholdStream.noise, factors
    monkeypatch.setattr(ThresholdStream, "noise", lambda stream, cost, query: noise(stream, a * cost, b * query))
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("sparse_vector_loss_is_largest_at_corners")
@pytest.mark.parametrize("stays", ["below", "above", "above, if monotone"])
def test_answers_of_both_kinds_move(monkeypatch: pytest.MonkeyPatch, stays: str) -> None:
    gain = CornerLosses._gain

    def largest(self: CornerLosses, pattern: tuple[int, int]) -> arb:
        both, none = self.step, Fraction(0)
        if stays == "below":
            return gain(self, pattern, none, both)
        return gain(self, pattern, both, none if stays == "above" or self.monotone else both)

    monkeypatch.setattr(CornerLosses, "loss", largest)
    assert outcome_of("sparse_vector_loss_is_largest_at_corners") is Outcome.VIOLATED


@pytest.mark.kills("pure_dp_of_sparse_vector_with_one_noisy_threshold")
def test_noise_of_a_single_hit_is_too_little_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = ThresholdStream.noise
    monkeypatch.setattr(ThresholdStream, "noise", lambda stream, a, b: noise(stream, a, a / 2))  # not scaled with c
    assert outcome_of("pure_dp_of_sparse_vector_with_one_noisy_threshold") is Outcome.VIOLATED


@pytest.mark.kills("sparse_vector_distribution_sums_to_one")
def test_a_law_without_fewer_hits_than_the_cutoff_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = vars(SparseVectorDistribution)["outcomes"].fget
    monkeypatch.setattr(
        SparseVectorDistribution,
        "outcomes",
        property(lambda law: tuple(places for places in complete(law) if all(places))),
    )
    assert outcome_of("sparse_vector_distribution_sums_to_one") is Outcome.VIOLATED


def cost_of_one_move(pattern: tuple[int, int], threshold_cost: Fraction, query_cost: Fraction) -> Fraction:
    below, above = pattern
    return min((below + above) * query_cost, threshold_cost + min(below, above) * query_cost)


@pytest.mark.kills("loss_of_comparisons_with_one_noisy_threshold", "query_noise_must_grow_with_the_cutoff")
@pytest.mark.parametrize(
    "name", ["loss_of_comparisons_with_one_noisy_threshold", "query_noise_must_grow_with_the_cutoff"]
)
def test_a_hit_that_pays_once_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sparse_vector, "pattern_cost", cost_of_one_move)
    assert outcome_of(name) is Outcome.VIOLATED


TIGHT = (
    "loss_of_comparisons_is_approached",
    "query_noise_must_grow_with_the_cutoff",
    "cost_without_cutoff_grows_with_the_stream",
)


@pytest.mark.kills(*TIGHT)
@pytest.mark.parametrize("name", TIGHT)
def test_noise_that_does_more_than_the_bound_says_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    class Noisier(LaplaceThreshold):
        """Ten per cent more noise on the answers."""

        def __init__(self, threshold: Any, threshold_scale: Fraction, query_scale: Fraction) -> None:
            super().__init__(threshold, threshold_scale, query_scale * Fraction(11, 10))

    monkeypatch.setattr(sparse_vector, "LaplaceThreshold", Noisier)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("sparse_vector_loss_is_largest_at_corners")
@pytest.mark.parametrize("fault", ["half of a step", "falls from the top"])
def test_another_pair_is_not_the_worst(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    gain = CornerLosses._gain
    if fault == "half of a step":
        monkeypatch.setattr(CornerLosses, "_gain", lambda self, pattern, a, b: gain(self, pattern, a / 2, b / 2))
    else:
        monkeypatch.setattr(CornerLosses, "_gain", falls_from_the_top)
    assert outcome_of("sparse_vector_loss_is_largest_at_corners") is Outcome.VIOLATED


def falls_from_the_top(self: CornerLosses, pattern: tuple[int, int], rise: Fraction, fall: Fraction) -> arb:
    high, (below, above) = Fraction(self.high), pattern
    left = self.setting.log_pattern([(high - rise, below)], [(high, above)])
    return left - self.setting.log_pattern([(high, below)], [(high - fall, above)])


@pytest.mark.kills("answers_without_noise_are_revealed")
def test_answers_with_noise_are_not_revealed(monkeypatch: pytest.MonkeyPatch) -> None:
    def noisy(answers: Any, threshold: Fraction, scale: Fraction) -> SparseVectorDistribution:
        return SparseVectorDistribution(answers, LaplaceThreshold(threshold, scale, scale), len(answers))

    monkeypatch.setattr(sparse_vector, "BareQueriesDistribution", noisy)
    assert outcome_of("answers_without_noise_are_revealed") is Outcome.VIOLATED


# --- noisy max ----------------------------------------------------------------------------------------------


@pytest.mark.kills("pure_dp_of_exponential_noisy_max")
def test_the_factor_2_of_exponential_noise_cannot_be_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noisy_max_values, "selection_rate", lambda epsilon, step: 2 * selection_rate(epsilon, step))
    assert outcome_of("pure_dp_of_exponential_noisy_max") is Outcome.VIOLATED


@pytest.mark.kills("exponential_noisy_max_is_permute_and_flip")
@pytest.mark.parametrize("other", [ExponentialMechanismDistribution, LaplaceNoisyMaxDistribution])
def test_it_is_no_other_mechanism(monkeypatch: pytest.MonkeyPatch, other: Any) -> None:
    monkeypatch.setattr(noisy_max_values, "PermuteAndFlipDistribution", other)
    assert outcome_of("exponential_noisy_max_is_permute_and_flip") is Outcome.VIOLATED


@pytest.mark.kills("gumbel_noisy_max_is_the_exponential_mechanism")
def test_a_proof_with_a_wrong_step_does_not_go_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noisy_max_values, "identity", lambda left, right, step: identity(left, right + 1, step))
    assert outcome_of("gumbel_noisy_max_is_the_exponential_mechanism") is not Outcome.HOLDS


@pytest.mark.kills("noisy_max_loss_is_largest_at_the_corner")
def test_a_pair_about_a_tie_is_not_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    corner = noisy_max_values.corner_of_selection
    monkeypatch.setattr(
        noisy_max_values, "corner_of_selection", lambda low, high, step, size: corner(low, high, step / 2, size)
    )
    assert outcome_of("noisy_max_loss_is_largest_at_the_corner") is Outcome.VIOLATED


@pytest.mark.kills("released_maximum_costs_every_answer")
def test_half_of_the_noise_on_the_maximum_is_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(answers: Any, scale: Fraction, noise: Any = "laplace") -> NoisyMaxValueDistribution:
        return NoisyMaxValueDistribution(answers, scale / 2, noise)

    monkeypatch.setattr(noisy_max_values, "NoisyMaxValueDistribution", half)
    assert outcome_of("released_maximum_costs_every_answer") is Outcome.VIOLATED


@pytest.mark.kills("released_maximum_of_exponential_noise_tells_the_largest_answer")
@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_noise_of_both_signs_does_not_tell_the_largest_answer(monkeypatch: pytest.MonkeyPatch, noise: Any) -> None:
    monkeypatch.setattr(
        noisy_max_values,
        "NoisyMaxValueDistribution",
        lambda answers, scale, _: NoisyMaxValueDistribution(answers, scale, noise),
    )
    assert outcome_of("released_maximum_of_exponential_noise_tells_the_largest_answer") is Outcome.VIOLATED
