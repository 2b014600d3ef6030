"""Means with a closed form: the enclosure holds the truth for every window, and each bound is attained by some f.

f is a line or a parabola, so that E[e^(f(x))] is known. For a line the tangents are exact: the lower ends are attained
on both sides; a constant attains the upper end on the left, a parabola of the stated curvature the one on the right.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import acb, arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, log_normal_sf, midpoint, normal_cdf, normal_pdf, precision
from dpassay.spec.numerics import convex_quadrature
from dpassay.spec.numerics.complex_normal import log_complex_normal_sf, log_complex_normal_sf_fall
from dpassay.spec.numerics.convex_quadrature import ConvexExponent, log_normal_mean

Window = tuple[int, int]


def parabola(rise: Fraction, bend: Fraction) -> ConvexExponent:
    """Return f(x) = rise x + bend x^2/2, which does not decrease on the right of -rise/bend."""
    return ConvexExponent(
        value=lambda x: ball(rise) * x + ball(bend) * x * x / 2,
        slope=lambda x: ball(rise) + ball(bend) * x,
        tail_slope=lambda x: ball(rise) + ball(bend) * x,
        tail_curvature=ball(bend),
        continued=lambda x, _: ball(rise) * x + ball(bend) * x * x / 2,
    )


def mean_beyond(rise: Fraction, bend: Fraction, mean: Fraction, end: int) -> arb:
    """Enclose E[e^(f(x)); x > end] for x normal with this mean and variance 1, by completing the square."""
    m, r, b = ball(mean), ball(rise), ball(bend)
    peak = (m + r) / (1 - b)
    return ((peak * peak * (1 - b) - m * m) / 2).exp() * normal_cdf((peak - end) * (1 - b).sqrt()) / (1 - b).sqrt()


def log_mean(rise: Fraction, bend: Fraction, mean: Fraction) -> arb:
    """Enclose log E[e^(f(x))]."""
    return mean_beyond(rise, bend, mean, -(10**6)).log()


CASES = [
    (Fraction(0), Fraction(0)),
    (Fraction(3), Fraction(0)),
    (Fraction(1, 7), Fraction(0)),
    (Fraction(5), Fraction(1, 8)),
]


@pytest.mark.parametrize("window", [(-10, 12), (-1, 1), (1, 2), (-3, -2), (0, 30)])
@pytest.mark.parametrize(("rise", "bend"), CASES)
@pytest.mark.parametrize("mean", [Fraction(0), Fraction(-3, 4), Fraction(2)])
def test_the_truth_is_enclosed_for_every_window(
    rise: Fraction, bend: Fraction, mean: Fraction, window: Window
) -> None:
    """Also where most of the mass lies outside: for a parabola from the left end of a window on, which f needs."""
    with precision(96):
        low, high = window
        exponent, m = parabola(rise, bend), ball(mean)
        found = log_normal_mean(exponent, m, (ball(low), ball(high)), 40).exp()
        if bend == 0:
            assert found.contains(mean_beyond(rise, bend, mean, -(10**6)).mid())
        else:  # f falls left of -rise/bend: what lies there is less than the tail of a line
            truth = mean_beyond(rise, bend, mean, low) + convex_quadrature._left_tail(_node(exponent, low), m)
            assert found.overlaps(truth)


def _node(exponent: ConvexExponent, x: int) -> convex_quadrature._Node:
    return convex_quadrature._Node.of(exponent, arb(x))


@pytest.mark.parametrize("rise", [Fraction(1, 7), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("at", [-3, 0, 2])
@pytest.mark.parametrize("mean", [Fraction(0), Fraction(-3, 4), Fraction(2)])
def test_the_bounds_of_the_tails_are_attained(rise: Fraction, at: int, mean: Fraction) -> None:
    with precision(128):
        line, m, zero = parabola(rise, Fraction(0)), ball(mean), Fraction(0)
        left = convex_quadrature._left_tail(_node(line, at), m)
        right = convex_quadrature._right_tail(line, _node(line, at), m)
        beyond, total = mean_beyond(rise, zero, mean, at), mean_beyond(rise, zero, mean, -(10**6))
        assert close(left.lower(), total - beyond, left)
        assert close(left.upper(), (ball(rise) * at).exp() * normal_cdf(at - m), left)
        assert close(right, beyond, right)
        steeper = replace(line, tail_slope=lambda _: ball(rise) + 1)
        right = convex_quadrature._right_tail(steeper, _node(line, at), m)
        assert close(right.lower(), beyond, right)
        assert close(right.upper(), mean_beyond(rise + 1, zero, mean, at) * arb(-at).exp(), right)


@pytest.mark.parametrize("bend", [Fraction(1, 8), Fraction(3, 4)])
def test_the_quadratic_tail_is_attained_by_a_parabola(bend: Fraction) -> None:
    with precision(128):
        exponent = parabola(Fraction(1), bend)
        tail = convex_quadrature._right_tail(exponent, _node(exponent, 1), ball(Fraction(1, 2)))
        assert close(tail.upper(), mean_beyond(Fraction(1), bend, Fraction(1, 2), 1), tail)


def test_a_cell_is_bounded_by_its_tangent_and_its_chord() -> None:
    """Both bounds against the integral of e^line times the density, on each side of the mean."""
    with precision(128):
        exponent, zero = parabola(Fraction(1), Fraction(1, 2)), Fraction(0)
        for a, b in ((-2, -1), (-1, 1), (1, 2), (5, 7)):
            cell = convex_quadrature._Cell.of(_node(exponent, a), _node(exponent, b), arb(0))
            for slope, bound in ((1 + Fraction(a, 2), cell.lower), (1 + Fraction(a + b, 4), cell.upper)):
                offset = ball(a + Fraction(a * a, 4) - slope * a)
                expected = mean_beyond(slope, zero, zero, a) - mean_beyond(slope, zero, zero, b)
                assert close(bound, offset.exp() * expected, bound)


@pytest.mark.parametrize("bits", [64, 128, 256])
@pytest.mark.parametrize("relative_bits", [10, 40, 150])
def test_the_enclosure_is_as_narrow_as_asked(bits: int, relative_bits: int) -> None:
    rise, bend, mean = Fraction(5), Fraction(1, 8), Fraction(1, 3)
    with precision(bits):
        found = log_normal_mean(parabola(rise, bend), ball(mean), (ball(-40), ball(60)), relative_bits)
        truth = log_mean(rise, bend, mean)
        assert found.overlaps(truth)
        assert found.rad() < arb(2) ** -(min(relative_bits, bits - 24) - 2)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"slope": lambda _: arb(6)}, "slope must be the derivative"),
        ({"slope": lambda _: arb(5) / 2}, "slope must be the derivative"),
        ({"slope": lambda x: 5 + x / 4, "tail_slope": lambda x: 5 + x / 4}, "slope must be the derivative"),
        ({"tail_slope": lambda _: arb(5)}, "tail_slope must be at least"),
        ({"continued": lambda x, _: 5 * x + x * x / 15}, "continued must be"),
    ],
)
def test_an_exponent_whose_parts_contradict_each_other_is_refused(fault: dict[str, Any], named: str) -> None:
    """A wrong slope would give tangents above the function, and an enclosure without the truth in it."""
    exponent = replace(parabola(Fraction(5), Fraction(1, 8)), **fault)
    with precision(96), pytest.raises(UsageError, match=named):
        log_normal_mean(exponent, arb(0), (arb(-20), arb(30)), 40)


CENTRES = [acb(-6, 1), acb(-1, 1), acb(0, 0.5), acb(0.5, 1), acb(3, 2), acb(20, 3)]
BALLS = [*((centre, radius) for centre in CENTRES for radius in (0, 2**-4, 0.5)), (acb(102, 1), 2**-4)]


@pytest.mark.parametrize(("centre", "radius"), BALLS)
def test_the_complex_survival_function_encloses_its_values(centre: acb, radius: float) -> None:
    """On a ball, its value at the corners as erfc gives it at single points; the fall is the difference."""
    with precision(96):
        around = acb(arb(centre.real.mid(), radius), arb(centre.imag.mid(), radius))
        step = arb(3) / 4
        value, fall = log_complex_normal_sf(around, False), log_complex_normal_sf_fall(around, step, False)
        for dx, dy in ((0, 0), (radius, radius), (-radius, radius), (radius, -radius)):
            with precision(200 + 2 * math.ceil(midpoint(centre.real) ** 2)):  # erfc far out, plainly
                z = acb(centre.real + dx, centre.imag + dy)
                plain, below = ((w / arb(2).sqrt()).erfc() / 2 for w in (z, z + step))
                ratio = plain / below
            assert value.exp().overlaps(plain)
            assert fall.exp().overlaps(ratio)


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.25, 2.0, 30.0])
def test_the_radius_on_the_real_line_is_the_slope_at_its_left_end(x: float) -> None:
    """|S'| falls on the right and is attained on the real line: half of the bound would lose the ends of a ball."""
    with precision(96):
        radius = 2.0**-12
        around = log_complex_normal_sf(acb(arb(x, radius), arb(0)), True).real
        for end in (x - radius, x, x + radius):
            assert around.contains(log_normal_sf(arb(end)).mid())
        width = abs(log_normal_sf(arb(x - radius)) - log_normal_sf(arb(x + radius)))
        assert around.rad() < 8 * width * max(1, abs(x))


@pytest.mark.parametrize("relative_bits", [10, 60])
def test_a_mean_that_is_a_ball_widens_the_enclosure(relative_bits: int) -> None:
    with precision(128):
        rise, radius = Fraction(5), Fraction(1, 2**20)
        window, wide = (ball(-40), ball(60)), arb(0, float(radius))
        found = log_normal_mean(parabola(rise, Fraction(0)), wide, window, relative_bits)
        assert all(found.contains(log_mean(rise, Fraction(0), end).mid()) for end in (-radius, Fraction(0), radius))


@pytest.mark.parametrize("x", [-30.0, -1.0, 0.0, 0.25, 5.0, 99.0, 130.0])
def test_the_complex_survival_function_continues_the_real_one(x: float) -> None:
    with precision(128):
        value = log_complex_normal_sf(acb(x), True).real
        assert value.overlaps(log_normal_sf(arb(x)))
        assert value.rad() < abs(value).max(arb(1)) * arb(2) ** -80
        fall = log_complex_normal_sf_fall(acb(x), arb(2), True).real
        assert fall.overlaps(log_normal_sf(arb(x)) - log_normal_sf(arb(x) + 2))
        assert fall.rad() < abs(fall).max(arb(1)) * arb(2) ** -80


def test_a_ball_about_a_zero_is_not_analytic() -> None:
    """Phi(-z) is 0 at z = sqrt(2) (-1.3548 + 1.9914 i)."""
    around = acb(arb(-1.916, 0.1), arb(2.816, 0.1))
    assert not log_complex_normal_sf(around, True).is_finite()


def close(one: arb, other: arb, of: arb) -> bool:
    """Compare ends of a ball, whose radius has thirty bits."""
    return bool(abs(one - other) < abs(of).abs_upper() * arb(2) ** -24)


def test_the_density_is_the_slope_of_the_distribution_function() -> None:
    """`_scaled_sf` is bounded by phi(0) - x S(x), minus its derivative."""
    with precision(128):
        x, h = arb(3) / 2, arb(2) ** -40
        scaled = [((x + k * h) ** 2 / 2).exp() * normal_cdf(-x - k * h) for k in (-1, 1)]
        slope = (scaled[1] - scaled[0]) / (2 * h)
        assert abs(slope - (x * scaled[0] - normal_pdf(arb(0)))) < arb(2) ** -36
