"""Alignment bounds against known losses, and certificates against the independent checker."""

import contextlib
import functools
import itertools
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.spec.leaves.alignment import Aligned, Unaligned, _Solved, alignment_bound
from dpassay.spec.leaves.certificates import certificate, sealed
from dpassay.spec.leaves.check import MalformedCertificateError, check_alignment
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import Constraint, Leaf, LeafModel, NoiseKind
from dpassay.spec.leaves.moves import covers
from dpassay.spec.leaves.outcomes import released_numbers
from dpassay.spec.leaves.programmes import Optimum, minimum

from .models import (
    at_least,
    datum,
    inputs,
    leaf,
    minus,
    model,
    noise,
    noisy_max,
    noisy_max_loop,
    number,
    plus,
    ranking,
    sparse_vector,
)

LAPLACE = NoiseKind.LAPLACE


def epsilon(leaves: LeafModel, relation: NeighbourRelation) -> Fraction:
    """Return the bound, after its certificate went through JSON and the checker."""
    proof = alignment_bound(leaves, relation)
    assert isinstance(proof, Aligned), proof
    assert check_alignment(stored(leaves, relation, proof)) == []
    return proof.epsilon


def stored(leaves: LeafModel, relation: NeighbourRelation, proof: Aligned) -> Any:
    return json.loads(json.dumps(certificate(leaves, relation, proof)))


def index_and_gap(size: int) -> LeafModel:
    """The winner, the second, and by how much the winner leads: released is the index of the winner and the gap."""
    scores = [plus(x, noise(LAPLACE, i, 2)) for i, x in enumerate(inputs(size))]
    leaves = []
    for i, own in enumerate(scores):
        for j, second in enumerate(scores):
            others = [at_least(second, scores[k]) for k in range(size) if k not in (i, j)]
            if i != j:
                leaves.append(leaf((i, minus(own, second)), at_least(own, second), *others))
    return model(leaves, size)


@pytest.mark.parametrize("kind", [LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.GUMBEL, NoiseKind.LOGISTIC])
@pytest.mark.parametrize("size", [3, 6])
def test_noisy_max_costs_epsilon(size: int, kind: NoiseKind) -> None:
    assert epsilon(noisy_max(size, kind, 2), VectorNeighbours(size, linf=1)) == 1


def test_merging_brings_the_loop_from_twice_epsilon_to_epsilon() -> None:
    loop, relation = noisy_max_loop(4, LAPLACE, 2), VectorNeighbours(4, linf=1)
    assert epsilon(loop, relation) == 2
    assert epsilon(merged(loop), relation) == 1


def test_sparse_vector_of_four_queries_costs_half_of_epsilon() -> None:
    """Thresholds Lap(2/eps), queries Lap(8/eps), cutoff 2, eps = 1/10: the threshold need not move."""
    assert epsilon(sparse_vector(4, 20, 80, 2), VectorNeighbours(4, linf=1)) == Fraction(1, 20)


@pytest.mark.parametrize(("size", "cutoff"), [(6, 1), (6, 2), (10, 1)])
def test_sparse_vector_costs_at_most_epsilon(size: int, cutoff: int) -> None:
    """Threshold Lap(2/eps), queries Lap(4 c/eps): the threshold moves by 1, and c queries by 2."""
    model_ = sparse_vector(size, 2, 4 * cutoff, cutoff)
    assert epsilon(model_, VectorNeighbours(size, linf=1)) <= 1


def test_sparse_vector_without_a_cutoff_pays_for_every_query() -> None:
    assert epsilon(sparse_vector(4, 20, 20, None), VectorNeighbours(4, linf=1)) == Fraction(1, 5)


def test_sparse_vector_without_noise_on_queries_has_no_alignment() -> None:
    found = alignment_bound(sparse_vector(4, 20, 0, 2), VectorNeighbours(4, linf=1))
    assert isinstance(found, Unaligned)
    assert found.leaf is not None


def test_the_top_two_of_four_cost_twice_epsilon() -> None:
    assert epsilon(merged(ranking(4, LAPLACE, 2, 2)), VectorNeighbours(4, linf=1)) == 2


def test_index_and_gap_need_more_than_epsilon_within_one_leaf() -> None:
    """It is 1-DP (Ding and others 2019), but by shifts into other leaves only."""
    assert epsilon(index_and_gap(4), VectorNeighbours(4, linf=1)) == 2


def adaptive_sparse_vector(size: int) -> LeafModel:
    """A second, finer comparison for queries far above; Lap(2) threshold, Lap(8) and Lap(4) on queries, cutoff 1."""
    threshold = noise(LAPLACE, 0, 2)
    leaves: list[Leaf] = []
    taken: list[Constraint] = []
    for i, x in enumerate(inputs(size)):
        coarse, fine = plus(x, noise(LAPLACE, 2 * i + 1, 8)), plus(x, noise(LAPLACE, 2 * i + 2, 4))
        top = at_least(coarse, plus(threshold, number(4)))
        leaves.append(leaf((i, "top"), *taken, top))
        taken.append(at_least(plus(threshold, number(4)), coarse))
        leaves.append(leaf((i, "middle"), *taken, at_least(fine, threshold)))
        taken.append(at_least(threshold, fine))
    return model([*leaves, leaf("none", *taken)], size)


def test_adaptive_sparse_vector() -> None:
    """The threshold moves by 1 for 1/2; a top answer moves one query by 2 for 1/4, a middle one for 1/2."""
    assert epsilon(adaptive_sparse_vector(4), VectorNeighbours(4, linf=1)) == 1


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (VectorNeighbours(4, l1=1), Fraction(1, 2)),
        (VectorNeighbours(4, l0=1, linf=1), Fraction(1, 2)),
        (VectorNeighbours(4, l0=2, linf=1), Fraction(1)),
        (VectorNeighbours(4, l1=3, linf=2), Fraction(3, 2)),
        (VectorNeighbours(4, linf=1), Fraction(2)),
        (VectorNeighbours(4, l2=1, integer=True), Fraction(1, 2)),
        (VectorNeighbours(4, linf=1.5, integer=True), Fraction(2)),
        (VectorNeighbours(4, l0=1, low=0, high=3), Fraction(3, 2)),
        (VectorNeighbours(4, linf=5, low=0, high=1), Fraction(2)),
        (VectorNeighbours(4, linf=1, monotone=True), Fraction(2)),
        (RecordNeighbours(0, 3, 4), Fraction(3, 2)),
    ],
)
def test_released_sums_cost_the_l1_norm_of_the_move(relation: NeighbourRelation, expected: Fraction) -> None:
    """Every coordinate plus Lap(2), released: the bound is half of the largest l1 norm."""
    numbers = tuple(plus(x, noise(LAPLACE, i, 2)) for i, x in enumerate(inputs(4)))
    assert epsilon(model([leaf(numbers)], 4), relation) == expected


def test_the_l2_ball_is_covered_from_outside() -> None:
    """Two coordinates, Lap(1): the loss is the largest l1 norm in the ball, sqrt 2; the bound is that, rounded up."""
    numbers = tuple(plus(x, noise(LAPLACE, i)) for i, x in enumerate(inputs(2)))
    released, relation = model([leaf(numbers)], 2), VectorNeighbours(2, l2=1)
    bound = epsilon(released, relation)
    assert 2 <= bound**2 <= 2 + Fraction(1, 2**36)
    assert len(covers(relation)) == 2


def test_monotone_moves_halve_the_cost_of_noisy_max() -> None:
    relation = VectorNeighbours(5, linf=1, monotone=True)
    assert epsilon(noisy_max(5, LAPLACE, 2), relation) == Fraction(1, 2)


@pytest.mark.parametrize("kind", [NoiseKind.NORMAL, NoiseKind.UNIFORM])
def test_noise_without_a_bounded_ratio_is_not_shifted(kind: NoiseKind) -> None:
    assert isinstance(alignment_bound(noisy_max(3, kind, 2), VectorNeighbours(3, linf=1)), Unaligned)


@pytest.mark.parametrize("kind", [NoiseKind.EXPONENTIAL, NoiseKind.GUMBEL])
def test_noise_with_one_good_direction_is_not_released(kind: NoiseKind) -> None:
    released = model([leaf(plus(datum(0), noise(kind, 0)))], 1)
    assert isinstance(alignment_bound(released, VectorNeighbours(1, linf=1)), Unaligned)


def test_data_in_the_outcome_have_no_alignment() -> None:
    assert isinstance(alignment_bound(model([leaf(datum(0))], 1), VectorNeighbours(1, linf=1)), Unaligned)


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        (RecordNeighbours(0, 1, 3, relation="add-remove"), "number of records"),
        (RecordNeighbours(0, 1, 2), "3 coordinates"),
        (VectorNeighbours(3, l0=1, low=0, high=1e300), None),
    ],
)
def test_relations_that_are_not_covered_are_named(relation: NeighbourRelation, reason: str | None) -> None:
    found = alignment_bound(noisy_max(3, LAPLACE, 2), relation)
    if reason is None:
        assert isinstance(found, Aligned)
    else:
        assert isinstance(found, Unaligned)
        assert reason in found.reason


def test_an_outcome_that_cannot_be_read_is_not_taken_for_a_constant() -> None:
    found = alignment_bound(model([leaf(object())], 1), VectorNeighbours(1, linf=1))
    assert isinstance(found, Unaligned)
    assert "object" in found.reason


def test_numbers_are_found_in_every_container() -> None:
    z = noise(LAPLACE, 0)
    assert released_numbers(("a", [z, {"key": (z, 1.0)}], frozenset({number(3)}))) == [z, z]


def test_undecided_mass_is_the_delta_of_the_proof() -> None:
    relation = VectorNeighbours(3, linf=1)
    leaves = LeafModel(noisy_max(3, LAPLACE, 2).leaves, undecided=Fraction(1, 10**9), size=3)
    proof = alignment_bound(leaves, relation)
    assert isinstance(proof, Aligned)
    assert proof.delta == Fraction(1, 10**9)
    assert stored(leaves, relation, proof)["delta"] == "1/1000000000"


# --- forged certificates ------------------------------------------------------------------------------------


def proved(relation: NeighbourRelation | None = None) -> Any:
    leaves, bound = sparse_vector(4, 2, 4, 1), relation or VectorNeighbours(4, linf=1)
    proof = alignment_bound(leaves, bound)
    assert isinstance(proof, Aligned)
    return stored(leaves, bound, proof)


def smaller_epsilon(forged: Any) -> None:
    forged["epsilon"] = str(Fraction(forged["epsilon"]) - Fraction(1, 10**12))


def larger_moves(forged: Any) -> None:
    forged["relation"]["linf"] = "1000001/1000000"


def lost_box(forged: Any) -> None:
    forged["boxes"].pop()


def lost_corner(forged: Any) -> None:
    next(leaf for leaf in forged["leaves"] if len(leaf["alignments"]) > 1)["alignments"].pop()


def lost_alignments(forged: Any) -> None:
    forged["leaves"][1]["alignments"] = []


def wrong_sign(forged: Any) -> None:
    one = next(one for leaf in forged["leaves"] for one in leaf["alignments"] if one["shift"])
    one["shift"] = {name: str(-Fraction(value)) for name, value in one["shift"].items()}


def exponential_noise(forged: Any) -> None:
    def renamed(values: dict[str, str]) -> dict[str, str]:
        return {name.replace("laplace", "exponential"): value for name, value in values.items()}

    for one in forged["leaves"]:
        for form in one["constraints"]:
            form["noise"] = renamed(form["noise"])
        for shift in one["alignments"]:
            shift["shift"] = renamed(shift["shift"])


def released_query(forged: Any) -> None:
    forged["leaves"][0]["released"] = [{"noise": {"laplace:1": "4"}, "data": {"0": "1"}}]


@pytest.mark.parametrize(
    "forge",
    [
        smaller_epsilon,
        lost_box,
        lost_corner,
        lost_alignments,
        wrong_sign,
        exponential_noise,
        released_query,
    ],
)
def test_forged_certificates_are_refused(forge: Any) -> None:
    forged = proved(VectorNeighbours(4, l0=2, linf=1)) if forge in (lost_box, lost_corner) else proved()
    assert check_alignment(forged) == []
    forge(forged)
    assert check_alignment(sealed(forged)) != []


def test_every_corner_of_the_moves_must_be_aligned() -> None:
    numbers = tuple(plus(x, noise(LAPLACE, i)) for i, x in enumerate(inputs(2)))
    released, relation = model([leaf(numbers)], 2), VectorNeighbours(2, linf=1)
    proof = alignment_bound(released, relation)
    assert isinstance(proof, Aligned)
    whole = stored(released, relation, proof)
    assert len(whole["leaves"][0]["alignments"]) == 4
    for lost in range(4):
        forged = stored(released, relation, proof)
        del forged["leaves"][0]["alignments"][lost]
        assert any("corners" in fault for fault in check_alignment(sealed(forged)))


def test_larger_moves_than_the_boxes_hold_are_refused() -> None:
    forged = proved()
    larger_moves(forged)
    with pytest.raises(ValueError, match="do not hold"):
        check_alignment(forged)


def test_moves_of_more_coordinates_than_the_boxes_hold_are_refused() -> None:
    forged = proved(VectorNeighbours(4, l0=1, linf=1))
    forged["relation"]["l0"] = 2
    with pytest.raises(ValueError, match="do not hold"):
        check_alignment(forged)


def test_something_else_is_no_certificate() -> None:
    with pytest.raises(ValueError, match="not an alignment certificate"):
        check_alignment({"format": "something else", "leaves": []})


# --- tampering ----------------------------------------------------------------------------------------------

JUNK: tuple[Any, ...] = (
    None, True, -1, 10**9, 0.5, math.nan, "", "x", "1/0", "1e999999999", "9" * 20_000, [], {}, [[["0", "1"]]],
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """Yield the paths to all parts of a certificate."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    return functools.reduce(lambda part, key: part[key], path, value)


@given(data=st.data())
def test_a_certificate_with_any_other_part_is_refused(data: st.DataObject) -> None:
    """Whatever is put in place of a part, with the digest of the original or one of its own, is never an accident."""
    forged = proved(VectorNeighbours(4, l0=2, linf=1))
    path = data.draw(st.sampled_from(list(places(forged))))
    part = data.draw(st.sampled_from(JUNK))
    assume(at(forged, path) != part)
    if data.draw(st.booleans()) and isinstance(at(forged, path[:-1]), dict):
        del at(forged, path[:-1])[path[-1]]
    else:
        at(forged, path[:-1])[path[-1]] = part
    with contextlib.suppress(MalformedCertificateError):
        assert check_alignment(forged) != []
    with contextlib.suppress(MalformedCertificateError):
        check_alignment(sealed(forged))  # a forger may leave out or weaken what is proved: no other exception, no hang


@given(data=st.data())
def test_no_cheaper_shift_than_the_proved_ones_passes(data: st.DataObject) -> None:
    """The epsilon of the certificate is the least one: below it, whatever shifts are scaled down, it is refused."""
    forged = proved()
    forged["epsilon"] = str(Fraction(forged["epsilon"]) * Fraction(data.draw(st.integers(0, 99)), 100))
    for one in (one for each in forged["leaves"] for one in each["alignments"]):
        factor = Fraction(data.draw(st.integers(0, 100)), 100)
        one["shift"] = {name: str(factor * Fraction(value)) for name, value in one["shift"].items()}
    assert check_alignment(sealed(forged)) != []


@pytest.mark.parametrize("value", [None, [], "text", 3, {}, {"format": "dpassay alignment 1"}])
def test_something_else_is_malformed(value: Any) -> None:
    with pytest.raises(MalformedCertificateError, match="certificate"):
        check_alignment(value)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_programmes_in_another_order_have_points_of_their_own(order: tuple[int, ...]) -> None:
    solved = _Solved()
    rows = [({0: Fraction(1), 1: Fraction(2)}, Fraction(3)), ({1: Fraction(1), 2: Fraction(-1)}, Fraction(1)),
            ({2: Fraction(1)}, Fraction(1, 2))]  # fmt: skip
    for places in ((0, 1, 2), order):
        named = [({places[j]: value for j, value in row.items()}, bound) for row, bound in rows]
        found = solved.minimum(named[::-1], 3)
        expected = minimum([Fraction(1)] * 3, named)
        assert found is not None
        assert isinstance(expected, Optimum)
        assert found[0] == expected.value == sum(found[1])
        assert all(sum(value * found[1][j] for j, value in row.items()) >= bound for row, bound in named)
    assert solved.minimum([({0: Fraction(-1)}, Fraction(1))], 3) is None
