import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.properties.neighbours.test_pairs import record_relations, vector_relations

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours, parse_neighbours
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours, further_pairs
from dpassay.properties.neighbours.threshold_pairs import threshold_pairs

Array = NDArray[np.float64]
NUMBERS = st.lists(st.one_of(st.integers(-200, 200).map(float), st.floats(-200, 200)), min_size=1, max_size=4)


@settings(max_examples=30)
@given(relation=st.one_of(vector_relations(), record_relations()), numbers=NUMBERS)
def test_further_pairs_around_numbers_obey_the_relation(relation: NeighbourRelation, numbers: list[float]) -> None:
    known = adversarial_pairs(relation, seed=0, limit=8)
    further = list(itertools.islice(further_pairs(relation, known, seed=0, numbers=numbers), 60))
    assert all(are_neighbours(relation, *pair) for pair in further)
    keys = {frozenset((left.tobytes(), right.tobytes())) for left, right in [*known, *further]}
    assert len(keys) == len(known) + len(further)


def crosses(relation: NeighbourRelation, value: float, statistic: Callable[[Array], float]) -> bool:
    """Return whether some pair around the value has the statistic strictly below it on one side, not on the other."""
    pairs = (pair for pair in threshold_pairs(relation, [value]) if are_neighbours(relation, *pair))
    return any((statistic(left) < value) != (statistic(right) < value) for left, right in pairs)


STATISTICS: dict[str, Callable[[Array], float]] = {
    "first": lambda data: data[0],
    "last": lambda data: data[-1],
    "all": lambda data: data.min(),
    "sum": np.sum,
    "mean": np.mean,
    "lead": lambda data: np.sort(data)[-1] - np.sort(data)[-2],
}


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("value", [37.0, 4.5])
@pytest.mark.parametrize(
    "words",
    [
        "vector:size=5,linf=1",
        "vector:size=5,l0=1,linf=1",
        "vector:size=5,linf=1,low=0,integer",
        "vector:size=5,linf=2,low=0,high=60",
    ],
)
def test_statistics_of_vectors_cross_a_number(words: str, value: float, statistic: str) -> None:
    relation = parse_neighbours(words)
    assert crosses(relation, value, STATISTICS[statistic])


@pytest.mark.parametrize("place", [3, 11])
def test_the_coordinate_that_a_number_names_crosses_the_other_number(place: int) -> None:
    relation = VectorNeighbours(20, l0=1, linf=1.0)
    pairs = itertools.islice(threshold_pairs(relation, [float(place), 37.0]), 400)
    assert any((left[place] < 37) != (right[place] < 37) for left, right in pairs)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "statistic",
    [
        len,
        lambda data: np.count_nonzero(data > 0.9),
        lambda data: data.sum(),
    ],
)
def test_counts_and_sums_of_records_cross_a_number(relation: str, statistic: Callable[[Array], float]) -> None:
    records = RecordNeighbours(0, 1, 1, 40, relation)
    if relation == "replace" and statistic(np.zeros(13)) == 13:
        pairs = threshold_pairs(records, [13.0])
        assert {12, 13, 14} <= {len(left) for left, _ in pairs}  # the number does not change
    else:
        assert crosses(records, 13.0, statistic)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_record_of_each_value_comes_and_two_meet(relation: str) -> None:
    pairs = list(threshold_pairs(RecordNeighbours(0, 10, 1, 6, relation), [3.7, 9.9]))
    alone = [(3.7 in left) != (3.7 in right) for left, right in pairs]
    together = [({3.7, 9.9} <= set(left.tolist())) != ({3.7, 9.9} <= set(right.tolist())) for left, right in pairs]
    assert any(alone)
    assert any(together)


def in_both_bands(data: Array) -> bool:
    return bool(40.5 < data[0] < 43.5 and 16.5 < data[1] < 19.5)


def beyond_both(data: Array) -> bool:
    return bool(data[0] > 41.5 and data[1] > 17.5 and data[1] < 30)


def beside_the_first(data: Array) -> bool:
    return bool(data[0] > 43 and data[1] <= 17)


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [(in_both_bands, [40.5, 43.5, 16.5, 19.5]), (beyond_both, [41.5, 17.5, 30.0]), (beside_the_first, [43.0, 17.0])],
)
@pytest.mark.parametrize("words", ["vector:size=2,linf=1,low=0,integer", "vector:size=3,l0=1,linf=1,low=0,high=90"])
def test_two_coordinates_meet_two_conditions(
    words: str, condition: Callable[[Array], bool], numbers: list[float]
) -> None:
    relation = parse_neighbours(words)
    pairs = [pair for pair in threshold_pairs(relation, numbers) if are_neighbours(relation, *pair)]
    assert any(condition(left) != condition(right) for left, right in pairs)


@settings(max_examples=60)
@given(relation=vector_relations().filter(lambda relation: relation.integer), numbers=NUMBERS)
def test_integers_stay_integers(relation: VectorNeighbours, numbers: list[float]) -> None:
    for left, right in itertools.islice(threshold_pairs(relation, numbers), 400):
        np.testing.assert_array_equal(left, np.round(left))
        np.testing.assert_array_equal(right, np.round(right))


def band(low: float, high: float) -> Any:
    def release(data: Array, size: int, rng: np.random.Generator) -> Array:
        if low < data[0] < high:
            return np.full(size, data[0])
        return np.asarray(data[0] + rng.laplace(scale=2.0, size=size))

    return release


@pytest.mark.parametrize(("low", "high"), [(37.25, 37.75)])
def test_a_fault_between_two_numbers_of_the_code_is_found(low: float, high: float) -> None:
    result = hunt(
        band(low, high), "pure:1", "vector:size=1,linf=2", calls=30_000, trace=False, float64="ignore", shrink=False
    )
    assert result.verdict == "violated"
