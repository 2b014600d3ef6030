"""Outcomes whose coordinates depend on different noises."""

from typing import Any

import numpy as np
import pytest
from flint import arb

from dpassay.properties.tracing.factors import independent_parts
from dpassay.properties.tracing.refusal import Refusal
from dpassay.spec.leaves.probability import leaf_probability


def bits(data: Any, size: Any, rng: Any) -> Any:
    noise = rng.random((size, 12))
    return np.where(noise < 0.25, True, (noise >= 0.5) & (data > 0))


def pairs_of_bits(data: Any, size: Any, rng: Any) -> Any:
    noise = rng.laplace(size=(size, 3))
    return (data + noise)[:, [0, 1, 2, 0]] > 0


def test_twelve_bits_are_twelve_factors() -> None:
    factors = independent_parts(bits, [1.0] * 6 + [0.0] * 6, 12)
    assert isinstance(factors, list)
    assert sorted(factor.places for factor in factors) == [(k,) for k in range(12)]
    for factor in factors:
        ones: arb = sum((leaf_probability(leaf) for leaf in factor.model.leaves if leaf.outcome == (True,)), arb(0))
        assert ones.overlaps(arb(0.75 if factor.places[0] < 6 else 0.25))


def test_coordinates_that_share_noise_are_one_factor() -> None:
    factors = independent_parts(pairs_of_bits, [0.0] * 3, 4)
    assert isinstance(factors, list)
    assert sorted(factor.places for factor in factors) == [(0, 3), (1,), (2,)]
    [joint] = (factor.model for factor in factors if factor.places == (0, 3))
    assert {leaf.outcome for leaf in joint.leaves} == {(True, True), (False, False)}


@pytest.mark.parametrize(
    ("sampler", "word"),
    [
        (lambda data, size, rng: rng.integers(2, size=(size, 12)), "discrete draws"),
        (lambda data, size, rng: rng.random((size, 3)) < 0.5, "an outcome with 3 coordinates"),
    ],
)
def test_what_cannot_be_split_is_refused(sampler: Any, word: str) -> None:
    refusal = independent_parts(sampler, [0.0], 12)
    assert isinstance(refusal, Refusal)
    assert word in str(refusal)
