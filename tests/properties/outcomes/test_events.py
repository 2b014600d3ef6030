"""Events in words, and the outcomes that they contain."""

import math

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import Interval, Symbols, parse_event


@pytest.mark.parametrize(
    "text",
    ["outcome <= 1.0", "outcome[3] > -inf", "max(outcome) in (0.5, 1e-05]", "outcome in {'a', (1.0, True), None}"],
)
def test_events_are_read_back_from_their_words(text: str) -> None:
    assert parse_event(str(parse_event(text))) == parse_event(text)


@pytest.mark.parametrize("text", ["", "x > 1", "outcome in {", "outcome in {__import__('os')}", "outcome >= one"])
def test_other_words_are_no_event(text: str) -> None:
    with pytest.raises(UsageError):
        parse_event(text)


def test_events_contain_what_they_say() -> None:
    outcomes = Outcomes.of(np.array([-math.inf, 0.0, 1.0, math.nan, math.inf]))
    assert Interval("outcome", -math.inf, 0.0).holds(outcomes).tolist() == [True, True, False, False, False]
    assert Interval("outcome", 0.0, math.inf).holds(outcomes).tolist() == [False, False, True, False, True]
    assert Symbols(("<nan>", math.inf)).holds(outcomes).tolist() == [False, False, False, True, True]
    assert parse_event(str(Symbols(((1.0, math.inf),)))) == Symbols(((1.0, math.inf),))
