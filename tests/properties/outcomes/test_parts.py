"""Structured outcomes and numbers of a batch."""

import math

import numpy as np

from dpassay.properties.learners.structural import EventLearner
from dpassay.properties.outcomes.batch import Outcomes


def test_structured_outcomes_are_told_apart_by_what_they_say_and_numbers_are_none() -> None:
    raw = ["a", 1.0, "b", "a", ("a", 0.0), ("a", -0.0), (1, 2), ("a", 0.0), math.nan, b"a"]
    outcomes = Outcomes.of(raw)
    different, kinds = outcomes.structured
    assert kinds.tolist() == [0, -1, 1, 0, 2, 3, -1, 2, -1, 4]
    assert [repr(symbol) for symbol in different] == ["'a'", "'b'", "('a', 0.0)", "('a', -0.0)", "b'a'"]
    # whatever is found once for all that are the same is what each outcome says by itself
    for place, symbol in enumerate(raw):
        alone, together = Outcomes.of([symbol, "another"]), outcomes.taken(np.array([place]))
        for name in together.features:
            own = alone.feature(name)
            assert own is not None
            np.testing.assert_array_equal(together.features[name], own[:1], name)
    events = {name: sorted(places.tolist()) for name, places in EventLearner()._events(outcomes)}
    assert events["word", "a"] == [0, 3]
    assert events["word", b"a"] == [9]
    assert events["word", "<nan>"] == [8]
    assert events["form", ("numbers", 2)] == [6]
    assert events["form", ("a", "<number>")] == [4, 5, 7]
