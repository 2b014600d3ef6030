"""Features of structured outcomes, and events on them, in words that are read back."""

import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.impl.libraries.plain import Record, written
from dpassay.impl.libraries.reading import read
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import Interval, Symbols, parse_event
from dpassay.properties.outcomes.flattening import flattened, type_words
from dpassay.properties.outcomes.symbols import comparable
from dpassay.properties.outcomes.telling_events import best_event
from dpassay.properties.outcomes.value_words import parse_values

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.datetimes()
    | st.complex_numbers(allow_nan=False)
)
structures = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=4)
        | st.sets(st.integers() | st.text(max_size=3), max_size=3)
    ),
    max_leaves=8,
)


def identity(value: Any) -> tuple[Any, str]:
    symbol = read(value)
    return comparable(symbol), type_words(symbol)


@settings(max_examples=150, deadline=None)
@given(structures, structures)
def test_different_values_have_different_symbols_or_types(one: Any, other: Any) -> None:
    (first, first_type), (second, second_type) = identity(one), identity(other)
    if first_type == second_type:  # of the parts, too: [False] == [Fraction(0)]
        assert (first == second) is (one == other)


@settings(max_examples=150, deadline=None)
@given(structures)
def test_values_are_read_back_from_their_words(value: Any) -> None:
    symbol = comparable(read(value))
    assert parse_values(written(symbol)) == (symbol,)
    event = Symbols((symbol,))
    outcomes = Outcomes.of([value, "something else"])
    assert parse_event(str(event)) == event
    assert event.holds(outcomes).tolist() == [True, value == "something else"]


@settings(max_examples=100, deadline=None)
@given(structures, st.floats(allow_nan=False))
def test_events_on_features_round_trip_and_depend_on_their_own_outcome_alone(value: Any, bound: float) -> None:
    both = Outcomes.of([value, {"x": "1.5 is more"}])
    alone = Outcomes.of([value])
    for name, values in both.features.items():
        own = alone.features[name][0] if name in alone.features else math.nan
        assert values[0] == own or (math.isnan(values[0]) and math.isnan(own))
        if name.startswith("code("):
            continue
        for event in (Interval(name, bound, math.inf), Interval(name, -math.inf, bound)):
            assert parse_event(str(event)) == event
    for place in both.worded():
        word = Symbols((both.words(place)[0],), place)
        assert parse_event(str(word)).holds(both).tolist() == word.holds(both).tolist()


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("outcome['total'] >= 3.5", [False, True]),
        ("outcome['total'] < 3.5", [True, False]),
        ("outcome['parts'][1][0] == 4.0", [True, False]),
        ("len(outcome['parts']) <= 2.0", [True, False]),
        ("outcome['who'].name in {'a in {', 'ann'}", [True, False]),
        ("words(outcome['text'])[0] in {'many'}", [False, True]),
        ("numbers(outcome['text'])[0] > 2.5 or outcome['total'] == 3.0", [True, True]),
    ],
)
def test_events_speak_of_parts(text: str, members: list[bool]) -> None:
    ann, bob = (Record("Person", ((".name", name),)) for name in ("ann", "bob"))
    few = {"total": 3, "parts": [1, [4]], "who": ann, "text": "few: 1"}
    many = {"total": 3.5, "parts": [1, [5], 6], "who": bob, "text": "many of them: 7"}
    outcomes = Outcomes.of([few, many])
    event = parse_event(text)
    assert str(event) == text
    assert event.holds(outcomes).tolist() == members


STABLE = """
import decimal
from dpassay.impl.libraries.reading import read
from dpassay.properties.outcomes.flattening import code, flattened
value = {"b": {"x", "y", "zz", "n12"}, "a": [decimal.Decimal("1.5"), frozenset({1, "one"}), {"k": "word 7"}]}
flat = flattened(read(value))
print(read(value), sorted(flat.numbers.items()), sorted((path, code(word)) for path, word in flat.words.items()))
"""


def test_reading_is_the_same_in_every_process() -> None:
    def said(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", STABLE], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert said("1") == said("2") != ""


def test_numbers_of_parts_enter_sums_and_ends() -> None:
    flat = flattened(read({"a": [1, 2.5], "b": {"c": 10}}))
    assert flat.numbers["sum(outcome)"] == 13.5
    assert flat.numbers["max(outcome['a'])"] == 2.5
    assert flat.leaves == [1.0, 2.5, 10.0]


def test_an_event_is_found_in_a_part() -> None:
    rng = np.random.default_rng(0)
    sides = rng.random(600) < 0.5
    raw = [{"label": "yes" if side else "no", "noise": rng.random()} for side in sides]
    assert str(best_event(Outcomes.of(raw), sides, 0.1, 0.0)).startswith("outcome['label'] in {")


def test_tables_of_pandas_are_read_by_column() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"count": [1, 2], "noise": [0.5, 1.5]}, index=["a", "b"])
    symbol = read(table)
    assert symbol["count"] == (1, 2)
    assert symbol.index == ("a", "b")
    assert Outcomes.of(table).symbols() == [read({"count": 1, "noise": 0.5}), read({"count": 2, "noise": 1.5})]
    assert read(table["count"].reset_index(drop=True)).name == "count"


def test_words_and_whole_numbers_of_a_text_are_told_wherever_they_stand() -> None:
    one, other = (flattened(read(text)).numbers for text in ("bins 3, 12 and 7", "bins 12 of 4.25"))
    assert {name for name in one if ".has(" in name} == {
        f"outcome.has('{token}')" for token in ("bins", "3", "12", "and", "7")
    }
    assert {name for name in other if ".has(" in name} == {f"outcome.has('{token}')" for token in ("bins", "12", "of")}
    assert not any(".has(" in name for name in flattened(read("alone")).numbers)


def test_sets_are_written_in_order() -> None:
    event = Symbols((3, "b", (2, 1), None, 1, (0, 5), -2.5, "a"))
    assert str(event) == "outcome in {-2.5, 1, 3, 'a', 'b', (0, 5), (2, 1), None}"
    assert str(parse_event(str(event))) == str(event)


def test_an_exception_is_shown_rather_than_the_outcomes_that_it_replaces() -> None:
    symbols = ["<raises ValueError>", "a", "<raises ValueError>", "b"] * 200
    is_left = np.array([False, True] * 400)
    assert str(best_event(Outcomes.of(symbols), is_left, 1.0, 0.0)) == "outcome in {'<raises ValueError>'}"


def test_weighted_sums_are_features() -> None:
    outcomes = Outcomes.of([(1.0, 2.0), (3.0, -1.0)])
    assert Interval("outcome[0]-0.5*outcome[1]", 0.5, math.inf).holds(outcomes).tolist() == [False, True]
    assert str(parse_event("outcome[0]+0.25*outcome[1] > 1.5")) == "outcome[0]+0.25*outcome[1] > 1.5"
    assert outcomes.feature("outcome[0]+missing[1]") is None


@pytest.mark.parametrize(
    ("keys", "words"),
    [(("cat",), "('cat',)"), (("it's", 2, (None, 1.5)), '("it\'s", 2, (None, 1.5))'), (("a", "b"), "('a', 'b')")],
)
def test_the_keys_of_a_dictionary_are_shown_as_python(keys: tuple[Any, ...], words: str) -> None:
    outcomes = Outcomes.of([dict.fromkeys(keys, 0), {"dog": 0}])
    (member, _) = outcomes.words("keys(outcome)")
    event = Symbols((member,), "keys(outcome)")
    assert str(event) == f"keys(outcome) in {{{words}}}"
    assert parse_event(str(event)) == event
    assert event.holds(outcomes).tolist() == [True, False]


def test_many_keys_are_told_apart_to_the_last_one() -> None:
    many = {f"key {number}": 0 for number in range(1000)}
    one, other = (flattened(read({**many, last: 0})).words["keys(outcome)"] for last in "xy")
    assert one != other
    assert len(written(one)) < 2_000
