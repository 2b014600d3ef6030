"""Normal means of entire functions against closed forms."""

from fractions import Fraction

import pytest
from flint import acb, arb

from dpassay.spec.ball import ball, normal_cdf, precision
from dpassay.spec.numerics.smoothing import Entire, exponential, normal_distribution_function

VARIANCES = [Fraction(1, 1000), Fraction(1), Fraction(50)]


def separated(left: arb, right: arb) -> bool:
    return not left.overlaps(right)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("rate", [Fraction(-2), Fraction(0), Fraction(3, 2)])
@pytest.mark.parametrize("bits", [64, 192])
def test_a_smoothed_exponential(variance: Fraction, rate: Fraction, bits: int) -> None:
    with precision(bits):
        smooth = exponential(ball(rate), ball(1)).smoothed(ball(variance))
        for z in (Fraction(-3), Fraction(0), Fraction(5, 2)):
            found = arb(smooth.value(acb(ball(z))).real)
            truth = (ball(rate * z + 1 + rate**2 * variance / 2)).exp()
            assert found.contains(truth) or found.overlaps(truth)
            assert found.rel_accuracy_bits() > bits - 30


@pytest.mark.parametrize("variance", VARIANCES)
def test_a_smoothed_distribution_function(variance: Fraction) -> None:
    with precision(128):
        smooth = normal_distribution_function(ball(1), ball(2)).smoothed(ball(variance))
        for z in (Fraction(-3), Fraction(0), Fraction(5, 2)):
            truth = normal_cdf(ball(1 - z) / ball(4 + variance).sqrt())
            found = arb(smooth.value(acb(ball(z))).real)
            assert found.overlaps(truth)
            assert found.rel_accuracy_bits() > 90


def test_smoothing_twice_is_smoothing_once() -> None:
    with precision(96):
        plain = normal_distribution_function(ball(0), ball(1))
        twice = plain.smoothed(ball(1)).smoothed(ball(2)).value(acb(Fraction(1, 3).numerator, 0) / 3)
        once = plain.smoothed(ball(3)).value(acb(1) / 3)
        assert arb(twice.real).overlaps(arb(once.real))


def test_a_smoothed_function_is_right_off_the_real_line() -> None:
    with precision(96):
        z = acb(Fraction(1, 2).numerator, 3) / 2
        smooth = exponential(ball(1), ball(0)).smoothed(ball(2))
        assert smooth.value(z).overlaps((z + 1).exp())


@pytest.mark.parametrize(
    ("low", "high"), [(None, Fraction(1)), (Fraction(-1), None), (Fraction(-2), Fraction(1, 3)), (None, None)]
)
def test_a_mean_on_an_interval(low: Fraction | None, high: Fraction | None) -> None:
    rate, variance = Fraction(3, 2), Fraction(2)
    with precision(128):
        ends = [None if end is None else ball(end) for end in (low, high)]
        found = exponential(ball(rate), arb(0)).mean_between(ball(variance), *ends)
        root = ball(variance).sqrt()
        upper = arb(1) if high is None else normal_cdf(ball(high - rate * variance) / root)
        lower = arb(0) if low is None else normal_cdf(ball(low - rate * variance) / root)
        truth = ball(rate**2 * variance / 2).exp() * (upper - lower)
        assert found.overlaps(truth)
        assert found.rel_accuracy_bits() > 90


@pytest.mark.parametrize(("low", "high"), [(arb(500), None), (None, arb(-500))])
def test_a_mean_far_out_is_bounded(low: arb | None, high: arb | None) -> None:
    with precision(64):
        found = exponential(arb(1), arb(0)).mean_between(arb(1), low, high)
        assert found.contains(0)
        assert abs(found) < arb(2) ** -1000


def test_a_mean_whose_tail_cannot_be_bounded_is_indeterminate() -> None:
    with precision(64):
        reach_exceeded = exponential(arb(0), arb(0)).mean_between(arb(1), arb(1), arb(1))
        assert reach_exceeded.is_nan() or reach_exceeded.contains(0)


def test_the_growth_bound_matters() -> None:
    """With a growth bound that is too small the enclosure would be wrong: the bound is what makes it right."""
    with precision(64):
        honest = exponential(arb(30), arb(0))
        lying = Entire(honest.value, arb(1), arb(0), arb(0))
        truth = arb(450).exp()
        assert arb(honest.smoothed(arb(1)).value(acb(0)).real).overlaps(truth)
        assert separated(arb(lying.smoothed(arb(1)).value(acb(0)).real), truth)
