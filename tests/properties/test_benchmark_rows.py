"""Certified figures of the benchmark rows on thresholds and maxima: lower at a pair found, upper by a theorem."""

import math
from typing import Any

import numpy as np
import pytest
from flint import arb

from dpassay.claims import ApproximateDP
from dpassay.impl.broken import noisy_max_values, sparse_vector
from dpassay.impl.mechanisms.exponential_noisy_max import exponential_noisy_max
from dpassay.impl.mechanisms.laplace_above_threshold import (
    LaplaceAboveThreshold,
    laplace_above_threshold,
    monotone_above_threshold,
)
from dpassay.impl.mechanisms.laplace_sparse_vector import (
    LaplaceSparseVector,
    numeric_sparse_vector,
    restarted_sparse_vector,
)
from dpassay.impl.mechanisms.laplace_sparse_vector import sparse_vector as right_sparse_vector
from dpassay.impl.mechanisms.noisy_max import noisy_max_of_benchmark
from dpassay.properties.audit.events import parse_event
from dpassay.properties.audit.outcomes import Outcomes
from dpassay.properties.search.hunt import hunt
from dpassay.properties.search.laws import worst_case, worst_pairs
from dpassay.spec.ball import precision

EXACT: dict[str, tuple[Any, str, float]] = {
    "NoisyMax1": (noisy_max_of_benchmark, "holds", 0.0996440966616155),
    "NoisyMax2": (exponential_noisy_max, "holds", 0.1),
    "NoisyMax3": (noisy_max_values.laplace_value, "violated", 0.25),
    "NoisyMax4": (noisy_max_values.exponential_value, "violated", math.inf),
    "SVT1": (right_sparse_vector, "holds", 0.09958179020096704),
    "SVT2": (restarted_sparse_vector, "holds", 0.09954938455732296),
    "SVT3": (sparse_vector.releases_tested_answer, "violated", 0.5),
    "SVT4": (sparse_vector.quarter_split, "violated", 0.174999123335547),
    "SVT5": (sparse_vector.bare_queries, "violated", math.inf),
    "SVT6": (sparse_vector.never_halts, "violated", 0.4676629968083747),
    "SVT34Parallel": (sparse_vector.third_and_fourth, "violated", 0.5749722775188632),
    "NumericalSVT": (numeric_sparse_vector, "holds", 0.0932142501303518),
}


def upper(mechanism: Any) -> float:
    bound = worst_case(mechanism, mechanism.claims[0])
    assert bound is not None
    with precision(128):
        value = bound()
    return math.inf if value == arb.pos_inf() else float(value.mid())


@pytest.mark.parametrize("row", EXACT)
def test_both_figures_agree(row: str) -> None:
    mechanism, verdict, epsilon = EXACT[row]
    result = hunt(mechanism)
    assert (result.verdict, result.evidence) == (verdict, "enclosed")
    assert result.scope == ("all" if verdict == "holds" else "points")
    assert result.epsilon_lower == pytest.approx(epsilon, rel=1e-13)
    assert upper(mechanism) == pytest.approx(epsilon, rel=1e-13)
    assert result.epsilon_lower <= upper(mechanism)


@pytest.mark.parametrize("mechanism", [laplace_above_threshold, monotone_above_threshold])
def test_unbounded_streams_come_near_epsilon(mechanism: LaplaceAboveThreshold) -> None:
    result = hunt(mechanism)
    assert (result.verdict, result.scope) == ("holds", "all")
    assert 1 - 1e-9 < result.epsilon_lower <= 1


@pytest.mark.parametrize("row", ["NoisyMax3", "NoisyMax4", "SVT3", "SVT4", "SVT5", "SVT6"])
def test_samples_fall_into_the_witness(row: str) -> None:
    """The event's frequency on each input agrees with the certified probability (false alarm below 1e-9)."""
    mechanism = EXACT[row][0]
    witness = hunt(mechanism).witness
    assert witness is not None
    event, draws = parse_event(witness.event), 200_000
    for data, (low, high) in ((witness.left, witness.p_left), (witness.right, witness.p_right)):
        outcomes = Outcomes.of(mechanism.sample(np.array(data), draws, np.random.default_rng(1)))
        share = event.holds(outcomes).mean()
        slack = math.sqrt(50 * max(high, 1 / draws) / draws) + 50 / draws  # Bernstein at e^-25
        assert low - slack <= share <= high + slack


def test_other_claims_and_relations_are_answered_from_the_law() -> None:
    approximate = hunt(sparse_vector.quarter_split, ApproximateDP(0.1, 1e-4))
    assert (approximate.verdict, approximate.evidence) == ("violated", "enclosed")
    assert approximate.delta_lower is not None
    assert approximate.delta_lower > 1e-4
    target = "dpassay.impl.broken.sparse_vector:never_halts"
    monotone = hunt(target, "pure:0.1", "vector:size=10,linf=1,low=-10,high=10,monotone")
    assert monotone.verdict == "violated"
    assert monotone.epsilon_lower < EXACT["SVT6"][2]
    assert hunt(target, "pure:0.5", "vector:size=10,linf=1,low=-10,high=10").verdict == "holds"


def test_long_streams_are_sampled_instead() -> None:
    result = hunt(LaplaceSparseVector(40, 0.0, 1.0, cutoff=20), calls=2_000)
    assert result.evidence == "sampled"


@pytest.mark.parametrize("row", EXACT)
def test_the_pairs_tried_first_belong_to_the_relation(row: str) -> None:
    mechanism = EXACT[row][0]
    pairs = worst_pairs(mechanism, mechanism.neighbours)
    assert pairs
    assert all(mechanism.neighbours.admits(*pair) for pair in pairs)
