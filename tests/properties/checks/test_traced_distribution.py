"""The code of samplers on symbolic noise against the distributions of the theorems; no sample is drawn."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.impl.catalogue import entries
from dpassay.impl.mechanisms.laplace import laplace_of_benchmark
from dpassay.impl.mechanisms.laplace_above_threshold import leads_over
from dpassay.impl.mechanisms.laplace_sparse_vector import LaplaceSparseVector, first_places
from dpassay.impl.mechanisms.noisy_max import LaplaceNoisyMax
from dpassay.properties.checks.traced_distribution import (
    Theorem,
    distribution_of_theorem,
    theorem_inputs,
    traced_distribution,
)
from dpassay.properties.tracing.tree import Limits
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.verdict import Outcome

BEYOND = {
    "broken.floats:polar_of_few_bits",  # a rejection loop: the rest is 3 % after 1,000 leaves
    "broken.foundations:claims_one_answer_of_a_noisy_database",  # its event is about a sum of numbers
    "broken.target_charging:claims_the_printed_bound",  # 600 hits
    "mechanisms.noisy_mean:noisy_mean",  # the quotient of two noisy numbers
}
"""What the tracer does not reach."""

SMALLER: dict[str, dict[str, Any]] = {
    "broken.sparse_vector:halts_late": {"size": 4},
    "broken.sparse_vector:never_halts": {"size": 5},
    "broken.sparse_vector:stale_threshold_noise": {"size": 4},
    "broken.sparse_vector:third_and_fourth": {"size": 3},
    "mechanisms.laplace_sparse_vector:numeric_sparse_vector": {"size": 3},
    "mechanisms.laplace_sparse_vector:restarted_sparse_vector": {"size": 4},
    "mechanisms.one_shot_top_k:response_top_k": {"size": 4},
    "mechanisms.rappor:one_time_rappor": {"filter_size": 3, "hashes": 1},
    "mechanisms.rappor:rappor": {"filter_size": 2, "hashes": 1},
    "mechanisms.target_charging:multi_target_charging": {"size": 4},
    "mechanisms.target_charging:target_charging": {"size": 3},
}
"""Parameters of smaller mechanisms with the same code, where that of the catalogue has a thousand leaves or more."""

SLOW = {"broken.floats:inversion_laplace_of_few_bits", "mechanisms.one_shot_top_k:swept_top_k"}
"""What takes more than two seconds."""

PLENTY = Limits(leaves=1_100, seconds=120.0)


def compared() -> Any:
    """Yield the mechanisms that have a distribution and are within reach."""
    for entry in entries():
        name = entry.where.removeprefix("dpassay.impl.")
        mechanism: Any = entry.mechanism
        if name in SMALLER:
            mechanism = replace(mechanism, **SMALLER[name])
        if name not in BEYOND and next(theorem_inputs(mechanism, pairs=1), None) is not None:
            yield pytest.param(mechanism, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


COMPARED = list(compared())


@pytest.mark.parametrize("mechanism", COMPARED)
def test_the_code_has_the_distribution_of_the_theorem(mechanism: Any) -> None:
    verdict = traced_distribution(mechanism, theorem_inputs(mechanism, pairs=1), limits=PLENTY)
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


def test_most_mechanisms_with_a_distribution_are_compared() -> None:
    assert len(COMPARED) >= 94


@dataclass(frozen=True)
class LaterPlaces(LaplaceSparseVector):
    """Counts the places from 0."""

    def draw(self, answers: Any, rows: int, rng: Any) -> Any:
        return super().draw(answers, rows, rng) - 1


@dataclass(frozen=True)
class SharedQueryNoise(LaplaceSparseVector):
    """Adds the same noise to all answers."""

    def draw(self, answers: Any, rows: int, rng: Any) -> Any:
        noisy = leads_over(self.threshold, answers) + self.query_scale * rng.laplace(size=(rows, 1))
        return first_places(noisy >= self.threshold_scale * rng.laplace(size=(rows, 1)), self.most_hits)


@dataclass(frozen=True)
class Gumbel(LaplaceNoisyMax):
    """Adds Gumbel noise of the same scale."""

    def sample(self, data: Any, size: int, rng: Any) -> Any:
        return (data + rng.gumbel(scale=self.scale, size=(size, self.size))).argmax(axis=1)


@dataclass(frozen=True)
class Smallest(LaplaceNoisyMax):
    """Returns the smallest answer."""

    def sample(self, data: Any, size: int, rng: Any) -> Any:
        return (data + rng.laplace(scale=self.scale, size=(size, self.size))).argmin(axis=1)


SPARSE: dict[str, Any] = {"size": 4, "threshold": 0.0, "epsilon": 1.0, "low": -5.0, "high": 5.0}
MAX: dict[str, Any] = {"size": 3, "epsilon": 1.0, "low": -5.0, "high": 5.0}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (LaplaceSparseVector(**SPARSE), LaterPlaces(**SPARSE)),
        (LaplaceSparseVector(**SPARSE), SharedQueryNoise(**SPARSE)),
        (LaplaceNoisyMax(**MAX), Gumbel(**MAX)),
        (LaplaceNoisyMax(**MAX), Smallest(**MAX)),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_a_fault_in_the_code_is_found_without_a_sample(right: Any, wrong: Any) -> None:
    theorems = list(theorem_inputs(right, pairs=1))
    assert traced_distribution(right, theorems).outcome is Outcome.HOLDS
    assert traced_distribution(wrong, theorems).outcome is Outcome.VIOLATED


def test_a_cell_of_numbers_is_compared() -> None:
    left, right = np.array([0.0]), np.array([1.0])
    [here, there] = distribution_of_theorem(laplace_of_benchmark, left, right)
    assert traced_distribution(laplace_of_benchmark, [here, there]).outcome is Outcome.HOLDS
    swapped = Theorem(there.data, here.distribution)
    assert traced_distribution(laplace_of_benchmark, [swapped]).outcome is Outcome.VIOLATED


class Coin:
    def sample(self, _data: Any, size: int, rng: Any) -> Any:
        return ["heads" if rng.random() < 0.5 else "tails" for _ in range(size)]


@pytest.mark.parametrize(
    ("weights", "outcome"),
    [({"heads": 1, "tails": 1}, Outcome.HOLDS), ({"heads": 1}, Outcome.VIOLATED), ({"edge": 1}, Outcome.VIOLATED)],
)
def test_outcomes_that_the_theorem_does_not_list_are_found(weights: Any, outcome: Any) -> None:
    total = sum(weights.values())
    told = FiniteDistribution({word: Fraction(weight, total) for word, weight in weights.items()})
    mechanism: Any = Coin()
    assert traced_distribution(mechanism, [Theorem(np.zeros(1), told)]).outcome is outcome


def test_without_a_theorem_nothing_is_decided() -> None:
    mechanism: Any = Coin()
    assert traced_distribution(mechanism, []).outcome is Outcome.UNDECIDED
