"""The choice of an event: its calls are counted as the event itself would tell them."""

import math
from typing import Any

import numpy as np
import pytest

from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import Event, Interval, Symbols
from dpassay.properties.outcomes.telling_events import _counted

NAN = math.nan
OUTCOMES: list[list[Any]] = [
    [0, 1, 1, 2, 5, 2, 0, 1],
    [0.0, -0.0, 1.0, NAN, NAN, math.inf, 1.0, 0.5],
    ["a", "b", "<raises ValueError>", "a", 1, 1.0, True, None],
    [(0, 1), (0, 1), (1.0, NAN), (1.0, NAN), (2, 2), (0, 1), (), (0,)],
    [{"label": "x", "n": 1}, {"label": "y", "n": 1}, {"n": 2}, {"label": "x"}, {}, {"label": "x"}, None, 3],
]


@pytest.mark.parametrize("raw", OUTCOMES, ids=repr)
def test_calls_are_counted_as_the_event_holds(raw: list[Any]) -> None:
    outcomes = Outcomes.of(raw)
    is_left = np.array([True, False, True, True, False, False, True, False])
    events: list[Event] = [Interval("outcome", 0.0, 1.0), Interval("outcome", -math.inf, 0.5)]
    for place in ("outcome", *outcomes.worded()):
        words = list(dict.fromkeys(outcomes.words(place)))
        events += [Symbols((word,), place) for word in words]
        events += [Symbols((*words[:2], words[0]), place), Symbols(("nowhere",), place)]
    counted = list(_counted([(event, 0, 0, 0.25) for event in events], outcomes, is_left))
    for event, (same, left, right, bound) in zip(events, counted, strict=True):
        hits = event.holds(outcomes)
        assert (same, left, right) == (event, hits[is_left].sum(), hits[~is_left].sum())
        assert bound == 0.25
    assert any(left or right for _, left, right, _ in counted)
