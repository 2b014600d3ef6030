import math

import numpy as np
import pytest
from scipy.special import betaln

from dpassay.properties.learners.side_tree import STRENGTHS, evidence_and_chance, fit_side_tree, quantile_edges
from dpassay.properties.learners.trees import TreeLearner
from dpassay.properties.outcomes.batch import Outcomes


@pytest.mark.parametrize("strength", STRENGTHS)
def test_evidence_is_that_of_a_beta_prior(strength: float) -> None:
    left, right = np.array([0, 1, 3, 700, 10**6]), np.array([0, 0, 9, 650, 10**6 + 5000])
    evidence, chance = evidence_and_chance(left, right, strength)
    exact = betaln(left + strength, right + strength) - betaln(strength, strength)
    np.testing.assert_allclose(evidence, exact, rtol=1e-9, atol=1e-4)
    np.testing.assert_allclose(chance, (left + strength) / (left + right + 2 * strength), rtol=1e-12)


def test_trees_that_are_fitted_together_are_those_fitted_alone() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 50, size=(2, 3, 37))
    together = fit_side_tree(left, right)
    for one, a, b in zip(together, left, right, strict=True):
        np.testing.assert_allclose(one, fit_side_tree(a, b), rtol=1e-9, atol=1e-12)


def test_empty_cells_behind_the_last_change_nothing() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 50, size=(2, 20))
    padded = fit_side_tree(np.pad(left, (0, 80)), np.pad(right, (0, 80)))[:20]
    np.testing.assert_allclose(padded, fit_side_tree(left, right), rtol=1e-9, atol=1e-12)


def test_a_faint_difference_costs_less_than_half_a_logarithm_of_the_calls_a_cell() -> None:
    """The regret of Krichevsky and Trofimov's estimator alone is about 5.6 nats in each of these 16 cells."""
    rng = np.random.default_rng(0)
    counts = rng.binomial(70_000, 0.505, size=16)
    logits = fit_side_tree(counts, 70_000 - counts)
    assert np.abs(logits - math.log(0.505 / 0.495)).max() < 0.01


def test_what_lies_beyond_the_values_of_one_side_has_edges() -> None:
    values = np.concatenate([np.linspace(0, 10, 4000), np.linspace(1, 10, 4000)])[
        np.random.default_rng(0).permutation(8000)
    ]
    is_left = values < 1
    is_left |= np.random.default_rng(1).random(8000) < 0.5
    edges = quantile_edges(values, is_left)
    least = values[:4000][~is_left[:4000]].min()
    assert np.nextafter(least, -np.inf) in edges


@pytest.mark.parametrize("extreme", [np.inf, -np.inf, 1.7976931348623157e308, 5e-324])
def test_extreme_values_do_no_harm(extreme: float) -> None:
    values = np.array([extreme, 0.0, extreme, np.nan, 1.0])
    assert (np.diff(quantile_edges(values, np.array([True, False, True, False, True]))) > 0).all()


def test_missing_values_are_told_from_others() -> None:
    learner = TreeLearner()
    learner.observe(Outcomes.of([1.0, math.nan] * 50), np.array([True, False] * 50), {})
    on_number, on_nan, on_none = learner.opinions(Outcomes.of([1.0, math.nan, None]))["outcome"]
    assert on_number > 2
    assert on_nan == on_none < -2


def test_features_that_tell_nothing_new_have_no_trees() -> None:
    learner, rng = TreeLearner(frozenset({"lowest_bit(outcome)"})), np.random.default_rng(0)
    rows = np.column_stack([rng.random(100), np.full(100, 3.0)])
    learner.observe(Outcomes.of(rows), rng.random(100) < 0.5, {})
    assert {"outcome[0]", "sum(outcome)"} <= set(learner.names)
    assert not {"outcome[1]", "max(outcome)", "len(outcome)", "outcome[-1]"} & set(learner.names)
    rows[:, 1] = rng.random(100)
    learner.observe(Outcomes.of(rows), rng.random(100) < 0.5, {})
    assert {"outcome[1]", "max(outcome)"} <= set(learner.names)
    assert "outcome[-1]" not in learner.names


def test_a_place_tells_more_together_with_its_number() -> None:
    learner, rng = TreeLearner(), np.random.default_rng(0)
    sides = rng.random(8000) < 0.5
    places = rng.integers(1, 4, size=8000)
    upwards = np.where(places == 2, sides, ~sides)  # the number alone tells next to nothing
    numbers = rng.random(8000) + upwards
    learner.observe(Outcomes.of(np.column_stack([places, numbers])), sides, {})
    at_two, at_three = learner.opinions(Outcomes.of(np.array([[2.0, 1.8], [3.0, 1.8]])))["outcome[0], then outcome[1]"]
    assert at_two > 3
    assert at_three < -3


def test_a_tree_that_tells_nothing_has_no_opinion_and_finds_a_late_signal_all_the_same() -> None:
    learner, rng = TreeLearner(), np.random.default_rng(0)

    def taught(shift: float, calls: int) -> None:
        sides = rng.random(calls) < 0.5
        learner.observe(Outcomes.of(np.where(sides, shift, 0.0) + rng.normal(size=calls)), sides, {})

    for size in (4000, 40_000, 60_000):
        taught(0.0, size)
    fresh = Outcomes.of(rng.normal(size=5))
    assert "outcome" in learner.names
    assert not learner.opinions(fresh)
    for _ in range(4):
        taught(2.0, 60_000)
    low, high = learner.opinions(Outcomes.of([-2.0, 3.0]))["outcome"]
    assert low < -0.5
    assert high > 0.5


def test_the_tree_finds_a_narrow_region_among_many_cells() -> None:
    left, right = np.full(256, 100), np.full(256, 100)
    left[200], right[200] = 180, 2
    logits = fit_side_tree(left, right)
    assert logits[200] > 2
    assert np.abs(np.delete(logits, 200)).max() < 0.5


def test_cells_isolate_atoms_and_reach_into_the_tails() -> None:
    values = np.concatenate([np.random.default_rng(0).normal(size=10_000), np.full(5_000, 0.25)])
    edges = quantile_edges(values)
    assert 0.25 in edges
    assert math.nextafter(0.25, -math.inf) in edges
    assert np.count_nonzero(values > edges[-1]) < 40
