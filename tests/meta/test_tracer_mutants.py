"""Faults planted in the tracer itself: every trace of these programs must see them."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.properties.tracing import elements
from dpassay.properties.tracing.feasibility import Feasibility
from dpassay.properties.tracing.polyhedron import Polyhedron
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.run import Run
from dpassay.properties.tracing.symbols import Symbol
from dpassay.properties.tracing.trace import Trace, trace


def above(data: Any, size: Any, rng: Any) -> Any:
    threshold = rng.laplace()
    return [tuple(bool(value + rng.laplace() > threshold) for value in data)]


def ordered(data: Any, size: Any, rng: Any) -> Any:
    x, y, z = rng.normal(size=3)
    return [(bool(x > y), bool(y > z), bool(x > z))]


def released(data: Any, size: Any, rng: Any) -> Any:
    return [np.float64(data[0] + rng.laplace())]


def counted(data: Any, size: Any, rng: Any) -> Any:
    return [int(np.cumsum(data + rng.laplace(size=4) > 0)[-1])]


def drop_rows(monkeypatch: Any) -> Any:
    add = Polyhedron.add
    monkeypatch.setattr(Polyhedron, "add", lambda self, rows: add(self, rows[:0] if self.rows else rows))


def reuse_symbols(monkeypatch: Any) -> Any:
    class Still(Counter[Any]):
        def __setitem__(self, key: Any, value: Any) -> Any:
            super().__setitem__(key, min(value, 1))

    begin = Run.__init__

    def start(self: Any, *arguments: Any) -> None:
        begin(self, *arguments)
        self.counts = Still()

    monkeypatch.setattr(Run, "__init__", start)


def answer_float(monkeypatch: Any) -> Any:
    monkeypatch.setattr(Symbol, "__float__", lambda self: 0.0)


def turn_decisions(monkeypatch: Any) -> Any:
    decide = Run.decide
    monkeypatch.setattr(Run, "decide", lambda self, form, is_strict: not decide(self, form, is_strict=is_strict))


def prune_too_much(monkeypatch: Any) -> Any:
    module = "dpassay.properties.tracing.polyhedron"
    monkeypatch.setattr(f"{module}.feasibility", lambda rows: (Feasibility.EMPTY, {}))


def lose_shifts(monkeypatch: Any) -> Any:
    monkeypatch.setitem(elements._OPERATIONS, "add", lambda left, right: right)


FAULTS = [
    (drop_rows, above), (reuse_symbols, above), (turn_decisions, above), (prune_too_much, ordered),
    (answer_float, released), (lose_shifts, counted),
]  # fmt: skip
DATA = [0.5, 3.0, -2.0, 1.0]


@pytest.mark.parametrize("sampler", [above, counted, ordered])
def test_the_tracer_as_it_is_accepts_the_programs(sampler: Any) -> None:
    assert isinstance(trace(sampler, DATA), Trace)


@pytest.mark.parametrize(("plant", "sampler"), FAULTS, ids=lambda value: value.__name__)
def test_planted_faults_are_seen(plant: Any, sampler: Any, monkeypatch: Any) -> None:
    plant(monkeypatch)
    assert isinstance(trace(sampler, DATA), Refusal)


def test_a_lost_tail_shows_in_the_sum_of_the_weights(monkeypatch: Any) -> None:
    def lost(data: Any, size: Any, rng: Any) -> Any:
        return [int(rng.poisson(3))]

    result = trace(lost, [0.0])
    assert isinstance(result, Trace)
    total = sum((leaf.weight for leaf in result.model.leaves), Fraction(0))
    assert 1 - result.model.undecided <= total < 1
