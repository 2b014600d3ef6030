"""Cells of released numbers: a discrete model behind a model of outcomes that hold noise.

Which cell a released number falls into is post-processing, so that a divergence between the discrete models is at most
the one between the models themselves. Each cell is two more constraints. Good ends of cells are the values at which
the density of either side has a kink or an edge: the constant term of a number plus multiples of the kinks of its
noises.
"""

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.outcomes import skeleton
from dpassay.spec.leaves.polyhedra import has_interior, negated

__all__ = ["Cuts", "in_cells", "kinks"]

Cuts = Mapping[Hashable, Sequence[Sequence[Fraction]]]
"""For each structure of outcomes, the ends of cells for each number."""

MOST_KINKS = 32
"""Kinks of one number of a leaf; with more of them, those that decisions make are left out."""

KINKS: Mapping[NoiseKind, tuple[Fraction, ...]] = {
    NoiseKind.LAPLACE: (Fraction(0),),
    NoiseKind.EXPONENTIAL: (Fraction(0),),
    NoiseKind.UNIFORM: (Fraction(0), Fraction(1)),
}


def kinks(*models: LeafModel) -> Cuts:
    """Return the kinks and edges of the densities of all released numbers of some models on numeric data."""
    cuts: dict[Hashable, list[set[Fraction]]] = {}
    for leaf in (leaf for model in models for leaf in model.leaves):
        structure, numbers = skeleton(leaf.outcome)
        own = cuts.setdefault(structure, [set() for _ in numbers])
        for known, number in zip(own, numbers, strict=True):
            known |= set(_kinks(number, leaf.constraints))
    return {structure: [sorted(known) for known in own] for structure, own in cuts.items()}


def _kinks(number: Affine, constraints: Sequence[Constraint]) -> Iterator[Fraction]:
    """Yield the values of a number at which each of its noises is at a kink, or at one that a decision makes."""
    own = {noise: set(KINKS.get(noise.kind, ())) for noise in number.noise}
    made = {noise: known | _made(noise, constraints) for noise, known in own.items()}
    if math.prod(map(len, made.values())) > MOST_KINKS:
        made = own
    for place in itertools.product(*([scale * kink for kink in made[noise]] for noise, scale in number.noise.items())):
        yield number.constant + sum(place, Fraction(0))


def _made(noise: Noise, constraints: Sequence[Constraint]) -> set[Fraction]:
    """Return where a noise meets a decision that another noise takes at a kink: there, an integral over it has one."""
    found: set[Fraction] = set()
    for form in (one.form for one in constraints if noise in one.form.noise and len(one.form.noise) == 2):
        (other,) = form.noise.keys() - {noise}
        kinks_of_other = KINKS.get(other.kind, ())
        found |= {-(form.noise[other] * kink + form.constant) / form.noise[noise] for kink in kinks_of_other}
    return found


def in_cells(model: LeafModel, cuts: Cuts) -> LeafModel:
    """Return the model that reports structures and cells in place of numbers.

    Parameters
    ----------
    model : LeafModel
        On numeric data.
    cuts : Cuts
        Ends of cells; the same ones for models that are to be compared. A constant number is in a cell of its own.
    """
    return replace(model, leaves=tuple(part for leaf in model.leaves for part in _parts(leaf, cuts)))


def _parts(leaf: Leaf, cuts: Cuts) -> Iterator[Leaf]:
    structure, numbers = skeleton(leaf.outcome)
    ends = cuts.get(structure, [()] * len(numbers))
    choices = [_cells(number, own) for number, own in zip(numbers, ends, strict=True)]
    for cell in itertools.product(*choices):
        constraints = (*leaf.constraints, *(one for _, own in cell for one in own))
        if _has_interior(constraints):
            outcome = (structure, tuple(label for label, _ in cell))
            yield replace(leaf, constraints=constraints, outcome=outcome)


@lru_cache(maxsize=1 << 12)
def _has_interior(constraints: tuple[Constraint, ...]) -> bool:
    return has_interior(constraints)


def _cells(number: Affine, ends: Sequence[Fraction]) -> list[tuple[Hashable, tuple[Constraint, ...]]]:
    """Return label and constraints of each cell of a number."""
    if number.is_constant:
        return [(str(number.constant), ())]
    cells: list[tuple[Hashable, tuple[Constraint, ...]]] = []
    for index, (low, high) in enumerate(itertools.pairwise([None, *ends, None])):
        above = () if low is None else (Constraint(_minus(number, low)),)
        below = () if high is None else (Constraint(negated(_minus(number, high))),)
        cells.append((index, (*above, *below)))
    return cells


def _minus(number: Affine, value: Fraction) -> Affine:
    return Affine(number.constant - value, number.noise, number.data)
