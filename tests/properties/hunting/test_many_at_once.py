"""A proof by a trace speaks of one outcome at a time; a target that gives others in a batch is undecided."""

from typing import Any

import numpy as np
import pytest

from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.many_at_once import DIFFERS_IN_BATCHES
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.testing import per_call

pytestmark = pytest.mark.traced


def takes_size_for_records(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(scale=1 / size, size=size)


def spares_noise_in_large_batches(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(scale=1.0 if size < 10 else 0.1, size=size)


def releases_the_first_exactly(data: Any, size: int, rng: np.random.Generator) -> Any:
    outcomes = data[0] + rng.laplace(size=size)
    outcomes[: size - 1 : size] = data[0]
    return outcomes


def adds_fresh_noise(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(size=size)


def makes_single_floats(data: Any, size: int, rng: np.random.Generator) -> Any:
    return [float(data[0]) + rng.laplace()] if size == 1 else data[0] + rng.laplace(size=size)


def raises_at_times(data: Any, size: int, rng: np.random.Generator) -> Any:
    if any(rng.random() < 0.25 for _ in range(size)):
        raise ValueError("no answer")
    return data[0] + rng.laplace(size=size)


def decided(target: Any) -> Any:
    return hunt(target, claim="pure:1", neighbours="vector:size=1,linf=1", float64="ignore")


@pytest.mark.parametrize("target", [takes_size_for_records, spares_noise_in_large_batches, releases_the_first_exactly])
def test_a_target_that_differs_in_batches_is_undecided(target: Any) -> None:
    result = decided(target)
    assert result.verdict is HuntVerdict.UNDECIDED
    assert DIFFERS_IN_BATCHES in result.notes
    assert result.certificate is None
    assert result.epsilon_upper is None
    assert str(result).startswith("undecided (sampled, scope samples)")


@pytest.mark.parametrize(
    "target",
    [adds_fresh_noise, makes_single_floats, raises_at_times, per_call(lambda data, rng: data[0] + rng.laplace())],
)
def test_equal_outcomes_hold(target: Any) -> None:
    assert decided(target).verdict is HuntVerdict.HOLDS
