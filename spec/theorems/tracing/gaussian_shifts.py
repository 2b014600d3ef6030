"""Gaussian noise of leaves: one shift for all of them, and the distance of two Gaussian distributions."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.gaussian_alignment import GaussianAligned, gaussian_bound
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.noise_behind import noise_behind
from dpassay.spec.leaves.polyhedra import negated
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = [
    "gaussian_dp_of_a_common_shift",
    "half_spaces_lose_what_released_numbers_lose",
    "no_gaussian_dp_of_shifts_that_depend_on_the_leaf",
    "noise_behind_released_numbers",
]

Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Pairs = Annotated[VectorNeighbours, Choices("neighbours of two answers", (
    VectorNeighbours(2, linf=1), VectorNeighbours(2, l1=1), VectorNeighbours(2, linf=2, monotone=True),
))]  # fmt: skip


@statement(DPASSAY, "common shift of Gaussian noise", cases=4)
def gaussian_dp_of_a_common_shift(program: Program, relation: Pairs) -> Verdict:
    """Two numbers C Z + B x with Gaussian Z are Gaussian DP with the largest Mahalanobis length of B Delta under the
    covariance C C', attained at a corner of the moves; the shortest common shift of the noise has this length.
    """
    noise, data = _program(program)
    numbers = tuple(_number(*rows) for rows in zip(noise, data, strict=True))
    found = gaussian_bound(LeafModel((Leaf((), Fraction(1), numbers),), size=2), relation)
    square = found.square if isinstance(found, GaussianAligned) else Fraction(-1)
    return equal_exact(square, max(_length(noise, data, move) for move in _corners(relation)), "the square of mu")


@statement(DPASSAY, "common shift of Gaussian noise", cases=4)
def no_gaussian_dp_of_shifts_that_depend_on_the_leaf(program: Program) -> Verdict:
    """A noise that is released with the data on one side of a decision and without them on the other has no common
    shift: the released number shows the data on one side only, and nothing is claimed.
    """
    scale = 1 + program % 5
    coin = _number([0, 1, 0], [0, 0])
    leaves = (
        Leaf((Constraint(coin),), Fraction(1), ("a", _number([scale, 0, 0], [1, 0]))),
        Leaf((Constraint(negated(coin)),), Fraction(1), ("b", _number([scale, 0, 0], [0, 0]))),
    )
    found = gaussian_bound(LeafModel(leaves, size=2), VectorNeighbours(2, linf=1))
    claims = isinstance(found, GaussianAligned)
    return Violated(evidence=Evidence.EXACT) if claims else Holds(evidence=Evidence.EXACT)


@statement(DPASSAY, "noise behind released numbers", cases=4)
def noise_behind_released_numbers(program: Program) -> Verdict:
    """Two numbers C Z + B x with Gaussian Z, released at x and at x + Delta, are as private as Gaussian noise at the
    Mahalanobis length of B Delta under the covariance C C'.
    """
    noise, data = _program(program)
    move = (1, 1 + program % 3)
    found = noise_behind(*(_released(noise, data, point) for point in ((0, 0), move)))
    square = Fraction(0) if found is None or found.direction is None else found.direction.square
    return equal_exact(square, _length(noise, data, move), "the squared distance")


@statement(DPASSAY, "noise behind released numbers", cases=4)
def half_spaces_lose_what_released_numbers_lose(program: Program) -> Verdict:
    """The sum w . y of released numbers C Z + B x in the direction of a pair has variance w' C C' w, and its means
    differ by w . B Delta.
    """
    noise, data = _program(program)
    move = (1, 1 + program % 3)
    found = noise_behind(*(_released(noise, data, point) for point in ((0, 0), move)))
    if found is None or found.direction is None:
        return equal_exact(Fraction(0), _length(noise, data, move), "the squared distance")
    weights = [found.direction.weights.get(place, Fraction(0)) for place in range(2)]
    summed = [
        sum((w * c for w, c in zip(weights, column, strict=True)), Fraction(0)) for column in zip(*noise, strict=True)
    ]
    gap = sum(
        (w * b * step for w, row in zip(weights, data, strict=True) for b, step in zip(row, move, strict=True)),
        Fraction(0),
    )
    verdict = equal_exact(found.direction.variance, sum((value**2 for value in summed), Fraction(0)), "the variance")
    is_wrong = found.direction.means[1] - found.direction.means[0] != gap
    return Violated(evidence=Evidence.EXACT) if is_wrong else verdict


def _program(program: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return the coefficients C of three noises, and B of two data, in two numbers."""
    rng = random.Random(program)  # noqa: S311
    noise = [[rng.randint(1, 3), rng.randint(-2, 2), rng.randint(0, 1)], [0, rng.randint(1, 3), rng.randint(-1, 1)]]
    return noise, [[rng.randint(-2, 2) for _ in range(2)] for _ in range(2)]


def _released(noise: list[list[int]], data: list[list[int]], point: tuple[int, int]) -> LeafModel:
    numbers = tuple(
        replace(_number(own, [0, 0]), constant=Fraction(sum(b * x for b, x in zip(row, point, strict=True))))
        for own, row in zip(noise, data, strict=True)
    )
    return LeafModel((Leaf((), Fraction(1), numbers),))


def _number(noise: list[int], data: list[int]) -> Affine:
    return Affine(
        Fraction(0),
        {Noise(NoiseKind.NORMAL, place): Fraction(value) for place, value in enumerate(noise) if value},
        {place: Fraction(value) for place, value in enumerate(data) if value},
    )


def _corners(relation: VectorNeighbours) -> list[tuple[int, int]]:
    if relation.l1 is not None:
        return [(1, 0), (0, 1)]
    reach = int(relation.linf or 0)
    low = 0 if relation.monotone else -reach
    return [(one, other) for one in (low, reach) for other in (low, reach)]


def _length(noise: list[list[int]], data: list[list[int]], move: tuple[int, int]) -> Fraction:
    """Return v' S^-1 v for v = B Delta and S = C C', by the inverse of a matrix of two rows."""
    first, second = (sum(b * step for b, step in zip(row, move, strict=True)) for row in data)
    a, b, d = (
        sum(x * y for x, y in zip(one, other, strict=True))
        for one, other in itertools.combinations_with_replacement(noise, 2)
    )
    return Fraction(first * first * d - 2 * first * second * b + second * second * a, a * d - b * b)
