"""Noise that an alignment gives up: upper bounds on its probability over all data.

If a part G(x) of the noise is left out, and the rest is shifted into the neighbour's leaves at a cost of at most
epsilon, then Pr[M(x) in E] <= e^epsilon Pr[M(x + Delta) in E] + Pr[G(x)] for every event E: (epsilon, delta)-DP with
delta the largest Pr[G(x)] over the data x and moves Delta in question.

That probability depends on x and Delta. Each constraint c . Z + b . (x, Delta) + k >= 0 is relaxed to c . Z + m >= 0,
where m is the largest value of b . (x, Delta) + k: what is relaxed contains the leaf at all of them. A constraint
whose m is infinite is left out. The least m with m - b . (x, Delta) - k a non-negative combination of the constraints
on (x, Delta) is a linear programme, whose costs are the values of these constraints at any one point.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpassay.spec.ball import float_upper, precision
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, Noise, Relation
from dpassay.spec.leaves.probability import UndecidedLeafError, leaf_probability
from dpassay.spec.leaves.programmes import Infeasible, interior_point, minimum
from dpassay.spec.leaves.rows import ONE, Vector, row_of

__all__ = ["Part", "largest_value", "union_mass", "violating", "whole"]

BITS = 96
"""Precision of the probabilities."""


@dataclass(frozen=True)
class Part:
    """Noise that is given up: where all rows are not negative, with the discrete answers of a leaf.

    Parameters
    ----------
    rows : tuple of Vector
        Functions of noise, x and Delta.
    choices : tuple
        The answers of the discrete draws.
    weight : Fraction
        Their probability.
    """

    rows: tuple[Vector, ...]
    choices: tuple[object, ...]
    weight: Fraction

    def mass(self, place: Sequence[Vector]) -> Fraction:
        """Bound the probability from above over all data and moves of a polyhedron."""
        return self.weight * _chance(self.rows, place)


def whole(leaf: Leaf) -> Part:
    """Return a leaf that is given up."""
    return Part(tuple(row_of(one.form, moved=False) for one in leaf.constraints), leaf.choices, leaf.weight)


def violating(leaf: Leaf, row: Vector) -> Part:
    """Return the part of a leaf in which a function of noise, x and Delta is negative."""
    return replace(whole(leaf), rows=(*whole(leaf).rows, {name: -value for name, value in row.items()}))


def union_mass(parts: Sequence[Part], place: Sequence[Vector]) -> Fraction:
    """Bound the probability that noise falls into any of some parts, over all data and moves of a polyhedron.

    Parts that share a row are covered by that row alone, or each counts by itself: covers are taken greedily, by their
    mass for each part that is not covered yet.

    Parameters
    ----------
    parts : sequence of Part
        What is given up.
    place : sequence of Vector
        Functions of x and Delta that are not negative on the polyhedron.
    """
    covers = [(part.mass(place), frozenset({number})) for number, part in enumerate(parts)]
    for row in _shared_rows(parts):
        inside = frozenset(number for number, part in enumerate(parts) if row in part.rows)
        weights = {parts[number].choices: parts[number].weight for number in inside}
        covers.append((min(Fraction(1), sum(weights.values(), Fraction(0))) * _chance((row,), place), inside))
    total, left = Fraction(0), set(range(len(parts)))
    while left:
        mass, inside = min(
            (cover for cover in covers if left & cover[1]),
            key=lambda cover: (cover[0] / len(left & cover[1]), cover[0]),
        )
        total, left = total + mass, left - inside
    return total


def _shared_rows(parts: Sequence[Part]) -> list[Vector]:
    """Return the rows with noise that stand in several parts."""
    counts = Counter(frozenset(row.items()) for part in parts for row in part.rows)
    rows = [dict(key) for key, count in counts.items() if count > 1]
    return [row for row in rows if any(isinstance(name, Noise) for name in row)]


def _chance(rows: Sequence[Vector], place: Sequence[Vector]) -> Fraction:
    relaxed = tuple(one for row in rows if (one := _relaxed(row, place)) is not None)
    with precision(BITS):
        try:
            chance = Fraction(float_upper(leaf_probability(Leaf(relaxed, Fraction(1), None))))
        except UndecidedLeafError:
            return Fraction(1)
    return min(chance, Fraction(1))


def _relaxed(row: Vector, place: Sequence[Vector]) -> Constraint | None:
    """Return a constraint on noise alone that holds wherever the row is not negative; None if there is none."""
    noise = {name: value for name, value in row.items() if isinstance(name, Noise) and value}
    rest = {name: value for name, value in row.items() if not isinstance(name, Noise)}
    most = largest_value(rest, place)
    return None if most is None else Constraint(Affine(most, noise), Relation.AT_LEAST)


def largest_value(row: Vector, place: Sequence[Vector]) -> Fraction | None:
    """Return the largest value of a function of x and Delta on a polyhedron; None if it has no bound there.

    Parameters
    ----------
    row : Vector
        The function, without noise.
    place : sequence of Vector
        Functions that are not negative on the polyhedron.
    """
    slopes = {name: value for name, value in row.items() if name != ONE and value}
    if not slopes:
        return row.get(ONE, Fraction(0))
    names = list(dict.fromkeys(name for one in (row, *place) for name in one if name != ONE))
    point = _point(names, place)
    if point is None:
        return None  # the polyhedron is empty
    rows = []
    for name in names:
        column = {j: one[name] for j, one in enumerate(place) if one.get(name)}
        target = -slopes.get(name, Fraction(0))
        rows += [(column, target), ({j: -value for j, value in column.items()}, -target)]
    found = minimum([_at(one, point) for one in place], rows)
    return None if isinstance(found, Infeasible) else _at(row, point) + found.value


def _point(names: Sequence[object], place: Sequence[Vector]) -> Mapping[object, Fraction] | None:
    forms = [
        ({j: one[name] for j, name in enumerate(names) if one.get(name)}, one.get(ONE, Fraction(0))) for one in place
    ]
    found = interior_point([], len(names), forms)
    return None if found is None else dict(zip(names, found, strict=True))


def _at(row: Vector, point: Mapping[object, Fraction]) -> Fraction:
    return sum((value if name == ONE else value * point[name] for name, value in row.items()), Fraction(0))
