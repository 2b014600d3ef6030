import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.neighbours import VectorNeighbours, parse_neighbours
from dpassay.properties.hunting.shrinking import simplest_pair
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours

Array = NDArray[np.float64]


def shrunk(words: str, left: list[float], right: list[float], is_broken: object = None) -> tuple[list[float], ...]:
    always = is_broken or (lambda *_: True)
    pair = np.array(left, np.float64), np.array(right, np.float64)
    found = simplest_pair(parse_neighbours(words), pair, always, seed=0)  # type: ignore[arg-type]
    return found[0].tolist(), found[1].tolist()


def test_a_shift_becomes_a_step_from_zero() -> None:
    assert shrunk("vector:size=1,linf=1", [5.3], [6.3]) == ([0.0], [1.0])
    assert shrunk("vector:size=1,linf=1,low=3,high=10", [5.3], [6.3]) == ([3.0], [4.0])
    assert shrunk("vector:size=1,linf=0.75", [5.5], [4.75], lambda a, b: b[0] < a[0]) == ([0.0], [-0.75])


def test_only_the_coordinates_that_matter_stay_different() -> None:
    def needs_three_falls(left: Array, right: Array) -> bool:
        return bool(right[0] > left[0] and (right < left).sum() >= 3)

    found = shrunk("vector:size=8,linf=1", [5.5] * 8, [6.5] + [4.5] * 7, needs_three_falls)
    assert found == ([0.0] * 8, [1.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    nearly = shrunk("vector:size=3,linf=1", [0.0] * 3, [1.0, -1.0, -1.0], lambda _, right: right[0] > 0)
    assert nearly == ([0.0] * 3, [1.0, 0.0, 0.0])


def test_records_that_do_not_matter_are_dropped() -> None:
    words = "records:low=0,high=9,size=2,max-size=20,relation=add-remove"
    assert shrunk(words, [3.3] * 19, [3.3] * 19 + [8.8]) == ([0.0, 0.0], [0.0, 0.0, 0.0])
    assert shrunk(words, [3.3] * 8 + [8.8], [3.3] * 8, lambda left, _: left.max() > 2) == ([0.0, 0.0, 6.0], [0.0, 0.0])
    replaced = shrunk("records:low=0,high=9,size=3,relation=replace", [3.3] * 3, [3.3, 8.8, 3.3])
    assert replaced == ([0.0] * 3, [0.0, 1.0, 0.0])


def test_a_pair_that_nothing_can_replace_stays() -> None:
    pair = np.array([5.3, 2.1]), np.array([6.3, 1.1])
    found = simplest_pair(VectorNeighbours(2, linf=1.0), pair, lambda *_: False, seed=0)
    assert [side.tolist() for side in found] == [[5.3, 2.1], [6.3, 1.1]]
    rng = np.random.default_rng(0)
    left = np.round(rng.normal(size=200), 6)
    assert simplest_pair(VectorNeighbours(200, linf=1.5), (left, left + 1), lambda *_: False, seed=0)[0] is left


@pytest.mark.parametrize(
    "words",
    [
        "vector:size=3,linf=1,low=0,high=4,integer",
        "vector:size=4,l0=2,l2=1.5,monotone",
        "vector:size=2,l1=3,low=-7,high=-1",
        "records:low=-3,high=-1,size=2,max-size=5,relation=add-remove",
        "records:low=0,high=1,size=4,relation=replace",
    ],
)
def test_questions_are_about_neighbours_only_and_never_repeated(words: str) -> None:
    relation = parse_neighbours(words)
    for pair in adversarial_pairs(relation, seed=1, limit=5):
        asked: list[Pair] = []

        def is_broken(left: Array, right: Array, asked: list[Pair] = asked) -> bool:
            asked.append((left, right))
            return bool(left.sum() * 31 % 2 < 1.3)

        simplest_pair(relation, pair, is_broken, seed=0)
        keys = {(left.tobytes(), right.tobytes()) for left, right in asked}
        assert len(keys) == len(asked)
        assert all(are_neighbours(relation, *each) and each[0].tobytes() != each[1].tobytes() for each in asked)
