import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.arguments import UsageError
from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours, parse_neighbours
from dpassay.properties.hunting.formatting import relation_words
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours

bounds = st.one_of(st.none(), st.floats(0.1, 20))
ranges = st.sampled_from([(-np.inf, np.inf), (0.0, 1.0), (-10.0, 10.0), (0.5, np.inf), (-np.inf, 3.0), (2.0, 7.5)])


@st.composite
def vector_relations(draw: st.DrawFn) -> VectorNeighbours:
    integer = draw(st.booleans())
    norms = {"l1": draw(bounds), "l2": draw(bounds), "linf": draw(bounds)}
    if all(bound is None or bound < 1 for bound in norms.values()):
        norms["linf"] = 1.0
    if integer:
        norms = {name: bound if bound is None else max(1.0, bound) for name, bound in norms.items()}
    low, high = draw(ranges)
    size = draw(st.integers(1, 12))
    l0 = draw(st.one_of(st.none(), st.integers(1, size)))
    return VectorNeighbours(size, l0, **norms, low=low, high=high, integer=integer, monotone=draw(st.booleans()))


@st.composite
def record_relations(draw: st.DrawFn) -> RecordNeighbours:
    size = draw(st.integers(1, 6))
    most = draw(st.one_of(st.none(), st.integers(size + 1, size + 4)))
    return RecordNeighbours(
        0.0, draw(st.sampled_from([1.0, 5.0])), size, most, draw(st.sampled_from(["add-remove", "replace"]))
    )


@given(relation=st.one_of(vector_relations(), record_relations()), seed=st.integers(0, 3))
def test_every_pair_obeys_the_relation_and_is_there_once(relation: NeighbourRelation, seed: int) -> None:
    pairs = adversarial_pairs(relation, seed=seed, limit=20)
    assert 1 <= len(pairs) <= 20
    assert len({frozenset((left.tobytes(), right.tobytes())) for left, right in pairs}) == len(pairs)
    for left, right in pairs:
        assert are_neighbours(relation, left, right)
        assert are_neighbours(relation, right, left)
        if isinstance(relation, VectorNeighbours):
            assert relation.admits(left, right)


@pytest.mark.parametrize(
    "relation",
    [
        VectorNeighbours(20, 1, linf=6.0, low=-3, high=3),
        VectorNeighbours(20, 1, linf=1.0, low=0, integer=True),
        VectorNeighbours(20, l2=1.0),
    ],
)
def test_every_coordinate_moves_alone_where_that_tells_more(relation: VectorNeighbours) -> None:
    pairs = adversarial_pairs(relation, seed=0)[:30]
    moving = [np.flatnonzero(left != right) for left, right in pairs]
    assert {int(moved[0]) for moved in moving if len(moved) == 1} == set(range(20))


def test_a_range_of_categories_has_pairs_inside_too() -> None:
    pairs = adversarial_pairs(VectorNeighbours(1, linf=11.0, low=0, high=11, integer=True), seed=0)
    assert len(pairs) == 48
    assert {float(data[0]) for pair in pairs for data in pair} == set(range(12))


@given(relation=vector_relations())
def test_some_pair_moves_as_far_as_a_coordinate_may(relation: VectorNeighbours) -> None:
    pairs = adversarial_pairs(relation, seed=0)
    farthest = max(float(np.abs(left - right).max()) for left, right in pairs)
    room = relation.high - relation.low - (relation.integer and relation.high % 1)
    assert farthest >= min(relation.largest_step, room) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("relation", "left", "right"),
    [
        (VectorNeighbours(4, linf=1.0, low=0, high=2), [0, 2, 2, 2], [1, 1, 1, 1]),  # one against all others
        (VectorNeighbours(4, l0=1, linf=1.0, low=0, high=1), [0, 0, 0, 0], [1, 0, 0, 0]),
        (VectorNeighbours(2, linf=1.0, monotone=True, low=0, high=1), [0, 0], [1, 1]),
        (RecordNeighbours(0, 1, 1, None, "add-remove"), [0], [0, 1]),
        (RecordNeighbours(0, 1, 0, None, "add-remove"), [], [1]),
    ],
)
def test_the_classical_worst_pairs_are_among_them(
    relation: NeighbourRelation, left: list[float], right: list[float]
) -> None:
    pairs = [{tuple(a.tolist()), tuple(b.tolist())} for a, b in adversarial_pairs(relation, seed=0)]
    assert {tuple(map(float, left)), tuple(map(float, right))} in pairs


FAR = 2.0**53


@pytest.mark.parametrize(
    ("relation", "place", "left", "right"),
    [
        # ties
        (VectorNeighbours(4, linf=1.0), 3, [0, 0, 0, 0], [1, 1, -1, -1]),  # half up, half down
        (VectorNeighbours(4, linf=1.0), 3, [0, 0, 0, 0], [1, 1, 1, 1]),  # all shifted
        (VectorNeighbours(4, linf=1.0), 3, [0, 0, 0, 0], [1, -1, -1, -1]),  # one against all others
        (VectorNeighbours(4, l0=1, linf=1.0), 1, [0, 0, 0, 0], [1, 0, 0, 0]),  # one alone
        (VectorNeighbours(4, l1=1.0), 1, [0, 0, 0, 0], [1, 0, 0, 0]),
        # corners, at the boundary of the domain or, where there is none, far from the middle
        (VectorNeighbours(3, linf=1.0, low=-5, high=5), 8, [4, -4, -4], [5, -5, -5]),
        (VectorNeighbours(3, linf=1.0, low=-5, high=5), 8, [4, 4, 4], [5, 5, 5]),
        (VectorNeighbours(3, linf=1.0, low=-5, high=5), 8, [4, -5, -5], [5, -5, -5]),
        (VectorNeighbours(3, linf=1.0), 8, [9, -9, -9], [10, -10, -10]),
        (VectorNeighbours(3, linf=1.0, low=0), 8, [9, 1, 1], [10, 0, 0]),
        (VectorNeighbours(3, linf=1.0, low=0, high=1), 3, [0, 0, 1], [1, 1, 0]),
        # the least difference; none of integers
        (VectorNeighbours(3, linf=1.0), 48, [0, 0, 0], [5e-324, 0, 0]),
        (VectorNeighbours(3, linf=1.0, low=-1, high=0), 48, [0, 0, 0], [-5e-324, -5e-324, -5e-324]),
        # so large that a float does not see a unit more
        (VectorNeighbours(2, linf=1.0), 48, [FAR, FAR], [FAR - 1, FAR - 1]),
        (VectorNeighbours(2, linf=1.0), 48, [-FAR, -FAR], [1 - FAR, 1 - FAR]),
        (VectorNeighbours(2, linf=1.0, low=0, integer=True), 48, [FAR, FAR], [FAR - 1, FAR]),
        (VectorNeighbours(2, linf=1.0, low=0), 48, [0, FAR], [1, FAR]),  # one is lost beside the other
        # records: the farthest one among equal ones first, then ties of all kinds
        (RecordNeighbours(0, 1, 3), 1, [0, 0, 0], [0, 0, 1]),
        (RecordNeighbours(0, 1, 3), 2, [1, 1, 1], [1, 1, 0]),
        (RecordNeighbours(0, 1, 3, None, "add-remove"), 1, [0, 0, 0], [0, 0, 0, 1]),
        (RecordNeighbours(-1, 1, 2, None, "add-remove"), 12, [0, 0], [0, 0, 1]),
        (RecordNeighbours(-1, 1, 2, None, "add-remove"), 12, [1, 1], [1, 1, 1]),
        (RecordNeighbours(-1, 1, 2, 9, "add-remove"), 4, [-1] * 8, [-1] * 8 + [1]),
        (RecordNeighbours(0, 1, 3), 48, [0, 0, 0], [1, 0, 0]),  # and the first record
        (RecordNeighbours(-1, 1, 2), 48, [0, 0], [0, 5e-324]),
    ],
)
def test_pairs_of_every_kind_come_in_time(
    relation: NeighbourRelation, place: int, left: list[float], right: list[float]
) -> None:
    first = adversarial_pairs(relation, seed=0)[:place]
    pairs = [{tuple(a.tolist()), tuple(b.tolist())} for a, b in first]
    assert {tuple(map(float, left)), tuple(map(float, right))} in pairs


@pytest.mark.parametrize(
    "relation",
    [
        VectorNeighbours(5, linf=1.0),
        VectorNeighbours(5, l0=1, linf=1.0),
        VectorNeighbours(5, linf=1.0, monotone=True, low=0),
        VectorNeighbours(5, l1=1.0, low=-1, high=1),
    ],
)
def test_what_only_floats_can_give_away_displaces_no_likely_pair(relation: VectorNeighbours) -> None:
    for left, right in adversarial_pairs(relation, seed=0)[:6]:
        assert max(np.abs(left).max(), np.abs(right).max()) <= 10
        assert np.abs(left - right).max() > 0.1


def test_where_a_unit_is_lost_at_the_boundary_other_pairs_are_found() -> None:
    relation = VectorNeighbours(3, linf=1.0, low=-1e300, high=1e300)
    pairs = adversarial_pairs(relation, seed=0)
    assert len(pairs) >= 3
    assert all(are_neighbours(relation, *pair) for pair in pairs)


def test_the_order_depends_on_the_seed_alone() -> None:
    relation = VectorNeighbours(6, linf=1.0)
    first, again = (adversarial_pairs(relation, seed=7) for _ in range(2))
    assert all(np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize(
    "relation",
    [
        VectorNeighbours(2, linf=0.0),
        VectorNeighbours(2, linf=0.5, integer=True),
        VectorNeighbours(2, linf=1.0, low=0.2, high=0.7, integer=True),
        VectorNeighbours(2, linf=1.0, low=1.0, high=1.0),
        VectorNeighbours(2, linf=1.0, l0=0),
        VectorNeighbours(2, linf=1.0, low=1e300),  # the next float is farther away
        VectorNeighbours(2, linf=1.0, low=2.0**53, high=2.0**53 + 1, integer=True),
        VectorNeighbours(2, l2=0.5, integer=True),
        RecordNeighbours(0, 1, 2, 2, "add-remove"),
        RecordNeighbours(0, 1, 0, 0, "replace"),
        RecordNeighbours(1, 1, 2, 2, "replace"),
    ],
)
def test_a_relation_without_different_neighbours_is_refused(relation: NeighbourRelation) -> None:
    with pytest.raises(UsageError, match="neighbours"):
        adversarial_pairs(relation, seed=0)


def test_data_sets_that_are_no_neighbours_are_told() -> None:
    relation = RecordNeighbours(0, 1, 1, 3, "add-remove")
    assert are_neighbours(relation, np.array([0.0, 1.0]), np.array([1.0]))
    assert not are_neighbours(relation, np.array([0.0, 1.0]), np.array([0.5]))
    assert not are_neighbours(relation, np.array([0.0]), np.array([1.0]))
    assert not are_neighbours(relation, np.array([]), np.array([1.0]))
    assert not are_neighbours(relation, np.array([0.0]), np.array([0.0, 2.0]))
    assert relation_words(relation) == "records:low=0.0,high=1.0,size=1,max-size=3,relation=add-remove"


@pytest.mark.parametrize("spec", ["size=1,linf=1,integer,low=0", "size=3,l1=1,integer", "size=2,linf=2,integer"])
def test_an_early_pair_of_integers_crosses_multiples_of_all_common_moduli(spec: str) -> None:
    early = adversarial_pairs(parse_neighbours(f"vector:{spec}"), seed=0)[:8]
    for modulus in (2, 3, 4, 5, 8, 10, 16, 100, 1000):
        crossing = [pair for pair in early if np.abs(np.diff([side // modulus for side in pair], axis=0)).sum() > 0]
        assert any(np.abs(np.concatenate(pair)).max() < 2**52 and min(pair[0][0], pair[1][0]) > 0 for pair in crossing)


def test_the_multiples_that_integers_cross_fit_the_relation() -> None:
    pairs = adversarial_pairs(parse_neighbours("vector:size=1,linf=1,integer,low=0,high=300"), seed=0)[:4]
    assert {239.0, 240.0} in [{left[0], right[0]} for left, right in pairs]
