"""The accounts of target charging against enclosures: exact composition and exact tails."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side

from dpassay.impl.accounting.pure_composition import (
    LARGEST_COUNT,
    _log_binomial,
    _margin,
    response_delta,
    response_epsilon,
)
from dpassay.impl.accounting.target_charging import holder_calls_tail, target_charging_account
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.mechanisms.finite import log_ratio_upper
from dpassay.impl.mechanisms.one_shot_top_k import ResponseTopK
from dpassay.impl.mechanisms.target_charging import ChargedResponses
from dpassay.properties.strategies.base import log_integers
from dpassay.spec.ball import at_most, ball, exact
from dpassay.spec.distributions.binomial import negative_binomial_above
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import binomial_hockey_stick
from dpassay.spec.theorems.target_charging.main_theorem import misses_delta
from dpassay.spec.verdict import Outcome

ACCURACY = Fraction(1, 10**8)

checked = settings(max_examples=40, deadline=None, derandomize=True, database=None)
epsilons = st.one_of(st.sampled_from([0.01, 0.1, 1.0, 4.0]), st.floats(-3, 0.9).map(lambda e: 10.0**e))
deltas = st.one_of(st.sampled_from([1e-6, 0.5, 1e-12]), st.floats(-14, -0.1).map(lambda e: 10.0**e))
qualities = st.one_of(st.sampled_from([0.5, 1.0, 0.999, 1e-3]), st.floats(1e-3, 1))


def stick(count: int, epsilon: float, total: arb, *, weigh: bool = True) -> arb:
    """The exact delta of randomised responses of exactly this epsilon, term by term from the top.

    Without weights: the probability that the loss exceeds the total.
    """
    odds = ball(exact("epsilon", epsilon)).exp()
    step, sum_ = ball(exact("epsilon", epsilon)), arb(0)
    term = (count * -(1 / odds).log1p()).exp()
    for j in range(count, -1, -1):
        loss = (2 * j - count) * step
        if loss <= total:
            break
        sum_ = sum_ + term * ((-(total - loss).expm1()).max(arb(0)) if weigh else arb(1))
        term = term * j / ((count - j + 1) * odds)
    return sum_


@checked
@given(log_integers(1, 3000), epsilons, deltas)
def test_the_epsilon_of_composition_is_safe_and_tight(count: int, epsilon: float, delta: float) -> None:
    total = response_epsilon(count, epsilon, delta)
    bound = ball(exact("delta", delta))
    assert at_most(lambda: stick(count, epsilon, ball(total)), lambda: bound).outcome is Outcome.HOLDS
    if total > 1e-6:
        lower = Fraction(total) * (1 - ACCURACY) - Fraction(1, 10**9)
        below = at_most(lambda: stick(count, epsilon, ball(lower)), lambda: bound)
        assert below.outcome is Outcome.VIOLATED


@checked
@given(log_integers(1, 3000), epsilons, st.floats(0.01, 0.99))
def test_the_delta_of_composition(count: int, epsilon: float, share: float) -> None:
    total = share * min(count * epsilon, 600.0)
    bound = response_delta(count, epsilon, total)
    if bound < 1:  # all probabilities are at most 1; a truth of 1 - e^-1000 is not told from 1

        def truth() -> arb:
            return stick(count, epsilon, ball(total))

        def truth_and_margin() -> arb:
            return truth() + ball(Fraction(1, 10**9)) * stick(count, epsilon, ball(total), weigh=False)

        assert at_most(truth, lambda: ball(bound)).outcome is Outcome.HOLDS
        assert at_most(lambda: ball(bound), truth_and_margin).outcome is Outcome.HOLDS


def test_a_positive_delta_never_vanishes() -> None:
    assert response_delta(5000, 0.01, 49.9) == 1e-300
    assert response_delta(5000, 0.01, 51.0) == 0
    assert response_delta(3, 0.1, 0.3) > 0  # thrice the float 0.1 is more than the float 0.3
    assert response_delta(3, 0.1, 3 * 0.1) == 0


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 3.0])
def test_the_tails_of_composition_are_safe_at_the_largest_count(epsilon: float) -> None:
    """The rounding of a term grows with the count: its enclosure must stay within the margin."""
    lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    mean, deviation = LARGEST_COUNT * (1 - lie), math.sqrt(LARGEST_COUNT * lie * (1 - lie))
    truthful = np.floor(np.clip(mean + deviation * np.linspace(-6, 6, 25), LARGEST_COUNT // 2, LARGEST_COUNT - 1))
    terms = _log_binomial(LARGEST_COUNT, truthful, lie)

    def error(successes: int, term: float) -> arb:
        odds, failures = ball(exact("epsilon", epsilon)).exp(), LARGEST_COUNT - successes
        ways = arb(LARGEST_COUNT + 1).lgamma() - arb(successes + 1).lgamma() - arb(failures + 1).lgamma()
        return abs(ways - successes * (1 / odds).log1p() - failures * odds.log1p() - ball(Fraction(term)))

    for successes, term in zip(map(int, truthful), terms.tolist(), strict=True):
        allowed = lambda: ball(Fraction(_margin(LARGEST_COUNT)))
        assert at_most(partial(error, successes, term), allowed).outcome is Outcome.HOLDS


@checked
@given(st.one_of(st.integers(1, 10**12).map(lambda n: 1 + Fraction(1, n)), st.fractions(Fraction(1), 10**400)))
def test_the_epsilon_of_a_ratio_is_rounded_up(ratio: Fraction) -> None:
    for value in (ratio, 1 / ratio):
        verdict = on_the_safe_side(log_ratio_upper(value), lambda: ball(ratio).log(), Fraction(1, 2**49))
        assert ratio == 1 or verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize("excess", [1e-9, 1e-5, 2.0**-5, 0.25, 0.4999])
def test_the_epsilon_that_is_claimed_of_a_response_covers_it(excess: float) -> None:
    truth = 0.5 + excess
    exactly = Fraction(truth) / (1 - Fraction(truth))
    for mechanism in (ChargedResponses(4, 1, truth, 0.01), ResponseTopK(4, 1, truth, 0.01)):
        claimed = partial(ball, Fraction(mechanism.epsilon))
        assert at_most(lambda: ball(exactly).log(), claimed).outcome is Outcome.HOLDS


@checked
@given(log_integers(1, 500), qualities, st.floats(0.01, 5))
def test_the_tail_of_holder_calls(hits: int, quality: float, slack: float) -> None:
    calls = int((1 + slack) * hits / quality)
    bound = float(holder_calls_tail(calls, hits, quality))
    truth = lambda: negative_binomial_above(calls, hits, Fraction(quality))
    if bound > 1e-290:
        verdict = on_the_safe_side(bound, truth, ACCURACY)
        assert verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize(("hits", "ratio"), [(1, "11/10"), (10, "11/10"), (100, "11/10"), (20, "27/10"), (5, "9")])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_the_account_covers_exact_adversaries(hits: int, ratio: str, delta: float) -> None:
    exact_ratio = Fraction(ratio)
    epsilon = float(ball(exact_ratio).log().upper()) * (1 + 2.0**-50)
    total = target_charging_account(hits, epsilon, float(not_prior_quality(epsilon)), delta).epsilon
    for truth in (
        lambda: misses_delta(hits, exact_ratio, ball(total)),
        lambda: binomial_hockey_stick(exact_ratio, hits, ball(total)),
    ):
        assert at_most(truth, lambda: ball(exact("delta", delta))).outcome is Outcome.HOLDS
