"""The distributions that accountants are held against, each from another angle than its closed form."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy import stats

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP
from dpassay.spec.ball import ball, float_lower, float_upper, precision
from dpassay.spec.distributions import noise_pairs, subsampled_gaussian
from dpassay.spec.distributions.composed_responses import (
    composed_approximate_delta,
    composed_response_delta,
    heterogeneous_delta,
    response_renyi_divergence,
)
from dpassay.spec.distributions.discrete_gaussian import (
    DiscreteGaussian,
    discrete_gaussian_cells,
    discrete_gaussian_hockey_stick,
)
from dpassay.spec.distributions.laplace_pair import laplace_hockey_stick, laplace_renyi_divergence
from dpassay.spec.distributions.noise import NoiseDistribution
from dpassay.spec.distributions.subsampled_gaussian import (
    _power_mean,
    subsampled_gaussian_hockey_stick,
    subsampled_gaussian_renyi_divergence,
)
from dpassay.spec.notions.base import find_notion
from dpassay.spec.theorems.composition.optimal_pure import optimal_pure_delta

BITS = 128


def approx(value: arb) -> float:
    """The midpoint of a ball that is narrow."""
    assert value.rad() <= 1e-12 * max(1.0, abs(float(value.mid())))
    return float(value.mid())


@pytest.mark.parametrize("count", [1, 2, 5, 9])
@pytest.mark.parametrize("level", [-1, 0, 1, 3])
def test_composed_responses_agree_with_the_rational_formula(count: int, level: int) -> None:
    """e^epsilon0 = 2 and epsilon = level epsilon0 make all of it rational, but for the logarithm of 2."""
    epsilon0 = Fraction(math.log(2))
    rational = optimal_pure_delta(count, Fraction(2), Fraction(2) ** max(level, 0))
    with precision(BITS):
        value = composed_response_delta(epsilon0, count, max(level, 0) * epsilon0)
    assert approx(value) == pytest.approx(float(rational), rel=1e-13, abs=1e-15)


def test_different_mechanisms_agree_with_all_sign_patterns() -> None:
    epsilons, deltas, epsilon = [0.3, 0.1, 0.1, 0.7], [1e-3, 0.0, 1e-4, 0.0], 0.4
    total = 0.0
    for signs in itertools.product([1, -1], repeat=4):
        p = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, epsilons, strict=True))
        loss = sum(s * e for s, e in zip(signs, epsilons, strict=True))
        total += p * max(0.0, 1 - math.exp(epsilon - loss))
    kept = math.prod(1 - d for d in deltas)
    with precision(BITS):
        assert approx(heterogeneous_delta(epsilons, deltas, epsilon)) == pytest.approx(1 - kept * (1 - total))
        same = heterogeneous_delta([0.1] * 6, [1e-5] * 6, 0.2)
        assert same.overlaps(composed_approximate_delta(0.1, 1e-5, 6, 0.2))


@pytest.mark.parametrize("order", [1.001, 2.0, 7.5])
def test_renyi_divergences_agree_with_integrals(order: float) -> None:
    def integral(p: Any, q: Any, *points: float) -> Any:
        return mpmath.log(mpmath.quad(lambda x: p(x) ** order * q(x) ** (1 - order), points)) / (order - 1)

    def laplace(x: Any) -> Any:
        return mpmath.exp(-abs(x) / 2) / 4

    with precision(BITS):
        pair = laplace_renyi_divergence(Fraction(1, 2), order)
        response = response_renyi_divergence(1.5, order)
    assert approx(pair) == pytest.approx(float(integral(laplace, lambda x: laplace(x - 1), -200, 0, 1, 200)), rel=1e-9)
    t = 1 / (1 + math.exp(-1.5))
    moment = t**order * (1 - t) ** (1 - order) + (1 - t) ** order * t ** (1 - order)
    assert approx(response) == pytest.approx(math.log(moment) / (order - 1), rel=1e-9)


def test_laplace_hockey_stick_agrees_with_an_integral() -> None:
    def density(x: Any) -> Any:
        return mpmath.exp(-abs(x)) / 2

    exact = mpmath.quad(lambda x: max(0, density(x) - mpmath.e**0.5 * density(x - 2)), [-60, 0, 0.75, 2, 60])
    with precision(BITS):
        assert approx(laplace_hockey_stick(2, 0.5)) == pytest.approx(float(exact), rel=1e-9)
        assert laplace_hockey_stick(2, 2) == 0


@pytest.mark.parametrize("sigma", [0.7, 2.0])
@pytest.mark.parametrize("rate", [0.01, 0.5])
@pytest.mark.parametrize("removed", [True, False])
def test_one_subsampled_step_agrees_with_an_integral(sigma: float, rate: float, removed: bool) -> None:
    def without(x: Any) -> Any:
        return mpmath.npdf(x, 0, sigma)

    def with_record(x: Any) -> Any:
        return (1 - rate) * without(x) + rate * mpmath.npdf(x, 1, sigma)

    first, second = (with_record, without) if removed else (without, with_record)
    epsilon = 0.1
    grid = [-15 * sigma + k * (1 + 30 * sigma) / 40 for k in range(41)]
    exact = mpmath.quad(lambda x: max(0, first(x) - mpmath.exp(epsilon) * second(x)), grid)
    with precision(BITS):
        value = subsampled_gaussian_hockey_stick(sigma, rate, epsilon, removed=removed)
    assert approx(value) == pytest.approx(float(exact), rel=1e-3, abs=1e-9)  # the integrand has a kink


@pytest.mark.parametrize(("sigma", "rate"), [(0.5, 0.3), (1.0, 0.01), (4.0, 1e-3)])
@pytest.mark.parametrize("order", [2, 5, 30])
def test_integer_and_fractional_orders_agree(sigma: float, rate: float, order: int) -> None:
    """The binomial sum and the integral are two ways to the same number, and orders in between lie in between."""
    with precision(BITS):
        by_sum = subsampled_gaussian_renyi_divergence(sigma, rate, order)
        by_integral = _power_mean(Fraction(sigma), Fraction(rate), Fraction(order)) / (order - 1)
        assert by_sum.overlaps(by_integral)
        assert by_integral.rel_accuracy_bits() > 30
        between = subsampled_gaussian_renyi_divergence(sigma, rate, order + 0.5)
        assert by_sum < between < subsampled_gaussian_renyi_divergence(sigma, rate, order + 1)


@pytest.mark.parametrize("farthest", [0, 1, 4])
def test_what_lies_beyond_the_integral_of_a_subsampled_gaussian_is_enclosed(
    monkeypatch: pytest.MonkeyPatch, farthest: int
) -> None:
    """An integral that stops early is wide, but holds the binomial sum."""
    monkeypatch.setattr(subsampled_gaussian, "FARTHEST", farthest)
    for sigma, rate, order in ((1.0, 0.25, 3), (4.0, 0.01, 2), (0.5, 0.3, 5)):
        with precision(BITS):
            by_sum = subsampled_gaussian_renyi_divergence(sigma, rate, order) * (order - 1)
            by_integral = _power_mean(Fraction(sigma), Fraction(rate), Fraction(order))
            assert by_integral.overlaps(by_sum)
            assert by_integral.rad() < 4


@pytest.mark.parametrize("sigma", [0.3, 2.0, 20.0])
def test_discrete_gaussian_agrees_with_sums(sigma: float) -> None:
    reach = int(40 * sigma) + 5
    weights = {x: math.exp(-x * x / (2 * sigma * sigma)) for x in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    with precision(BITS):
        distribution = DiscreteGaussian(sigma)
        for x in (0, 1, -3):
            assert approx(distribution.probability(x)) == pytest.approx(weights[x] / total, rel=1e-12)
            above = math.fsum(w for y, w in weights.items() if y >= x) / total
            assert approx(distribution.at_least(x)) == pytest.approx(above, rel=1e-12)
        for epsilon in (0.0, 0.05, 1.0):
            parts = (max(0.0, weights[x] - math.exp(epsilon) * weights.get(x - 1, 0.0)) for x in weights)
            exact = math.fsum(parts) / total
            assert approx(discrete_gaussian_hockey_stick(distribution, epsilon)) == pytest.approx(
                exact, rel=1e-10, abs=1e-15
            )


@pytest.mark.parametrize("sigma", [0.3, 2.0, 20.0])
@pytest.mark.parametrize("reach", [1, 3])
def test_what_lies_beyond_the_sums_of_a_discrete_gaussian_is_enclosed(sigma: float, reach: int) -> None:
    """Sums that stop early are wide, but hold what longer ones say; beyond their last integer, too."""
    with precision(BITS):
        short, long = DiscreteGaussian(sigma, reach=reach), DiscreteGaussian(sigma)
        assert short.total.overlaps(long.total)
        for x in (-short.last, 0, 1, short.last, short.last + 1):
            assert short.probability(x).overlaps(long.probability(x))
            assert short.at_least(x).overlaps(long.at_least(x))
        assert long.at_least(short.last + 1) > 0
        assert short.at_least(short.last + 1) < 2 * long.at_least(short.last + 1) + 2.0**-100


@pytest.mark.parametrize(
    ("distribution", "cdf"),
    [
        (NoiseDistribution("laplace", 1.0, 2.0), stats.laplace(1, 2).cdf),
        (NoiseDistribution("gaussian", -1.0, 0.5), stats.norm(-1, 0.5).cdf),
        (NoiseDistribution("discrete laplace", 3, 2.0), stats.dlaplace(0.5, loc=3).cdf),
        (NoiseDistribution("bounded laplace", 0.0, 1.0, -1.0, 3.0), None),
        (NoiseDistribution("clamped laplace", 0.0, 1.0, -1.0, 3.0), None),
    ],
)
def test_intervals_agree_with_scipy(distribution: NoiseDistribution, cdf: Callable[[float], Any]) -> None:
    free = stats.laplace(0, 1).cdf
    if distribution.family == "bounded laplace":
        cdf = lambda x: min(max((free(x) - free(-1)) / (free(3) - free(-1)), 0.0), 1.0)
    elif distribution.family == "clamped laplace":
        cdf = lambda x: 0.0 if x < -1 else 1.0 if x >= 3 else free(x)
    with precision(BITS):
        for low, high in ((-2.0, 1.0), (-1.0, 3.0), (0.0, 0.5), (2.0, 30.0), (-1.5, 3.0), (-9.0, -1.0)):
            assert approx(distribution.interval(low, high)) == pytest.approx(float(cdf(high) - cdf(low)), abs=1e-12)
        assert approx(distribution.interval(None, 2.0)) == pytest.approx(float(cdf(2.0)), abs=1e-12)
        assert approx(distribution.interval(2.0, None) + distribution.interval(None, 2.0)) == pytest.approx(1)


def test_discrete_laplace_off_the_integers_agrees_with_a_sum() -> None:
    distribution = NoiseDistribution("discrete laplace", 0.3, 1.5)
    weights = {x: math.exp(-abs(x - 0.3) / 1.5) for x in range(-80, 81)}
    total = math.fsum(weights.values())
    with precision(BITS):
        for low, high in ((-4, 2), (0, 1), (1, 6), (-1, 0)):
            exact = math.fsum(w for x, w in weights.items() if low < x <= high) / total
            assert approx(distribution.interval(low, high)) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        ("cauchy", 0.0, 1.0),
        ("laplace", 0.0, 0.0),
        ("laplace", math.nan, 1.0),
        ("discrete gaussian", 0.5, 1.0),
        ("discrete gaussian", 0, 1e6),
        ("laplace", 0.0, 1.0, 0.0, 1.0),
        ("bounded laplace", 0.0, 1.0),
        ("bounded laplace", 0.0, 1.0, 2.0, 1.0),
    ],
)
def test_impossible_noise_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(UsageError):
        NoiseDistribution(*arguments)


def test_far_tails_stay_relative() -> None:
    with precision(BITS):
        for family in ("laplace", "gaussian"):
            tail = NoiseDistribution(family, 0.0, 1.0).interval(30.0, 31.0)
            assert tail.rel_accuracy_bits() > 60
            assert 0 < float_lower(tail) <= float_upper(tail) < 1e-10
        assert ball(0) < NoiseDistribution("discrete laplace", 0, 1.0).interval(300, 301)


@pytest.mark.parametrize(("gap", "scale"), [(1, 1.0), (3, 0.5), (2, 5.5)])
def test_zcdp_of_discrete_gaussians_is_the_largest_of_all_orders(
    gap: int, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = [(NoiseDistribution("discrete gaussian", 0, scale), NoiseDistribution("discrete gaussian", gap, scale))]
    orders = [float((noise_pairs.renyi_divergence_of_noise(pair, order) / order).mid()) for order in (1.3, 2.0)]
    monkeypatch.setattr(noise_pairs, "_common_cells", None)  # the closed form needs no cells
    of_noise = find_notion(ZCDP(1.0)).of_noise
    assert of_noise is not None
    whole = float(of_noise(ZCDP(1.0), pair).mid())
    assert whole == pytest.approx(gap**2 / (2 * scale**2), rel=1e-15)
    assert orders[1] == pytest.approx(whole, rel=1e-9)
    assert orders[0] <= whole * (1 + 1e-12)


def test_cells_of_a_pair_are_made_once_for_all_orders() -> None:
    left, right = (NoiseDistribution("bounded laplace", location, 1.0, 0, 1) for location in (0.25, 0.5))
    pair = [(left, right)]
    noise_pairs.renyi_divergence_of_noise(pair, 2.0)
    before = noise_pairs._cells_at.cache_info().misses
    noise_pairs.renyi_divergence_of_noise(pair, 3.0)
    assert noise_pairs._cells_at.cache_info().misses == before


@pytest.mark.parametrize("family", ["bounded laplace", "clamped laplace"])
@pytest.mark.parametrize(
    ("places", "scales"), [((0.0, 1.0), (2.0, 2.0)), ((-3.0, 0.5), (0.5, 0.7)), ((0.2, 9.0), (4.0, 0.3))]
)
def test_the_largest_loss_between_ends_is_that_of_fine_cells(
    family: str, places: tuple[float, float], scales: tuple[float, float]
) -> None:
    pair = [NoiseDistribution(family, x, scale, -1, 2) for x, scale in zip(places, scales, strict=True)]
    for left, right in (pair, pair[::-1]):
        with precision(BITS):
            whole = float(noise_pairs.largest_loss_of_noise([(left, right)]).mid())
            edges = [None, *(Fraction(k, 300) - 1 for k in range(901)), None]
            chances = [(left.interval(*cell), right.interval(*cell)) for cell in itertools.pairwise(edges)]
            cells = max(math.log(float(p.mid()) / float(q.mid())) for p, q in chances if p > 0)
        assert cells <= whole + 1e-12
        assert cells >= whole - 0.03


@pytest.mark.parametrize(("family", "law"), [("gaussian", stats.norm), ("laplace", stats.laplace)])
@pytest.mark.parametrize(
    ("places", "scales"), [((0.0, 1.0), (1.0, 1.5)), ((-2.0, 1.0), (0.5, 3.0)), ((0.25, 0.25), (2.0, 2.5))]
)
def test_the_largest_loss_between_scales_is_that_of_the_densities(
    family: str, law: Any, places: tuple[float, float], scales: tuple[float, float]
) -> None:
    left, right = (NoiseDistribution(family, x, scale) for x, scale in zip(places, scales, strict=True))
    points = np.linspace(-20, 20, 80_001)  # the steps of 1/2000 hit the locations; a parabola is flat at its vertex
    narrow, wide = (law.logpdf(points, x, scale) for x, scale in zip(places, scales, strict=True))
    assert approx(noise_pairs.largest_loss_of_noise([(left, right)])) == pytest.approx((narrow - wide).max(), abs=1e-6)
    assert noise_pairs.largest_loss_of_noise([(right, left)]) == arb.pos_inf()


def test_noise_without_common_values_has_the_trivial_lower_bound() -> None:
    left, right = (NoiseDistribution("bounded laplace", low, 1.0, low, low + 1) for low in (0, 5))
    assert noise_pairs.renyi_divergence_of_noise([(left, right)], 2.0) == 0


def test_a_subsampled_gaussian_at_its_undecided_largest_loss_has_a_delta_from_0_to_1() -> None:
    """Without the record the loss is below -log(1 - q), here log 2 up to far more digits than the precision has."""
    with precision(4 * BITS):
        digits, exponent = arb(2).log().mid().man_exp()
        largest = int(digits) * Fraction(2) ** int(exponent)
    with precision(BITS):
        found = subsampled_gaussian_hockey_stick(1, Fraction(1, 2), largest, removed=False)
    assert found.contains(0)
    assert -0.001 < found.lower() < found.upper() < 1.001


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0])
@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(3)])
def test_a_step_that_always_or_never_takes_the_record_is_a_gaussian_or_nothing(sigma: Fraction, order: float) -> None:
    both = (True, False)
    assert subsampled_gaussian_renyi_divergence(sigma, 0, order) == 0
    assert [subsampled_gaussian_hockey_stick(sigma, 0, Fraction(1, 4), removed=removed) for removed in both] == [0, 0]
    renyi = subsampled_gaussian_renyi_divergence(sigma, 1, order)
    assert approx(renyi) == pytest.approx(order / (2 * float(sigma) ** 2), rel=1e-13)
    loss, shift = 0.25, 1 / float(sigma)
    tails = stats.norm.cdf(shift / 2 - loss / shift) - math.exp(loss) * stats.norm.cdf(-shift / 2 - loss / shift)
    for removed in both:
        found = subsampled_gaussian_hockey_stick(sigma, 1, Fraction(1, 4), removed=removed)
        assert approx(found) == pytest.approx(tails, rel=1e-12)


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(2), Fraction(9, 2)])
def test_cells_of_a_discrete_gaussian_hold_all_of_it_but_far_tails(sigma: Fraction) -> None:
    cells = discrete_gaussian_cells(DiscreteGaussian(sigma))
    for side in ("left", "right"):
        assert float_upper(sum((getattr(cell, side) for cell in cells), arb(0))) > 1 - 1e-25
        assert float_lower(1 - sum((getattr(cell, side) for cell in cells), arb(0))) < 1e-15
    losses = [cell.loss - float((cell.left / cell.right).log().mid()) for cell in cells]
    assert np.ptp(losses) < 1e-12 * max(1, np.max(np.abs(losses)))


@pytest.mark.parametrize("families", [("laplace", "gaussian"), ("gaussian", "laplace")])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_noise_of_two_families_has_no_distance(families: tuple[str, str], shift: float) -> None:
    """The hockey-stick divergence at 0 is the total variation of the densities, summed on a fine grid."""
    pair = [(NoiseDistribution(families[0], 0, 1), NoiseDistribution(families[1], shift, 1))]
    points = np.linspace(-30, 30, 600_001)
    laws = {"laplace": stats.laplace, "gaussian": stats.norm}
    densities = laws[families[0]].pdf(points), laws[families[1]].pdf(points, shift)
    variation = np.maximum(densities[0] - densities[1], 0).sum() * (points[1] - points[0])
    found = float_lower(noise_pairs.hockey_stick_of_noise(pair, 0.0))
    assert variation / 2 < found <= variation + 1e-6
    assert noise_pairs.common_shift_of_noise(pair) is None
    assert noise_pairs.largest_loss_of_noise(pair) > 1.2 * shift
    assert noise_pairs.renyi_divergence_of_noise(pair, 2.0) > 0.05
