"""Independent noise behind released numbers: divergences of a pair of inputs in closed form.

Let every leaf release the same numbers y = A z + c on the left, and y = A z + c' on the right, whatever the decisions
are that lead there. Numbers that hold normal noise only have the distributions N(c, S) and N(c', S) with S = A A'.
With S w = c' - c, the sum w . y tells all that they tell: it has variance m^2 = w . (c' - c), and its means differ by
m^2. So these numbers are as private as N(0, 1) against N(m, 1). Numbers that hold Laplace noise only, and determine
it, are as private as their noise against the same noise shifted by d, A d = c - c'.

What else is released can only add to a divergence: those of the noise behind are lower bounds, and attained where
nothing else is released.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpassay.spec.distributions.noise import NoiseDistribution, NoisePair
from dpassay.spec.leaves.model import Affine, LeafModel, NoiseKind
from dpassay.spec.leaves.outcomes import skeleton
from dpassay.spec.leaves.supports import echelon

__all__ = ["Direction", "NoiseBehind", "noise_behind", "root_lower"]

MOST_NUMBERS = 64
"""Numbers for which equations are solved."""

_ROOT_BITS = 192
"""Accuracy of the distance of two Gaussians, in binary digits."""


@dataclass(frozen=True)
class Direction:
    """A sum of released numbers that holds all that its normal numbers tell about the pair.

    Parameters
    ----------
    structure : Hashable
        The structure of all outcomes.
    weights : Mapping of int to Fraction
        The weights of the numbers by place, none of them 0, the largest absolute value 1.
    means : (Fraction, Fraction)
        Its mean on the left and on the right.
    variance : Fraction
        Its variance on both.
    """

    structure: Hashable
    weights: Mapping[int, Fraction]
    means: tuple[Fraction, Fraction]
    variance: Fraction

    @property
    def square(self) -> Fraction:
        """Return the squared distance of the means in standard deviations."""
        return (self.means[1] - self.means[0]) ** 2 / self.variance


@dataclass(frozen=True)
class NoiseBehind:
    """The noise behind the released numbers of a pair of models.

    Parameters
    ----------
    direction : Direction, optional
        That of the numbers with normal noise; None if their distributions are equal.
    shifts : tuple of Fraction
        The shifts of Laplace noises in scales, none of them 0.
    is_complete : bool
        Whether all other noisy numbers are the same on both sides.
    """

    direction: Direction | None
    shifts: tuple[Fraction, ...]
    is_complete: bool

    @property
    def moved(self) -> tuple[NoisePair, ...]:
        """Return pairs of noise that are at least as private: Gaussian ones are closer, at a rational distance."""
        distances = [("laplace", abs(shift)) for shift in self.shifts]
        if self.direction is not None:
            distances.append(("gaussian", root_lower(self.direction.square)))
        return tuple((NoiseDistribution(kind, 0, 1), NoiseDistribution(kind, far, 1)) for kind, far in distances)


def root_lower(square: Fraction) -> Fraction:
    """Return a rational number just below the square root, or the root if that is rational."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    digits = max(0, _ROOT_BITS - square.numerator.bit_length() // 2 + square.denominator.bit_length() // 2)
    return Fraction(math.isqrt((square.numerator << 2 * digits) // square.denominator), 1 << digits)


def noise_behind(left: LeafModel, right: LeafModel) -> NoiseBehind | None:
    """Return the noise behind the released numbers; None where leaves release different numbers, or none moves.

    Parameters
    ----------
    left, right : LeafModel
        On numeric data, with affine numbers only. Their leaves must be known to fill the space of the noise.
    """
    first, second = _released(left), _released(right)
    if first is None or second is None:
        return None
    (structure, numbers), (other, moved) = first, second
    noisy = [place for place, number in enumerate(numbers) if number.noise]
    if structure != other or len(noisy) > MOST_NUMBERS:
        return None
    if any(one.noise != two.noise or not (one.noise or one == two) for one, two in zip(numbers, moved, strict=True)):
        return None
    by_kind: dict[frozenset[NoiseKind], list[int]] = {}
    for place in noisy:
        by_kind.setdefault(frozenset(noise.kind for noise in numbers[place].noise), []).append(place)
    gaps = {place: moved[place].constant - numbers[place].constant for place in noisy}
    normal = by_kind.pop(frozenset({NoiseKind.NORMAL}), [])
    direction = _direction(structure, {place: numbers[place] for place in normal}, gaps)
    laplace = by_kind.pop(frozenset({NoiseKind.LAPLACE}), [])
    shifts = _shifts([numbers[place] for place in laplace], [gaps[place] for place in laplace])
    if direction is None and not shifts:
        return None
    rest = [place for places in by_kind.values() for place in places]
    rest += [*(laplace if shifts is None else []), *(normal if direction is None else [])]
    return NoiseBehind(direction, shifts or (), not any(gaps[place] for place in rest))


def _released(model: LeafModel) -> tuple[Hashable, tuple[Affine, ...]] | None:
    """Return structure and numbers of all outcomes; None if leaves release different ones."""
    if model.undecided:
        return None
    found = {skeleton(leaf.outcome) for leaf in model.leaves}
    return found.pop() if len(found) == 1 else None


def _direction(
    structure: Hashable, numbers: Mapping[int, Affine], gaps: Mapping[int, Fraction]
) -> Direction | None:  # fmt: skip
    """Return the direction that tells two normal distributions apart; None if equal, or on other subspaces."""
    table = [[*(_covariance(numbers[i], numbers[j]) for j in numbers), gaps[i]] for i in numbers]
    count = len(numbers)
    echelon(table, count)
    solution = dict.fromkeys(range(count), Fraction(0))
    for row in table:
        pivot = next((j for j in range(count) if row[j]), None)
        if pivot is None:
            if row[-1]:
                return None  # an infinite loss, which is found elsewhere
        else:
            solution[pivot] = row[-1]
    largest = max(map(abs, solution.values()), default=Fraction(0))
    if not largest:
        return None
    weights = {place: solution[k] / largest for k, place in enumerate(numbers) if solution[k]}
    mean = sum((weight * numbers[place].constant for place, weight in weights.items()), Fraction(0))
    gap = sum((weight * gaps[place] for place, weight in weights.items()), Fraction(0))
    return Direction(structure, weights, (mean, mean + gap), gap / largest)


def _covariance(one: Affine, other: Affine) -> Fraction:
    return sum((value * other.noise[noise] for noise, value in one.noise.items() if noise in other.noise), Fraction(0))


def _shifts(numbers: Sequence[Affine], gaps: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
    """Return the shifts of noises that numbers determine; None if they determine some of them only."""
    noises = list(dict.fromkeys(noise for number in numbers for noise in number.noise))
    table = [
        [*(number.noise.get(noise, Fraction(0)) for noise in noises), gap]
        for number, gap in zip(numbers, gaps, strict=True)
    ]
    count = len(noises)
    echelon(table, count)
    if len(table) < count or any(not table[j][j] for j in range(count)) or any(row[-1] for row in table[count:]):
        return None
    return tuple(row[-1] for row in table[:count] if row[-1])
