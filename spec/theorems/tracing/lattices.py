"""Alignments by integers: geometric noise on numbers that are compared, against losses that are summed up."""

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Annotated

from flint import arb

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.ball import ATTAINED, at_most, ball, sum_balls
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.lattice_alignment import AlignedOnLattice, lattice_bound
from dpassay.spec.leaves.lattice_masses import cell_masses
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import opposite
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.tracing.second_derivations import DIFFERENCE, difference_losses
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["pure_dp_of_integer_alignment"]

RATIOS = (Fraction(1, 4), Fraction(1, 2), Fraction(2, 3))
Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Steps = Annotated[VectorNeighbours, Choices("neighbours of an integer", (
    VectorNeighbours(1, linf=1, integer=True), VectorNeighbours(1, linf=2, integer=True),
))]  # fmt: skip

Threshold = tuple[int, Relation]


@statement(
    DPASSAY,
    "alignment by integers",
    cases=3,
    examples=tuple({"program": i, "relation": VectorNeighbours(1, linf=1, integer=True)} for i in range(12)),
    pins=(
        Pin(
            {"program": DIFFERENCE, "relation": VectorNeighbours(1, linf=1, integer=True)},
            "tails of the difference in closed form; one of the variables moves by 1",
            smaller=difference_losses,
            larger=lambda: [ball(4).log()] * 14,
        ),
    ),
)
def pure_dp_of_integer_alignment(program: Program, relation: Steps) -> Verdict:
    """If every leaf has, for every integer move of the data, an integer shift of its geometric noise upwards that
    keeps its decisions, then the privacy loss of neighbours is at most the largest cost of a shift, log(1/q) a unit.
    """
    number, thresholds = _random_program(random.Random(program))  # noqa: S311
    bound = lattice_bound(LeafModel(tuple(_leaves(number, thresholds)), size=1), relation)
    if not isinstance(bound, AlignedOnLattice):
        return Holds(evidence=Evidence.EXACT, detail="no alignment, no claim")
    reach = int(relation.linf or 0)
    pairs = [(x, x + step) for x in range(-3, 4) for step in range(-reach, reach + 1) if step]
    return conjunction([
        at_most(partial(_loss, number, thresholds, x, y), lambda: ball(bound.epsilon), slack=ATTAINED)
        for x, y in pairs
    ])  # fmt: skip


def _random_program(rng: random.Random) -> tuple[Affine, list[Threshold]]:
    """Return a number with one or two noises, and two levels at which outcomes change, strictly or not."""
    ratio = rng.choice(RATIOS)
    weights = rng.choice([(1, -1), (1, -1), (1, -2), (2, -2), (2, -2), (-1,), (1,)])
    noise = {Noise(NoiseKind.GEOMETRIC, place, ratio): Fraction(weight) for place, weight in enumerate(weights)}
    levels = sorted(rng.sample(range(-2, 4), 2))
    return Affine(Fraction(0), noise, {0: Fraction(1)}), [(level, rng.choice(list(Relation))) for level in levels]


def _leaves(number: Affine, thresholds: list[Threshold]) -> Iterator[Leaf]:
    """Yield the leaves: below the first level, between both, above the second."""
    above = [
        Constraint(Affine(number.constant - level, number.noise, number.data), relation)
        for level, relation in thresholds
    ]
    yield Leaf((opposite(above[0]),), Fraction(1), 0)
    yield Leaf((above[0], opposite(above[1])), Fraction(1), 1)
    yield Leaf((above[1],), Fraction(1), 2)


def _loss(number: Affine, thresholds: list[Threshold], left: int, right: int) -> arb:
    """Enclose the largest loss of an outcome, whose mass is a sum of masses of the number."""
    sides = [_masses(Affine(Fraction(value), number.noise), thresholds) for value in (left, right)]
    losses = [
        arb.pos_inf() if there.is_zero() else (here / there).log()
        for here, there in zip(*sides, strict=True)
        if not here.is_zero()
    ]
    return max(losses, key=lambda loss: float(loss.mid()))


def _masses(number: Affine, thresholds: list[Threshold]) -> list[arb]:
    cells = cell_masses(number, tuple(Fraction(level) for level, _ in thresholds))
    ends = [2 * place + 1 + (relation is Relation.ABOVE) for place, (_, relation) in enumerate(thresholds)]
    return [sum_balls(cells[low:high]) for low, high in itertools.pairwise([0, *ends, len(cells)])]
