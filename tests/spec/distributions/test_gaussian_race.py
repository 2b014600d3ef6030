import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, max_balls, midpoint, normal_cdf, normal_pdf, precision, sum_balls
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.distributions.noisy_max import log_win_probability
from dpassay.spec.numerics import quadrature
from dpassay.spec.numerics.quadrature import log_line_integral

# (d, c / sigma, Delta / sigma) with the value by rescaled quadrature, 30 digits (see below for the recomputation)
KNOWN = [
    (365, Fraction(20), Fraction(20, 6946), "0.126527336903720321556"),
    (829, Fraction(20), Fraction(20, 6946), "0.128656307800470143696"),
    (5, Fraction(1), Fraction(1, 5), "0.652465395383303159892"),
    (4, Fraction(5), Fraction(3, 2), "9.512576402649925261481"),
]


def epsilon(d: int, width: Fraction, step: Fraction) -> arb:
    return log_win_probability(2 * step - width, d - 1) - log_win_probability(-width, d - 1)


def rescaled_mpmath(d: int, width: Fraction, step: Fraction) -> mpmath.mpf:
    """Integrate with mpmath as it must be used: on the window of the mass, divided by the largest value."""

    def log_expectation(lead: mpmath.mpf) -> mpmath.mpf:
        def log_density(z: mpmath.mpf) -> mpmath.mpf:
            return -z * z / 2 + (d - 1) * mpmath.log(mpmath.erfc(-(z + lead) / mpmath.sqrt(2)) / 2)

        grid = [mpmath.mpf(k) / 4 for k in range(-60, 200)]
        mode = max(grid, key=log_density)
        peak = log_density(mode)
        window = [mode + mpmath.mpf(k) for k in range(-12, 13)]
        mass = mpmath.quad(lambda z: mpmath.exp(log_density(z) - peak), window)
        return mpmath.log(mass / mpmath.sqrt(2 * mpmath.pi)) + peak

    wide, gap = mpmath.mpf(width.numerator) / width.denominator, 2 * mpmath.mpf(step.numerator) / step.denominator
    return log_expectation(gap - wide) - log_expectation(-wide)


@pytest.mark.parametrize(("d", "width", "step", "digits"), KNOWN)
def test_the_enclosure_contains_the_known_value(d: int, width: Fraction, step: Fraction, digits: str) -> None:
    with precision(96):
        value = epsilon(d, width, step)
        assert value.rel_accuracy_bits() > 70
        assert abs(value - arb(digits)) < arb("2e-21")


@pytest.mark.parametrize(("d", "width", "step", "digits"), KNOWN[::3])
def test_mpmath_agrees_when_rescaled_and_windowed(d: int, width: Fraction, step: Fraction, digits: str) -> None:
    with mpmath.workdps(25):
        assert abs(rescaled_mpmath(d, width, step) - mpmath.mpf(digits)) < mpmath.mpf("1e-18")


@pytest.mark.parametrize("lead", [-1000, -40, -3, 0, 2, 50])
def test_one_rival_in_closed_form(lead: int) -> None:
    with precision(80):
        closed = normal_cdf(ball(lead) / arb(2).sqrt()).log()
        value = log_win_probability(lead, 1)
        assert value.overlaps(closed)
        assert value.rel_accuracy_bits() > 60 or abs(value) < arb(2) ** -60


def test_two_hurdles_are_a_bivariate_normal_probability() -> None:
    a, b, slope = 0.3, -0.7, 0.5  # E[Phi(a + s x) Phi(b - s x)] = Pr[U <= a', V <= b'], corr -s^2/(1 + s^2)
    value = midpoint(GaussianRace(Hurdle.of(slope, a), Hurdle.of(-slope, b)).log_expectation().exp())
    scale = np.sqrt(1 + slope**2)
    correlation = -(slope**2) / scale**2
    expected = multivariate_normal(cov=np.array([[1, correlation], [correlation, 1]])).cdf(np.array([a, b]) / scale)
    assert value == pytest.approx(float(expected), abs=1e-7)  # scipy integrates to about 1e-8


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.floats(-30, 30), st.floats(-30, 30), st.floats(0.01, 30), st.integers(1, 10**6), st.integers(1, 1000))
def test_higher_precision_refines_the_enclosure(a: float, b: float, slope: float, m: int, n: int) -> None:
    def value() -> arb:
        return GaussianRace(Hurdle.of(slope, a, m), Hurdle.of(-slope, b, n)).log_expectation()

    with precision(64):
        coarse = value()
    with precision(128):
        fine = value()
    assert fine.is_finite()
    assert coarse.overlaps(fine)
    assert coarse.rad() <= arb(2) ** -40 * (1 + abs(fine))


def test_parameters_that_are_balls_widen_the_enclosure() -> None:
    wide = log_win_probability(arb(-3).union(arb("-2.9")), 10)
    assert wide.contains(log_win_probability(Fraction(-59, 20), 10))
    assert wide.contains(log_win_probability(-3, 10))


@pytest.mark.parametrize("slope", [1, 3])
def test_a_hurdle_may_be_given_twice(slope: int) -> None:
    hurdle = Hurdle.of(slope, Fraction(1, 2), 3)
    assert (
        GaussianRace(hurdle, hurdle)
        .log_expectation()
        .overlaps(GaussianRace(Hurdle.of(slope, Fraction(1, 2), 6)).log_expectation())
    )


# far leads with many rivals: the edge of the strip bulges far beside the peak; found in random search
@pytest.mark.parametrize(
    "hurdles",
    [
        [(1, 42, 291186)],
        [(1, -224, 2), (1, -8, 1), (1, -104, 597685), (1, 37, 1176)],
        [(1, 17, 1), (1, 0, 1), (1, 20, 363919)],
        [(570000, 500000, 1), (570000, -900000, 1465), (570000, 4 * 10**5, 2)],
        [(3 * 10**5, 10**6, 47), (3 * 10**5, -(10**6), 149), (3 * 10**5, 9 * 10**5, 1)],
        [(Fraction(1, 10**6), 40, 10**6), (Fraction(-1, 10**6), 3, 1)],
        [(10**4, 6 * 10**5, 2), (10**4, 10**6, 2), (-(10**4), -8 * 10**5, 1)],
    ],
)
def test_the_whole_domain_is_enclosed(hurdles: list[tuple[Fraction, int, int]]) -> None:
    values = []
    for bits in (64, 128):
        with precision(bits):
            values.append(GaussianRace(*(Hurdle.of(*hurdle) for hurdle in hurdles)).log_expectation())
    assert values[0].overlaps(values[1])
    assert values[1].rad() < arb(2) ** -60 * (1 + abs(values[1]))


def test_a_negative_exponent_is_refused() -> None:
    with pytest.raises(UsageError, match="exponent"):
        GaussianRace(Hurdle.of(1, 0, -1))


def test_a_slope_of_unknown_sign_is_bounded_as_either() -> None:
    y, x = arb("0.8"), arb(0)
    wide = GaussianRace(Hurdle(arb(-2).union(arb("0.1")), arb(5), arb(1000)))
    steep = GaussianRace(Hurdle(arb(-2), arb(5), arb(1000)))
    assert not wide.log_edge_tail(x, y, 1) < steep.log_modulus_upper(arb(3), arb(3), y)


def test_a_strip_with_zeros_of_a_broken_power_is_refused() -> None:
    for exponent, bounded in ((Fraction(5, 2), False), (3, True)):
        race = GaussianRace(Hurdle.of(1, 0, exponent))
        assert race.log_modulus_upper(arb(0), arb(1), arb(3)).is_finite() is bounded


def test_no_hurdles_leave_the_whole_mass() -> None:
    assert GaussianRace().log_expectation() == 0
    assert GaussianRace(Hurdle.of(1, 5, 0)).log_expectation() == 0


class Overstated(GaussianRace):
    """A density whose strip is claimed to be far wider than the float estimate of its edge can justify."""

    def approximate_log_modulus(self, x, y):  # type: ignore[no-untyped-def]
        return super().approximate_log_modulus(x, 0.0 * y)  # pretends that the edge is as small as the axis


def test_a_wrong_plan_costs_accuracy_but_never_validity() -> None:
    race = Hurdle.of(3, Fraction(1, 2), 400)
    with precision(64):
        honest = GaussianRace(race).log_expectation()
        misled = log_line_integral(Overstated(race))
    assert misled.is_nan() or misled.overlaps(honest)


def test_a_density_is_the_derivative_of_the_cdf() -> None:
    step = arb(2) ** -40
    with precision(128):
        quotient = (normal_cdf(1 + step) - normal_cdf(1 - step)) / (2 * step)
    assert abs(quotient - normal_pdf(arb(1))) < arb("1e-10")


def modulus(race: GaussianRace, x: arb, y: arb) -> arb:
    """Enclose the logarithm of the modulus at the point x + iy, with erfc at a complex point."""
    z, total = acb(x, y), ball(0)
    for hurdle in race.hurdles:
        factor = (-(hurdle.slope * z + hurdle.offset) / arb(2).sqrt()).erfc() / 2
        total = total + hurdle.exponent * abs(factor).log()
    return (y * y - x * x) / 2 - (2 * arb.pi()).log() / 2 + total


RACES = [
    GaussianRace(Hurdle.of(1, 0, 30)),
    GaussianRace(Hurdle.of(1, -20, 30)),
    GaussianRace(Hurdle.of(-1, -20, 30)),
    GaussianRace(Hurdle.of(Fraction(-5, 2), -40, 9), Hurdle.of(Fraction(1, 2), -10, 50)),
    GaussianRace(Hurdle.of(2, -30, 9), Hurdle.of(-1, 3, 40)),
]


@pytest.mark.parametrize("number", range(len(RACES)))
@pytest.mark.parametrize("width", [Fraction(1, 64), Fraction(1, 8), Fraction(1, 2), Fraction(2)])
def test_the_edge_of_the_strip_is_bounded_on_the_whole_cell(number: int, width: Fraction) -> None:
    """At every point of the cell, steep or not, on either side of the peak; and the bound is tight on small cells."""
    race = RACES[number]
    with precision(256):
        for left, y in itertools.product((Fraction(k, 3) for k in range(-24, 25, 4)), (Fraction(0), Fraction(1, 4))):
            bound = race.log_modulus_upper(ball(left), ball(left + width), ball(y))
            points = [modulus(race, ball(left + width * k / 8), ball(y)) for k in range(9)]
            assert all(point <= bound or point.overlaps(bound) for point in points)
            if width < Fraction(1, 16):
                assert bound < max_balls(points) + ball(10 * width * max(abs(left), Fraction(30)))


@pytest.mark.parametrize("left", [Fraction(0), Fraction(1), Fraction(3)])
def test_the_bound_is_tight_far_from_the_axis(left: Fraction) -> None:
    """On a tiny cell, where no hurdle is deep in its tail: the modulus of the normal density grows by e^(y^2/2)."""
    race, y, width = RACES[0], Fraction(2), Fraction(1, 4096)
    with precision(256):
        bound = race.log_modulus_upper(ball(left), ball(left + width), ball(y))
        assert bound < modulus(race, ball(left), ball(y)) + 1


@pytest.mark.parametrize("slope", [Fraction(-3), Fraction(-1, 2), Fraction(1, 4), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("offset", [-6, 0, 2])
def test_the_quick_upper_bound_is_attained_by_one_hurdle(slope: Fraction, offset: int) -> None:
    """And it bounds two hurdles and higher exponents, where it is not attained."""
    with precision(128):
        one = GaussianRace(Hurdle.of(slope, offset))
        assert abs(one.log_upper - one.log_expectation()) < arb(2) ** -60
        for others in ([Hurdle.of(slope, offset, 3)], [Hurdle.of(slope, offset), Hurdle.of(1, -2)]):
            race = GaussianRace(*others)
            assert race.log_expectation() < race.log_upper


@pytest.mark.parametrize("number", range(len(RACES)))
def test_the_edge_integral_is_not_below_the_integral_of_the_modulus(number: int) -> None:
    """However often the pieces are halved: none of them is lost."""
    race = RACES[number]
    with precision(128):
        plan = quadrature._plan(race, 64, 0.5)
        assert plan is not None
        height = arb(plan.half_width)
        nodes = np.linspace(plan.first, plan.last, 801)
        middles = [(modulus(race, arb(float(x)), height) - plan.log_scale).exp() for x in (nodes[1:] + nodes[:-1]) / 2]
        plain = sum_balls(middles) * arb(float(nodes[1] - nodes[0]))
        once = quadrature._edge_integral(race, plan, arb(2) ** 200)
        often = quadrature._edge_integral(race, plan, plain / 2)
        assert plain * 0.999 < often
        assert often <= once


@pytest.mark.parametrize("number", range(len(RACES)))
@pytest.mark.parametrize("side", [-1, 1])
def test_the_tail_of_the_edge_is_bounded(number: int, side: int) -> None:
    """Against a midpoint sum over the beginning of the tail; it is below the integral of a convex modulus."""
    race, step = RACES[number], arb(1) / 128
    with precision(128):
        for end, height in itertools.product((0, 6, 60), (Fraction(1, 8), Fraction(1, 2))):
            x, y = arb(side * end), ball(height)
            nodes = [x + side * step * (2 * k + 1) / 2 for k in range(256)]
            plain = step * sum_balls(modulus(race, node, y).exp() for node in nodes)
            bound = race.log_edge_tail(x, y, side)
            assert bound > plain.log() - arb("1e-2")


def test_a_plan_whose_error_is_no_number_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strip is narrowed after each plan; the best of the errors that are numbers is kept."""
    race = GaussianRace(Hurdle.of(1, 0, 2))
    errors = iter([arb.nan(), arb(1) / 4, arb.nan(), *[arb(1) / 2] * quadrature.NARROWINGS])
    monkeypatch.setattr(quadrature, "_strip_error", lambda _density, _plan: (next(errors), False))
    chosen = quadrature._plan_with_error(race, 64)
    assert chosen is not None
    assert chosen[1] == arb(1) / 4
