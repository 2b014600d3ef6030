"""The set-wise game against its optimal analyst, and the bounds of impl against the enclosures of spec."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side, safe_at_a_rounded_level

from dpassay.arguments import UsageError
from dpassay.impl.accounting.composition import UNDERFLOW
from dpassay.impl.accounting.histograms import (
    gaussian_histogram_epsilon,
    gaussian_histogram_multiplier,
    laplace_histogram_delta,
    laplace_histogram_epsilon,
)
from dpassay.impl.accounting.setwise import (
    LossProxy,
    approximate_zcdp_proxy,
    bounded_range_mean_loss,
    bounded_range_proxy,
    concentrated_proxy,
    pure_proxy,
    setwise_delta,
    setwise_epsilon,
)
from dpassay.impl.accounting.truncation import truncation_delta, truncation_half_width
from dpassay.properties.games.setwise import (
    fixed_order_delta,
    lattice_menu,
    optimal_delta,
    setwise_bound_holds,
    setwise_gain,
)
from dpassay.properties.strategies.base import log_integers
from dpassay.spec.ball import ball
from dpassay.spec.interactions.setwise import Parameter, setwise_value
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.theorems.composition import histograms as spec_histograms
from dpassay.spec.theorems.composition import setwise as spec_setwise
from dpassay.spec.theorems.composition import truncated_gaussian as spec_truncation
from dpassay.spec.verdict import Outcome

PURE, SMALL, RANGE = Parameter("pure", Fraction(3)), Parameter("pure", Fraction(3, 2)), Parameter("range", Fraction(2))
SETS = [(PURE, RANGE), (SMALL, RANGE, PURE), (RANGE, RANGE, SMALL), (Parameter("range", Fraction(4)), RANGE, RANGE)]
BUDGETS = [Fraction(1), Fraction(3, 2), Fraction(4), Fraction(12)]
checked = settings(max_examples=40, deadline=None, derandomize=True, database=None)
decades = st.floats(-6, 3).map(lambda e: 10.0**e)
deltas = st.floats(-200, -0.01).map(lambda e: 10.0**e)


@pytest.mark.parametrize("registered", SETS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_optimal_analyst_stays_below_the_bound_and_gains_nothing_by_choosing_the_order(
    registered: tuple[Parameter, ...], budget: Fraction
) -> None:
    assert setwise_bound_holds(registered, budget).outcome is Outcome.HOLDS
    assert setwise_gain(registered, budget) == 0


def test_two_programmes_for_the_same_game_agree() -> None:
    for registered in SETS:
        for budget in BUDGETS:
            assert setwise_value(lattice_menu(registered), len(registered), budget) == optimal_delta(
                registered, budget
            )


def test_the_order_of_unequal_bounded_ranges_matters() -> None:
    """The smaller range first is worse, 0.16888 against 0.15825: an adaptive analyst takes that order."""
    narrow, wide = (Parameter("range", Fraction(math.exp(a)).limit_denominator(1000)) for a in (0.4, 1.0))
    budget = Fraction(math.exp(0.24)).limit_denominator(1000)
    small_first, large_first = (
        float(fixed_order_delta((narrow, wide), order, budget, lattice=24)) for order in ((0, 1), (1, 0))
    )
    assert small_first == pytest.approx(0.16888, abs=6e-4)
    assert large_first == pytest.approx(0.15825, abs=6e-4)


@checked
@given(st.one_of(st.sampled_from([1e-8, 1e-3, 0.999, 1.0, 1.001, 3.0, 700.0, 1e4]), decades))
def test_kappa(width: float) -> None:
    verdict = on_the_safe_side(
        float(bounded_range_mean_loss(width)), lambda: mean_loss_of_bounded_range(ball(width)), Fraction(1, 10**12)
    )
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@checked
@given(st.lists(st.tuples(st.floats(0, 3), st.floats(1e-3, 3)), min_size=1, max_size=30), deltas)
def test_setwise_epsilon(pairs: list[tuple[float, float]], delta: float) -> None:
    bound = setwise_epsilon([concentrated_proxy(mu, tau) for mu, tau in pairs], delta)

    def truth() -> arb:
        return spec_setwise.setwise_epsilon(
            [ball(mu) for mu, _ in pairs], [ball(t) for _, t in pairs], Fraction(delta)
        )

    verdict = on_the_safe_side(bound.epsilon, truth)
    assert verdict.outcome is Outcome.HOLDS, verdict.detail
    assert bound.delta == pytest.approx(delta, rel=1e-12)
    assert setwise_delta([concentrated_proxy(mu, tau) for mu, tau in pairs], bound.epsilon).delta <= delta * (1 + 1e-6)


def test_setwise_epsilon_of_the_paper() -> None:
    mixed = [pure_proxy(1.0)] * 25 + [bounded_range_proxy(1.0)] * 25
    assert setwise_epsilon(mixed, 1e-6).epsilon == pytest.approx(44.0203, abs=5e-5)
    sharp = [pure_proxy(1.0, sharp=True)] * 25 + [bounded_range_proxy(1.0, sharp=True)] * 25
    assert setwise_epsilon(sharp, 1e-6).epsilon < 43.117
    leaks = setwise_epsilon([approximate_zcdp_proxy(0.0, 0.01)] * 5, 1e-9)
    assert leaks.epsilon == 0
    assert leaks.delta == pytest.approx(1 - 0.99**5, rel=1e-6)
    assert leaks.delta >= 1 - 0.99**5
    certain = setwise_epsilon([approximate_zcdp_proxy(0.1, 1.0)], 0.1)
    assert certain.delta == 1


@checked
@given(st.floats(0.01, 3), log_integers(1, 300), st.floats(0, 1.1))
def test_laplace_histogram(base: float, size: int, share: float) -> None:
    epsilon = share * base * size
    bound = float(laplace_histogram_delta(epsilon, base, size))
    truth = lambda: spec_histograms.laplace_histogram_delta(ball(base), size, ball(epsilon))
    if Fraction(epsilon) >= size * Fraction(base):
        assert bound == 0
    elif bound > 1e-290:
        verdict = on_the_safe_side(bound, truth)
        assert verdict.outcome is Outcome.HOLDS, verdict.detail


@checked
@given(deltas, st.floats(0.3, 100), log_integers(1, 1000))
def test_gaussian_histogram(delta: float, sigma: float, size: int) -> None:
    bound = float(gaussian_histogram_epsilon(delta, sigma, size))
    verdict = on_the_safe_side(
        bound, lambda: spec_histograms.gaussian_histogram_epsilon(size, ball(sigma), ball(delta))
    )
    assert verdict.outcome is Outcome.HOLDS, verdict.detail
    inverse = float(gaussian_histogram_multiplier(bound, delta, size))
    assert inverse == pytest.approx(sigma, rel=1e-9)


@checked
@given(st.floats(-2, 3).map(lambda e: 10.0**e), st.floats(-1, 2).map(lambda e: 10.0**e), st.sampled_from([1, 3, 10]))
def test_truncation_delta(excess: float, sigma: float, size: int) -> None:
    width = 0.5 + excess
    if width > 30 * sigma:
        width = 30 * sigma if sigma > 0.02 else 0.5
    bound = float(truncation_delta(max(width, 0.5), sigma, 1.0, size))
    verdict = on_the_safe_side(bound, lambda: spec_truncation.truncation_delta(max(width, 0.5), sigma, size))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize(
    ("delta", "tau", "sigma", "size", "half_width"),
    [(1e-6, 1, 5, 1, 24.29378), (1e-10, 1, 20, 10, 131.39880), (0.1, 2, 0.3, 3, 3.100348), (1e-3, 1, 1, 1, 4.083730),
     (1e-6, 5, 4, 1, 98.69601)],
)  # fmt: skip
def test_half_widths_of_the_catalogue(delta: float, tau: float, sigma: float, size: int, half_width: float) -> None:
    found = float(truncation_half_width(delta, sigma, tau, size))
    assert found == pytest.approx(half_width, rel=2e-6)
    assert float(truncation_delta(found, sigma, tau, size)) <= delta
    exact = spec_truncation.truncation_delta(Fraction(found) / tau, sigma, size)
    assert exact <= ball(delta)


@pytest.mark.parametrize(("base", "size"), [(0.1, 25), (0.3, 3), (1.0, 7), (0.01, 5000), (1 / 3, 11)])
@pytest.mark.parametrize("share", [1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 2.0**-44, 1 - 2.0**-52, 1.0])
def test_laplace_histogram_close_to_the_total_epsilon(base: float, size: int, share: float) -> None:
    """delta(epsilon) <= bound <= delta(epsilon - 2^-44 size base) (1 + 10^-9)."""
    epsilon = base * size * share
    at = lambda level: spec_histograms.laplace_histogram_delta(ball(base), size, ball(level))
    bound = float(laplace_histogram_delta(epsilon, base, size))
    total = size * Fraction(base)
    assert (bound == 0) == (Fraction(epsilon) >= total)
    if bound > 0:
        verdict = safe_at_a_rounded_level(bound, at, epsilon, Fraction(epsilon) - total / 2**44, UNDERFLOW)
        assert verdict.outcome is Outcome.HOLDS, verdict.detail


def test_proxies_refuse_what_would_vanish_from_the_sum() -> None:
    for bad in ({"mean": math.nan}, {"mean": math.inf}, {"variance": -1.0}, {"delta": 2.0}, {"delta": math.nan}):
        with pytest.raises(UsageError, match=next(iter(bad))):
            LossProxy(**{"mean": 0.1, "variance": 1.0, **bad})
    for make in (pure_proxy, bounded_range_proxy, lambda x: concentrated_proxy(1.0, x)):
        with pytest.raises(UsageError, match=r"1e\+150"):
            make(1e200)
    assert setwise_delta([pure_proxy(0.1)], 100.0).delta > 0


def test_the_laplace_epsilon_of_the_word_counts() -> None:
    assert float(laplace_histogram_epsilon(1e-6, 0.1, 25)) == pytest.approx(2.07906, abs=1e-5)
    assert float(gaussian_histogram_multiplier(2.0790566, 1e-6, 25)) == pytest.approx(13.1005, abs=1e-4)
    assert float(laplace_histogram_epsilon(0.0, 0.1, 25)) == pytest.approx(2.5)
    assert float(laplace_histogram_epsilon(1.0, 0.1, 25)) == 0


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="delta"):
        setwise_epsilon([], 0.0)
    with pytest.raises(UsageError, match="delta"):
        setwise_epsilon([], 2.0)
    with pytest.raises(UsageError, match="epsilon"):
        setwise_delta([], -1.0)
    with pytest.raises(UsageError, match="xi"):
        approximate_zcdp_proxy(0.1, 0.0, -0.2)
    with pytest.raises(UsageError, match="width"):
        bounded_range_mean_loss(np.nan)
    with pytest.raises(UsageError, match="delta"):
        truncation_half_width(1.0, 1.0)
    with pytest.raises(UsageError, match="half_width"):
        truncation_delta(0.4, 1.0)
    with pytest.raises(UsageError, match="size"):
        laplace_histogram_delta(0.1, 0.1, 0)
    assert setwise_epsilon([], 0.1).epsilon == 0
    assert setwise_delta([], 0.0).delta == 0
    with pytest.raises(UsageError, match="lattice"):
        lattice_menu([PURE], 1)
