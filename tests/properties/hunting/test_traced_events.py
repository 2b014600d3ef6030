"""Events of traced witnesses: in the words of the user's outcomes, of the certified probability, and replayable."""

import contextlib
import dataclasses
import enum
import functools
import io
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpassay.properties.drawing.per_call import per_call
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import CallFailedError, call
from dpassay.properties.outcomes.events import parse_event

pytestmark = pytest.mark.traced

PAIR = "vector:size=2,l0=1,linf=1,low=0,high=1"


@dataclasses.dataclass
class Level:
    label: str
    value: float


class Point(NamedTuple):
    x: float
    y: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def histogram_of_present_bins(data: Any, rng: Any) -> Any:
    """A bin shows by its key that it is not empty."""
    out = {}
    for label in (0, 1):
        count = int(((data > 0.5) == label).sum())
        if count and (noisy := count + rng.laplace()) > 1.0:
            out[label] = noisy
    return out


def order_of_keys(data: Any, rng: Any) -> Any:
    """The order of a dict shows the data."""
    first, second = rng.laplace(), rng.laplace()
    return {"a": first, "b": second} if data[0] > 0.5 else {"b": second, "a": first}


def lengths_of_tuples(data: Any, rng: Any) -> Any:
    """The number of noisy numbers shows the data."""
    return tuple(x + rng.laplace() for x in data if x > 0.5)


def list_with_noise_inside(data: Any, rng: Any) -> Any:
    """As before, in a part of a list."""
    return ["n", len(data), [x + rng.laplace() for x in data if x > 0.5]]


def two_lengths(data: Any, rng: Any) -> Any:
    """Tuples of two lengths begin with the same noisy number."""
    first = data[0] + rng.laplace(0, 0.2)
    return (first,) if rng.random() < 0.5 else (first, rng.laplace())


def fields_of_a_dataclass(data: Any, rng: Any) -> Any:
    """The label shows the data."""
    return Level("high" if data[0] > 0.5 else "low", rng.laplace())


def noise_in_a_dataclass(data: Any, rng: Any) -> Any:
    """The noise is too small."""
    return Level("level", data[0] + rng.laplace(0, 0.2))


def noise_in_a_named_tuple(data: Any, rng: Any) -> Any:
    """The noise is too small."""
    return Point(data[0] + rng.laplace(0, 0.2), 1)


def strings(data: Any, rng: Any) -> Any:
    """A word that only one input has."""
    return "high" if data[0] > 0.5 and rng.random() < 0.5 else "low"


def exceptions(data: Any, rng: Any) -> Any:
    """An exception that only one input raises, beside noise."""
    if data[0] > 0.5 and rng.random() < 0.5:
        raise ValueError("too high")
    return rng.laplace()


def nothing(data: Any, rng: Any) -> Any:
    """None beside noise."""
    return None if data[0] > 0.5 and rng.random() < 0.5 else rng.laplace()


def sets(data: Any, rng: Any) -> Any:
    """Sets without noise."""
    return {int(x > 0.5) for x in data if rng.random() < 0.5}


def sets_beside_noise(data: Any, rng: Any) -> Any:
    """A set in a dict."""
    return {"a": {int(x > 0.5) for x in data}, "n": rng.laplace()}


def enumerations(data: Any, rng: Any) -> Any:
    """A member of an enumeration beside noise."""
    return [Colour.RED if data[0] > 0.5 and rng.random() < 0.5 else Colour.BLUE, rng.laplace()]


def counters(data: Any, rng: Any) -> Any:
    """A subclass of dict."""
    return Counter({key: count + rng.laplace() for key, count in Counter((data > 0.5).tolist()).items()})


def edge_of_noise(data: Any, rng: Any) -> Any:
    """The noise is never negative."""
    return data[0] + abs(rng.laplace())


def reused_noise(data: Any, rng: Any) -> Any:
    """One noise for both numbers."""
    noise = rng.laplace()
    return [data[0] + noise, data[1] + noise]


def ends_of_a_clamp(data: Any, rng: Any) -> Any:
    """The ends have positive probability."""
    return max(0.0, min(1.0, data[0] + rng.laplace(0, 0.2)))


def atom_inside_noise(data: Any, rng: Any) -> Any:
    """A value that only one input has, inside the range of the noise."""
    return 0.5 if data[0] > 0.5 and rng.random() < 0.5 else rng.laplace()


def rounded_noise(data: Any, rng: Any) -> Any:
    """Noise of the scale 1/2 on 3 x, rounded."""
    return round(data[0] * 3 + rng.laplace(0, 0.5))


TARGETS: dict[Callable[..., Any], str] = {
    histogram_of_present_bins: "keys(outcome) in {'0, 1'}",
    order_of_keys: "keys(outcome) in {",
    lengths_of_tuples: "outcome in {()}",
    list_with_noise_inside: "len(outcome[2]) == 0.0",
    two_lengths: "len(outcome) == 1.0 and outcome[0] ",
    fields_of_a_dataclass: "outcome.label in {'low'}",
    noise_in_a_dataclass: "outcome.value ",
    noise_in_a_named_tuple: "outcome.x ",
    strings: "outcome in {'high'}",
    exceptions: "outcome in {'<raises ValueError>'}",
    nothing: "outcome in {None}",
    sets: "outcome in {set((1,))}",
    sets_beside_noise: "len(outcome['a']) == 1.0 and outcome['a'][0] == 0.0",
    enumerations: "outcome[0].name in {'RED'}",
    counters: "keys(outcome) in {'False'}",
    edge_of_noise: "outcome <= 1.0",
    reused_noise: "outcome[0]-outcome[1] ",
    ends_of_a_clamp: "outcome == ",
    atom_inside_noise: "outcome == 0.5",
    rounded_noise: "outcome",
}


@functools.cache
def violated(function: Callable[..., Any]) -> HuntResult:
    """Return the traced result."""
    result = hunt(per_call(function), "pure:1", PAIR, float64="ignore", isolate=False, trace_seconds=60)
    assert (result.verdict, result.traced, result.not_traced) == ("violated", True, None)
    return result


@pytest.mark.parametrize(("function", "event"), TARGETS.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_a_traced_witness_is_in_the_words_of_outcomes_and_replays(function: Callable[..., Any], event: str) -> None:
    result = violated(function)
    assert result.witness is not None
    assert result.witness.event.startswith(event)
    again = replay(result.to_json(), per_call(function), calls=2_000, isolate=False)
    assert again.verdict == "violated"


@pytest.mark.parametrize("function", TARGETS, ids=lambda function: function.__name__)
def test_the_event_has_its_certified_probabilities(function: Callable[..., Any]) -> None:
    witness = violated(function).witness
    assert witness is not None
    count, rng, event = 1_000, np.random.default_rng(0), parse_event(witness.event)
    for data, (low, high) in ((witness.left, witness.p_left), (witness.right, witness.p_right)):
        hits = sum(bool(event.holds(drawn).all()) for drawn in _draws(function, data, count, rng))
        slack = 6 * math.sqrt(count * max(high * (1 - high), 1 / count))  # exceeded with probability below 1e-7
        assert count * low - slack <= hits <= count * high + slack


def _draws(function: Callable[..., Any], data: Any, count: int, rng: Any) -> Any:
    target = per_call(function)
    for _ in range(count):
        try:
            yield call(target, np.array(data), 1, rng)
        except CallFailedError as failure:
            yield Outcomes.of([failure.symbol])


def sum_of_noises(data: Any, rng: Any) -> Any:
    """No expression of the event language tells that three numbers obey an equation."""
    first, second = rng.laplace(), rng.laplace()
    return [data[0] + first + second, first, second]


def test_a_witness_whose_event_is_described_only_is_replayed_on_its_pair() -> None:
    result = violated(sum_of_noises)
    assert result.witness is not None
    assert result.witness.is_described
    again = replay(result.to_json(), per_call(sum_of_noises), calls=2_000, isolate=False)
    assert again.verdict == "violated"
    assert any("described only" in note for note in again.notes)


def test_the_printed_code_of_a_traced_witness_runs() -> None:
    for function in (histogram_of_present_bins, sum_of_noises):
        snippet = violated(function).snippet
        assert snippet is not None
        lines = snippet.replace("replay(", "replay_here(").splitlines()
        lines[:2] = ["mechanism = per_call(function)"]
        names = {
            "per_call": per_call,
            "function": function,
            "replay_here": lambda saved, target: replay(saved, target, calls=2_000, isolate=False),
        }
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec("\n".join(lines), names)  # noqa: S102 - what a user pastes
        assert printed.getvalue().startswith("violated")


def test_a_leak_through_the_order_of_a_dict_is_not_proved_private() -> None:
    assert hunt(per_call(order_of_keys), "pure:1", PAIR, isolate=False, calls=2_000).verdict == "violated"
