import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.neighbours.test_pairs import vector_relations

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours, parse_neighbours
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.neighbours.finite_pairs import all_pairs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import MOST_PAIRS, adversarial_pairs, are_neighbours, further_pairs


def as_set(pair: Pair) -> frozenset[tuple[float, ...]]:
    return frozenset(tuple(side.tolist()) for side in pair)


@st.composite
def finite_relations(draw: st.DrawFn) -> VectorNeighbours:
    low = draw(st.integers(-3, 3))
    norms = {
        "l1": draw(st.one_of(st.none(), st.floats(1, 4))),
        "l2": draw(st.one_of(st.none(), st.sampled_from([1.0, 2.0**0.5, 1.5, 2.0, 5.0**0.5]))),
        "linf": draw(st.floats(1, 3)),
    }
    size = draw(st.integers(1, 3))
    l0 = draw(st.one_of(st.none(), st.integers(1, size)))
    high = low + draw(st.integers(1, 3))
    return VectorNeighbours(size, l0, **norms, low=low, high=high, integer=True, monotone=draw(st.booleans()))


@settings(max_examples=30)
@given(relation=finite_relations())
def test_all_pairs_are_those_that_the_relation_admits(relation: VectorNeighbours) -> None:
    values = [float(v) for v in range(int(relation.low), int(relation.high) + 1)]
    inputs = [np.array(x) for x in itertools.product(values, repeat=relation.size)]
    admitted = {as_set(pair) for pair in itertools.combinations(inputs, 2) if relation.admits(*pair)}
    listed = all_pairs(relation, most=10_000)
    assert listed is not None
    assert len(listed) == len(admitted)
    assert {as_set(pair) for pair in listed} == admitted


@settings(max_examples=30)
@given(relation=finite_relations())
def test_designed_and_further_pairs_exhaust_a_small_domain(relation: VectorNeighbours) -> None:
    designed = adversarial_pairs(relation, seed=0)
    further = list(further_pairs(relation, designed, seed=0))
    listed = all_pairs(relation, most=10_000) or []
    assert len(designed) + len(further) == len(listed)
    assert {as_set(pair) for pair in designed + further} == {as_set(pair) for pair in listed}


@pytest.mark.parametrize(
    "relation",
    [
        VectorNeighbours(1, linf=1.0),
        VectorNeighbours(1, linf=1.0, integer=True),
        VectorNeighbours(1, linf=1.0, low=0, high=2.0**53, integer=True),
        VectorNeighbours(8, linf=1.0, low=0, high=9, integer=True),
        VectorNeighbours(2, linf=300.0, low=0, high=120, integer=True),
    ],
)
def test_large_domains_are_not_listed(relation: VectorNeighbours) -> None:
    assert all_pairs(relation, most=10_000) is None


@settings(max_examples=20)
@given(relation=vector_relations(), seed=st.integers(0, 2))
def test_further_pairs_obey_the_relation_and_are_new(relation: VectorNeighbours, seed: int) -> None:
    known = adversarial_pairs(relation, seed=seed, limit=8)
    further = list(itertools.islice(further_pairs(relation, known, seed=seed), 60))
    assert all(are_neighbours(relation, *pair) for pair in further)
    assert len({as_set(pair) for pair in known + further}) == len(known) + len(further)


def first_pairs(relation: NeighbourRelation, count: int) -> list[Pair]:
    known = adversarial_pairs(relation, seed=0)
    return known + list(itertools.islice(further_pairs(relation, known, seed=0), count))


@pytest.mark.parametrize("size", [3, 20, 100])
def test_every_coordinate_moves_alone(size: int) -> None:
    pairs = first_pairs(VectorNeighbours(size, l0=1, linf=1.0), 5 * size)
    assert {int(np.flatnonzero(left != right)[0]) for left, right in pairs} == set(range(size))


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0.0, 30.0), (-7.0, 1000.0)])
def test_every_small_integer_is_a_value(low: float, high: float) -> None:
    pairs = first_pairs(VectorNeighbours(3, linf=1.0, low=low, high=high, integer=True), 1500)
    seen = {float(x) for pair in pairs for side in pair for x in side}
    reach = 10 if np.isinf(high) else 30
    assert seen >= {float(k) for k in range(int(max(low, -reach)), reach + 1)}


def test_every_count_is_crossed() -> None:
    pairs = first_pairs(VectorNeighbours(12, l0=1, linf=1.0, low=0, high=1, integer=True), 200)
    crossed = {int(min(left.sum(), right.sum())) for left, right in pairs}
    assert crossed == set(range(12))


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_every_length_and_count_of_records_occurs(relation: str) -> None:
    pairs = first_pairs(RecordNeighbours(0, 1, 1, 9, relation), 1000)
    states = {(len(side), int(side.sum())) for pair in pairs for side in pair if set(side.tolist()) <= {0.0, 1.0}}
    assert states == {(n, k) for n in range(1, 10) for k in range(n + 1)}


def test_every_tie_pattern_of_three_scores_occurs() -> None:
    pairs = first_pairs(VectorNeighbours(3, l0=1, linf=1.0), 600)
    patterns = {tuple(np.unique(side, return_inverse=True)[1].tolist()) for pair in pairs for side in pair}
    assert len(patterns) == 13


def point_of(value: int):  # type: ignore[no-untyped-def]
    return lambda data, size, rng: np.full(size, float(data[0] == value))


@pytest.mark.parametrize("value", [1, 2])
def test_a_fault_at_one_value_of_a_small_domain_is_found(value: int) -> None:
    result = hunt(point_of(value), "pure:0.1", "vector:size=1,linf=3,low=0,high=3,integer", calls=4000, shrink=False)
    assert result.verdict == "violated"


@pytest.mark.parametrize("value", [13, 99])
def test_a_fault_at_one_of_a_hundred_values_is_found(value: int) -> None:
    result = hunt(
        point_of(value), "pure:0.1", "vector:size=1,linf=3,low=0,high=99,integer", calls=50_000, shrink=False
    )
    assert result.verdict == "violated"
    assert value in {*result.witness.left, *result.witness.right} if result.witness else False


def test_a_fault_in_one_of_twenty_columns_is_found() -> None:
    weights = np.where(np.arange(20) == 13, 5.0, 1.0)

    def noisy(data, size, rng):  # type: ignore[no-untyped-def]
        return data * weights + rng.laplace(size=(size, 20))

    relation = parse_neighbours("vector:size=20,l0=1,linf=1")
    assert len(adversarial_pairs(relation, seed=0)) == MOST_PAIRS
    result = hunt(noisy, "pure:1", relation, calls=50_000, float64="ignore", shrink=False)
    assert result.verdict == "violated"
