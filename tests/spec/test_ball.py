import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import (
    ATTAINED,
    UndecidedError,
    at_least,
    at_most,
    ball,
    enclosure,
    exact,
    float_lower,
    float_upper,
    is_at_most,
    less_than,
    log_normal_cdf,
    normal_cdf,
    normal_pdf,
    normal_quantile,
    precision,
    reversed_hazard,
)
from dpassay.spec.verdict import Outcome

THIRD = Fraction(1, 3)


@pytest.mark.parametrize("x", [-200.0, -40.0, -5.5, -1.0, 0.0, 0.3, 5.0, 8.5, 40.0])
def test_log_normal_cdf_agrees_with_mpmath_far_into_both_tails(x: float) -> None:
    with mpmath.workdps(60):
        root = mpmath.sqrt(2)
        if x > 0:
            expected = mpmath.log1p(-mpmath.erfc(mpmath.mpf(x) / root) / 2)
        else:
            expected = mpmath.log(mpmath.erfc(-mpmath.mpf(x) / root) / 2)
        digits = mpmath.nstr(expected, 45)
    with precision(128):
        value = log_normal_cdf(arb(x))
        assert value.rel_accuracy_bits() > 100
        assert abs(value - arb(digits)) <= abs(value) * arb(2) ** -100


@pytest.mark.parametrize("x", [-101, -(10**5), -(10**9), -(10**15)])
def test_the_deep_tail_is_enclosed_by_its_asymptotic_bounds(x: int) -> None:
    with precision(128):
        square, log_pdf = arb(x) * x, -arb(x) * x / 2 - (2 * arb.pi()).log() / 2
        mills_low, mills_high = (1 - 1 / square) / -x, (1 - 1 / square + 3 / (square * square)) / -x
        value, hazard = log_normal_cdf(arb(x)), reversed_hazard(arb(x))
        assert value.rel_accuracy_bits() > 100
        assert hazard.rel_accuracy_bits() > 100
        assert not value < log_pdf + mills_low.log()
        assert not value > log_pdf + mills_high.log()
        assert not hazard > 1 / mills_low
        assert not hazard < 1 / mills_high


def test_the_two_forms_of_the_tail_agree_where_they_meet() -> None:
    with precision(96):
        x = arb(-100) - arb(2) ** -20
        assert log_normal_cdf(x).overlaps(((-x / arb(2).sqrt()).erfc() / 2).log())
        assert reversed_hazard(x).overlaps(normal_pdf(x) / normal_cdf(x))


@pytest.mark.parametrize("p", [Fraction(1, 10**12), Fraction(1, 4), Fraction(1, 2), Fraction(99, 100)])
def test_normal_quantile_inverts_the_cdf(p: Fraction) -> None:
    with precision(96):
        assert normal_cdf(normal_quantile(ball(p))).overlaps(ball(p))


def test_floats_are_rounded_outward() -> None:
    with precision(80):
        x = ball(THIRD)
    assert Fraction(float_lower(x)) < THIRD < Fraction(float_upper(x))
    assert math.nextafter(float_lower(x), 1) == float_upper(x)
    assert (float_lower(arb(0.5)), float_upper(arb(0.5))) == (0.5, 0.5)


def test_numbers_outside_float64_are_rounded_outward_too() -> None:
    tiny, huge = arb(-100000).exp(), arb(100000).exp()
    assert float_lower(tiny) == 0.0
    assert float_upper(tiny) == 5e-324
    assert float_upper(huge) == math.inf
    assert float_lower(huge) == math.nextafter(math.inf, 0)
    assert (float_lower(arb.nan()), float_upper(arb.nan())) == (-math.inf, math.inf)


def test_a_ball_without_bounds_has_infinite_ends() -> None:
    for x in (arb(0, arb.pos_inf()), arb(1).union(arb.pos_inf()) - arb(0, arb.pos_inf())):
        assert (float_lower(x), float_upper(x)) == (-math.inf, math.inf)
    assert (float_lower(arb.pos_inf()), float_upper(arb.neg_inf())) == (math.inf, -math.inf)


@pytest.mark.parametrize("x", [Fraction(5, 2**1075), Fraction(-3, 2**1076), Fraction(2**53 + 1, 2**1100)])
def test_subnormal_numbers_are_rounded_outward(x: Fraction) -> None:
    with precision(80):
        low, high = float_lower(ball(x)), float_upper(ball(x))
    assert Fraction(low) <= x <= Fraction(high)
    assert high == math.nextafter(low, 1)


def test_equality_is_undecided_without_slack_and_holds_with_it() -> None:
    same = lambda: ball(THIRD)
    assert at_most(same, same, limit=256).outcome is Outcome.UNDECIDED
    assert less_than(same, same, limit=256).outcome is Outcome.UNDECIDED
    verdict = at_most(same, same, slack=ATTAINED)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.slack == ATTAINED


def test_the_slack_forgives_nothing_larger_than_itself() -> None:
    above = ball_above(Fraction(1, 2**58))
    assert at_most(above, lambda: ball(1), slack=ATTAINED).outcome is Outcome.VIOLATED
    assert at_most(ball_above(Fraction(1, 2**62)), lambda: ball(1), slack=ATTAINED).outcome is Outcome.HOLDS


def ball_above(excess: Fraction):  # type: ignore[no-untyped-def]
    return lambda: ball(1 + excess)


def test_precision_is_doubled_until_balls_separate() -> None:
    close = lambda: ball(1) + arb(2) ** -300
    assert at_most(close, lambda: ball(1)).outcome is Outcome.VIOLATED
    assert at_least(close, lambda: ball(1)).outcome is Outcome.HOLDS
    assert at_most(close, lambda: ball(1), limit=128).outcome is Outcome.UNDECIDED


def test_tightness_is_the_bound_over_the_truth() -> None:
    assert at_most(lambda: ball(2), lambda: ball(3)).tightness == 1.5


@pytest.mark.parametrize(("truth", "bound"), [(0, 1), (1, 0), (-1, 1), (1, -1), (-2, -1)])
def test_only_positive_numbers_have_a_tightness(truth: int, bound: int) -> None:
    assert at_most(lambda: ball(truth), lambda: ball(bound)).tightness is None


def test_an_enclosure_is_as_narrow_as_asked_or_refused() -> None:
    assert enclosure(lambda: ball(THIRD), relative_bits=200).rel_accuracy_bits() >= 200
    with pytest.raises(UndecidedError):
        enclosure(lambda: ball(THIRD) - ball(THIRD), limit=256)


def test_integers_of_numpy_do_not_wrap_around() -> None:
    huge = exact("answers", np.int64(2**62))  # type: ignore[arg-type]
    assert 4 * huge == 2**64
    assert ball(4 * huge) == arb(2) ** 64


@pytest.mark.parametrize("value", [math.nan, math.inf, "x", "1/2", None, True, np.True_, Decimal("Infinity")])
def test_inexact_parameters_are_refused_by_name(value: object) -> None:
    with pytest.raises(UsageError, match="sigma"):
        exact("sigma", value)  # type: ignore[arg-type]


def test_sides_that_separate_are_compared_and_equal_ones_are_undecided() -> None:
    third = Fraction(1, 3)
    assert is_at_most(lambda: ball(third), lambda: ball(third + Fraction(1, 10**60)), "two fractions")
    assert not is_at_most(lambda: ball(third + Fraction(1, 10**60)), lambda: ball(third), "two fractions")
    with pytest.raises(UndecidedError, match="two logarithms do not separate at 256 bits"):
        is_at_most(lambda: ball(4).log(), lambda: 2 * ball(2).log(), "two logarithms", limit=256)
