"""Infinite losses between leaf models, found by linear algebra and linear programmes, without integrals.

A leaf releases numbers y = A z + c. Its outcomes fill a part of the affine subspace V = A R^n + c, with positive
probability on every open part of the image of its polyhedron. A right leaf gives positive mass to V only if its own
subspace lies in V, and up to null sets of the left only if the two are equal: a subspace that meets V in less is a
null set of the left measure, and can be taken out of the event. So a left leaf with an interior whose subspace no
right leaf has is an event of infinite loss. Among leaves of one subspace, an open part of the left image outside all
right images is one as well; images are compared where the numbers determine all noises of the right leaf.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise
from dpassay.spec.leaves.outcomes import skeleton
from dpassay.spec.leaves.polyhedra import has_interior, opposite, support

__all__ = ["InfiniteLoss", "Subspace", "echelon", "infinite_loss", "inverse", "subspace", "substituted"]

CLOSE = Fraction(1, 2**40)

Subspace = tuple[Hashable, tuple[tuple[Fraction, ...], ...]]
"""The structure of an outcome, and the equations that its numbers obey, in reduced echelon form."""


@dataclass(frozen=True)
class InfiniteLoss:
    """A left leaf, the constraints of a part of it, and why no outcome there can come from the right."""

    leaf: Leaf
    part: tuple[Constraint, ...]
    reason: str


def infinite_loss(left: LeafModel, right: LeafModel) -> InfiniteLoss | None:
    """Return an event that has positive probability on the left and none on the right; None if none was found.

    Parameters
    ----------
    left, right : LeafModel
        On numeric data. Nothing is found if the right one has undecided mass, nor between subspaces that are
        closer than `CLOSE`: floats that were added before the noise leave such differences.
    """
    if right.undecided:
        return None
    others: dict[Subspace, list[Leaf]] = {}
    for leaf in right.leaves:
        if leaf.weight and has_interior(leaf.constraints):
            others.setdefault(subspace(leaf), []).append(leaf)
    for leaf in left.leaves:
        if leaf.weight and has_interior(leaf.constraints):
            own = subspace(leaf)
            if own not in others and any(_are_close(own, other) for other in others):
                continue
            part = _uncovered(leaf, others.get(own, []))
            if part is not None:
                reason = "the numbers lie elsewhere" if part else "no outcome of this form on the other side"
                return InfiniteLoss(leaf, part, reason)
    return None


def _are_close(first: Subspace, second: Subspace) -> bool:
    """Return whether two subspaces are parallel and close, in equations whose first coefficient is 1."""
    if first[0] != second[0] or len(first[1]) != len(second[1]):
        return False
    return all(
        one[:-1] == other[:-1] and abs(one[-1] - other[-1]) <= CLOSE * max(Fraction(1), abs(one[-1]))
        for one, other in zip(first[1], second[1], strict=True)
    )


def subspace(leaf: Leaf) -> Subspace:
    """Return the affine subspace that the released numbers fill: its equations l . y = l . c with l A = 0."""
    structure, numbers = skeleton(leaf.outcome)
    noises = list(dict.fromkeys(noise for number in numbers for noise in number.noise))
    count = len(numbers)
    rows = [
        [number.noise.get(noise, Fraction(0)) for noise in noises]
        + [Fraction(int(i == j)) for j in range(count)]
        for i, number in enumerate(numbers)
    ]  # fmt: skip
    echelon(rows, len(noises))
    relations = [row[len(noises) :] for row in rows if not any(row[: len(noises)])]
    equations = [
        [*relation, sum((a * number.constant for a, number in zip(relation, numbers, strict=True)), Fraction(0))]
        for relation in relations
    ]
    echelon(equations, count)
    return structure, tuple(tuple(equation) for equation in equations)


def echelon(rows: list[list[Fraction]], columns: int) -> None:
    """Bring rows into reduced echelon form in place, by their first columns."""
    done = 0
    for column in range(columns):
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        scale = rows[done][column]
        rows[done] = [value / scale for value in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[column]:
                factor = row[column]
                rows[i] = [a - factor * b for a, b in zip(row, rows[done], strict=True)]
        done += 1


def inverse(leaf: Leaf) -> dict[Noise, Affine] | None:
    """Return each noise of a leaf as a form in its released numbers (as data), None if they do not determine it."""
    _, numbers = skeleton(leaf.outcome)
    forms = [*numbers, *(one.form for one in leaf.constraints)]
    noises = list(dict.fromkeys(noise for form in forms for noise in form.noise))
    count = len(numbers)
    rows = [
        [number.noise.get(noise, Fraction(0)) for noise in noises]
        + [Fraction(int(i == j)) for j in range(count)]
        + [-number.constant]
        for i, number in enumerate(numbers)
    ]  # fmt: skip
    echelon(rows, len(noises))
    if len(rows) < len(noises) or any(row[i] != 1 for i, row in enumerate(rows[: len(noises)])):
        return None
    return {noise: _in_numbers(row[len(noises) :]) for noise, row in zip(noises, rows, strict=False)}


def _in_numbers(row: Sequence[Fraction]) -> Affine:
    return Affine(row[-1], {}, {i: value for i, value in enumerate(row[:-1]) if value})


# --- parts that no right leaf covers ------------------------------------------------------------------------


def _uncovered(leaf: Leaf, others: Sequence[Leaf]) -> tuple[Constraint, ...] | None:
    """Return constraints of an open part of the leaf whose outcomes no other leaf has; None if none was found."""
    _, numbers = skeleton(leaf.outcome)
    walls: list[list[Constraint]] = []
    for other in others:
        own = _walls(other, numbers)
        if own is None:
            return None
        walls.append(own)
    return next(_outside(leaf.constraints, walls, ()), None)


def _walls(other: Leaf, numbers: Sequence[Affine]) -> list[Constraint] | None:
    """Return the constraints of another leaf as constraints on the noise that made the numbers."""
    noises = inverse(other)
    if noises is None:
        return None
    constraints = [*other.constraints, *(one for noise in noises for one in support(noise))]
    return [Constraint(_composed(substituted(one.form, noises), numbers)) for one in constraints]


def substituted(form: Affine, noises: Mapping[Noise, Affine]) -> Affine:
    """Replace noises by forms in released numbers."""
    constant, data = form.constant, dict[int, Fraction]()
    for noise, value in form.noise.items():
        constant += value * noises[noise].constant
        for i, weight in noises[noise].data.items():
            data[i] = data.get(i, Fraction(0)) + value * weight
    return Affine(constant, {}, {i: value for i, value in data.items() if value})


def _composed(form: Affine, numbers: Sequence[Affine]) -> Affine:
    """Replace released numbers by forms in noise."""
    constant, noise = form.constant, dict[Noise, Fraction]()
    for i, value in form.data.items():
        constant += value * numbers[i].constant
        for name, weight in numbers[i].noise.items():
            noise[name] = noise.get(name, Fraction(0)) + value * weight
    return Affine(constant, {name: value for name, value in noise.items() if value})


def _outside(
    inside: Sequence[Constraint], walls: Sequence[Sequence[Constraint]], part: tuple[Constraint, ...]
) -> Iterator[tuple[Constraint, ...]]:
    """Yield parts that lie beyond one wall of each other leaf and have an interior."""
    if not has_interior([*inside, *part]):
        return
    if not walls:
        yield part
        return
    for wall in walls[0]:
        yield from _outside(inside, walls[1:], (*part, opposite(wall)))
