import math
from fractions import Fraction

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.pure_composition import LARGEST_COUNT, response_delta, response_epsilon
from dpassay.impl.accounting.target_charging import (
    METHODS,
    _raw_exponent,
    chernoff_tail,
    holder_calls_tail,
    largest_hits,
    mixed_calls,
    one_shot_top_k_account,
    raw_chernoff_tail,
    target_charging_account,
    target_charging_delta,
    target_hits_needed,
)
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.spec.ball import ball, precision


def quality(epsilon: float) -> float:
    return float(not_prior_quality(epsilon))


@pytest.mark.parametrize(
    ("hits", "epsilon", "expected"),
    [
        (1, 0.1, {"theorem": 4.677, "chernoff": 3.548, "exact": 1.988}),
        (50, 0.1, {"theorem": 9.097, "chernoff": 8.744, "exact": 6.660}),
        (200, 0.1, {"theorem": 16.33, "chernoff": 16.12, "exact": 13.27}),
        (50, 0.5, {"theorem": 79.8, "chernoff": 76.0, "exact": 60.3}),
        (20, 1.0, {"theorem": 198.2, "chernoff": 178.1, "exact": 129.0}),
    ],
)
def test_accounts_at_a_millionth(hits: int, epsilon: float, expected: dict[str, float]) -> None:
    for method in METHODS:
        account = target_charging_account(hits, epsilon, quality(epsilon), 1e-6, method=method)
        assert account.method == method
        assert account.epsilon == pytest.approx(expected[method], rel=6e-4)
    assert target_charging_account(hits, epsilon, quality(epsilon), 1e-6).method == "exact"


def test_the_default_says_what_it_used_where_the_exact_method_is_out_of_reach() -> None:
    account = target_charging_account(10**9, 0.1, 0.5, 1e-6)
    assert account.method == "chernoff"
    assert account.calls > 2e9
    with pytest.raises(UsageError, match="exact"):
        target_charging_account(10**9, 0.1, 0.5, 1e-6, method="exact")


def test_the_zooming_search_misses_little_of_the_best_number_of_calls() -> None:
    for hits, epsilon in ((1, 0.1), (7, 0.3), (20, 1.0)):
        best = min(
            response_epsilon(calls, epsilon, 1e-6 - tail)
            for calls in range(hits, 600)
            if (tail := float(holder_calls_tail(calls, hits, quality(epsilon)))) < 1e-6
        )
        found = target_charging_account(hits, epsilon, quality(epsilon), 1e-6).epsilon
        assert best <= found * (1 + 1e-12) <= best * (1 + 1e-6)


def test_more_targets_and_leaking_calls_cost_more() -> None:
    plain = target_charging_account(10, 0.1, 0.475, 1e-6).epsilon
    assert plain < target_charging_account(10, 0.1, 0.475, 1e-6, targets=2).epsilon
    half = target_charging_account(10, 0.1, 0.475, 5e-7).epsilon
    assert target_charging_account(10, 0.1, 0.475, 1e-6, targets=2).epsilon == pytest.approx(half, rel=1e-9)
    assert target_charging_account(10, 0.1, 0.475, 1e-6, delta_of_calls=5e-7).epsilon == pytest.approx(half, rel=1e-9)


def test_several_targets_multiply_the_deltas_of_the_calls_too() -> None:
    """Each target may need errors of its own: k (delta' + tau_delta), not k delta' + tau_delta."""
    single = target_charging_account(10, 0.1, 0.475, 5e-7, delta_of_calls=1e-7).epsilon
    both = target_charging_account(10, 0.1, 0.475, 1e-6, delta_of_calls=1e-7, targets=2).epsilon
    assert both == pytest.approx(single, rel=1e-9)
    one = target_charging_delta(10, 0.1, 0.475, 3.0, delta_of_calls=1e-7)
    assert target_charging_delta(10, 0.1, 0.475, 3.0, delta_of_calls=1e-7, targets=2) == pytest.approx(2 * one)
    assert one - target_charging_delta(10, 0.1, 0.475, 3.0) == pytest.approx(1e-7)


def test_corners_of_the_account() -> None:
    assert target_charging_account(3_000_000, 0.1, 1.0, 1e-6).method == "chernoff"  # beyond the exact curve
    assert target_charging_account(1, 0.1, 0.5, 1 - 1e-16).epsilon == 0
    assert target_charging_account(5, 1e300, 0.5, 1e-6).epsilon >= 5e300
    assert math.isinf(target_charging_account(5, 0.1, 5e-324, 1e-6).epsilon)
    assert target_charging_account(5, 0.1, 0.5, 5e-324).epsilon < math.inf


def test_delta_inverts_epsilon() -> None:
    for hits, epsilon in ((1, 0.1), (50, 0.1), (20, 1.0)):
        total = target_charging_account(hits, epsilon, quality(epsilon), 1e-6).epsilon
        assert target_charging_delta(hits, epsilon, quality(epsilon), total) == pytest.approx(1e-6, rel=1e-3)


def test_largest_hits_fit_and_one_more_does_not() -> None:
    hits = largest_hits(1.0, 1e-6, 0.02, quality(0.02))
    assert target_charging_account(hits, 0.02, quality(0.02), 1e-6).epsilon <= 1
    assert target_charging_account(hits + 1, 0.02, quality(0.02), 1e-6).epsilon > 1
    assert largest_hits(1.0, 1e-6, 0.1, quality(0.1)) == 0


def test_top_k_costs_k_hits_at_twice_the_epsilon() -> None:
    account = one_shot_top_k_account(5, 0.1, 1e-6)
    assert account.epsilon == target_charging_account(5, 0.2, quality(0.2), 1e-6).epsilon


def test_hits_needed() -> None:
    assert target_hits_needed(0.5, math.exp(-100)) == 1058  # 10.578105 * 100
    assert target_hits_needed(1.0, math.exp(-100)) == 326
    assert target_hits_needed(1e200, 1e-6) == 1
    assert target_hits_needed(1e-9, 1e-6) == pytest.approx(2 * math.log(1e6) * 1e18, rel=1e-8)
    assert target_hits_needed(1e-4, 1e-6) == pytest.approx(2 * math.log(1e6) * 1e8, rel=1e-3)


def test_mixed_calls_are_charged_at_the_worst() -> None:
    assert mixed_calls([0.1, 0.2], [0.4, 0.5]) == (0.2, 0.4)


def test_tails_in_their_order_and_the_series_of_the_raw_one() -> None:
    slack = np.array([1e-6, 9.99e-4, 1.001e-3, 0.5, 5.0])
    for hits, q in ((1, 0.5), (50, 0.1), (1000, 0.99)):
        exact = holder_calls_tail(np.floor((1 + slack) * hits / q), hits, q)
        assert bool(np.all(exact <= raw_chernoff_tail(hits, slack)))
        assert bool(np.all(raw_chernoff_tail(hits, slack) <= chernoff_tail(hits, slack)))
    assert float(holder_calls_tail(1, 1, 0.5)) == pytest.approx(0.5)
    assert float(holder_calls_tail(3, 1, 0.5)) == pytest.approx(0.125)
    assert float(holder_calls_tail(4, 5, 0.9)) == 1


def test_composition_at_its_ends() -> None:
    assert response_epsilon(0, 1.0, 0.0) == 0
    assert response_epsilon(7, 1.0, 1.0) == 0
    assert response_epsilon(7, 1.0, 0.0) == pytest.approx(7)
    assert response_delta(7, 1.0, 7.0) == 0
    assert response_delta(1, 1.0, 0.0) == pytest.approx(math.tanh(0.5))
    assert response_epsilon(1, 1.0, math.tanh(0.5) * 1.001) == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0, 0.1, 0.5, 1e-6), "hits"),
        ((1.5, 0.1, 0.5, 1e-6), "hits"),
        ((1, 0.0, 0.5, 1e-6), "epsilon"),
        ((1, math.nan, 0.5, 1e-6), "epsilon"),
        ((1, 0.1, 0.0, 1e-6), "quality"),
        ((1, 0.1, 1.1, 1e-6), "quality"),
        ((1, 0.1, math.nan, 1e-6), "quality"),
        ((1, 0.1, 0.5, 0.0), "delta"),
        ((1, 0.1, 0.5, 1.0), "delta"),
    ],
)
def test_parameters_out_of_their_domain_are_named(arguments: tuple[float, ...], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        target_charging_account(*arguments)  # type: ignore[arg-type]


def test_other_errors_of_use() -> None:
    with pytest.raises(UsageError, match="delta_of_calls"):
        target_charging_account(1, 0.1, 0.5, 1e-6, delta_of_calls=1e-6)
    with pytest.raises(UsageError, match="method"):
        target_charging_account(1, 0.1, 0.5, 1e-6, method="magic")
    with pytest.raises(UsageError, match="count"):
        response_epsilon(LARGEST_COUNT + 1, 0.1, 1e-6)
    with pytest.raises(UsageError, match="hits/quality"):
        target_charging_delta(10**9, 0.1, 0.5, 1.0)
    with pytest.raises(UsageError, match="at least one"):
        mixed_calls([], [])
    for slack in (0.0, 1e-200, math.nan):
        with pytest.raises(UsageError, match="slack"):
            target_hits_needed(slack, 1e-6)
    with pytest.raises(UsageError, match="delta_of_calls"):
        target_charging_account(1, 0.1, 0.5, 1e-6, delta_of_calls=6e-7, targets=2)
    with pytest.raises(UsageError, match="delta"):
        target_charging_account(1, 0.1, 0.5, 5e-324, targets=3)
    for hits, targets in ((10**400, 1), (1, 10**400)):
        with pytest.raises(UsageError, match="at most"):
            target_charging_account(hits, 0.1, 0.5, 1e-6, targets=targets)


@pytest.mark.parametrize("slack", [1e-9, 1e-6, 1e-4, 7e-4, 9.99e-4, 1e-3, 1.01e-3, 1e-2, 1.0, 30.0])
def test_the_raw_exponent_is_rounded_down_and_no_further(slack: float) -> None:
    """alpha - ln(1 + alpha), by the series below a thousandth and as a difference above."""
    with precision(256):
        exact = ball(slack) - ball(slack).log1p()
        found = ball(float(_raw_exponent(np.array(slack))))
        assert exact * (1 - ball(Fraction(3, 10**12))) <= found <= exact
