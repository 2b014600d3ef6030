"""Bounds on the probability of an interval, against enclosures of that probability."""

import itertools
from fractions import Fraction

import pytest

from dpassay.properties.tracing.mass import interval_upper
from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.model import Affine, Constraint, Noise, NoiseKind
from dpassay.spec.leaves.single_noise import interval_probability

ENDS = tuple(Fraction(k, 7) for k in (-40, -9, -1, 2, 5, 13, 60))
KINDS = tuple(kind for kind in NoiseKind if kind is not NoiseKind.GEOMETRIC)


@pytest.mark.parametrize("kind", KINDS)
def test_the_probability_of_an_interval_is_rounded_up(kind: NoiseKind) -> None:
    noise = Noise(kind, 0)
    pairs = [*itertools.combinations(ENDS, 2), *((end, None) for end in ENDS), *((None, end) for end in ENDS)]
    for low, high in pairs:
        above = [] if low is None else [Constraint(Affine(-low, {noise: Fraction(1)}))]
        below = [] if high is None else [Constraint(Affine(high, {noise: Fraction(-1)}))]
        bound = interval_upper(kind, (low, high))
        with precision(300):
            truth = interval_probability([*above, *below])
            assert not ball(bound) < truth  # equal ones do not separate
            assert ball(bound) < truth + ball(Fraction(1, 2**50))
