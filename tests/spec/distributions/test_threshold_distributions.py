"""Exact distributions of comparisons with a noisy threshold against quadrature, and against each other."""

import itertools
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest

from dpassay.arguments import UsageError
from dpassay.spec.ball import sum_balls
from dpassay.spec.distributions.above_threshold import ALL_BELOW, IndependentComparisonsDistribution
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.distributions.laplace_above_threshold import (
    LaplaceAboveThresholdDistribution,
    PublicThresholdDistribution,
)
from dpassay.spec.distributions.noisy_threshold import LARGEST_PATTERN, LaplaceThreshold
from dpassay.spec.distributions.sparse_vector import (
    BareQueriesDistribution,
    NumericSparseVectorDistribution,
    SparseVectorDistribution,
    hit_places,
    number_of_outcomes,
)

SETTING = LaplaceThreshold(Fraction(1, 2), 2, 3)
STREAM = tuple(map(Fraction, ("0", "2", "-1", "2")))


def by_quadrature(below: list[Fraction], above: list[Fraction], setting: LaplaceThreshold = SETTING) -> float:
    def cdf(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    def integrand(t: mpmath.mpf) -> mpmath.mpf:
        value = mpmath.exp(-abs(t - 0.5) / 2) / 4
        for q in below:
            value *= cdf((t - float(q)) / 3)
        for q in above:
            value *= 1 - cdf((t - float(q)) / 3)
        return value

    cuts = sorted({-150.0, 0.5, 150.0, *map(float, STREAM)})
    return float(mpmath.fsum(mpmath.quad(integrand, [a, b]) for a, b in pairwise(cuts)))


def chance(distribution: Any, outcome: Any) -> float:
    return float(distribution.log_probability(outcome).exp().mid())


@pytest.mark.parametrize("outcome", [ALL_BELOW, 1, 2, 3, 4])
def test_above_threshold_is_one_integral(outcome: int) -> None:
    distribution = LaplaceAboveThresholdDistribution(STREAM, SETTING)
    below = list(STREAM if outcome == ALL_BELOW else STREAM[: outcome - 1])
    above = [] if outcome == ALL_BELOW else [STREAM[outcome - 1]]
    assert chance(distribution, outcome) == pytest.approx(by_quadrature(below, above), rel=1e-10)


def test_sparse_vector_with_one_noisy_threshold() -> None:
    distribution = SparseVectorDistribution(STREAM, SETTING, 2)
    assert chance(distribution, (1, 3)) == pytest.approx(by_quadrature([STREAM[1]], [STREAM[0], STREAM[2]]), rel=1e-10)
    assert chance(distribution, (2, 0)) == pytest.approx(
        by_quadrature([STREAM[0], STREAM[2], STREAM[3]], [STREAM[1]]), rel=1e-10
    )


def test_restarted_runs_are_independent() -> None:
    distribution = SparseVectorDistribution(STREAM, SETTING, 2, refreshed=True)
    first, second = (
        LaplaceAboveThresholdDistribution(STREAM, SETTING),
        LaplaceAboveThresholdDistribution(STREAM[2:], SETTING),
    )
    assert chance(distribution, (2, 4)) == pytest.approx(chance(first, 2) * chance(second, 2), rel=1e-14)
    assert chance(distribution, (2, 0)) == pytest.approx(chance(first, 2) * chance(second, ALL_BELOW), rel=1e-14)
    assert chance(distribution, (0, 0)) == pytest.approx(chance(first, ALL_BELOW), rel=1e-14)


def test_a_cutoff_of_1_is_above_threshold() -> None:
    stopped = LaplaceAboveThresholdDistribution(STREAM, SETTING)
    for refreshed in (False, True):
        distribution = SparseVectorDistribution(STREAM, SETTING, 1, refreshed)
        assert all(chance(distribution, (k,)) == pytest.approx(chance(stopped, k), rel=1e-15) for k in range(5))


@pytest.mark.parametrize(("size", "cutoff"), [(4, 1), (4, 2), (4, 4), (3, 7)])
def test_outcomes_are_counted(size: int, cutoff: int) -> None:
    outcomes = list(hit_places(size, cutoff))
    assert len(set(outcomes)) == len(outcomes) == number_of_outcomes(size, cutoff)
    assert all(len(places) == cutoff for places in outcomes)


@pytest.mark.parametrize("scale", [None, Fraction(5)])
def test_numbers_are_released_by_cells(scale: Fraction | None) -> None:
    distribution = NumericSparseVectorDistribution(STREAM, SETTING, 2, scale)
    cuts = list(pairwise([None, Fraction(-1), Fraction(1, 2), Fraction(9), None]))
    compared = SparseVectorDistribution(STREAM, SETTING, 2)
    for places in hit_places(4, 2):
        sides = itertools.product(cuts, repeat=sum(k > 0 for k in places))
        total = float(sum_balls(distribution.log_cell(places, side).exp() for side in sides).mid())
        assert total == pytest.approx(chance(compared, places), rel=1e-12)


def test_the_number_tested_lies_above_the_threshold() -> None:
    distribution = NumericSparseVectorDistribution((0, 0), SETTING)
    low, fresh = (None, Fraction(-5)), NumericSparseVectorDistribution((0, 0), SETTING, value_scale=3)
    tested = float(distribution.log_cell((2,), (low,)).exp().mid()), float(fresh.log_cell((2,), (low,)).exp().mid())
    assert tested[0] < tested[1] / 5  # a low number that passed needs a low threshold


def test_answers_without_noise_pass_in_their_order() -> None:
    distribution = BareQueriesDistribution((0, 2, 1), 0, 1)
    assert set(distribution.outcomes) == {(0, 0, 0), (2, 0, 0), (2, 3, 0), (1, 2, 3)}
    assert sum(chance(distribution, o) for o in distribution.outcomes) == pytest.approx(1)
    assert chance(distribution, (1, 2, 3)) == pytest.approx(0.5)
    assert float(distribution.log_probability((1, 0, 0))) == -math.inf


def test_a_public_threshold_makes_independent_comparisons() -> None:
    distribution = PublicThresholdDistribution((0, 2), 0, 1)
    total = sum(math.exp(float(distribution.log_pattern(p))) for p in itertools.product((False, True), repeat=2))
    assert total == pytest.approx(1)
    assert math.exp(float(distribution.log_pattern((True, False)))) == pytest.approx(0.5 * math.exp(-2) / 2)


# --- the catalogue's figures --------------------------------------------------------------------------------

WORST_THRESHOLDS = (
    (2, "0", 0.4242), (3, "-1.15", 0.6287), (4, "-4.05", 0.8023), (10, "-20", 0.9991), (50, "-20", 1.0000),
)  # fmt: skip


@pytest.mark.parametrize(("size", "threshold", "loss"), WORST_THRESHOLDS)
def test_published_losses_of_rising_answers(size: int, threshold: str, loss: float) -> None:
    setting = LaplaceThreshold(Fraction(threshold), 2, 4)
    left, right = (0,) * size, (1,) * (size - 1) + (-1,)
    distributions = [LaplaceAboveThresholdDistribution(answers, setting) for answers in (left, right)]
    assert float(max_divergence(*distributions).mid()) == pytest.approx(loss, abs=5e-5)


def test_probabilities_far_out_keep_their_digits() -> None:
    distribution = LaplaceAboveThresholdDistribution((0,) * 50, LaplaceThreshold(-2000, 2, 4))
    log_probability = distribution.log_probability(ALL_BELOW)
    assert float(log_probability) < -900
    assert log_probability.rel_accuracy_bits() > 45


def test_all_outcomes_of_ten_answers_without_a_cutoff() -> None:
    distribution = SparseVectorDistribution(
        tuple(Fraction(k * k % 7) + Fraction(k, 3) for k in range(10)), SETTING, 10
    )
    assert len(distribution.outcomes) == 1024
    assert float(
        sum_balls(distribution.log_probability(o).exp() for o in distribution.outcomes).mid()
    ) == pytest.approx(1, rel=1e-13)


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(math.inf, 1, 1), (0, 0, 1), (0, 1, -1), (0, math.nan, 1)])
def test_wrong_noise_is_refused(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(UsageError):
        LaplaceThreshold(*arguments)


def test_wrong_streams_and_outcomes_are_refused() -> None:
    with pytest.raises(UsageError, match="answers"):
        LaplaceAboveThresholdDistribution((), SETTING)
    with pytest.raises(UsageError, match="finite"):
        LaplaceAboveThresholdDistribution((math.inf,), SETTING)
    with pytest.raises(UsageError, match="outcome"):
        LaplaceAboveThresholdDistribution((0,), SETTING).log_probability(2)
    with pytest.raises(UsageError, match="cutoff"):
        SparseVectorDistribution((0,), SETTING, 0)
    for outcome in [(1,), (2, 1), (0, 1), (5, 0), "12"]:
        with pytest.raises(UsageError, match="places"):
            SparseVectorDistribution(STREAM, SETTING, 2).log_probability(outcome)
    with pytest.raises(UsageError, match="interval"):
        NumericSparseVectorDistribution(STREAM, SETTING, 2).log_cell((1, 2), ())
    with pytest.raises(UsageError, match="mark"):
        PublicThresholdDistribution((0,), 0, 1).log_pattern(())
    with pytest.raises(UsageError, match="at most"):
        SETTING.log_pattern([(0, LARGEST_PATTERN + 1)])


def test_answers_far_apart_are_certain_and_farther_ones_refused() -> None:
    distribution = LaplaceAboveThresholdDistribution((1e10, -1e10), LaplaceThreshold(0, 2, 4))
    assert chance(distribution, 1) == 1.0
    assert float(distribution.log_probability(2)) < -1e9
    with pytest.raises(UsageError, match="scales"):
        LaplaceAboveThresholdDistribution((1e308, -1e308), LaplaceThreshold(0, 2, 4)).log_probability(1)


def test_independent_comparisons_add_the_variances_of_both_noises() -> None:
    """Scales 3 and 4 make 5: Pr[1] = Phi((2 - 7)/5) and Pr[2] = Phi(1) Phi((12 - 7)/5)."""
    distribution = IndependentComparisonsDistribution((2, 12), 7, 3, 4)
    below, above = float(mpmath.ncdf(1)), float(mpmath.ncdf(-1))
    expected = {1: above, 2: below * below, 0: below * above}
    for outcome in distribution.outcomes:
        assert float(distribution.log_probability(outcome).exp()) == pytest.approx(expected[int(str(outcome))])
