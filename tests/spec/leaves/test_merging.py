"""Merged leaves are unions: the same probabilities, fewer leaves, and no union that is not convex."""

from fractions import Fraction

import pytest

from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.merging import have_common_interior, is_implied, merged, reduced
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import negated
from dpassay.spec.leaves.probability import exact_probability

from .models import at_least, datum, leaf, noise, noisy_max_loop, number, plus, ranking, sparse_vector

DATA = (Fraction(0), Fraction(1, 3), Fraction(-2, 7), Fraction(1))
Z, W, V = (noise(NoiseKind.LAPLACE, i) for i in range(3))
ZERO = number(0)


def by_outcome(model: LeafModel) -> dict[object, ExponentialSum]:
    total: dict[object, ExponentialSum] = {}
    for one in model.leaves:
        total[one.outcome] = total.get(one.outcome, ExponentialSum({})) + exact_probability(one)
    return total


@pytest.mark.parametrize("kind", [NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL])
def test_the_paths_of_a_loop_merge_into_one_leaf_for_each_index(kind: NoiseKind) -> None:
    model = noisy_max_loop(DATA, kind, 2)
    whole = merged(model)
    assert len(model.leaves) == 8
    assert len(whole.leaves) == 4
    assert by_outcome(whole) == by_outcome(model)


def test_symbolic_data_merge_as_numbers_do() -> None:
    assert len(merged(noisy_max_loop(4, NoiseKind.LAPLACE, 2)).leaves) == 4


def test_a_threshold_that_all_queries_share_is_not_merged_away() -> None:
    model = sparse_vector(DATA[:3], 2, 4, None)
    assert len(merged(model).leaves) == len(model.leaves) == 8


def test_the_top_two_of_four_become_one_leaf_for_each_set() -> None:
    assert len(merged(ranking(4, NoiseKind.LAPLACE, 2, 2)).leaves) == 6


def test_an_annulus_is_not_its_convex_hull() -> None:
    outside = (leaf("far", at_least(Z, number(1))), leaf("far", at_least(number(-1), Z)))
    inside = leaf("near", at_least(number(1), Z), at_least(Z, number(-1)))
    assert len(merged(LeafModel((*outside, inside))).leaves) == 3


def test_leaves_below_one_node_merge_where_the_whole_group_does_not() -> None:
    """z < 0: the sign of w does not matter. z >= 0: it decides, and the outcome for w >= 0 is that of z < 0."""
    low, high = at_least(ZERO, Z), at_least(Z, ZERO)
    model = LeafModel((
        leaf("a", low, at_least(ZERO, W), at_least(ZERO, V)),
        leaf("a", low, at_least(ZERO, W), at_least(V, ZERO)),
        leaf("a", low, at_least(W, ZERO)),
        leaf("a", high, at_least(W, ZERO)),
        leaf("b", high, at_least(ZERO, W)),
    ))  # fmt: skip
    whole = merged(model)
    assert len(whole.leaves) == 3
    assert by_outcome(whole) == by_outcome(model)


def test_leaves_of_different_discrete_draws_or_weights_are_not_merged() -> None:
    heads = Leaf((at_least(Z, ZERO),), Fraction(1, 3), "x", (("coin", True),))
    tails = Leaf((at_least(ZERO, Z),), Fraction(2, 3), "x", (("coin", False),))
    third = Leaf((at_least(ZERO, Z),), Fraction(1, 3), "y", (("coin", True),))
    fourth = Leaf((at_least(Z, ZERO),), Fraction(2, 3), "y", (("coin", False),))
    assert len(merged(LeafModel((heads, tails, third, fourth))).leaves) == 4


def test_the_other_side_of_a_coin_does_not_stand_in_the_way() -> None:
    def one(outcome: str, coin: bool, *sides: object) -> Leaf:
        return Leaf(tuple(sides), Fraction(1, 2), outcome, (("coin", coin),))  # type: ignore[arg-type]

    sides = at_least(Z, ZERO), at_least(ZERO, Z)
    model = LeafModel((*(one("x", True, side) for side in sides), one("y", False)))
    assert [len(whole.constraints) for whole in merged(model).leaves] == [0, 0]


def test_a_model_with_undecided_mass_is_left_alone() -> None:
    """A part of the space that nobody enumerated may lie between the leaves."""
    sides = (leaf("x", at_least(Z, number(1))), leaf("x", at_least(number(-1), Z)))
    model = LeafModel(sides, undecided=Fraction(1, 2))
    assert merged(model) is model


def test_implied_constraints_are_dropped_and_tight_ones_kept() -> None:
    chain = leaf("x", at_least(Z, W), at_least(W, V), at_least(plus(Z, number(1)), V), at_least(Z, V))
    assert reduced(chain).constraints == (at_least(Z, W), at_least(W, V))
    assert not is_implied(at_least(Z, plus(V, number(1))), chain.constraints)


def test_the_support_of_the_noise_implies_constraints() -> None:
    wait, place = noise(NoiseKind.EXPONENTIAL, 0), noise(NoiseKind.UNIFORM, 0)
    assert is_implied(at_least(wait, number(0)), [])
    assert is_implied(at_least(number(1), place), [])
    assert not is_implied(at_least(Z, number(0)), [])


def test_polyhedra_that_touch_have_no_common_interior() -> None:
    assert not have_common_interior([at_least(Z, ZERO)], [at_least(number(-1), Z)])
    assert not have_common_interior([at_least(Z, W), at_least(W, Z)], [])
    assert have_common_interior([at_least(Z, ZERO)], [at_least(number(1), Z)])


def test_a_single_input_at_which_leaves_overlap_prevents_merging() -> None:
    """x >= 0 and 2 x <= 0 share x = 0: there the outcome "b" takes the noise below 0, and no union is exact."""
    x, twice = datum(0), Affine(Fraction(0), {}, {0: Fraction(2)})
    right = (at_least(x, ZERO),)
    for multiple in (x, twice):
        assert have_common_interior(right, (at_least(ZERO, multiple),))
        assert not have_common_interior(right, (Constraint(negated(multiple), Relation.ABOVE),))
    assert not is_implied(at_least(twice, number(1)), right)
    assert is_implied(at_least(twice, number(-1)), right)
