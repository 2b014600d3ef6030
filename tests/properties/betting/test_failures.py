"""Bets on the probability of a failure: the mean wealth under every allowed probability, the bound, and the power."""

import itertools
import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.betting.failures import _alternatives, detectable, log_wealth, lower_bound, trials_needed
from dpassay.properties.betting.intervals import clopper_pearson
from dpassay.spec.theorems.auditing.failure_bets import failure_wealth

TRIALS = 40


def mean_wealth(probability: float, allowed: float) -> float:
    chances = (math.comb(TRIALS, k) * probability**k * (1 - probability) ** (TRIALS - k) for k in range(TRIALS + 1))
    return math.fsum(chance * math.exp(log_wealth(k, TRIALS, allowed)) for k, chance in enumerate(chances))


@pytest.mark.parametrize("allowed", [1e-4, 0.01, 0.05, 0.3, 0.5, 0.97])
def test_the_mean_wealth_is_at_most_1_where_the_claim_is_true(allowed: float) -> None:
    assert all(mean_wealth(allowed * part, allowed) <= 1 for part in (0.0, 0.3, 0.9, 1.0))


@pytest.mark.parametrize("allowed", [1e-4, 0.01, 0.05, 0.3, 0.5])
def test_the_mean_wealth_grows_where_the_claim_is_false(allowed: float) -> None:
    assert mean_wealth((1 + allowed) / 2, allowed) > 1


def test_the_wealth_of_a_run_is_at_most_1_on_average_whatever_came_before() -> None:
    """One more trial does not change the mean if it fails with the allowed probability: it may be stopped any time."""
    for failures, trials in ((0, 0), (3, 10), (10, 10), (2, 300)):
        now = math.exp(log_wealth(failures, trials, 0.05))
        after = [math.exp(log_wealth(failures + failed, trials + 1, 0.05)) for failed in (0, 1)]
        assert 0.95 * after[0] + 0.05 * after[1] <= now


def test_no_claim_is_refuted_without_a_failure() -> None:
    assert log_wealth(0, 10**6, 0.05) < 0
    assert lower_bound(0, 10**6, level=1e-6) == 0.0


@pytest.mark.parametrize(("failures", "trials"), [(10, 10), (30, 100), (462, 5000), (7, 10_000)])
def test_the_bound_lies_below_that_of_a_fixed_number_of_trials(failures: int, trials: int) -> None:
    level = 1e-6
    bound = lower_bound(failures, trials, level=level)
    fixed, _ = clopper_pearson(failures, trials, 1 - 2 * level)
    assert 0.3 * fixed < bound < fixed
    refuted = [log_wealth(failures, trials, bound * part) >= math.log(1 / level) for part in (0.2, 0.7, 0.999, 1.02)]
    assert refuted == [True, True, True, False]


def test_what_is_detectable_is_detected_by_its_mean_number_of_failures() -> None:
    found = detectable(2000, 0.05, level=1e-8)
    assert 0.05 < found < 0.12
    assert log_wealth(math.ceil(found * 2000) + 1, 2000, 0.05) >= math.log(1e8)
    assert detectable(3, 0.05, level=1e-8) == 1.0
    needed = trials_needed(0.05, found, level=1e-8)
    assert 1700 <= needed <= 2100


def test_more_trials_detect_less() -> None:
    figures = [detectable(trials, 0.05, level=1e-8) for trials in (100, 400, 1600)]
    assert all(later < earlier for earlier, later in itertools.pairwise(figures))


@pytest.mark.parametrize(("failures", "trials", "allowed"), [(-1, 3, 0.1), (4, 3, 0.1), (1, 3, 0.0), (1, 3, 1.0)])
def test_arguments_out_of_their_domain_are_refused(failures: int, trials: int, allowed: float) -> None:
    with pytest.raises(UsageError, match="failures must lie"):
        log_wealth(failures, trials, allowed)


def test_a_smaller_probability_than_allowed_needs_no_number_of_trials() -> None:
    with pytest.raises(UsageError, match="found must lie"):
        trials_needed(0.1, 0.1, level=0.1)


@pytest.mark.parametrize("allowed", [0.001, 0.05, 0.5, 0.99])
@pytest.mark.parametrize(("failures", "trials"), [(0, 1), (1, 1), (3, 40), (40, 40), (17, 300)])
def test_the_wealth_is_that_of_the_statement_rounded_down(failures: int, trials: int, allowed: float) -> None:
    alternatives = [Fraction(float(alternative)) for alternative in _alternatives()]
    exact = failure_wealth(failures, trials - failures, Fraction(allowed), alternatives)
    wealth = log_wealth(failures, trials, allowed)
    truth = math.log(exact.numerator) - math.log(exact.denominator)
    assert truth - 1e-9 < wealth < truth
