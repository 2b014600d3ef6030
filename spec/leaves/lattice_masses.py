"""Masses of numbers that hold geometric noise only: constants plus integer combinations of it.

A number y = c + sum_j a_j G_j takes values in c + g Z, g the greatest common divisor of the coefficients. Its masses
are a convolution. Each noise is cut at the first power of its ratio below a bound; what all cuts lose together is
added to the upper end of every enclosure. Values off the lattice, or below the least value of one-sided noise, have
mass 0 exactly: there a loss may be infinite.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly, ctx

from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.leaves.model import Affine, NoiseKind
from dpassay.spec.leaves.probability import UndecidedLeafError

__all__ = ["cell_masses", "lattice_law"]

MOST_TERMS = 1 << 15
"""Terms of the masses of one noise, and of their convolution."""

Law = tuple[tuple[int, Fraction], ...]
"""Integer coefficients, and ratios of the noises."""


def lattice_law(number: Affine) -> tuple[Fraction, Law]:
    """Return the distance of the lattice of a number, and the law of its noise in units of that distance.

    Raises
    ------
    UndecidedLeafError
        If it holds other noise, or data.
    """
    if number.data or any(noise.kind is not NoiseKind.GEOMETRIC for noise in number.noise):
        raise UndecidedLeafError("noise on a lattice stands beside other noise")
    if not number.noise:
        return Fraction(1), ()
    values = [abs(value) for value in number.noise.values()]
    below = math.lcm(*(value.denominator for value in values))
    step = Fraction(math.gcd(*(int(value * below) for value in values)), below)
    return step, tuple(sorted((int(value / step), noise.ratio) for noise, value in number.noise.items()))


def cell_masses(number: Affine, points: tuple[Fraction, ...]) -> tuple[arb, ...]:
    """Enclose the probabilities of all cells that some points cut.

    Parameters
    ----------
    number : Affine
        The number, on numeric data.
    points : tuple of Fraction
        Different points in increasing order.

    Returns
    -------
    tuple of arb
        Below the first point, at it, between it and the next, and so on, above the last.

    Raises
    ------
    UndecidedLeafError
        If its noise is of another kind, or the masses have too many terms.
    """
    return _cell_masses(number, points, ctx.prec)


@lru_cache(256)
def _cell_masses(number: Affine, points: tuple[Fraction, ...], bits: int) -> tuple[arb, ...]:
    step, law = lattice_law(number)
    terms, first, lost = _terms(law, bits)
    places = [(point - number.constant) / step for point in points]
    low = 0 if all(value > 0 for value, _ in law) else None
    high = 0 if all(value < 0 for value, _ in law) else None
    cells = []
    for k in range(len(points) + 1):
        start = low if k == 0 else math.floor(places[k - 1]) + 1
        end = high if k == len(points) else math.ceil(places[k]) - 1
        cells.append(_mass(terms, first, lost, _largest(start, low), _least(end, high)))
        if k < len(points):
            is_possible = places[k].denominator == 1
            value = int(places[k]) if is_possible else 0
            inside = is_possible and (low is None or value >= low) and (high is None or value <= high)
            cells.append(_mass(terms, first, lost, value, value) if inside else arb(0))
    return tuple(cells)


def _largest(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else max(first, second)


def _least(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else min(first, second)


def _mass(terms: Sequence[arb], first: int, lost: arb, start: int | None, end: int | None) -> arb:
    """Enclose the mass of the integers from start to end; None: no end."""
    if start is not None and end is not None and start > end:
        return arb(0)
    begin = 0 if start is None else max(0, start - first)
    stop = len(terms) if end is None else max(0, end - first + 1)
    known = sum_balls(terms[begin:stop])
    return known.union(known + lost)


@lru_cache(64)
def _terms(law: Law, bits: int) -> tuple[tuple[arb, ...], int, arb]:
    """Return lower ends of the masses, the integer of the first one, and what is lost in total, at a precision."""
    up, down, lost = arb_poly([1]), arb_poly([1]), arb(0)
    for value, ratio in law:
        count = _count(ratio, bits)
        if count * abs(value) > MOST_TERMS:
            raise UndecidedLeafError(f"geometric noise with ratio {float(ratio):.6g} has too many values")
        sparse = [arb(0)] * ((count - 1) * abs(value) + 1)
        sparse[:: abs(value)] = [(1 - ball(ratio)) * ball(ratio) ** k for k in range(count)]
        if value > 0:
            up = up * arb_poly(sparse)
        else:
            down = down * arb_poly(sparse[::-1])
        lost += ball(ratio) ** count
    depth = sum(_reach(value, ratio, bits) for value, ratio in law if value < 0)
    return tuple((up * down).coeffs()), -depth, lost


def _reach(value: int, ratio: Fraction, bits: int) -> int:
    return (_count(ratio, bits) - 1) * abs(value)


def _count(ratio: Fraction, bits: int) -> int:
    """Return a number of terms after which less than about 2^-bits is left."""
    return max(1, math.ceil(bits / -math.log2(ratio))) if ratio < 1 else MOST_TERMS + 1
