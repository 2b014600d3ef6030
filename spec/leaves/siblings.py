"""Leaves that fill the polyhedron of the decisions that they share, replaced by that polyhedron.

For a polyhedron P and a decision c, Pr[P and c] + Pr[P and not c] = Pr[P]. For a decision with several answers, such
as the place of a largest number, let g_0 = 0 and g_1, ..., g_m be affine forms: one of them is the least, so that

    sum_l Pr[P and g_j - g_l >= 0 for all j other than l] = Pr[P]

if ties have probability 0. Both are used from the last decision to the first. Each step leaves the sum of the
probabilities of all leaves as it is: whatever the leaves are, they sum to 1 exactly if what is left of them does. A
tree of decisions ends as the whole space, without an integral and for all data; a leaf that is lost, doubled, or has
a wrong constraint or weight has no sibling and stays.
"""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.polyhedra import opposite

__all__ = ["joined_siblings"]

N = TypeVar("N", Noise, int)

Path = tuple[int, ...]
"""Constraints by number, in the order in which they were taken."""


def joined_siblings(model: LeafModel) -> LeafModel:
    """Return leaves whose probabilities have the same sum, for each data, as those of the model.

    Parameters
    ----------
    model : LeafModel
        Leaves that need not be a partition, on numbers or symbolic data.

    Returns
    -------
    LeafModel
        Fewer leaves, without outcomes and discrete draws; the undecided mass is that of the model.
    """
    rows = _Rows()
    weights: dict[int, dict[Path, Fraction]] = {}
    for leaf in model.leaves:
        _add(weights, tuple(rows.number(one) for one in leaf.constraints), leaf.weight)
    left: list[Leaf] = []
    for length in range(max(weights, default=0), 0, -1):
        level = weights.get(length, {})
        for path, weight in _steps(level, rows):
            _add(weights, path, weight)
        left += [Leaf(tuple(rows.constraints[i] for i in path), weight, None) for path, weight in level.items()]
    left += [Leaf((), weight, None) for weight in weights.get(0, {}).values()]
    return replace(model, leaves=tuple(left))


def _add(weights: dict[int, dict[Path, Fraction]], path: Path, weight: Fraction) -> None:
    level = weights.setdefault(len(path), {})
    level[path] = level[path] + weight if path in level else weight


def _steps(level: dict[Path, Fraction], rows: "_Rows") -> Iterator[tuple[Path, Fraction]]:
    """Take siblings out of leaves with equally many constraints; yield the polyhedra that they fill."""
    for path in list(level):
        other = (*path[:-1], rows.opposite(path[-1]))
        if other in level and path in level:
            yield path[:-1], _take(level, (path, other))
    ordered = sorted(level)
    for path, shared in zip(ordered, _shared_lengths(ordered), strict=True):
        found = rows.fan(path[shared:]) if path in level and len(path) - shared > 1 else None
        if found is not None:
            beside = {frozenset(one[shared:]): one for one in level if one[:shared] == path[:shared]}
            family = {path, *(beside[one] for one in found if one in beside)}
            if len(family) == len(found) + 1:
                yield path[:shared], _take(level, family)


def _take(level: dict[Path, Fraction], family: Collection[Path]) -> Fraction:
    """Take the least of their weights from all siblings, and return it."""
    weight = min(level[path] for path in family)
    for path in family:
        level[path] -= weight
        if not level[path]:
            del level[path]
    return weight


def _shared_lengths(ordered: Sequence[Path]) -> list[int]:
    """Return how many constraints each path shares at the beginning with one of its neighbours, at most."""
    between = [0, *(_shared(one, other) for one, other in itertools.pairwise(ordered)), 0]
    return list(map(max, itertools.pairwise(between)))[: len(ordered)]


def _shared(one: Path, other: Path) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


class _Rows:
    """Constraints by number; where ties have probability 0, strict and non-strict ones are the same."""

    def __init__(self) -> None:
        self.constraints: list[Constraint] = []
        self._numbers: dict[Constraint, int] = {}
        self._seen: dict[int, tuple[Constraint, int]] = {}
        self._opposites: dict[int, int] = {}

    def number(self, constraint: Constraint) -> int:
        """Return the number of a constraint; an object that several leaves share is compared once."""
        seen = self._seen.get(id(constraint))
        if seen is None:
            key = Constraint(constraint.form) if _has_density(constraint.form.noise) else constraint
            number = self._numbers.setdefault(key, len(self.constraints))
            if number == len(self.constraints):
                self.constraints.append(key)
            self._seen[id(constraint)] = seen = constraint, number  # the object lives on: its id stays its own
        return seen[1]

    def opposite(self, number: int) -> int:
        """Return the number of the constraint that holds where this one does not."""
        if number not in self._opposites:
            self._opposites[number] = other = self.number(opposite(self.constraints[number]))
            self._opposites[other] = number
        return self._opposites[number]

    def fan(self, path: Path) -> list[frozenset[int]] | None:
        """Return the siblings of a leaf in which g_1, ..., g_m are at least 0; None if ties may have mass."""
        forms = [self.constraints[i].form for i in path]
        found = []
        for l, least in enumerate(forms):  # noqa: E741 - as in the formula
            others = [_difference(form, least) for j, form in enumerate(forms) if j != l]
            if not all(_has_density(form.noise) for form in (least, *others)):
                return None
            rows = (self.number(Constraint(form)) for form in others)
            found.append(frozenset((self.opposite(path[l]), *rows)))
        return found


def _has_density(noises: Collection[Noise]) -> bool:
    """Return whether a form that holds these noises is 0 with probability 0."""
    return any(noise.kind is not NoiseKind.GEOMETRIC for noise in noises)


def _difference(left: Affine, right: Affine) -> Affine:
    return Affine(
        left.constant - right.constant, _subtracted(left.noise, right.noise), _subtracted(left.data, right.data)
    )  # fmt: skip


def _subtracted(left: Mapping[N, Fraction], right: Mapping[N, Fraction]) -> dict[N, Fraction]:
    total = dict(left)
    for name, value in right.items():
        total[name] = total.get(name, Fraction(0)) - value
    return {name: value for name, value in total.items() if value}
