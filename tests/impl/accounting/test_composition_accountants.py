import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.adaptive_composition import (
    AdaptiveComposition,
    ComposedMechanism,
    bounded_range_mechanism,
    pure_mechanism,
)
from dpassay.impl.accounting.composition import AdaptiveAccountant, BatchAccountant, level_margin, sum_upper
from dpassay.impl.accounting.histograms import laplace_histogram_delta
from dpassay.impl.accounting.mixed_composition import BoundedRangeBatch, MixedBatch
from dpassay.impl.accounting.optimal_composition import PureComposition, common_grid
from dpassay.spec.ball import ball, precision

D, B = pure_mechanism, bounded_range_mechanism
ACCOUNTANTS = [
    PureComposition([0.3, 0.5, 0.5]),
    PureComposition([0.3, math.pi / 10, 0.5]),
    MixedBatch(pure=2, bounded_range=2, mechanism_epsilon=0.5),
    BoundedRangeBatch(4, 0.5),
    AdaptiveComposition([D(0.5), B(0.25), B(1.0)], cells=256),
    AdaptiveComposition([D(0.5), B(0.21234567), B(1.0)], cells=256),
]


@pytest.mark.parametrize("level", [-3.0, -1e-6, 0.0, 1e-6, 0.5, 3.0])
@pytest.mark.parametrize("total", [1e-6, 1.0, 100.0])
def test_a_level_moves_by_the_rounding_of_the_larger_sum(level: float, total: float) -> None:
    """16 units in the last place of the level and of the total, and not three times as much."""
    largest = max(abs(level), total)
    assert 2.0**-48 * largest <= level_margin(level, total) <= 2.0**-47 * largest


@pytest.mark.parametrize("accountant", ACCOUNTANTS, ids=lambda a: type(a).__name__)
def test_delta_falls_from_one_to_zero(accountant: Any) -> None:
    total = accountant.total_epsilon
    levels = [total * x / 20 for x in range(-25, 26)]
    deltas = [accountant.delta(level) for level in levels]
    assert deltas == sorted(deltas, reverse=True)
    assert accountant.delta(total * (1 + 1e-12)) == 0
    assert accountant.delta(1e6) == 0
    assert accountant.delta(-1e6) == 1
    for level, delta in zip(levels, deltas, strict=True):
        assert delta >= -math.expm1(level)


@pytest.mark.parametrize("accountant", ACCOUNTANTS, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3, 0.2, 1.0])
def test_epsilon_is_the_least_that_reaches_delta(accountant: Any, delta: float) -> None:
    epsilon = accountant.epsilon(delta)
    assert accountant.delta(epsilon) <= delta
    before = epsilon - 1e-9 * accountant.total_epsilon
    assert epsilon == 0 or accountant.delta(before) > delta
    assert epsilon <= accountant.total_epsilon


def batch(pure: int, count: int, epsilon: float) -> MixedBatch:
    return MixedBatch(pure=pure, bounded_range=count - pure, mechanism_epsilon=epsilon)


def test_published_values() -> None:
    assert PureComposition([0.1] * 20).epsilon(1e-6) == pytest.approx(1.7886091, abs=1e-6)
    assert PureComposition([1.0] * 50).epsilon(1e-6) == pytest.approx(47.6494, abs=1e-4)
    assert batch(1, 4, 0.5).delta(0.5) == pytest.approx(0.115509, abs=1e-6)
    assert batch(3, 10, 0.1).delta(0.3) == pytest.approx(0.009598, abs=1e-6)
    assert batch(2, 6, 1.0).delta(2.0) == pytest.approx(0.220699, abs=1e-6)
    assert batch(2, 3, 1.0).delta(0.5) == pytest.approx(0.445633, abs=1e-6)
    assert batch(50, 100, 0.1).epsilon(1e-6) == pytest.approx(3.6502, abs=1e-4)
    assert BoundedRangeBatch(2, 1.0).delta(0.2) == pytest.approx(0.2298655, abs=1e-7)
    adaptive = AdaptiveComposition([B(1.0)] * 2)
    assert adaptive.delta_lower(0.2) == pytest.approx(0.2365370, abs=2e-7)
    assert adaptive.delta(0.2) == pytest.approx(0.2365370, abs=2e-7)


def test_the_ends_of_a_mixed_batch() -> None:
    for level in (-1.0, 0.0, 0.3, 1.2, 2.4):
        pure = MixedBatch(pure=5, bounded_range=0, mechanism_epsilon=0.5).delta(level)
        assert pure == pytest.approx(PureComposition([0.5] * 5).delta(level), rel=1e-9)
        between = MixedBatch(pure=2, bounded_range=3, mechanism_epsilon=0.5).delta(level)
        assert BoundedRangeBatch(5, 0.5).delta(level) <= between <= pure


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_the_dual_at_negative_epsilons(count: int) -> None:
    for accountant in (BoundedRangeBatch(count, 0.01), PureComposition([0.01] * count)):
        for level in (0.001, 0.005, 0.05 * count / 10):
            dual = -math.expm1(-level) + math.exp(-level) * accountant.delta(level)
            assert accountant.delta(-level) == pytest.approx(dual, rel=1e-9)


def test_many_mechanisms_do_not_underflow() -> None:
    deep = MixedBatch(pure=500, bounded_range=500, mechanism_epsilon=0.1).delta(80.0)
    assert 0 < deep < 1e-120
    assert PureComposition([1.0] * 1100).delta(600.0) == pytest.approx(6.5955e-4, rel=1e-4)
    assert PureComposition([800.0]).delta(799.0) == pytest.approx(-math.expm1(-1.0))
    assert MixedBatch(pure=1, bounded_range=1, mechanism_epsilon=800.0).delta(1e-3) <= 1


@pytest.mark.parametrize(
    "accountant",
    [
        PureComposition([0.01] * 2000),
        MixedBatch(pure=20, bounded_range=200, mechanism_epsilon=0.001),
        AdaptiveComposition([D(1e-200), B(1e-200)], cells=64),
    ],
    ids=lambda a: type(a).__name__,
)
def test_a_delta_below_float64_is_not_taken_for_none(accountant: Any) -> None:
    """Before the total epsilon delta is positive, so that delta = 0 costs the total epsilon, and nothing less."""
    total = accountant.total_epsilon
    assert 0 < accountant.delta(0.999 * total) < 1
    assert accountant.epsilon(0.0) == total


@pytest.mark.parametrize("epsilon", [1e-300, 1e-100, 1e-16, 1e-12, 1e-9, 1e-6, 0.1, 10.0, 100.0, 800.0, 1e4, 1e6])
@pytest.mark.parametrize("share", [-0.5, 0.0, 0.3, 0.9, 0.9999])
def test_the_recursion_is_on_the_safe_side_at_any_scale(epsilon: float, share: float) -> None:
    """Differences of deltas are mostly rounding for tiny epsilons; exponentials leave float64 for large ones."""
    accountant = AdaptiveComposition([B(epsilon)], cells=256)
    level = share * epsilon
    with mpmath.workdps(700):
        truth = mpmath.expm1((mpmath.mpf(level) - mpmath.mpf(epsilon)) / 2) ** 2 / -mpmath.expm1(-mpmath.mpf(epsilon))
        assert accountant.delta_lower(level) <= truth <= accountant.delta(level)
        if share <= 0.9 and 1e-9 <= epsilon <= 100:
            assert accountant.delta(level) <= truth * (1 + mpmath.mpf("1e-3"))


def test_many_different_epsilons_have_a_common_unit_at_once() -> None:
    epsilons = [Fraction(k, 10_000) for k in range(1, 1001)]
    grid = common_grid(epsilons, upward=True)
    assert grid.exact
    assert grid.steps.tolist() == list(range(1, 1001))


@pytest.mark.parametrize("seed", range(20))
def test_the_sum_of_epsilons_is_rounded_up_by_less_than_one_number(seed: int) -> None:
    epsilons = [Fraction(x) for x in np.random.default_rng(seed).uniform(0, 1, 7)] + [Fraction(1, 3 + seed)]
    total = sum_upper(epsilons)
    assert Fraction(math.nextafter(total, 0)) < sum(epsilons) <= Fraction(total)
    assert sum_upper([0.5, Fraction(1, 4)]) == 0.75


def delta_next_to_the_total(epsilons: list[float], level: float) -> arb:
    """Enclose delta where the loss exceeds the level only if all responses are truthful."""
    truthful, total = arb(1), sum(map(Fraction, epsilons))
    for epsilon in epsilons:
        truthful /= 1 + (-ball(epsilon)).exp()
    return truthful * -(ball(level) - ball(total)).expm1()


NEXT_TO_THE_TOTAL: dict[str, Callable[[list[float]], Callable[[float], float]]] = {
    "pure": lambda epsilons: PureComposition(epsilons).delta,
    "adaptive": lambda epsilons: AdaptiveComposition([D(epsilon) for epsilon in epsilons], cells=256).delta,
    "mixed": lambda epsilons: MixedBatch(pure=len(epsilons), bounded_range=0, mechanism_epsilon=epsilons[0]).delta,
    "histogram": lambda epsilons: lambda level: float(laplace_histogram_delta(level, epsilons[0], len(epsilons))),
}


@pytest.mark.parametrize("kind", NEXT_TO_THE_TOTAL)
@pytest.mark.parametrize("epsilons", [[0.3], [0.3] * 3, [1.7] * 7, [0.05] * 20], ids=len)
def test_levels_next_to_the_total_are_rounded_down(kind: str, epsilons: list[float]) -> None:
    """There delta is small and proportional to the distance, of which rounding may be a large part."""
    delta = NEXT_TO_THE_TOTAL[kind](epsilons)
    with precision(200):
        for bits in range(36, 52):
            level = sum_upper(epsilons) * (1 - 2.0**-bits)
            assert ball(delta(level)) >= delta_next_to_the_total(epsilons, level), bits


def test_epsilons_of_other_number_types() -> None:
    given: list[Any] = [np.array([0.25, 0.5], dtype=np.float32), [Fraction(1, 4), 0.5], [0.25, Fraction(1, 2)]]
    for epsilons in given:
        assert PureComposition(epsilons).delta(0.1) == PureComposition([0.25, 0.5]).delta(0.1)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e3])
def test_commensurable_epsilons_are_exact_at_any_scale(unit: float) -> None:
    assert common_grid([unit, 3 * unit], upward=True).exact
    assert common_grid([Fraction(1, 3), Fraction(2, 7)], upward=True).exact


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize(
    "epsilons",
    [[0.1, 0.2, 0.1 + 0.2], [1e-9, 3e-9], [Fraction(1, 3), Fraction(2, 7)], [math.sqrt(k) for k in range(2, 9)]],
)
def test_a_grid_rounds_each_epsilon_in_its_direction(epsilons: list[Any], upward: bool) -> None:
    grid = common_grid(epsilons, upward=upward)
    for epsilon, step in zip(epsilons, grid.steps.tolist(), strict=True):
        rounded, given = Fraction(grid.unit) * step, Fraction(epsilon)
        assert rounded >= given if upward else rounded <= given
        assert abs(rounded - given) <= (given / 2**46 if grid.exact else Fraction(grid.unit))


def test_other_epsilons_are_rounded_both_ways() -> None:
    epsilons = [0.1 * math.sqrt(k) for k in range(2, 22)]
    accountant = PureComposition(epsilons)
    assert not accountant.exact
    for level in (0.0, 1.0, 2.0):
        assert accountant.delta_lower(level) < accountant.delta(level) < accountant.delta_lower(level) * 1.01
    coarse = PureComposition(epsilons, cells=500)
    assert coarse.delta_lower(1.0) < accountant.delta_lower(1.0) < accountant.delta(1.0) < coarse.delta(1.0)


def test_more_cells_close_the_gap_of_the_recursion() -> None:
    rounds = [B(0.3)] * 4
    gaps = [a.delta(0.2) - a.delta_lower(0.2) for a in (AdaptiveComposition(rounds, cells=c) for c in (64, 256, 1024))]
    assert gaps[0] > 4 * gaps[1] > 16 * gaps[2] > 0


def test_the_type_tells_whether_mechanisms_may_be_adaptive() -> None:
    assert isinstance(PureComposition([1.0]), AdaptiveAccountant)
    assert isinstance(AdaptiveComposition([B(1.0)]), AdaptiveAccountant)
    for one in (BoundedRangeBatch(2, 1.0), batch(1, 2, 1.0)):
        assert isinstance(one, BatchAccountant)
        assert not isinstance(one, AdaptiveAccountant)
    assert PureComposition([1.0]).claim(0.5) == ApproximateDP(0.5, PureComposition([1.0]).delta(0.5))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: PureComposition([]), "epsilons"),
        (lambda: PureComposition([1.0, -0.5]), "epsilons"),
        (lambda: PureComposition([1.0, math.nan]), "epsilons"),
        (lambda: PureComposition([math.inf]), "epsilons"),
        (lambda: PureComposition([0.0]), "epsilons"),
        (lambda: MixedBatch(pure=-1, bounded_range=2, mechanism_epsilon=1.0), "pure"),
        (lambda: MixedBatch(pure=3, bounded_range=-1, mechanism_epsilon=1.0), "bounded_range"),  # m > k
        (lambda: MixedBatch(pure=0, bounded_range=0, mechanism_epsilon=1.0), "both be 0"),
        (lambda: MixedBatch(pure=1, bounded_range=1, mechanism_epsilon=math.nan), "mechanism_epsilon"),
        (lambda: BoundedRangeBatch(10**9, 1.0), "5000"),
        (lambda: PureComposition([1e308, 1e308]), "float64"),
        (lambda: AdaptiveComposition([B(1e308)] * 2).delta(1.0), "float64"),
        (lambda: BoundedRangeBatch(0, 1.0), "count"),
        (lambda: BoundedRangeBatch(2.5, 1.0), "count"),  # type: ignore[arg-type]
        (lambda: PureComposition([1.0, math.sqrt(2)], cells=math.nan), "cells"),  # type: ignore[arg-type]
        (lambda: PureComposition([1.0, math.sqrt(2)], cells=-1), "cells"),
        (lambda: AdaptiveComposition([]), "rounds"),
        (lambda: AdaptiveComposition([B(1.0)], cells=0), "cells"),
        (lambda: ComposedMechanism("gaussian", 1.0), "kind"),  # type: ignore[arg-type]
        (lambda: pure_mechanism(-1.0), "epsilon"),
        (lambda: bounded_range_mechanism(math.nan), "epsilon"),
        (lambda: PureComposition([1.0]).delta(math.nan), "epsilon"),
        (lambda: BoundedRangeBatch(1, 1.0).delta(math.inf), "epsilon"),
        (lambda: PureComposition([1.0]).epsilon(1.5), "delta"),
        (lambda: PureComposition([1.0]).epsilon(-0.1), "delta"),
        (lambda: PureComposition([1.0]).epsilon(math.nan), "delta"),
        (lambda: PureComposition([1.0]).claim(-0.1), "epsilon"),
    ],
)
def test_bad_input_is_refused(make: Callable[[], Any], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        make()


def test_the_delta_of_a_histogram_is_vectorised_in_the_level() -> None:
    levels = np.array([[0.0, 0.3, 0.8], [1.1, 1.2, 5.0]])  # from 4 * 0.3 on the delta is 0
    found = laplace_histogram_delta(levels, 0.3, 4)
    assert found.shape == levels.shape
    assert found.tolist() == [[float(laplace_histogram_delta(level, 0.3, 4)) for level in row] for row in levels]
