"""Leaves of Gaussian noise with loadings of both signs, against a formula and an independent integral."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.gaussian_leaves import gaussian_probability
from dpassay.spec.leaves.model import Affine, Constraint, Noise, NoiseKind

from .models import at_least, noise, number, plus

Row = tuple[int, int, Fraction]
"""Coefficients of the common noise and of an own one, and a constant."""


def common(rows: list[Row]) -> list[Constraint]:
    """Return l_i z_0 + c_i z_i + k_i >= 0."""
    return [
        at_least(plus(noise(NoiseKind.NORMAL, 0, loading), noise(NoiseKind.NORMAL, i, own)), number(-constant))
        for i, (loading, own, constant) in enumerate(rows, start=1)
    ]


def integral(rows: list[Row]) -> float:
    """Integrate phi(x) prod_i Phi((l_i x + k_i)/|c_i|) by the trapezoidal rule, in float64."""
    x = np.linspace(-12, 12, 4801)
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    for loading, own, constant in rows:
        density *= [math.erfc(-(loading * u + float(constant)) / abs(own) * math.sqrt(0.5)) / 2 for u in x]
    return float(density.sum() * (x[1] - x[0]))


@pytest.mark.parametrize("signs", [*itertools.product((1, -1), repeat=3), (1, -1, 1, -1), (-1, 1, 1, 1)])
def test_rows_with_a_common_noise_of_either_sign_agree_with_an_integral(signs: tuple[int, ...]) -> None:
    generator = random.Random(f"{signs}")  # noqa: S311
    rows = [
        (sign * generator.randint(1, 3), generator.choice((-2, -1, 1, 2)), Fraction(generator.randint(-4, 4), 3))
        for sign in signs
    ]
    assert float(gaussian_probability(common(rows))) == pytest.approx(integral(rows), abs=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_three_sums_fill_the_angles_between_them(seed: int) -> None:
    """Pr[X >= 0, Y >= 0, Z >= 0] = 1/8 + (asin r_xy + asin r_xz + asin r_yz)/(4 pi)."""
    generator = random.Random(seed)  # noqa: S311
    forms = [
        {0: generator.choice((-2, -1, 1, 2)), i: generator.choice((-3, -2, 2, 3)), i + 3: generator.choice((-1, 1))}
        for i in (1, 2, 3)
    ]
    constraints = [
        Constraint(Affine(Fraction(0), {Noise(NoiseKind.NORMAL, i): Fraction(c) for i, c in form.items()}))
        for form in forms
    ]
    with precision(128):
        angles = arb(0)
        for one, other in itertools.combinations(forms, 2):
            lengths = ball(math.prod(sum(c * c for c in form.values()) for form in (one, other))).sqrt()
            angles = angles + (arb(one[0] * other[0]) / lengths).asin()
        expected = arb(1) / 8 + angles / (4 * arb.pi())
        assert (gaussian_probability(constraints) - expected).abs_upper() < arb(2) ** -90


@pytest.mark.parametrize(
    ("one", "other"), [((1, 0), (3, 1)), ((3, 1), (1, 0)), ((1, 2), (-5, -9)), ((4, 1), (5, 1)), ((2, 0), (1, 1))]
)
def test_two_sums_fill_the_angle_between_them(one: tuple[int, int], other: tuple[int, int]) -> None:
    """Pr[X >= 0, Y >= 0] = 1/4 + asin(r)/(2 pi), also where the covariance exceeds one of the variances."""
    constraints = [
        Constraint(Affine(Fraction(0), {Noise(NoiseKind.NORMAL, i): Fraction(c) for i, c in enumerate(form) if c}))
        for form in (one, other)
    ]
    with precision(128):
        lengths = ball(math.prod(sum(c * c for c in form) for form in (one, other))).sqrt()
        correlation = arb(one[0] * other[0] + one[1] * other[1]) / lengths
        expected = arb(1) / 4 + correlation.asin() / (2 * arb.pi())
        assert (gaussian_probability(constraints) - expected).abs_upper() < arb(2) ** -90
