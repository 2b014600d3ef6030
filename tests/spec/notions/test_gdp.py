"""Trade-off functions and Gaussian DP, held against formulas that are computed in another way."""

import functools
import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateDP, GaussianDP, PureDP
from dpassay.spec.ball import ball, normal_cdf, normal_quantile, precision, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, hockey_stick_exact
from dpassay.spec.notions import gdp
from dpassay.spec.notions.gdp import from_deltas, gaussian_dp_holds, gaussian_dp_of, trade_off
from dpassay.spec.notions.gdp_conversions import (
    gaussian_implying_approximate,
    gaussian_implying_zcdp,
    gaussian_to_approximate,
    gaussian_to_zcdp,
    pure_implying_gaussian,
    pure_to_gaussian,
)
from dpassay.spec.verdict import Outcome

Finite = FiniteDistribution
FEW = settings(max_examples=25)
HULL = 1e-7  # the radius of a hull has 30 bits
pairs = st.integers(3, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any)] * 2)
)


def least_error(left: Finite, right: Finite, alpha: Fraction) -> Fraction:
    """Find the least type II error over all subsets, with one outcome rejected in part: a small linear programme."""
    found = Fraction(1)
    outcomes = left.outcomes
    for mask in range(2 ** len(outcomes)):
        inside = [o for k, o in enumerate(outcomes) if mask >> k & 1]
        level, power = (
            sum(map(left.probability, inside), Fraction(0)),
            sum(map(right.probability, inside), Fraction(0)),
        )
        if level > alpha:
            continue
        found = min(found, 1 - power)
        for o in outcomes:
            if o not in inside and left.probability(o):
                share = min(Fraction(1), (alpha - level) / left.probability(o))
                found = min(found, 1 - power - share * right.probability(o))
    return found


@FEW
@given(pair=pairs, alpha=st.integers(0, 12).map(lambda k: Fraction(k, 12)))
def test_the_trade_off_function_is_that_of_the_best_test(pair: tuple[list[int], list[int]], alpha: Fraction) -> None:
    left, right = Finite.of(*pair[0]), Finite.of(*pair[1])
    function = trade_off(left, right)
    assert function(alpha) == least_error(left, right, alpha)
    deltas = [(slope, hockey_stick_exact(right, left, slope)) for slope in function.slopes]
    assert from_deltas(deltas, alpha) == function(alpha)
    assert all(function.delta(slope) == delta for slope, delta in deltas)


def test_a_level_outside_of_the_unit_interval_is_refused() -> None:
    with pytest.raises(UsageError, match="alpha"):
        trade_off(Finite.of(1, 1), Finite.of(1, 2))(Fraction(3, 2))


@pytest.mark.parametrize("odds", [2, 3, 100, 10**9])
def test_randomised_response_has_the_known_mu(odds: int) -> None:
    mu = gaussian_dp_of(Finite.of(odds, 1), Finite.of(1, odds))
    assert float(mu) == pytest.approx(-2 * norm.ppf(1 / (1 + odds)), rel=1e-12)


class Ball:
    """A finite distribution whose probabilities are seen as balls only, with ties between likelihood ratios."""

    def __init__(self, inner: Finite) -> None:
        self._inner, self.outcomes = inner, inner.outcomes

    def log_probability(self, outcome: object) -> arb:
        weight = self._inner.probability(outcome)
        return (arb(weight.numerator) * 3).log() - (arb(weight.denominator) * 3).log() if weight else arb.neg_inf()


@FEW
@given(pair=pairs)
def test_balls_give_the_same_mu_as_rationals(pair: tuple[list[int], list[int]]) -> None:
    left, right = Finite.of(*pair[0]), Finite.of(*pair[1])
    exact = gaussian_dp_of(left, right)
    sides: tuple[DiscreteDistribution, DiscreteDistribution] = (Ball(left), Ball(right))
    enclosed = gaussian_dp_of(*sides)
    assert enclosed.overlaps(exact) or enclosed == exact == arb.pos_inf()
    if exact.is_finite():
        assert enclosed.rad() < 1e-8
        wider = GaussianDP(float(exact.upper()) * 1.001 + 1e-6)
        assert gaussian_dp_holds(wider, *sides).outcome is Outcome.HOLDS
        if exact > 0.01:
            assert gaussian_dp_holds(GaussianDP(float(exact) * 0.999), *sides).outcome is Outcome.VIOLATED


class Blurred(Ball):
    """The logarithms of the probabilities are known up to an error of 2^-`bits` only."""

    def __init__(self, inner: Finite, bits: int) -> None:
        super().__init__(inner)
        self._error = arb(0, 2.0**-bits)

    def log_probability(self, outcome: object) -> arb:
        return super().log_probability(outcome) + self._error


@FEW
@given(pair=pairs, bits=st.integers(1, 8))
@example(pair=([9, 8, 8, 7, 7], [5, 6, 7, 8, 13]), bits=5)
def test_outcomes_whose_order_is_not_known_are_one_step(pair: tuple[list[int], list[int]], bits: int) -> None:
    """Steps are in a certain order: their ratios fall strictly, and every outcome is in one of them."""
    left, right = Finite.of(*pair[0]), Finite.of(*pair[1])
    sides: tuple[DiscreteDistribution, DiscreteDistribution] = (Blurred(left, bits), Blurred(right, bits))
    _, *inner, _ = steps = gdp._steps(*sides)
    assert all(after.log_ratio < before.log_ratio for before, after in pairwise(inner))
    assert sum_balls(step.p for step in steps).contains(1)
    assert sum_balls(step.q for step in steps).contains(1)
    common = [o for o in left.outcomes if left.probability(o) and right.probability(o)]
    ratios = [ball(right.probability(o) / left.probability(o)).log() for o in common]
    assert all(sum(step.log_ratio.contains(ratio.mid()) for step in inner) == 1 for ratio in ratios)
    assert all(step.is_joined for step in inner if sum(step.log_ratio.overlaps(ratio) for ratio in ratios) > 1)
    enclosed, exact = gaussian_dp_of(*sides), gaussian_dp_of(left, right)
    assert enclosed.overlaps(exact) or enclosed == exact == arb.pos_inf()


def section(high: Fraction, p_high: Fraction, low: Fraction, p_low: Fraction) -> "gdp._Step":
    """Join two outcomes with the ratios high > low of Q over P."""
    parts = [gdp._Step(ball(p), ball(r * p), ball(r).log()) for r, p in ((high, p_high), (low, p_low))]
    return parts[0].joined(parts[1])


def test_the_lowered_points_of_a_joined_step_lie_on_the_extreme_lines() -> None:
    """The line from the start with the slope of the first part misses the end by the difference of the slopes over the
    second part, and the line to the end with the slope of the second misses the start by the same over the first part.
    """
    high, low, p_high, p_low = Fraction(7, 3), Fraction(2, 5), Fraction(1, 7), Fraction(3, 11)
    joined = section(high, p_high, low, p_low)
    assert float(joined.lowered_end) == pytest.approx(float((high - low) * p_low), rel=HULL)
    assert float(joined.lowered_start) == pytest.approx(float((high - low) * p_high), rel=HULL)
    alone = gdp._Step(ball(p_low), ball(low * p_low), ball(low).log())
    assert alone.lowered_end == alone.lowered_start == 0


def lowest_separation(groups: list[list[tuple[Fraction, Fraction]]]) -> float:
    """Return mu of the polygon below every trade-off function with these sections, from its corners in rationals.

    A section of several ratios ends on the steepest line from its start; the last one starts on the flattest line to
    its end. A single section has the corner in which its two lines meet.
    """
    corners, alpha, beta = [], Fraction(0), Fraction(1)
    for place, group in enumerate(groups):
        p, q = sum(x for x, _ in group), sum(y for _, y in group)
        steepest, flattest = max(y / x for x, y in group), min(y / x for x, y in group)
        if len(groups) == 1:
            corner = (1 - flattest) / (steepest - flattest) if steepest > flattest else Fraction(0)
            return float(norm.ppf(float(1 - corner)) - norm.ppf(float(1 - steepest * corner))) if corner else 0.0
        if place == len(groups) - 1:
            corners.append((alpha, flattest * p))
        else:
            corners.append((alpha + p, beta - steepest * p))
        alpha, beta = alpha + p, beta - q
    separations = (math.inf if b <= 0 else norm.isf(float(a)) - norm.ppf(float(b)) for a, b in corners if 0 < a < 1)
    return max(0.0, *separations)


weights = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=3, max_size=6)


@settings(max_examples=60)
@given(weights=weights, cuts=st.lists(st.booleans(), min_size=5, max_size=5))
@example(weights=[(10, 11), (11, 9), (30, 8), (9, 32)], cuts=[True, False, True, True, True])
@example(weights=[(10, 11), (11, 9), (30, 8), (9, 32)], cuts=[False, True, True, True, True])
@example(weights=[(10, 11), (11, 9), (30, 8), (9, 32)], cuts=[True, True, False, True, True])
@example(weights=[(10, 11), (11, 9), (30, 8), (9, 32)], cuts=[False, True, False, True, True])
def test_joined_sections_give_the_polygon_below_them(weights: list[tuple[int, int]], cuts: list[bool]) -> None:
    """The enclosure contains the true mu, and its upper end is the mu of the polygon below.

    Sections are joined anywhere, the first and the last one included.
    """
    left, right = Finite.of(*(p for p, _ in weights)), Finite.of(*(q for _, q in weights))
    points = [(left.probability(o), right.probability(o)) for o in left.outcomes]
    points.sort(key=lambda point: -point[1] / point[0])
    groups = [[points[0]]]
    for before, after, cut in zip(points, points[1:], cuts, strict=False):
        if cut and before[1] / before[0] != after[1] / after[0]:
            groups.append([after])
        else:
            groups[-1].append(after)
    steps = [functools.reduce(gdp._Step.joined, map(step_of, group)) for group in groups]
    nothing = gdp._Step(arb(0), arb(0), arb(0))
    enclosed, exact = gdp._enclosed([nothing, *steps, nothing]), gaussian_dp_of(left, right)
    assert enclosed.overlaps(exact)
    below = lowest_separation(groups)
    if len(groups) > 1:
        assert float(enclosed.upper()) == pytest.approx(below, rel=HULL, abs=HULL)
    else:
        assert float(enclosed.upper()) >= below - HULL


def step_of(point: tuple[Fraction, Fraction]) -> "gdp._Step":
    return gdp._Step(ball(point[0]), ball(point[1]), ball(point[1] / point[0]).log())


def test_a_single_section_is_as_randomised_response() -> None:
    """With all ratios in one hull the bound is that of pure DP at the larger of its ends, in absolute value."""
    for high, low in ((Fraction(2), Fraction(1, 3)), (Fraction(3), Fraction(1, 2))):
        p_high = (1 - low) / (high - low)
        joined = section(high, p_high, low, 1 - p_high)
        nothing = gdp._Step(arb(0), arb(0), arb(0))
        assert float(gdp._enclosed([nothing, joined, nothing]).upper()) == pytest.approx(2 * norm.ppf(3 / 4), rel=HULL)


def test_conversions_are_those_of_the_paper() -> None:
    assert pure_to_gaussian(PureDP(1.0)).mu == pytest.approx(2 * norm.ppf(math.e / (1 + math.e)), rel=1e-12)
    assert pure_to_gaussian(PureDP(0)) == GaussianDP(0)
    (pure,) = pure_implying_gaussian(GaussianDP(1.2))
    assert pure.epsilon == pytest.approx(math.log(norm.cdf(0.6) / norm.cdf(-0.6)), rel=1e-12)
    delta = gaussian_to_approximate(GaussianDP(1.0), epsilon=0.5).delta
    assert delta == pytest.approx(norm.cdf(0.0) - math.exp(0.5) * norm.cdf(-1.0), rel=1e-12)
    (back,) = gaussian_implying_approximate(ApproximateDP(0.5, delta))
    assert back.mu == pytest.approx(1.0, rel=1e-12)
    assert gaussian_implying_approximate(ApproximateDP(0.5, 0.0)) == ()
    assert gaussian_to_zcdp(GaussianDP(3.0)) == ZCDP(4.5)
    assert gaussian_implying_zcdp(ZCDP(4.5)) == (GaussianDP(3.0),)


def epsilon_of(mu: float) -> arb:
    return (normal_cdf(ball(mu) / 2) / normal_cdf(-ball(mu) / 2)).log()


def delta_of(mu: float, epsilon: float) -> arb:
    cut = ball(epsilon) / ball(mu)
    return normal_cdf(ball(mu) / 2 - cut) - ball(epsilon).exp() * normal_cdf(-ball(mu) / 2 - cut)


@pytest.mark.parametrize("x", [k / 7 for k in range(1, 30)])
def test_conversions_are_rounded_to_the_safe_side_and_no_further(x: float) -> None:
    """What a claim implies is rounded up, what implies a claim is rounded down: each to the next number."""
    with precision(300):
        up = [
            (pure_to_gaussian(PureDP(x)).mu, 2 * normal_quantile(ball(x).exp() / (1 + ball(x).exp()))),
            (gaussian_to_approximate(GaussianDP(x), epsilon=0.5).delta, delta_of(x, 0.5)),
            (gaussian_to_zcdp(GaussianDP(x)).rho, ball(x) * ball(x) / 2),
        ]
        down = [
            (pure_implying_gaussian(GaussianDP(x))[0].epsilon, epsilon_of(x)),
            (gaussian_implying_zcdp(ZCDP(x))[0].mu, (2 * ball(x)).sqrt()),
        ]
        assert all(ball(value) >= exact > ball(math.nextafter(value, 0)) for value, exact in up)
        assert all(ball(value) <= exact < ball(math.nextafter(value, math.inf)) for value, exact in down)
        (implying,) = gaussian_implying_approximate(ApproximateDP(0.5, 0.01 * x))
        assert delta_of(implying.mu, 0.5) <= ball(0.01 * x)
        assert delta_of(implying.mu * (1 + 2.0**-48), 0.5) > ball(0.01 * x)
