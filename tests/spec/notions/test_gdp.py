"""Trade-off functions and Gaussian DP, held against formulas that are computed in another way."""

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpassay.claims import ZCDP, ApproximateDP, GaussianDP, PureDP, UsageError
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, hockey_stick_exact
from dpassay.spec.notions import gdp
from dpassay.spec.notions.gdp import from_deltas, gaussian_dp_holds, gaussian_dp_of, trade_off
from dpassay.spec.notions.gdp_conversions import (
    composed_gaussian,
    gaussian_implying_approximate,
    gaussian_implying_zcdp,
    gaussian_to_approximate,
    gaussian_to_zcdp,
    group_gaussian,
    pure_implying_gaussian,
    pure_to_gaussian,
)
from dpassay.spec.verdict import Outcome

Finite = FiniteDistribution
FEW = settings(max_examples=25)
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


def test_an_overlap_of_ratios_is_enclosed_on_the_safe_side() -> None:
    """With ratios known to 0.2 only, the enclosure still holds the exact value."""
    left, right = Finite.of(10, 11, 30, 9), Finite.of(11, 9, 8, 32)

    steps = gdp._steps(Ball(left), Ball(right))
    blurred = [
        step if not step.log_ratio.is_finite() else gdp._Step(step.p, step.q, arb(step.log_ratio.mid(), 0.2))
        for step in steps
    ]
    joined = [blurred[0], blurred[1], blurred[2].joined(blurred[3]), blurred[4], blurred[5]]
    exact = gaussian_dp_of(left, right)
    assert gdp._enclosed(joined).overlaps(exact)
    assert gdp._enclosed(joined).upper() >= exact


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
    assert composed_gaussian(GaussianDP(3.0), GaussianDP(4.0)) == GaussianDP(5.0)
    assert group_gaussian(GaussianDP(0.75), 4) == GaussianDP(3.0)
