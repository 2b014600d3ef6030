"""Known figures of the chapter, and its errata."""

from fractions import Fraction
from functools import partial

import pytest

from dpassay.properties.verify import verify_errata
from dpassay.spec.ball import ball, enclosure, midpoint
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick, gaussian_loss_tail
from dpassay.spec.statement import all_statements, find_statement
from dpassay.spec.theorems.accuracy_first.brownian_filter import converted_epsilon
from dpassay.spec.theorems.accuracy_first.brownian_privacy_loss import STOPS_IF_POSITIVE, loss_tail
from dpassay.spec.theorems.accuracy_first.odometer import crossing_probability_of_responses, odometer_reading
from dpassay.spec.theorems.accuracy_first.time_uniform_loss import (
    fixed_time_failure,
    half_normal_boundary,
    loss_threshold,
    mixture_boundary,
    printed_loss_threshold,
)
from dpassay.spec.verdict import Outcome

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("level", "true", "printed"),
    [("0.5", 0.448, 0.825), ("1", 0.419, 0.582), ("2", 0.334, 0.233), ("3", 0.227, 0.088), ("5", 0.0575, 0.0092)],
)
def test_the_tail_of_the_loss_and_of_the_print(level: str, true: float, printed: float) -> None:
    for sign, expected in ((1, true), (-1, printed)):
        found = enclosure(partial(loss_tail, STOPS_IF_POSITIVE, Fraction(level), sign))
        assert midpoint(found) == pytest.approx(expected, abs=1e-3)  # figures of a simulation


def test_a_tail_that_is_known_in_closed_form() -> None:
    """Pr[L > 2] = Pr[W(1) < 0, W(4) < 0] = 1/4 + arcsin(1/2)/(2 pi) = 1/3."""
    found = enclosure(lambda: loss_tail(STOPS_IF_POSITIVE, Fraction(2), 1))
    assert midpoint(found) == pytest.approx(1 / 3, rel=1e-14)


@pytest.mark.parametrize(
    ("tuning", "delta", "information", "failure"),
    [(1, "0.1", 100, 0.974), (1, "0.01", 100, 0.897), (1, "0.000001", 100, 0.240), (10, "0.01", 100, 0.923)],
)
def test_where_the_printed_bound_fails(tuning: int, delta: str, information: int, failure: float) -> None:
    found = enclosure(
        lambda: fixed_time_failure(Fraction(information), lambda v: printed_loss_threshold(v, tuning, Fraction(delta)))
    )
    assert midpoint(found) == pytest.approx(failure, abs=6e-4)
    kept = enclosure(
        lambda: fixed_time_failure(Fraction(information), lambda v: loss_threshold(v, tuning, Fraction(delta)))
    )
    assert kept < float(Fraction(delta)) / 2


def test_boundaries_at_one() -> None:
    one = Fraction(1)
    assert midpoint(enclosure(lambda: mixture_boundary(one, one, MILLIONTH))) == pytest.approx(7.5265, abs=1e-4)
    assert midpoint(enclosure(lambda: half_normal_boundary(one, one, MILLIONTH))) == pytest.approx(7.3400, abs=1e-4)


def test_the_budget_of_the_experiments() -> None:
    v = Fraction(2706, 1000)
    assert midpoint(enclosure(lambda: loss_threshold(v, 1, MILLIONTH))) == pytest.approx(11.709, abs=1e-3)
    rho = Fraction(2706029380337747, 2 * 10**15)
    assert midpoint(enclosure(lambda: converted_epsilon(rho, MILLIONTH))) == pytest.approx(10, abs=1e-12)
    exact_delta = enclosure(lambda: gaussian_hockey_stick((2 * ball(rho)).sqrt(), 10))
    assert midpoint(exact_delta) == pytest.approx(1.67e-8, rel=0.01)


def test_the_loss_of_a_fixed_time_is_that_of_a_gaussian() -> None:
    found = enclosure(lambda: fixed_time_failure(Fraction(4), ball))
    assert midpoint(found) == pytest.approx(midpoint(enclosure(lambda: gaussian_loss_tail(2, 4))), rel=1e-12)


def test_responses_cross_a_low_reading_and_not_a_high_one() -> None:
    ratio = Fraction(3, 2)
    assert crossing_probability_of_responses(ratio, 3, lambda _: ball(Fraction(0)) + 1000) == 0
    certain = crossing_probability_of_responses(ratio, 1, lambda _: ball(Fraction(-1000)))
    assert certain == 1
    once = crossing_probability_of_responses(ratio, 1, lambda _: ball(Fraction(1, 5)))
    assert once == Fraction(3, 5)
    reading = lambda v: odometer_reading(v, Fraction(1), Fraction(1, 10))
    assert 0 < crossing_probability_of_responses(ratio, 40, reading) < Fraction(1, 10)


CHAPTER = [each for each in all_statements() if "accuracy_first" in each.where]


def test_errata_fail_where_the_corrections_stand() -> None:
    reports = list(verify_errata(CHAPTER))
    assert len(reports) >= 9
    assert all(report.as_expected for report in reports), [r.item for r in reports if not r.as_expected]


def test_the_certified_mean_of_the_conjecture() -> None:
    assert find_statement("stopped_laplace_loss_exceeds_the_constant_of_zcdp")().outcome is Outcome.HOLDS
