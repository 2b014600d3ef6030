"""Noise by inversion: logarithms of uniform noise are noise of other distributions.

For U uniform on (0, 1), -log U and -log(1 - U) follow the exponential distribution. The Laplace noise L with
distribution function F is F^-1(U): log(2U) where U <= 1/2, and -log(2 - 2U) where U >= 1/2. For E exponential, -log E
follows the Gumbel distribution. The noise that is named so has a distribution of its own only if nothing else in a run
depends on U: earlier decisions about it must say no more than on which side of 1/2 it lies, and it must not be used
beside its logarithm afterwards.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

from dpassay.properties.tracing.forms import Form, Row
from dpassay.spec.leaves.model import Noise, NoiseKind

__all__ = ["Inversion", "draw_of", "inversion_of", "inverted_noises"]

HALF, ONE = Fraction(1, 2), Fraction(1)

Interval = tuple[Fraction, Fraction]


class Inversion:
    """A logarithm as a multiple of other noise.

    Parameters
    ----------
    noise : Noise
        The other noise; its position is negative, and tells of which draw it is a function.
    sign : int
        The logarithm is the noise times 1 or -1.
    side : int
        The sign of the noise: 1 at least 0, -1 at most 0, 0 either.
    """

    def __init__(self, noise: Noise, sign: int, side: int = 0) -> None:
        self.noise, self.sign, self.side = noise, sign, side

    def rows(self, key: int) -> list[Row]:
        """Return the rows about the other noise that replace those about the draw."""
        return [Row(Form(Fraction(0), {key: Fraction(self.side)}), is_strict=self.side < 0)] if self.side else []


def inversion_of(noise: Noise, slope: Fraction, constant: Fraction, interval: Interval | None) -> Inversion | None:
    """Return the logarithm of slope z + constant for a draw in an interval; None if it is no known noise.

    Parameters
    ----------
    noise : Noise
        The draw.
    slope, constant : Fraction
        The argument of the logarithm.
    interval : (Fraction, Fraction), optional
        Where a uniform draw is known to lie; None if nothing is known of the draw.
    """
    if noise.kind is NoiseKind.EXPONENTIAL and noise.position < 0 and interval is None:
        return Inversion(Noise(NoiseKind.GUMBEL, noise.position), -1) if slope == 1 and constant == 0 else None
    if noise.kind is not NoiseKind.UNIFORM:
        return None
    exponential, laplace = NoiseKind.EXPONENTIAL, NoiseKind.LAPLACE
    falls, rises = -2 - 2 * noise.position, -1 - 2 * noise.position
    known = {
        (ONE, Fraction(0), (Fraction(0), ONE)): Inversion(Noise(exponential, rises), -1),
        (-ONE, ONE, (Fraction(0), ONE)): Inversion(Noise(exponential, falls), -1),
        (Fraction(2), Fraction(0), (Fraction(0), HALF)): Inversion(Noise(laplace, rises), 1, -1),
        (Fraction(-2), Fraction(2), (HALF, ONE)): Inversion(Noise(laplace, rises), -1, 1),
    }
    return known.get((slope, constant, interval or (Fraction(0), ONE)))


def inverted_noises(noises: Mapping[Noise, float]) -> dict[Noise, float]:
    """Return the values of noises by inversion for recorded draws."""
    found: dict[Noise, float] = {}
    for noise, value in noises.items():
        if noise.kind is NoiseKind.UNIFORM and 0 < value < 1:
            falls, rises = -2 - 2 * noise.position, -1 - 2 * noise.position
            logarithms = {rises: -math.log(value), falls: -math.log1p(-value)}
            for position, own in logarithms.items():
                found[Noise(NoiseKind.EXPONENTIAL, position)] = own
                found[Noise(NoiseKind.GUMBEL, position)] = -math.log(own)
            laplace = math.log(2 * value) if value < HALF else -math.log(2 - 2 * value)
            found[Noise(NoiseKind.LAPLACE, rises)] = laplace
    return found


def draw_of(noise: Noise) -> Noise:
    """Return the draw of which a noise by inversion is a function; other noise is a draw itself."""
    return Noise(NoiseKind.UNIFORM, (-1 - noise.position) // 2) if noise.position < 0 else noise
