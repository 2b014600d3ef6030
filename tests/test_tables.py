"""Neighbour relations between tables: their words, their pairs and what a mechanism receives."""

import itertools
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.arguments import UsageError
from dpassay.neighbours import parse_relation
from dpassay.properties.neighbours.pairs import adversarial_pairs, further_pairs
from dpassay.tables import Interval, TableNeighbours, Values

RELATIONS = [
    "table:age=0..99,sex=F/M,size=2,relation=replace",
    "dicts:age=0..99,income=0.0..1.5,size=0,max-size=3,relation=add-remove",
    "multiset:k=1/2/3,size=1,relation=add-remove",
    "histogram:a=0..2,b=x/y,size=2,relation=replace",
    "table:name=ann/bob/eve,amount=0..9,size=1,max-size=5,user=name,user-rows=2,relation=add-remove",
    "table:name=ann/bob/eve,amount=0..9,size=2,max-size=4,user=name,user-rows=2,relation=replace",
]


@pytest.mark.parametrize("words", RELATIONS)
def test_words_are_read_back(words: str) -> None:
    relation = parse_relation(words)
    assert isinstance(relation, TableNeighbours)
    assert parse_relation(relation.words) == relation


@pytest.mark.parametrize("words", RELATIONS)
def test_pairs_are_different_neighbours(words: str) -> None:
    relation = parse_relation(words)
    assert isinstance(relation, TableNeighbours)
    known = adversarial_pairs(relation, seed=0)
    assert len(known) > 5
    for left, right in [*known, *itertools.islice(further_pairs(relation, known, seed=0), 50)]:
        assert relation.admits(left, right)
        assert relation.admits(right, left)
        assert left.tobytes() != right.tobytes()


def test_every_column_differs_in_some_pair() -> None:
    relation = parse_relation("table:a=0..9,b=x/y,c=0.0..1.0,size=1,relation=replace")
    assert isinstance(relation, TableNeighbours)
    changed = [left != right for left, right in adversarial_pairs(relation, seed=0)]
    assert np.any(changed, axis=0).all()


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=4)


def _codes(table: list[tuple[int, int]]) -> np.ndarray:
    return np.array([code for row in table for code in row], dtype=np.float64)


@given(rows, rows, st.sampled_from(["add-remove", "replace"]))
def test_admits_what_the_definition_says(
    left: list[tuple[int, int]], right: list[tuple[int, int]], change: str
) -> None:
    relation = TableNeighbours(
        (("who", Values(("u", "v", "w"))), ("x", Interval(0, 1, integer=True))),
        size=0, max_size=4, relation=change, user="who", user_rows=2,
    )  # fmt: skip
    expected = False
    for one, other in itertools.product(range(3), repeat=2):
        rests = [row for row in left if row[0] != one], [row for row in right if row[0] != other]
        here, there = any(row[0] == one for row in left), any(row[0] == other for row in right)
        if change == "replace":
            expected |= here and there and rests[0] == rests[1]
        else:
            expected |= one == other and here != there and rests[0] == rests[1]
    few = all(count <= 2 for table in (left, right) for count in Counter(row[0] for row in table).values())
    assert relation.admits(_codes(left), _codes(right)) is (expected and few)


def test_forms() -> None:
    codes = np.array([30.0, 1.0, 31.0, 0.0])

    columns = (("age", Interval(0, 99, integer=True)), ("sex", Values(("F", "M"))))

    def decoded(form: str) -> object:
        return TableNeighbours(columns, 2, form=form).decoded(codes)

    assert decoded("table") == [(30, "M"), (31, "F")]
    assert decoded("dicts") == [{"age": 30, "sex": "M"}, {"age": 31, "sex": "F"}]
    assert decoded("multiset") == Counter({(30, "M"): 1, (31, "F"): 1})
    cells = decoded("histogram")
    assert isinstance(cells, dict)
    assert len(cells) == 200
    assert sum(cells.values()) == 2
    single = TableNeighbours((("k", Values((4, 5))),), 3, form="histogram")
    assert single.decoded(np.array([1.0, 1.0, 0.0])) == {4: 1, 5: 2}


def test_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="needs pandas"):
        parse_relation("frame:a=0..1,size=1,relation=replace")
    monkeypatch.undo()
    seen = []
    fake = SimpleNamespace(DataFrame=lambda rows, columns: seen.append((rows, columns)), __spec__=SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pandas", fake)
    relation = parse_relation("frame:a=0..1,size=1,relation=replace")
    assert isinstance(relation, TableNeighbours)
    relation.decoded(np.array([1.0]))
    assert seen == [([(1,)], ["a"])]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("table:a=0..1,size=1", "lacks relation=add-remove or relation=replace$"),
        ("table:a=0..1,relation=replace", "lacks size=N$"),
        ("table:size=1,relation=replace", "lacks columns as NAME=low..high"),
        ("table:a=0..1,max_size=4,size=1,relation=replace", "column max_size=4 has one value only"),
        ("table:a=1..0,size=1,relation=replace", "low <= high"),
        ("table:a=0..1,size=1,relation=replace,user=b", "user must be one of the columns a"),
        ("table:a=0..1,size=1,relation=replace,user-rows=2", "without a user column"),
        ("table:a=0..1,a=0..1,size=1,relation=replace", "gives a twice$"),
        (
            "dicts:user=1/2,size=1,user=user,relation=replace",
            "gives user twice; user= is an option, and a column needs another name",
        ),
        ("table:a,size=1,relation=replace", "'a' is not of the form NAME=VALUE"),
        ("table:a=0..1,size=one,relation=replace", "size must be an integer"),
        ("histogram:a=0.0..1.0,size=1,relation=replace", "integers or values in each column"),
        ("table:a=0..1,size=1,relation=swap", "relation must be add-remove or replace"),
    ],
)  # fmt: skip
def test_errors_of_use(words: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_relation(words)
