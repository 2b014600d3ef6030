from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.spec.leaves.models import at_least, leaf, noise, noisy_max, noisy_max_loop, number, sparse_vector

from dpassay.spec.ball import precision
from dpassay.spec.leaves.distribution import partition_of_unity
from dpassay.spec.leaves.model import LeafModel, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import opposite
from dpassay.spec.leaves.probability import total_probability
from dpassay.spec.leaves.siblings import joined_siblings
from dpassay.spec.verdict import Outcome

LAPLACE = NoiseKind.LAPLACE
HALF = Fraction(1, 2)
MODELS: list[Callable[[], LeafModel]] = [
    lambda: sparse_vector((0, 1, 2, 0), 2, 4, 2),
    lambda: noisy_max((0, 1, 2), LAPLACE, 2),
    lambda: noisy_max_loop((0, 1, 2, 1), LAPLACE, 2),
]


def is_whole(model: LeafModel) -> bool:
    first, *others = joined_siblings(model).leaves
    return not others and not first.constraints and first.weight == 1


@pytest.mark.parametrize("make", MODELS)
def test_a_tree_of_decisions_ends_as_the_whole_space(make: Callable[[], LeafModel]) -> None:
    assert is_whole(make())


@pytest.mark.parametrize("make", [lambda: sparse_vector(4, 2, 4, 2), lambda: noisy_max(5, LAPLACE, 2)])
def test_a_tree_on_symbolic_data_does_too(make: Callable[[], LeafModel]) -> None:
    assert is_whole(make())


def test_draws_before_and_after_a_decision_are_joined() -> None:
    a, b, c = (noise(LAPLACE, i) for i in range(3))
    first, second = at_least(a, b), at_least(b, c)
    heads = [leaf("h", one, weight=HALF) for one in (first, opposite(first))]
    tails = [leaf("t", second, weight=HALF / 2)] * 2 + [leaf("t", opposite(second), weight=HALF)]
    assert is_whole(LeafModel((*heads, *tails)))


@pytest.mark.parametrize("make", MODELS)
def test_every_fault_leaves_the_sum_that_it_makes(make: Callable[[], LeafModel]) -> None:
    """A leaf is lost, doubled, lighter, or lacks a constraint, or has one that is moved."""
    model = make()
    for i, one in enumerate(model.leaves):
        rest = (*model.leaves[:i], *model.leaves[i + 1 :])
        last = one.constraints[-1]
        moved = replace(last, form=replace(last.form, constant=last.form.constant + Fraction(1, 10**9)))
        turned = opposite(last)
        for change in (
            (), (one, one), (replace(one, weight=HALF),), (replace(one, constraints=one.constraints[:-1]),),
            (replace(one, constraints=(*one.constraints[:-1], moved)),),
            (replace(one, constraints=(*one.constraints[:-1], turned)),),
        ):  # fmt: skip
            broken = LeafModel((*rest, *change))
            left = joined_siblings(broken)
            assert partition_of_unity(left).outcome is Outcome.VIOLATED
            with precision(96):
                assert total_probability(left).overlaps(total_probability(broken))


def test_ties_that_have_mass_belong_to_one_side_only() -> None:
    lattice = number(1)
    tie = replace(lattice, noise=noise(NoiseKind.GEOMETRIC, 0).noise)
    at, above = at_least(tie, number(0)), replace(at_least(tie, number(0)), relation=Relation.ABOVE)
    assert is_whole(LeafModel((leaf("x", at), leaf("y", opposite(at)))))
    assert is_whole(LeafModel((leaf("x", above), leaf("y", opposite(above)))))
    assert not is_whole(LeafModel((leaf("x", at), leaf("y", opposite(above)))))
    assert not is_whole(LeafModel((leaf("x", above), leaf("y", opposite(at)))))


def test_the_largest_of_numbers_on_a_lattice_is_left_to_other_rules() -> None:
    assert not is_whole(noisy_max((0, 0, 0), NoiseKind.GEOMETRIC, 1))


def test_equal_candidates_are_no_family() -> None:
    """The third answer is the second one: a leaf that says so twice has no sibling for it."""
    a, b = noise(LAPLACE, 0), noise(LAPLACE, 1)
    first = leaf("x", at_least(a, b), at_least(a, b))
    others = [leaf("y", at_least(b, a), at_least(b, b))] * 2
    left = joined_siblings(LeafModel((first, *others)))
    assert partition_of_unity(left).outcome is Outcome.VIOLATED
