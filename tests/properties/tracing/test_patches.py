"""Functions of numpy that are replaced while a run is under way."""

from typing import Any

import numpy as np
import pytest

from dpassay.properties.tracing.trace import Trace, trace

OWN = np.random.RandomState(0)


def outcome_on(compute: Any) -> Any:
    """Return the outcome of a computation from one exact number, without noise."""
    found = trace(lambda data, size, rng: [compute(data[0])], [0.25], is_exact=True)
    assert isinstance(found, Trace), found
    [leaf] = found.model.leaves
    return leaf.outcome


@pytest.mark.parametrize(
    "made",
    [
        lambda: np.random.default_rng(0).laplace(size=0),
        lambda: OWN.normal(size=0),
        lambda: np.random.default_rng(np.zeros(1).size).random(np.empty(0).shape),
    ],
)
def test_generators_of_the_target_write_into_arrays_of_doubles(made: Any) -> None:
    """Compiled code asks numpy for memory, and writes doubles; an array of objects would be destroyed."""
    assert outcome_on(lambda _: made().dtype.kind) == "f"


def test_noise_of_a_generator_of_the_target_is_a_number() -> None:
    drawn = np.random.default_rng(7).laplace(size=2)
    assert outcome_on(lambda x: (x + np.random.default_rng(7).laplace(size=2))[1]) == 0.25 + drawn[1]
