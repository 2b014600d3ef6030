import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.arguments import UsageError
from dpassay.properties.betting.bets import ERROR_PER_CALL, LEVELS, WEIGHTS, last_refuted, log_factors, to_levels
from dpassay.properties.betting.wealth import Ledger, best_weight, log_wealth, log_wealths
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact

SIZE = 3
weights = st.lists(st.integers(0, 20), min_size=SIZE, max_size=SIZE).filter(any)
ratios = st.fractions(1, 8, max_denominator=7)
shares = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
predictions = st.lists(shares, min_size=SIZE, max_size=SIZE)


def exact_bets(
    prediction: list[Fraction], ratio: Fraction, delta: Fraction, w: Fraction, fraction: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """Equations (2') and (3) in rational numbers: (factor on the left, factor on the right) of each outcome."""
    most = fraction * 2 * (1 - w) / (ratio + delta * (1 - w))
    fee = delta * most / 2
    stakes = [min(most, max(Fraction(0), (1 - fee) * 2 * (a * (w + (1 - w) / ratio) - w))) for a in prediction]
    return [(1 - fee + stake / (2 * w), 1 - fee - ratio * stake / (2 * (1 - w))) for stake in stakes]


@given(p=weights, q=weights, a=predictions, ratio=ratios, w=shares, fraction=st.sampled_from([1, Fraction(1, 8)]))
def test_the_mean_factor_is_at_most_one_exactly(  # hypothesis passes them by name
    p: list[int], q: list[int], a: list[Fraction], ratio: Fraction, w: Fraction, fraction: Fraction
) -> None:
    left, right = FiniteDistribution.of(*p), FiniteDistribution.of(*q)
    delta = hockey_stick_exact(left, right, ratio)
    bets = exact_bets(a, ratio, delta, w, Fraction(fraction))
    mean = sum(w * left.probability(k) * m[0] + (1 - w) * right.probability(k) * m[1] for k, m in enumerate(bets))
    assert mean <= 1
    assert all(factor >= 0 for bet in bets for factor in bet)


@given(a=predictions, ratio=ratios, delta=st.fractions(0, 1, max_denominator=30), w=shares)
def test_the_code_computes_the_exact_factors(a: list[Fraction], ratio: Fraction, delta: Fraction, w: Fraction) -> None:
    logits = [math.log(x / (1 - x)) for x in a]
    on_left, on_right = log_factors(
        logits, math.log(ratio), float(delta), weight=float(w), direction="left over right"
    )
    exact = exact_bets(a, ratio, delta, w, Fraction(1))
    np.testing.assert_allclose(np.exp(on_left), [float(bet[0]) for bet in exact], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(np.exp(on_right), [float(bet[1]) for bet in exact], rtol=1e-11, atol=1e-12)


@given(a=predictions, epsilon=st.floats(0, 5), w=shares)
def test_right_over_left_is_the_mirror_image(a: list[Fraction], epsilon: float, w: Fraction) -> None:
    logits = np.array([math.log(x / (1 - x)) for x in a])
    direct = log_factors(logits, epsilon, 0.1, weight=float(w), direction="right over left")
    mirror = log_factors(-logits, epsilon, 0.1, weight=1 - float(w), direction="left over right")
    np.testing.assert_array_equal(direct[0], mirror[1])
    np.testing.assert_array_equal(direct[1], mirror[0])


def test_both_directions_are_two_single_bets_on_disjoint_outcomes() -> None:
    logits = np.linspace(-6, 6, 101)
    both = log_factors(logits, 1.0)
    up = log_factors(logits, 1.0, direction="left over right")
    down = log_factors(logits, 1.0, direction="right over left")
    np.testing.assert_allclose(both[0], up[0] + down[0], atol=1e-14)
    np.testing.assert_allclose(both[1], up[1] + down[1], atol=1e-14)
    assert np.all(both[0][np.abs(logits) <= 1] == 0)


def exact_bets_both_ways(
    prediction: list[Fraction], ratio: Fraction, delta: Fraction, w: Fraction, fraction: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """The bet in both directions in rational numbers, the better one of each outcome; the fees of both are due."""
    most, most_down = (fraction * 2 * side / (ratio + delta) for side in (1 - w, w))
    fee = delta * (most + most_down) / 2
    bets = []
    for a in prediction:
        up = (1 - fee) * 2 * (a * (w + (1 - w) / ratio) - w)
        down = (1 - fee) * 2 * ((1 - a) * (1 - w + w / ratio) - (1 - w))
        up, down = min(most, max(Fraction(0), up)), min(most_down, max(Fraction(0), down))
        on_left = 1 - fee + up / (2 * w) - ratio * down / (2 * w)
        bets.append((on_left, 1 - fee - ratio * up / (2 * (1 - w)) + down / (2 * (1 - w))))
    return bets


@given(
    p=weights,
    q=weights,
    a=predictions,
    ratio=ratios,
    w=shares,
    fraction=st.sampled_from([Fraction(1), Fraction(1, 8)]),
)
def test_the_mean_factor_of_both_directions_is_at_most_one_at_every_weight(
    p: list[int], q: list[int], a: list[Fraction], ratio: Fraction, w: Fraction, fraction: Fraction
) -> None:
    left, right = FiniteDistribution.of(*p), FiniteDistribution.of(*q)
    delta = max(hockey_stick_exact(left, right, ratio), hockey_stick_exact(right, left, ratio))
    bets = exact_bets_both_ways(a, ratio, delta, w, fraction)
    mean = sum(w * left.probability(k) * m[0] + (1 - w) * right.probability(k) * m[1] for k, m in enumerate(bets))
    assert mean <= 1
    assert all(factor >= 0 for bet in bets for factor in bet)
    if delta > 0:
        logits = [math.log(x / (1 - x)) for x in a]
        found = log_factors(logits, math.log(ratio), float(delta), weight=float(w), cap_fraction=float(fraction))
        for side in (0, 1):
            np.testing.assert_allclose(np.exp(found[side]), [float(bet[side]) for bet in bets], rtol=1e-11, atol=1e-12)


def test_the_wealth_of_batches_with_different_weights_is_a_product() -> None:
    rng, ledger, expected = np.random.default_rng(0), Ledger(), 0.0
    for weight in WEIGHTS:
        logits, sides = rng.normal(0, 3, 200), rng.random(200) < weight
        levels = to_levels(logits)
        ledger.record(levels, sides, weight)
        left, right = log_factors(LEVELS[levels] + math.log(weight / (1 - weight)), 0.7, weight=weight)
        expected += float(np.where(sides, left, right).sum())
    wealth = log_wealth(ledger, 0.7)[0]
    assert expected - 2 * ERROR_PER_CALL * ledger.calls < wealth <= expected
    with pytest.raises(ValueError, match="not in tuple"):
        ledger.record(levels, sides, 1 / 3)


def test_the_best_weight_spends_calls_on_the_side_without_the_outcome() -> None:
    """Only the left side has some outcome: mostly right calls. Alike in both directions: fair sides."""
    sure, none = to_levels([12.0, -0.01]), to_levels([0.0])

    def ledger_of(left: int, right: int) -> Ledger:
        ledger = Ledger()
        ledger.record(np.repeat(sure[0], left), np.ones(left, dtype=np.bool_))
        ledger.record(np.repeat(to_levels([-12.0]), right), np.zeros(right, dtype=np.bool_))
        ledger.record(np.repeat(none, 20_000), np.arange(20_000) % 2 == 0)
        return ledger

    assert best_weight(ledger_of(100, 0), 5.0) == 1 / 8
    assert best_weight(ledger_of(0, 100), 5.0) == 7 / 8
    assert best_weight(ledger_of(100, 100), 5.0) == 1 / 2
    assert best_weight(Ledger(), 5.0) == 1 / 2


def test_an_infinite_bound_forbids_nothing() -> None:
    left, right = log_factors([5.0, -5.0], [np.inf, np.inf])
    assert not left.any()
    assert not right.any()


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": -1.0},
        {"epsilon": math.nan},
        {"epsilon": 1.0, "delta": 2.0},
        {"epsilon": 1.0, "weight": 1.0},
    ],
)
def test_parameters_outside_their_domain_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        log_factors([0.0], **arguments)  # type: ignore[arg-type]


def test_predictions_are_rounded_symmetrically_and_closely() -> None:
    logits = np.linspace(-16, 16, 5001)
    levels = to_levels(logits)
    np.testing.assert_array_equal(LEVELS[levels], -LEVELS[to_levels(-logits)])
    inside = np.abs(logits) < LEVELS[-1]
    assert np.max(np.abs(LEVELS[levels] - logits)[inside] / (2.0**-9 + np.abs(logits[inside]))) < 2.0**-7
    with pytest.raises(UsageError):
        to_levels([math.nan])


def test_the_wealth_follows_from_the_counts_and_ledgers_add_up() -> None:
    rng = np.random.default_rng(0)
    first, second, together = Ledger(), Ledger(), Ledger()
    expected = 0.0
    for ledger in (first, second):
        logits, sides = rng.normal(0, 3, 50), rng.random(50) < 0.5
        levels = to_levels(logits)
        ledger.record(levels, sides)
        together.record(levels, sides)
        left, right = log_factors(LEVELS[levels], 0.7)
        expected += float(np.where(sides, left, right).sum())
    merged = first + second
    np.testing.assert_array_equal(merged.places, together.places)
    np.testing.assert_array_equal(merged.sides, together.sides)
    assert merged.calls == 100
    wealth = log_wealth(merged, 0.7)[0]
    assert expected - 2 * ERROR_PER_CALL * merged.calls < wealth <= expected


def test_the_lower_bound_is_the_last_point_before_the_first_that_stands() -> None:
    grid = [0.25, 0.5, 1.0]
    assert last_refuted(grid, np.array([False, True, True])) == 0.0
    assert last_refuted(grid, np.array([True, False, True])) == 0.25
    assert last_refuted(grid, np.array([True, True, True])) == 1.0


@given(st.integers(0, 2**32 - 1))
def test_the_sums_from_both_ends_are_those_of_the_factors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ledger = Ledger()
    for weight in WEIGHTS:
        levels = to_levels(rng.normal(0, rng.choice([0.01, 1.0, 8.0]), 200))
        ledger.record(levels, rng.random(200) < weight, weight)
    claims = np.array([0.0, LEVELS[LEVELS > 0][0], 0.3, LEVELS[-1], 20.0, math.inf])
    expected = np.zeros(claims.shape)
    for row, weight in enumerate(WEIGHTS):
        logits = LEVELS + math.log(weight) - math.log1p(-weight)
        on_left, on_right = log_factors(logits, claims[:, None], weight=weight)
        left, right = ledger.at_weight(row)
        expected += on_left @ left + on_right @ right
    found = log_wealth(ledger, claims)
    assert np.all(found <= expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2 * ERROR_PER_CALL * ledger.calls)


@given(data=st.data(), seed=st.integers(0, 10**6))
def test_a_rough_ledger_has_the_same_calls_and_about_the_same_wealth(data: st.DataObject, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ledger, spread = Ledger(), data.draw(st.floats(0.01, 4))
    for weight in WEIGHTS:
        logits = rng.normal(0, spread, 300)
        is_left = rng.random(300) < 1 / (1 + np.exp(-logits - math.log(weight / (1 - weight))))
        ledger.record(to_levels(logits), is_left, weight)
    rough = ledger.rough()
    assert rough.calls == ledger.calls
    claims = np.array([0.0, spread / 2, spread]), np.array([0.0, 0.01, 0.0])
    exact = log_wealth(ledger, *claims)
    np.testing.assert_allclose(log_wealth(rough, *claims), exact, rtol=0.1, atol=1.0)


def test_ledgers_together_have_the_wealth_of_each() -> None:
    rng = np.random.default_rng(0)
    ledgers = [Ledger() for _ in range(3)]
    for k, ledger in enumerate(ledgers[1:]):
        ledger.record(to_levels(rng.normal(0, 1 + k, 500)), rng.random(500) < 0.5, WEIGHTS[k])
    claims = np.array([0.0, 0.5, 0.5, 2.0]), np.array([0.0, 0.0, 0.05, 1e-4])
    together = log_wealths(ledgers, *claims)
    np.testing.assert_allclose(together, [log_wealth(ledger, *claims) for ledger in ledgers], rtol=1e-9, atol=1e-9)
