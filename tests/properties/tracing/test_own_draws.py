"""A target whose outcome depends on more than its data and its generator is not traced."""

import cProfile
import datetime as dt
import pstats
import random
import time
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting.traced import refuted_exactly
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import Trace, trace

OWN = np.random.default_rng(0)
LEGACY = np.random.RandomState(0)
PYTHON = random.Random(0)  # noqa: S311  # of a target
KEPT: dict[str, Any] = {"generator": np.random.default_rng(1)}


class Sampler:
    def __init__(self) -> None:
        self.generator = np.random.default_rng(2)

    def __call__(self, data: Any, size: int, rng: Any) -> list[Any]:  # noqa: ARG002
        return released(data, rng, self.generator.random())


def released(data: Any, rng: Any, chance: float) -> list[Any]:
    """Nearly always with noise: two runs agree, and so do most others."""
    return [data[0] + (chance < 1 - 1e-9) * rng.laplace()]


def of_closure() -> Any:
    generator = np.random.default_rng(3)
    return lambda data, size, rng: released(data, rng, generator.random())


@pytest.mark.parametrize(
    "sampler",
    [
        lambda data, size, rng: released(data, rng, OWN.random()),
        lambda data, size, rng: released(data, rng, LEGACY.random_sample()),
        lambda data, size, rng: released(data, rng, PYTHON.random()),
        lambda data, size, rng: released(data, rng, KEPT["generator"].random()),
        lambda data, size, rng, own=np.random.default_rng(4): (  # noqa: B008
            released(data, rng, own.random())
        ),
        Sampler(),
        of_closure(),
    ],
)
def test_generators_of_the_targets_own_are_seen(sampler: Any) -> None:
    found = trace(sampler, size=1)
    assert isinstance(found, Refusal)
    assert found.is_final
    assert "generator of the target's own" in str(found)


@pytest.mark.parametrize(
    "look",
    [
        time.time,
        perf_counter,
        time.monotonic_ns,
        lambda: dt.datetime.now(tz=dt.UTC).timestamp(),
    ],
)
def test_the_time_is_no_constant(look: Any) -> None:
    found = trace(lambda data, size, rng: [data[0] + (look() > 0) * rng.laplace()], size=1)
    assert isinstance(found, Refusal)
    assert found.is_final
    assert "time" in str(found)


def test_a_violation_of_such_a_target_is_not_compared_with_exact_arithmetic() -> None:
    line = VectorNeighbours(size=1, linf=1)
    found = refuted_exactly(Sampler(), PureDP(1.0), line, (np.zeros(1), np.ones(1)), 5.0)
    assert found == (None, False)


def test_a_generator_with_a_fixed_seed_of_each_call_is_a_constant() -> None:
    found = trace(lambda data, size, rng: [data[0] + np.random.default_rng(5).random() + rng.laplace()], size=1)
    assert isinstance(found, Trace)


def test_generators_that_are_not_used_do_no_harm() -> None:
    assert isinstance(trace(lambda data, size, rng: [OWN is not None, data[0] + rng.laplace()][1:], size=1), Trace)


def test_a_profiler_goes_on_where_the_time_is_watched() -> None:
    """Up to Python 3.11 `sys.getprofile` returns the profiler of the standard library, which cannot be called."""

    def inside(data: Any, size: Any, rng: Any) -> Any:
        return [bool(data[0] + rng.laplace() > 1)]

    def afterwards() -> int:
        return 1

    profiler = cProfile.Profile()
    profiler.enable()
    try:
        found = trace(inside, [0.5])
        afterwards()
    finally:
        profiler.disable()
    assert isinstance(found, Trace)
    assert any(key[2] == "afterwards" for key in pstats.Stats(profiler).stats)  # type: ignore[attr-defined]
