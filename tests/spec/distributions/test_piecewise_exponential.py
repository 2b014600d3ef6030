"""Products and integrals of piecewise exponential functions against quadrature on every piece."""

from fractions import Fraction
from itertools import pairwise, permutations

import mpmath
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import precision
from dpassay.spec.distributions.piecewise_exponential import Line, PiecewiseExponential, guard_bits

CENTRES = (Fraction(-2), Fraction(0), Fraction(1, 3), Fraction(4))
STEP, RATE = Fraction(1, 2), Fraction(3, 7)


def cdf(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2


def density(x: mpmath.mpf, rate: Fraction) -> mpmath.mpf:
    return mpmath.mpf(rate.numerator) / rate.denominator / 2 * mpmath.exp(-abs(x) * rate.numerator / rate.denominator)


def number(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def quadrature(function, low: Fraction | None = None, high: Fraction | None = None) -> mpmath.mpf:  # type: ignore[no-untyped-def]
    cuts = [-120 if low is None else number(low), *map(number, CENTRES), 120 if high is None else number(high)]
    inside = sorted({c for c in cuts if cuts[0] <= c <= cuts[-1]})
    with mpmath.workdps(30):
        return mpmath.fsum(mpmath.quad(function, [a, b]) for a, b in pairwise(inside))


def close(enclosed: arb, expected: mpmath.mpf) -> None:
    assert float(enclosed.rad()) < 1e-14
    assert float(enclosed.mid()) == pytest.approx(float(expected), rel=1e-13)


def product(line: Line) -> PiecewiseExponential:
    return line.laplace_density(CENTRES[1], RATE) * line.laplace_cdf(CENTRES[0]) ** 2 * line.laplace_sf(CENTRES[3])


def product_value(t: mpmath.mpf) -> mpmath.mpf:
    b = number(STEP)
    below, above = cdf(b * (t - number(CENTRES[0]))), 1 - cdf(b * (t - number(CENTRES[3])))
    return density(t, RATE) * below**2 * above


def test_a_product_is_integrated_in_closed_form() -> None:
    close(product(Line(CENTRES, STEP)).integral(), quadrature(product_value))


def test_factors_of_a_product_may_change_places() -> None:
    line = Line(CENTRES, STEP)
    density, below, above = (
        line.laplace_density(CENTRES[1], RATE), line.laplace_cdf(CENTRES[0]), line.laplace_sf(CENTRES[3])
    )  # fmt: skip
    for factors in permutations((density, below, below, above)):
        first, second, third, last = factors
        close((first * second * third * last).integral(), quadrature(product_value))


@pytest.mark.parametrize(("low", "high"), [(None, 2), (1, 3), (2, None), (3, 3)])
def test_parts_of_the_line(low: int | None, high: int | None) -> None:
    ends = [None if k is None else CENTRES[k] for k in (low, high)]
    expected = mpmath.mpf(0) if low == high else quadrature(product_value, *ends)
    close(product(Line(CENTRES, STEP)).integral(*ends), expected)


def test_an_exponent_of_0_gives_the_width() -> None:
    line = Line((Fraction(0), Fraction(5)), Fraction(1))
    inside = line.laplace_density(Fraction(0), Fraction(1)) * line.laplace_cdf(Fraction(5))
    with mpmath.workdps(30):
        expected = mpmath.quad(lambda t: mpmath.exp(-t) / 2 * mpmath.exp(t - 5) / 2, [0, 5])
    close(inside.integral(Fraction(0), Fraction(5)), expected)
    assert float(inside.integral(Fraction(0), Fraction(5)).mid()) == pytest.approx(5 / 4 * float(mpmath.exp(-5)))


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize(("low", "high"), [(None, None), (0, 3), (None, 1), (2, None), (1, 2), (0, 1)])
def test_the_mass_above_a_threshold_in_an_interval(centre: Fraction, low: int | None, high: int | None) -> None:
    line = Line(CENTRES, STEP)
    ends = [None if k is None else CENTRES[k] for k in (low, high)]
    b = number(STEP)

    def mass(t: mpmath.mpf) -> mpmath.mpf:
        begin = t if ends[0] is None else max(t, number(ends[0]))
        top = mpmath.mpf(1) if ends[1] is None else cdf(b * (number(ends[1]) - number(centre)))
        return density(t, RATE) * max(mpmath.mpf(0), top - cdf(b * (begin - number(centre))))

    close((line.laplace_density(Fraction(0), RATE) * line.laplace_mass(centre, *ends)).integral(), quadrature(mass))


def test_exponential_noise_begins_at_its_origin() -> None:
    line = Line((Fraction(0), Fraction(2)), Fraction(1))
    wins = line.exponential_density(Fraction(0)) * line.exponential_cdf(Fraction(2))
    assert float(wins.integral().mid()) == pytest.approx(float(mpmath.exp(-2)) / 2)
    assert wins.integral(None, Fraction(2)) == 0


def test_high_powers_keep_their_digits() -> None:
    count = 300
    with precision(64 + guard_bits(count)):
        line = Line((Fraction(0), Fraction(1)), Fraction(1))
        chance = (line.laplace_density(Fraction(0), Fraction(1)) * line.laplace_cdf(Fraction(0)) ** count).integral()
    assert chance.rel_accuracy_bits() >= 50
    assert float(chance.mid()) == pytest.approx(1 / (count + 1), rel=1e-14)  # the largest of 301 equal variables


def test_a_line_needs_a_kink_and_a_rate() -> None:
    with pytest.raises(UsageError, match="kink"):
        Line((), Fraction(1))
    with pytest.raises(UsageError, match="rate"):
        Line((Fraction(0),), Fraction(0))
    with pytest.raises(UsageError, match="lines"):
        _ = Line(CENTRES, STEP).constant(arb(1)) * Line(CENTRES, STEP).constant(arb(1))
