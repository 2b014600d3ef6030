"""The bounds of impl against the enclosures of spec, over the domain that they state."""

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side

from dpassay.impl.accounting.above_threshold import (
    gaussian_above_threshold_all_below_loss,
    gaussian_above_threshold_loss,
)
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.properties.strategies.base import log_integers
from dpassay.spec.ball import ball
from dpassay.spec.distributions.above_threshold import log_halting_probability
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon
from dpassay.spec.verdict import Outcome

# relative to the width of the range; the impl reads the same floats
sigmas = st.one_of(st.sampled_from([1e-3, 0.05, 1.0, 1e3]), st.floats(-3, 3).map(lambda e: 10.0**e))
sensitivities = st.one_of(st.sampled_from([1e-6, 0.5, 1.0, 1.3]), st.floats(-6, 0.2).map(lambda e: 10.0**e))
checked = settings(max_examples=40, deadline=None, derandomize=True, database=None)


@checked
@given(log_integers(1, 10**6), sigmas, sensitivities)
def test_noisy_max(size: int, sigma: float, sensitivity: float) -> None:
    bound = float(gaussian_noisy_max_epsilon(size, sigma, 1.0, sensitivity))
    if size == 1:
        assert bound == 0
        return
    verdict = on_the_safe_side(bound, lambda: noisy_max_epsilon(size, sigma, 1, sensitivity))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


def halting_loss(
    t: int | None, k: int, rho: Fraction, sx: float, sz: float, a: Fraction, b: Fraction, step: Fraction
) -> arb:
    """The loss at the worst pair: rivals at b - Delta against b, the last answer at a + Delta against a."""
    below = k if t is None else t - 1
    left = log_halting_probability([(b - step, below)], None if t is None else a + step, rho, sx, sz)
    right = log_halting_probability([(b, below)], None if t is None else a, rho, sx, sz)
    return left - right


thresholds = st.one_of(st.sampled_from([0.0, 0.5, 1.0, -2.0, 3.0]), st.floats(-5, 5))
times = log_integers(1, 10**4)


@checked
@given(times, thresholds, sigmas, sigmas, sensitivities, st.sampled_from([0, -3, 5]))
def test_above_threshold(t: int, rho: float, sx: float, sz: float, sensitivity: float, low: int) -> None:
    if max(1 + abs(rho), 6) / min(sx, sz) > 1e3:  # outside the domain that the bound states
        sx, sz = max(sx, 0.01), max(sz, 0.01)
    a, b, threshold = Fraction(low), Fraction(low + 1), Fraction(rho) + low
    step = min(Fraction(sensitivity), b - a)
    arguments = (float(threshold), sx, sz, float(a), float(b), sensitivity)
    exact_rho = Fraction(float(threshold))
    halted = float(gaussian_above_threshold_loss(t, *arguments))
    verdict = on_the_safe_side(halted, lambda: halting_loss(t, t, exact_rho, sx, sz, a, b, step))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail
    never = float(gaussian_above_threshold_all_below_loss(t, *arguments))
    verdict = on_the_safe_side(never, lambda: halting_loss(None, t, exact_rho, sx, sz, a, b, step))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


def test_the_check_kills_bounds_on_either_wrong_side() -> None:
    truth = lambda: ball(1)
    assert on_the_safe_side(math.nextafter(1, 0), truth).outcome is Outcome.VIOLATED
    assert on_the_safe_side(1 + 1.1e-9, truth).outcome is Outcome.VIOLATED
    assert on_the_safe_side(1 + 0.9e-9, truth).outcome is Outcome.HOLDS


def test_a_bound_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="bound"):
        on_the_safe_side(math.nan, lambda: ball(1))
