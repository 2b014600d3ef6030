"""Figures of the chapter: exact deltas, errata, tails."""

import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, midpoint
from dpassay.spec.distributions.binomial import binomial_at_most, binomial_at_most_exact, negative_binomial_above
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.charged_calls import (
    ChargedInteractions,
    ChargedRound,
    ChargingRule,
    charged_delta,
    mixed_response,
    not_prior_quality,
    not_prior_response,
    whole_range_response,
    with_leak,
)
from dpassay.spec.interactions.transcripts import chain, repeated
from dpassay.spec.notions.target_quality import target_quality
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import binomial_hockey_stick
from dpassay.spec.theorems.target_charging.composition import advanced_composition
from dpassay.spec.theorems.target_charging.individual_svt import rare_hits_delta, threshold_at_the_value_delta
from dpassay.spec.theorems.target_charging.main_theorem import misses_delta, truncated_delta
from dpassay.spec.theorems.target_charging.one_shot_selection import best_of_candidates
from dpassay.spec.theorems.target_charging.silent_hits import silent_hits_delta
from dpassay.spec.theorems.target_charging.simulation import STOPPED, Simulation, published_distributions
from dpassay.spec.verdict import Outcome

THREE = Fraction(3)


def test_the_printed_bound_at_a_thousand_hits() -> None:
    ratio = Fraction("1.02020134002675581016")  # e^0.02
    printed = (
        1300 * ball(Fraction(2, 100)) ** 2 / 2
        + ball(Fraction(2, 100)) * (-1300 * ball(Fraction(1, 10**9)).log()).sqrt()
    )
    assert midpoint(printed) == pytest.approx(3.54270, abs=6e-6)
    assert midpoint(binomial_hockey_stick(ratio, 1000, printed)) == pytest.approx(5.85e-9, rel=1e-3)
    corrected = advanced_composition(ball(1300), ball(Fraction(2, 100)), ball(Fraction(1, 10**9)))
    assert midpoint(corrected) == pytest.approx(4.90243, abs=6e-6)
    assert midpoint(binomial_hockey_stick(ratio, 1000, corrected)) == pytest.approx(2.92e-15, rel=2e-3)


def test_the_closed_form_of_misses_is_the_enumeration() -> None:
    for hits, budget in ((1, Fraction(3)), (2, Fraction(9)), (1, Fraction(4))):
        long = repeated([not_prior_response(THREE)] * 14)
        cut = charged_delta(long, ChargingRule(hits), budget)
        closed = midpoint(misses_delta(hits, THREE, ball(budget).log()))
        assert float(cut) <= closed * (1 + 1e-12)
        assert float(cut) == pytest.approx(closed, rel=0.05)


def test_thresholds_at_the_value_are_the_enumeration() -> None:
    """Two hits: the masses of the numbers of misses, up to one that leaves out less than 1e-12."""
    ratio, hits, total = 2.0, 2, 0.7
    rare, frequent = 1 / (2 * ratio), 1 / 2
    truth = 0.0
    for misses in range(150):
        left = (misses + 1) * rare**hits * (1 - rare) ** misses
        right = (misses + 1) * frequent**hits * (1 - frequent) ** misses
        truth += max(0.0, left - math.exp(total) * right)
    closed = threshold_at_the_value_delta(hits, Fraction(2), ball(Fraction(total)))
    assert midpoint(closed) == pytest.approx(truth, abs=1e-12)


def test_silent_hits_are_the_enumeration_of_the_interaction() -> None:
    ratio, quality, horizon = THREE, Fraction(1, 4), 4
    outcomes = [(answer, hit) for answer in (0, 1) for hit in (0, 1)]
    left, right = (
        FiniteDistribution({
            (a, h): (low if a else 1 - low) * (quality if h else 1 - quality) for a, h in outcomes
        })
        for low in (ratio / (1 + ratio), 1 / (1 + ratio))
    )  # fmt: skip
    offer = ChargedRound(left, right, ratio, targets=(frozenset({(0, 1), (1, 1)}),))
    for hits in (1, 2):
        for budget in (Fraction(1), THREE, Fraction(20)):
            truth = charged_delta(chain(*[offer] * horizon), ChargingRule(hits), budget)
            assert silent_hits_delta(hits, ratio, quality, budget, horizon) == truth


def test_rare_hits() -> None:
    ratio = Fraction("1.10517091807564762481")  # e^0.1
    assert midpoint(rare_hits_delta(100, ratio, ball(Fraction("10.92")))) == pytest.approx(5.5e-16, rel=1e-2)


def test_tails_of_holder_calls() -> None:
    assert binomial_at_most_exact(0, 3, Fraction(1, 2)) == Fraction(1, 8)
    assert binomial_at_most_exact(5, 3, Fraction(1, 2)) == 1
    for j, n in ((0, 3), (2, 7), (6, 7), (7, 7), (-1, 4)):
        exact = float(binomial_at_most_exact(j, n, Fraction(1, 3)))
        assert midpoint(binomial_at_most(j, n, ball(Fraction(1, 3)))) == pytest.approx(exact, rel=1e-14)
    assert midpoint(negative_binomial_above(3, 4, Fraction(1))) == 1
    assert midpoint(negative_binomial_above(4, 4, Fraction(1))) == 0


def test_calls_have_the_quality_they_stand_for() -> None:
    offers = [
        not_prior_response(THREE),
        not_prior_response(THREE, mirrored=True, rarity=Fraction(1, 10)),
        mixed_response(THREE, Fraction(1, 2), Fraction(0)),
        whole_range_response(THREE),
    ]
    qualities = [target_quality(offer.left, offer.right, offer.targets[0], THREE) for offer in offers]
    assert qualities == [Fraction(1, 4)] * 3 + [Fraction(1)]
    assert not_prior_quality(THREE) == Fraction(1, 4)
    assert with_leak(offers[0], Fraction(1, 7)).approximate_delta == Fraction(1, 7)


def test_the_exact_account_is_less_than_its_parts() -> None:
    at_most_four = truncated_delta(1, THREE, Fraction(1, 4), 4, Fraction(81))
    assert at_most_four == Fraction(3, 4) ** 4


def test_a_truncated_run_says_that_it_stopped() -> None:
    runs = Simulation(1, Fraction(1), 1).runs(chain(*[not_prior_response(THREE)] * 3))
    left, right = published_distributions(runs)
    assert left["miss", STOPPED] == Fraction(3, 4)
    assert sum(left.values()) == sum(right.values()) == 1


def test_the_best_of_many_needs_more_than_epsilon_times_the_logarithm() -> None:
    """At epsilon = 0.5 and delta = 1e-6 the best of m needs 13.1, not 6.9 = epsilon ln(1/delta)."""
    ratio = Fraction("1.64872127070012814685")
    left, right = best_of_candidates(28, ratio)
    assert float(left.probability(0) - ratio**26 * right.probability(0)) > 1e-6


def test_rules_and_domains_out_of_range() -> None:
    with pytest.raises(UsageError, match="hits"):
        ChargingRule(0)
    with pytest.raises(UsageError, match="delta"):
        ChargingRule(1, delta=Fraction(2))
    domain = ChargedInteractions("trees", 2)
    assert domain.contains(chain(not_prior_response(THREE), whole_range_response(THREE)))
    assert not domain.contains(chain(not_prior_response(THREE), not_prior_response(Fraction(2))))
    assert not domain.contains(chain(*[not_prior_response(THREE)] * 3))
    assert not domain.contains(chain(with_leak(not_prior_response(THREE), Fraction(1, 2))))
    assert not domain.contains("a tree")


@pytest.mark.parametrize(
    "name",
    [
        "approximate_dp_of_target_charging",
        "approximate_dp_of_one_shot_top_k",
        "approximate_dp_of_individual_svt",
        "holder_calls_within_chernoff_tail",
        "truncated_run_is_a_composition",
        "simulated_transcript_has_the_distribution_of_the_run",
        "quoted_target_hits_suffice",
        "small_epsilon_top_k_costs_four_roots",
        "approximate_dp_of_rare_failures",
    ],
)
def test_every_print_fails_at_its_witness_and_every_correction_stands(name: str) -> None:
    errata = find_statement(name).errata
    assert errata
    for erratum in errata:
        assert erratum.printed(**erratum.witness).outcome is Outcome.VIOLATED
        assert erratum.corrected(**erratum.witness).outcome is Outcome.HOLDS
