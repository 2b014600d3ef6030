"""Merging: leaves with one outcome may be joined where the union is a polyhedron, and nowhere else."""

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import CONTINUOUS, LeafModel, NoiseKind
from dpassay.spec.leaves.probability import exact_probability
from dpassay.spec.leaves.siblings import joined_siblings
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.tracing.programs import noisy_max_by_loop, random_answers, random_program
from dpassay.spec.verdict import Verdict

__all__ = [
    "joining_siblings_leaves_the_sum_as_it_is",
    "merging_leaves_every_distribution_as_it_is",
    "paths_of_a_loop_merge_into_one_leaf_each",
    "siblings_fill_the_whole_space",
]

KINDS = (NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.UNIFORM)
Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Size = Annotated[int, Integers("number of answers", 2, 4)]
Lost = Annotated[int, Integers("number of a leaf that is left out", 0, 20)]
Kind = Annotated[NoiseKind, Choices("kind of noise", CONTINUOUS)]


def _distribution(model: LeafModel) -> dict[Hashable, ExponentialSum]:
    total: dict[Hashable, ExponentialSum] = {}
    for leaf in model.leaves:
        total[leaf.outcome] = total.get(leaf.outcome, ExponentialSum({})) + exact_probability(leaf)
    return total


@statement(DPASSAY, "merging of leaves", cases=4, examples=({"program": 1}, {"program": 4}))
def merging_leaves_every_distribution_as_it_is(program: Program) -> Verdict:
    """Merged on symbolic data, the leaves of a decision tree have the same distribution as before at all numbers.

    The polyhedron of all decisions that every leaf of a group implies is the union of the group if it meets the
    interior of no other leaf.
    """
    model, answers = random_program(program, 3, KINDS), random_answers(program, 3)
    before, after = (_distribution(at_data(one, answers)) for one in (model, merged(model)))
    return equal_exact(before, after, "distribution of the outcomes")


@statement(DPASSAY, "merging of a loop", cases=8, examples=({"size": 4, "kind": NoiseKind.LAPLACE},))
def paths_of_a_loop_merge_into_one_leaf_each(size: Size, kind: Kind) -> Verdict:
    """The 2^(n-1) paths of a loop that keeps the best of n noisy answers merge into n leaves, one for each index."""
    whole = merged(noisy_max_by_loop(size, kind, Fraction(2)))
    return equal_exact(sorted(str(leaf.outcome) for leaf in whole.leaves), [str(i) for i in range(size)], "outcomes")


def _sum(model: LeafModel) -> ExponentialSum:
    return sum((exact_probability(leaf) for leaf in model.leaves), start=ExponentialSum({}))


@statement(DPASSAY, "siblings of an incomplete tree", cases=6, examples=({"program": 1, "lost": 1},))
def joining_siblings_leaves_the_sum_as_it_is(program: Program, lost: Lost) -> Verdict:
    """Joined on symbolic data, leaves have the same sum of probabilities as before at all numbers, whether they are a
    partition or not: of a decision tree one leaf is left out, and another one has half of its weight, in two parts.
    """
    model, answers = random_program(program, 3, KINDS), random_answers(program, 3)
    leaves = list(model.leaves)
    del leaves[lost % len(leaves)]
    leaves[:1] = [replace(leaf, weight=leaf.weight / 4) for leaf in leaves[:1]] * 2
    broken = replace(model, leaves=tuple(leaves))
    before, after = (_sum(at_data(one, answers)) for one in (broken, joined_siblings(broken)))
    return equal_exact(before, after, "sum of the leaves")


@statement(DPASSAY, "siblings of a whole tree", cases=8, examples=({"size": 4, "kind": NoiseKind.LAPLACE},))
def siblings_fill_the_whole_space(size: Size, kind: Kind) -> Verdict:
    """The leaves of a loop that keeps the best of n noisy answers, and the n leaves into which they merge, join to the
    whole space for all data.
    """
    loop = noisy_max_by_loop(size, kind, Fraction(2))
    left = [[(leaf.constraints, leaf.weight) for leaf in joined_siblings(one).leaves] for one in (loop, merged(loop))]
    return equal_exact(left, [[((), Fraction(1))]] * 2, "what is left")
