"""Known values of the chapter: what the printed forms would allow, and where the corrected ones stand."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpassay.spec.ball import ball, midpoint
from dpassay.spec.distributions.discrete import FiniteDistribution, relative_entropy
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.interactions.adaptive_rounds import (
    concentrated,
    concentrated_response,
    ex_post,
    ex_post_leak,
    rho_of_ratio,
)
from dpassay.spec.interactions.budget_rules import ConcentratedRule, concentrated_epsilon
from dpassay.spec.interactions.transcripts import Round, chain
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.accuracy_first.doubling import charged_precision, doubled_precisions
from dpassay.spec.theorems.accuracy_first.ex_post_composition import composed_delta, excess_probability
from dpassay.spec.theorems.accuracy_first.gumbel_selection import gumbel_selection_distribution
from dpassay.spec.theorems.accuracy_first.parameters import filtered_distributions, within_delta
from dpassay.spec.theorems.accuracy_first.relative_error import accepted_noise, threshold_above, threshold_below
from dpassay.spec.theorems.accuracy_first.unified_filter import printed_epsilon, unified_epsilon
from dpassay.spec.theorems.accuracy_first.zcdp_conversions import pure_core
from dpassay.spec.theorems.accuracy_first.zcdp_filter import (
    _AtLeastOneRound,
    concentrated_run_length,
    stopping_index,
)
from dpassay.spec.verdict import Outcome

MILLIONTH = Fraction(1, 10**6)


def test_the_two_constants_of_the_unified_filter() -> None:
    rho = Fraction(1353, 1000)
    assert midpoint(unified_epsilon(rho, MILLIONTH)) == pytest.approx(10.0, abs=1e-4)
    assert midpoint(printed_epsilon(rho, MILLIONTH)) == pytest.approx(13.58, abs=5e-3)
    shift = ball(2 * rho).sqrt()
    assert midpoint(gaussian_hockey_stick(shift, unified_epsilon(rho, MILLIONTH))) == pytest.approx(1.67e-8, rel=5e-3)
    assert midpoint(gaussian_hockey_stick(shift, printed_epsilon(rho, MILLIONTH))) == pytest.approx(9e-15, rel=0.1)


def test_a_first_mechanism_that_nothing_stops() -> None:
    # a Gaussian with rho = 10 at epsilon = 1
    assert midpoint(gaussian_hockey_stick(ball(20).sqrt(), 1)) == pytest.approx(0.959, abs=5e-4)


def test_the_length_of_equal_responses() -> None:
    ratio, rule = Fraction(11, 10), ConcentratedRule(Fraction(20), Fraction(1, 100))
    count = concentrated_run_length(ratio, rule)
    offers = [concentrated_response(ratio)] * (count + 3)
    assert stopping_index(offers, rule) == count > 50
    assert stopping_index(offers[:count], rule) == math.inf
    literal = _AtLeastOneRound(rule.budget, rule.slack_delta)
    assert stopping_index(offers, literal) == count
    needed = [
        midpoint(concentrated_epsilon(ball(n * rho_of_ratio(ratio)), ball(rule.slack_delta)))
        for n in (count, count + 1)
    ]
    assert needed[0] <= math.log(20) < needed[1]


@pytest.mark.parametrize(
    ("rounds", "each", "whole"), [(2, "1/10", 0.19), (10, "1/20", 0.4013), (100, "1/1000", 0.0952)]
)
def test_deltas_of_leaks(rounds: int, each: str, whole: float) -> None:
    assert float(composed_delta([Fraction(each)] * rounds)) == pytest.approx(whole, abs=5e-5)
    if rounds <= 2:
        assert excess_probability(chain(*[ex_post_leak(Fraction(each))] * rounds)) == composed_delta(
            [Fraction(each)] * rounds
        )


def test_the_worst_overhead_of_doubling() -> None:
    def overhead(ideal: Fraction) -> float:
        return float(charged_precision(doubled_precisions(Fraction(1), ideal)) / ideal)

    assert overhead(Fraction(2**19) + Fraction(1, 1000)) == pytest.approx(4.0, abs=1e-5)
    assert overhead(Fraction(2**19) + Fraction(1, 1000)) < 4
    assert overhead(Fraction(1, 100)) == 100


@pytest.mark.parametrize(("accuracy", "above", "below"), [("1/10", 21, 19), ("1/100", 201, 199)])
def test_thresholds_of_the_stopping_rule(accuracy: str, above: int, below: int) -> None:
    one = Fraction(1)
    assert threshold_above(one, Fraction(accuracy)) == above
    assert threshold_below(one, Fraction(accuracy)) == below


def test_the_nominal_precision_of_the_stopping_rule() -> None:
    low, high = map(float, accepted_noise(Fraction(1), Fraction(1, 10)))
    assert (low, high) == pytest.approx((-2.3333, 1.9091), abs=1e-4)
    normal = [math.erfc(-x / math.sqrt(2)) / 2 for x in (low, high)]
    assert normal[1] - normal[0] == pytest.approx(0.9621, abs=5e-5)


def test_gumbel_selection_with_and_without_monotone_counts() -> None:
    ratio = Fraction(math.exp(0.1))

    def divergence(left: tuple[int, ...], right: tuple[int, ...]) -> float:
        return midpoint(
            relative_entropy(gumbel_selection_distribution(left, ratio), gumbel_selection_distribution(right, ratio))
        )

    assert divergence((7, 7), (8, 6)) == pytest.approx(0.004994, rel=2e-3)  # four times 0.1^2/8 = 0.00125
    assert divergence((7, 7), (8, 7)) == pytest.approx(0.0012497, rel=1e-3)


def test_a_core_with_masses_that_differ() -> None:
    pair = PairAtRatio(FiniteDistribution.of(6, 1, 3), FiniteDistribution.of(1, 1, 8), Fraction(2))
    mass, p, q = pure_core(pair)
    assert mass == Fraction(6, 10)  # the smaller of 1 - 4/10 and 1 - 2/10
    assert sum(p.values()) == sum(q.values()) == mass


def test_a_delta_at_an_irrational_epsilon_is_bracketed() -> None:
    distribution = filtered_distributions(
        chain(concentrated_response(Fraction(9))), ConcentratedRule(Fraction(10**6), Fraction(1, 2))
    )
    truth = Fraction(9, 10) - Fraction(math.e) / 10
    assert within_delta(distribution, lambda: ball(1), truth * Fraction(1001, 1000)).outcome is Outcome.HOLDS
    assert within_delta(distribution, lambda: ball(1), truth * Fraction(999, 1000)).outcome is Outcome.VIOLATED


ONE_SIDED = FiniteDistribution.of(1, 999), FiniteDistribution.of(500, 500)
"""The loss is at most log 2 in this order, and up to log 500 in the other one."""


def test_filters_are_held_to_both_orders_of_the_pair() -> None:
    """Parameters that are right for the order (left, right) alone refute each filter in the other order."""
    assert max(Round(*ONE_SIDED, Fraction(1)).likelihood_ratio(o) for o in ONE_SIDED[0].outcomes) < 2
    concentrated_one = replace(concentrated(*ONE_SIDED), rho=rho_of_ratio(Fraction(2)))
    ex_post_one = ex_post(*ONE_SIDED, {0: Fraction(1), 1: Fraction(2)})
    object.__setattr__(ex_post_one, "delta", Fraction(0))
    cases: dict[str, dict[str, Any]] = {
        "approximate_dp_of_zcdp_filter": {
            "interaction": chain(concentrated_one), "budget": Fraction(6), "slack_delta": Fraction(1, 10),
            "delta": Fraction(0),
        },
        "approximate_dp_of_unified_filter": {
            "interaction": chain(concentrated_one), "rho": Fraction(1, 4), "delta": Fraction(0),
            "slack_delta": Fraction(1, 10),
        },
        "tilted_loss_is_a_supermartingale": {"interaction": chain(concentrated_one), "order": Fraction(2)},
        "probabilistic_dp_of_ex_post_filter": {
            "interaction": chain(ex_post_one), "budget": Fraction(2), "delta": Fraction(0),
        },
        "filtered_transcript_survives_post_processing": {
            "interaction": chain(ex_post_one), "budget": Fraction(2), "delta": Fraction(0),
        },
        "ex_post_bounds_and_deltas_add": {"interaction": chain(ex_post_one)},
        "approximate_dp_of_two_budget_filter": {
            "interaction": chain(ex_post_one), "budget": Fraction(101, 100), "slack_delta": Fraction(1, 100),
            "delta": Fraction(0), "ex_post_budget": Fraction(2), "ex_post_delta": Fraction(0),
        },
    }  # fmt: skip
    for name, values in cases.items():
        assert find_statement(name)(**values).outcome is Outcome.VIOLATED, name
