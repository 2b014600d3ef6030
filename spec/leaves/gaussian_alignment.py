"""One shift of Gaussian noise for all leaves: a mechanism as post-processing of Gaussian noise around a shifted mean.

Let all decisions and released numbers of all leaves be forms c . Z + b . x + k. If a shift s of the normal noises has
c . s + b . Delta = 0 for every one of them, a run at x + Delta with noise Z + s takes the decisions of the run at x
with noise Z, and releases the same numbers. So the mechanism at x and at x + Delta is one and the same function of Z
and of Z + s, and is as private as N(0, I) against N(s, I): Gaussian DP with mu = |s|, whatever the function is. Noise
of other kinds is not shifted. The shift must not depend on the leaf: a cost that depended on the outcome would be no
Gaussian pair.

Written C s = -B Delta, with C of full rank after superfluous rows are dropped, the shortest solution has
|s|^2 = Delta' Q Delta with Q = B' (C C')^-1 B, a convex function of the move: corners decide. Where the l2 norm of the
moves is bounded, so does the largest eigenvalue of Q: a number t just above it for which t I - Q has no negative
eigenvalue, by elimination in rationals.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.spec.leaves.alignment import Unaligned, programme_of
from dpassay.spec.leaves.derived import covers_of
from dpassay.spec.leaves.model import LeafModel, NoiseKind
from dpassay.spec.leaves.moves import Box, UndecidedMovesError, require_size
from dpassay.spec.leaves.outcomes import UnknownOutcomeError
from dpassay.spec.leaves.supports import echelon

__all__ = ["GaussianAligned", "gaussian_bound"]

MOST_ROWS = 48
"""Forms, and coordinates of data, of one system of equations."""

MOST_CORNERS = 1024

_ABOVE = tuple(Fraction(1, 2**bits) for bits in (51, 48, 45, 40))
"""The relative distances at which a bound stands above an eigenvalue of floats, the first one that is proved."""

Matrix = list[list[Fraction]]


@dataclass(frozen=True)
class GaussianAligned:
    """A proof of Gaussian DP for all data of a length.

    Parameters
    ----------
    square : Fraction
        The square of its mu.
    move : tuple of Fraction
        A move of the data, derived coordinates included, that needs about the longest shift.
    """

    square: Fraction
    move: tuple[Fraction, ...]


def gaussian_bound(model: LeafModel, relation: NeighbourRelation) -> GaussianAligned | Unaligned:
    """Bound mu for all data of the model's length.

    Parameters
    ----------
    model : LeafModel
        On symbolic data.
    relation : NeighbourRelation
        For data of the same length.
    """
    if model.undecided:
        return Unaligned("runs were not traced")
    try:
        require_size(relation, model.size)
        system = _system(model)
        if isinstance(system, Unaligned):
            return system
        return _largest(_quadratic(*system), model, relation)
    except (UnknownOutcomeError, UndecidedMovesError) as error:
        return Unaligned(str(error))


def _system(model: LeafModel) -> tuple[Matrix, Matrix] | Unaligned:
    """Return independent rows of C, and those of B."""
    forms = dict.fromkeys(form for leaf in model.leaves for form, _ in programme_of(leaf).forms)
    noises = dict.fromkeys(noise for form in forms for noise in form.noise if noise.kind is NoiseKind.NORMAL)
    rows = {
        (
            *(form.noise.get(noise, Fraction(0)) for noise in noises),
            *(form.data.get(i, Fraction(0)) for i in range(model.width)),
        )
        for form in forms
    }
    if len(rows) > 8 * MOST_ROWS or model.width > MOST_ROWS or len(noises) > 8 * MOST_ROWS:
        return Unaligned(f"{len(rows)} decisions and numbers depend on {model.width} coordinates of data")
    table = [list(row) for row in sorted(rows)]
    count = len(noises)
    echelon(table, count)
    if any(not any(row[:count]) and any(row[count:]) for row in table):
        return Unaligned("a decision or a number depends on the data and on no Gaussian noise of its own")
    kept = [row for row in table if any(row[:count])]
    if len(kept) > MOST_ROWS:
        return Unaligned(f"{len(kept)} independent numbers")
    return [row[:count] for row in kept], [row[count:] for row in kept]


def _quadratic(noise: Matrix, data: Matrix) -> Matrix:
    """Return Q = B' (C C')^-1 B."""
    products = [[_dot(one, other) for other in noise] for one in noise]
    table = [[*product, *row] for product, row in zip(products, data, strict=True)]
    echelon(table, len(noise))
    solved = [row[len(noise) :] for row in table]
    size = len(data[0]) if data else 0
    return [[sum((b[i] * x[j] for b, x in zip(data, solved, strict=True)), Fraction(0)) for j in range(size)]
            for i in range(size)]  # fmt: skip


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True) if a and b), Fraction(0))


def _largest(form: Matrix, model: LeafModel, relation: NeighbourRelation) -> GaussianAligned:
    """Bound the quadratic form over all moves.

    Raises
    ------
    UndecidedMovesError
        If the moves are no boxes, or too many, and the relation has no bound on the l2 norm.
    """
    if not form:
        return GaussianAligned(Fraction(0), (Fraction(0),) * model.width)
    bounds = []
    if isinstance(relation, VectorNeighbours) and relation.l2 is not None and not model.derived:
        bounds.append(_in_ball(form, Fraction(relation.l2)))
    try:
        bounds += [
            max((_in_box(form, box) for box in moves.boxes), key=lambda found: found.square)
            for moves in covers_of(model, relation)
        ]
    except UndecidedMovesError:
        if not bounds:
            raise
    return min(bounds, key=lambda found: found.square)


def _in_ball(form: Matrix, radius: Fraction) -> GaussianAligned:
    """Bound the form on a Euclidean ball."""
    rows = max(sum(map(abs, row), Fraction(0)) for row in form)
    trace = sum((form[i][i] for i in range(len(form))), Fraction(0))
    largest = min(rows, trace)  # both bound the largest eigenvalue
    values, vectors = np.linalg.eigh(np.array(form, dtype=np.float64))
    for above in _ABOVE:
        closer = Fraction(float(values[-1])) * (1 + above)
        rest = [[closer * (i == j) - value for j, value in enumerate(row)] for i, row in enumerate(form)]
        if closer < largest and _is_positive(rest):
            largest = closer
            break
    move = tuple(radius * (1 - _ABOVE[-1]) * Fraction(value) for value in vectors[:, -1].tolist())
    return GaussianAligned(radius**2 * largest, move)


def _is_positive(form: Matrix) -> bool:
    """Return whether a symmetric matrix has no negative eigenvalue, by elimination."""
    rest = [list(row) for row in form]
    while rest:
        first, *others = rest
        pivot = first[0]
        if pivot < 0 or (not pivot and any(first)):
            return False
        rest = [[value - row[0] / pivot * top for value, top in zip(row[1:], first[1:], strict=True)] if row[0]
                else row[1:] for row in others]  # fmt: skip
    return True


def _in_box(form: Matrix, box: Box) -> GaussianAligned:
    moving = [i for i, ends in enumerate(box) if any(ends)]
    coupled = [i for i in moving if any(form[i][j] for j in moving if j != i)]
    widths = [max(-low, high) for low, high in box]
    move = [(high if high >= -low else low) for low, high in box]
    alone = sum((form[i][i] * widths[i] ** 2 for i in moving if i not in coupled), Fraction(0))
    if 2 ** len(coupled) > MOST_CORNERS:
        bound = sum((abs(form[i][j]) * widths[i] * widths[j] for i in coupled for j in coupled), Fraction(0))
        return GaussianAligned(alone + bound, tuple(move))
    worst = Fraction(-1)
    for corner in itertools.product(*(set(box[i]) for i in coupled)):
        ends = list(zip(coupled, corner, strict=True))
        together = sum((form[i][j] * a * b for i, a in ends for j, b in ends), Fraction(0))
        if together > worst:
            worst = together
            for i, end in ends:
                move[i] = end
    return GaussianAligned(alone + max(worst, Fraction(0)), tuple(move))
