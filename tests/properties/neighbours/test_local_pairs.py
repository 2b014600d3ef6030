import numpy as np
import pytest

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import MOST_NEARBY, adversarial_pairs, are_neighbours, nearby_pairs

RELATIONS = [
    VectorNeighbours(size=3, l0=1, linf=1.0),
    VectorNeighbours(size=5, linf=1.0, integer=True, low=0),
    VectorNeighbours(size=2, l1=2.0, low=-1.0, high=4.0),
    VectorNeighbours(size=1, linf=1.0),
    RecordNeighbours(low=0.0, high=1.0, size=4, relation="replace"),
    RecordNeighbours(low=0.0, high=2.0, size=3, relation="add-remove"),
]


def key(pair: Pair) -> frozenset[bytes]:
    return frozenset(side.tobytes() for side in pair)


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_variations_of_a_pair_are_other_pairs_of_the_relation(relation: NeighbourRelation) -> None:
    for pair in adversarial_pairs(relation, seed=0)[:6]:
        found = nearby_pairs(relation, pair, seed=0)
        assert 1 <= len(found) <= MOST_NEARBY
        assert all(are_neighbours(relation, *other) for other in found)
        assert len({key(pair), *map(key, found)}) == len(found) + 1
        again = nearby_pairs(relation, pair, seed=0)
        assert list(map(key, again)) == list(map(key, found))


def test_a_tie_is_found_next_to_a_near_tie() -> None:
    relation = VectorNeighbours(size=3, linf=1.0, l0=1, integer=True)
    near_tie = np.array([0.0, 2.0, 1.0]), np.array([0.0, 2.0, 2.0])
    wanted = key((np.array([0.0, 2.0, 2.0]), np.array([0.0, 2.0, 3.0])))
    assert wanted in set(map(key, nearby_pairs(relation, near_tie, seed=0)))
