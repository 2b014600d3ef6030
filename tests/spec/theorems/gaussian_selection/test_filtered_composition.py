"""The chapter on filters: the numbers of the counterexamples, every statement, every erratum."""

import math
from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp
from scipy.stats import binom

from dpassay.properties.verify import verify_errata, verify_statement
from dpassay.spec.ball import ball, float_lower, float_upper, precision
from dpassay.spec.interactions.filter_rules import FullyAdaptiveRule, SelfReportingRule
from dpassay.spec.interactions.transcripts import (
    leak_or_nothing,
    loss_distribution,
    randomised_response,
    star_or_nothing,
)
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection.filtered_composition import accumulated_delta, leaked_by_then
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import (
    binomial_hockey_stick,
    filter_halts,
    filter_length,
)
from dpassay.spec.theorems.gaussian_selection.gaussian_sparse_vector import RestartedAboveThreshold

STATEMENTS = (
    "probabilistic_dp_of_self_reporting_filter",
    "approximate_dp_of_self_reporting_filter_with_delta_budget",
    "self_reporting_filter_delta_is_attained",
    "summable_deltas_need_no_number_of_rounds",
    "constant_deltas_accumulate",
    "self_reporting_filter_halts_before_it_runs",
    "probabilistic_dp_of_restarted_gaussian_above_threshold",
    "approximate_dp_of_fully_adaptive_filter",
    "approximate_dp_of_filtered_randomised_response",
    "filter_halts_iff_release_would_overspend",
    "running_before_the_check_changes_nothing",
    "printing_the_spend_is_post_processing",
)


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement_holds_with_nothing_undecided(name: str) -> None:
    assert verify_statement(find_statement(name)).as_expected


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_erratum_is_as_stated(name: str) -> None:
    reports = list(verify_errata([find_statement(name)]))
    assert [report.record() for report in reports if not report.as_expected] == []


def test_the_items_of_the_chapter_have_their_errata() -> None:
    errata = [(r.statement.item.name, r.erratum.kind) for r in verify_errata(map(find_statement, STATEMENTS))]
    assert sorted(errata) == [
        ("dp_filter", "false"),
        ("dp_privacy_filter", "false"),
        ("fsrc_privacy", "false"),
    ]


# --- counterexamples A and B --------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [Fraction(11, 10), Fraction(2), Fraction(10**9)])
def test_counterexample_a_at_every_finite_epsilon(budget: Fraction) -> None:
    delta, rounds = Fraction(1, 10**5), 10
    distribution = loss_distribution([leak_or_nothing(delta)] * rounds, SelfReportingRule(budget))
    assert distribution.hockey_stick(budget) == 1 - (1 - delta) ** rounds
    assert float(distribution.hockey_stick(budget)) == pytest.approx(1.0e-4, rel=1e-4)


def test_counterexample_a_for_very_many_rounds() -> None:
    leaked = leaked_by_then([ball(Fraction(1, 10**5))] * 10**5)
    assert float_lower(leaked) > 0.632
    assert float_upper(leaked) < 0.6322
    assert float(accumulated_delta(iter([Fraction(1, 10**5)] * 100))) == pytest.approx(1 - (1 - 1e-5) ** 100)


def test_a_certain_leak_leaks() -> None:
    assert leaked_by_then([arb(1), arb(0)]) == 1


@pytest.mark.parametrize(
    ("delta", "log_ratio", "epsilon", "rounds", "tail", "stick"),
    [(0.01, 3, 2, 100, 0.621007, 0.392551), (1e-5, 10, 1, 1000, 0.00995021, 0.00994899)],
)
def test_counterexample_b(
    delta: float, log_ratio: float, epsilon: float, rounds: int, tail: float, stick: float
) -> None:
    ratio, budget = (Fraction(math.exp(x)).limit_denominator(10**9) for x in (log_ratio, epsilon))
    share = Fraction(delta).limit_denominator(10**6)
    star = star_or_nothing(share, ratio)
    few = loss_distribution([star] * 5, SelfReportingRule(budget))
    hit = star.left.probability("left")
    none = star.left.probability("nothing")
    assert few.tail(budget) == hit * (1 - none**5) / (1 - none)  # the first star halts the filter
    assert float(hit * (1 - none**rounds) / (1 - none)) == pytest.approx(tail, rel=2e-6)
    assert float(hit * (1 - none**rounds) / (1 - none) * (1 - budget / ratio)) == pytest.approx(stick, rel=2e-6)


# --- counterexample C ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "epsilon", "tail", "stick", "times"),
    [(200, 0.0848, 0.08225, 0.08065, 187), (1000, 0.4222, 0.3489, 0.3377, 787)],
)
def test_counterexample_c(rounds: int, epsilon: float, tail: float, stick: float, times: int) -> None:
    runs = RestartedAboveThreshold(rounds, Fraction(10, 3), Fraction(1), Fraction(10, 3))
    with precision(96):
        assert float_upper(runs.epsilon) == pytest.approx(epsilon, abs=5e-5)
        assert float_lower(runs.loss_tail()) >= tail
        assert float_lower(runs.hockey_stick()) >= stick
        assert float_upper(runs.delta) == pytest.approx(4.291e-4, rel=1e-4)
        assert float_lower(runs.hockey_stick() / runs.delta) > times
        assert runs.loss_tail().overlaps(runs.accumulated_delta)  # attained


def test_counterexample_c_by_independent_quadrature() -> None:
    # Pr[T = 2] in the original units: a = 1, b = 2, rho = 0, Delta = 0.3, sigma_X = 0.15
    mp.dps = 30
    sigma_x, sigma_z = mp.mpf("0.15"), mp.sqrt(3) * mp.mpf("0.15")
    second = [
        mp.quad(
            lambda x, q=q: mp.npdf(x) * mp.ncdf((sigma_x * x - q) / sigma_z) * mp.ncdf((2 - sigma_x * x) / sigma_z),
            [mp.mpf(k) for k in range(-8, 21, 2)],
        )
        for q in (mp.mpf(1), mp.mpf("1.3"))
    ]
    runs = RestartedAboveThreshold(1, Fraction(10, 3), Fraction(1), Fraction(10, 3))
    for value, enclosed in zip(second, runs.log_halts_at(2), strict=True):
        assert float(mp.log(value)) == pytest.approx(float(enclosed.mid()), rel=1e-12)


def test_outcomes_of_a_run_are_a_distribution() -> None:
    runs = RestartedAboveThreshold(1, Fraction(1, 2), Fraction(1, 3), Fraction(2))
    for side in (0, 1):
        total = runs.log_halts_at_once[side].exp()
        for time in (2, 3, 4):
            total = total + runs.log_halts_at(time)[side].exp()
        assert total.contains(1)
        assert total.rad() < 1e-12


# --- the fully adaptive filter ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "count", "epsilon"), [("11/10", 40, 0.5), ("3/2", 12, 1.0), ("1001/1000", 500, 0.01)]
)
def test_binomial_hockey_stick_against_scipy(ratio: str, count: int, epsilon: float) -> None:
    r = Fraction(ratio)
    p = float(r / (1 + r))
    expected = sum(
        max(0.0, binom.pmf(j, count, p) - math.exp(epsilon) * binom.pmf(j, count, 1 - p)) for j in range(count + 1)
    )
    enclosed = binomial_hockey_stick(r, count, ball(epsilon))
    assert float(enclosed.mid()) == pytest.approx(expected, rel=1e-9)


def test_binomial_hockey_stick_against_the_exact_transcripts() -> None:
    distribution = loss_distribution([randomised_response(Fraction(2))] * 9, SelfReportingRule(Fraction(10**6)))
    for ratio in (Fraction(3), Fraction(1, 100), Fraction(1, 2**9)):  # at the smallest all terms are positive
        enclosed = binomial_hockey_stick(Fraction(2), 9, ball(ratio).log())
        assert enclosed.overlaps(ball(distribution.hockey_stick(ratio)))
        assert enclosed.rel_accuracy_bits() > 40 or distribution.hockey_stick(ratio) == 0


def test_randomised_response_of_the_catalogue() -> None:
    # epsilon_t = .01, epsilon = .2, delta' = .01: N = 42, exact delta = 1.44e-5
    ratio = Fraction(math.exp(0.01)).limit_denominator(10**12)
    delta = float(binomial_hockey_stick(ratio, 42, ball(Fraction(1, 5))).mid())
    assert delta == pytest.approx(1.44e-5, abs=0.005e-5)  # half a unit of the last digit
    assert float_upper(binomial_hockey_stick(ratio, 272, ball(Fraction(1, 5)))) <= 0.01
    assert float_lower(binomial_hockey_stick(ratio, 273, ball(Fraction(1, 5)))) > 0.01


def test_filter_length_is_an_infimum_that_may_be_zero() -> None:
    rule = FullyAdaptiveRule(Fraction(3), Fraction(1, 100))
    assert filter_length([randomised_response(Fraction(22026))], rule) == 0
    assert filter_length([], rule) is None
    assert not filter_halts([randomised_response(Fraction(11, 10))], rule)
    leaking = FullyAdaptiveRule(Fraction(3), Fraction(1, 100), Fraction(1, 10))
    assert filter_length([leak_or_nothing(Fraction(1, 20))] * 3, leaking) == 2
