"""Composition and accuracy bounds of impl against the enclosures of spec."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side

from dpassay.arguments import UsageError
from dpassay.impl.accounting.advanced_composition import advanced_composition_epsilon, best_share
from dpassay.impl.accounting.laplace_accuracy import largest_laplace_error, split_budget_error
from dpassay.properties.strategies.base import log_integers
from dpassay.spec.ball import at_least, at_most, ball
from dpassay.spec.theorems.foundations import composition
from dpassay.spec.theorems.foundations.laplace_accuracy import laplace_tail, union_bound_radius
from dpassay.spec.verdict import Outcome

checked = settings(max_examples=60, deadline=None, derandomize=True, database=None)
counts = log_integers(1, 10**6)
epsilons = st.floats(-4, 2).map(lambda e: 10.0**e)
deltas = st.one_of(st.sampled_from([0.5, 1e-300]), st.floats(-15, -0.01).map(lambda e: 10.0**e))
ACCURACY = Fraction(1, 10**12)


@checked
@given(counts, epsilons, deltas)
def test_advanced_composition(copies: int, epsilon: float, delta: float) -> None:
    bound = float(advanced_composition_epsilon(copies, epsilon, delta))

    def truth() -> arb:
        return composition.advanced_composition_epsilon(copies, ball(epsilon), delta).min(copies * ball(epsilon))

    verdict = on_the_safe_side(bound, truth, ACCURACY)
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@checked
@given(counts, epsilons, deltas)
def test_shares(copies: int, epsilon: float, delta: float) -> None:
    share = float(best_share(copies, epsilon, delta))
    truth = lambda: composition.advanced_share(copies, ball(epsilon), delta).max(ball(epsilon) / copies)
    assert at_most(lambda: ball(share), truth).outcome is Outcome.HOLDS
    assert at_least(lambda: ball(share) * ball(1 + ACCURACY), truth).outcome is Outcome.HOLDS


@checked
@given(counts, st.one_of(st.sampled_from([0.5, 0.9, 1e-12]), st.floats(1e-9, 0.9)))
def test_the_error_is_the_quantile_of_the_largest(queries: int, failure: float) -> None:
    radius = float(largest_laplace_error(queries, 1.0, failure))
    beyond = at_most(lambda: laplace_tail(queries, ball(radius)), lambda: ball(failure))
    assert beyond.outcome is Outcome.HOLDS
    nearer = at_least(lambda: laplace_tail(queries, ball(radius) * ball(1 - ACCURACY)), lambda: ball(failure))
    assert nearer.outcome is Outcome.HOLDS
    assert at_most(
        lambda: ball(radius), lambda: union_bound_radius(queries, failure) * ball(1 + ACCURACY)
    ).outcome is (Outcome.HOLDS)


def test_a_budget_that_is_split_by_advanced_composition_goes_farther_for_many_queries() -> None:
    assert float(split_budget_error(10_000, 1.0, 0.05, 1e-6)) < 0.1 * float(split_budget_error(10_000, 1.0, 0.05))
    assert float(split_budget_error(5, 1.0, 0.05, 1e-6)) == pytest.approx(float(split_budget_error(5, 1.0, 0.05)))
    assert split_budget_error([1, 10], 1.0, 0.05).shape == (2,)


def test_corners() -> None:
    assert float(largest_laplace_error(3, 1.0, 1.0)) == 0
    assert float(advanced_composition_epsilon(7, 0.0, 0.5)) == 0
    assert float(best_share(7, 0.0, 1.0)) == 0
    assert float(advanced_composition_epsilon(1, 1.0, 1.0)) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("function", "arguments", "named"),
    [
        (advanced_composition_epsilon, (0, 1.0, 0.1), "copies"),
        (advanced_composition_epsilon, (2.5, 1.0, 0.1), "copies"),
        (advanced_composition_epsilon, (2, -1.0, 0.1), "epsilon"),
        (best_share, (2, 1.0, 0.0), "delta"),
        (best_share, (2, math.nan, 0.1), "epsilon"),
        (largest_laplace_error, (2, -1.0, 0.1), "scale"),
        (largest_laplace_error, (2, 1.0, 0.0), "failure"),
        (largest_laplace_error, (math.inf, 1.0, 0.1), "queries"),
        (split_budget_error, (2, 0.0, 0.1), "epsilon"),
        (largest_laplace_error, (np.ones(2), np.ones(3), 0.1), "shapes"),
    ],
)
def test_arguments_out_of_their_domain_are_refused(
    function: object, arguments: tuple[object, ...], named: str
) -> None:
    assert callable(function)
    with pytest.raises(UsageError, match=named):
        function(*arguments)
