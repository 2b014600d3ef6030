from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.neighbours import parse_neighbours
from dpassay.properties.assay.boundaries import boundary_pairs, nearby_pairs
from dpassay.properties.assay.sensitivity import Compute, WidestGap, as_vector, certain_gap, widest_gap
from dpassay.properties.neighbours.pairs import are_neighbours

RELATIONS = [
    "vector:size=1,linf=1",
    "vector:size=7,l0=2,linf=0.5,low=0,high=2",
    "vector:size=3,l1=1,integer",
    "records:low=0,high=1,size=0,max-size=6,relation=add-remove",
    "records:low=-3,high=2,size=5,relation=replace",
    "records:low=1,high=1,size=2,relation=add-remove",
]


@pytest.mark.parametrize("words", RELATIONS)
def test_boundary_pairs_are_neighbours(words: str) -> None:
    relation = parse_neighbours(words)
    pairs = boundary_pairs(relation, seed=0, limit=40)
    assert pairs
    assert all(are_neighbours(relation, *pair) and not np.array_equal(*pair) for pair in pairs)
    assert len({(left.tobytes(), right.tobytes()) for left, right in pairs}) == len(pairs)
    assert [len(boundary_pairs(relation, seed=0, limit=limit)) for limit in range(2)] == [0, 1]
    again = boundary_pairs(relation, seed=0, limit=40)
    assert all(
        np.array_equal(a, b) for one, two in zip(pairs, again, strict=True) for a, b in zip(one, two, strict=True)
    )


@pytest.mark.parametrize("words", RELATIONS)
def test_changes_of_a_pair_are_often_neighbours(words: str) -> None:
    relation = parse_neighbours(words)
    changes = nearby_pairs(relation, boundary_pairs(relation, seed=0, limit=1)[0], np.random.default_rng(0))
    assert sum(are_neighbours(relation, *next(changes)) for _ in range(100)) > 20


def on_all(compute: Callable[[Any], Any]) -> Compute:
    """Return the function that computes the values on several inputs."""
    return lambda inputs: [as_vector(compute(data)) for data in inputs]


def searched(compute: Callable[[Any], Any], words: str, *, norm: int = 1, evaluations: int = 250) -> WidestGap | None:
    relation = parse_neighbours(words)
    return widest_gap(on_all(compute), relation, norm=norm, seed=0, evaluations=evaluations, seconds=60)


def found(compute: Callable[[Any], Any], words: str, *, norm: int = 1, evaluations: int = 250) -> WidestGap:
    widest = searched(compute, words, norm=norm, evaluations=evaluations)
    assert widest is not None
    return widest


def test_sums_move_by_the_range() -> None:
    assert found(np.sum, RELATIONS[4]).gap == 5


def test_a_threshold_that_is_met_exactly_is_found() -> None:
    gap = found(lambda data: 10.0 * (np.sum(data) == 2.0), RELATIONS[3]).gap
    assert gap == 10


def test_a_lone_record_is_found() -> None:
    assert found(lambda data: np.mean(data) if len(data) else 0.5, RELATIONS[3]).gap == 0.5


def test_the_variance_of_one_record_among_many_is_found() -> None:
    """Replacing a record moves the variance of n records in [0, 1] by (n - 1) / n^2, an even split less."""
    gap = found(np.var, "records:low=0,high=1,size=5,relation=replace").gap
    assert gap == pytest.approx(4 / 25)


def test_the_norm_is_that_of_the_noise() -> None:
    words = "vector:size=4,linf=1"
    assert found(lambda data: data, words, norm=1).gap == 4
    assert found(lambda data: data, words, norm=2).gap == pytest.approx(2)


def test_what_cannot_be_computed_is_left_out() -> None:
    assert searched(lambda data: "no number", RELATIONS[0]) is None
    assert found(lambda data: np.nan if data[0] > 0 else 0.0, RELATIONS[0]).gap == 0


def test_remaining_noise_is_not_taken_for_a_gap() -> None:
    rng = np.random.default_rng(0)
    noisy = on_all(lambda data: data[0] + 1e-3 * rng.laplace())
    widest = widest_gap(noisy, parse_neighbours(RELATIONS[0]), norm=1, seed=0, evaluations=200, seconds=60)
    assert widest is not None
    assert widest.gap > 1
    gap, is_deterministic = certain_gap(noisy, widest, norm=1)
    assert not is_deterministic
    assert gap < 1
    exact = found(lambda data: 3 * data[0], RELATIONS[0])
    assert certain_gap(on_all(lambda data: 3 * data[0]), exact, norm=1) == (exact.gap, True)
