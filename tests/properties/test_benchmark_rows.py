"""Certified figures of the 20 rows of the common benchmark: lower at a pair found, upper by a worst-pair theorem."""

import math
from typing import Any

import numpy as np
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP
from dpassay.impl.broken import foundations, noisy_max_values, sparse_vector
from dpassay.impl.broken.foundations import AllDiffer
from dpassay.impl.catalogue import entries
from dpassay.impl.mechanisms.exponential_noisy_max import exponential_noisy_max
from dpassay.impl.mechanisms.laplace import LaplaceMechanism, laplace_of_benchmark, noisy_histogram
from dpassay.impl.mechanisms.laplace_above_threshold import (
    LaplaceAboveThreshold,
    laplace_above_threshold,
    monotone_above_threshold,
)
from dpassay.impl.mechanisms.laplace_sparse_vector import (
    LaplaceSparseVector,
    NumericSparseVector,
    RestartedSparseVector,
    numeric_sparse_vector,
    restarted_sparse_vector,
)
from dpassay.impl.mechanisms.laplace_sparse_vector import sparse_vector as right_sparse_vector
from dpassay.impl.mechanisms.laplace_sums import laplace_parallel, laplace_prefix_sum
from dpassay.impl.mechanisms.noisy_max import noisy_max_of_benchmark
from dpassay.impl.mechanisms.rappor import one_time_rappor, rappor
from dpassay.impl.mechanisms.truncated_geometric import truncated_geometric
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import parse_event
from dpassay.properties.pairing.registry import worst_case, worst_pairs
from dpassay.spec.ball import precision

THRESHOLDS_AND_MAXIMA: dict[str, tuple[Any, str, float]] = {
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
EXACT: dict[str, tuple[Any, str, float]] = {
    **THRESHOLDS_AND_MAXIMA,
    "Laplace": (laplace_of_benchmark, "holds", 0.1),
    "TruncatedGeometric": (truncated_geometric, "holds", math.log1p(1 / 8)),
    "NoisyHist1": (noisy_histogram, "holds", 0.1),
    "NoisyHist2": (foundations.inverts_the_scale, "violated", 10.0),
    "RAPPOR": (rappor, "holds", 8 * math.log(0.5125 / 0.4875)),
    "OneTimeRAPPOR": (one_time_rappor, "holds", 8 * math.log(0.525 / 0.475)),
    "LaplaceParallel": (laplace_parallel, "holds", 0.1),
    "PrefixSum": (foundations.prefix_sum_of_all_answers, "violated", 1.0),
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
    assert result.epsilon_upper == pytest.approx(epsilon, rel=1e-13)
    assert result.epsilon_upper is not None
    assert result.epsilon_lower <= result.epsilon_upper


def test_every_row_is_in_the_catalogue() -> None:
    assert len(EXACT) == 20
    for mechanism, verdict, _ in EXACT.values():
        [entry] = [e for e in entries() if e.mechanism is mechanism]
        assert (entry.mutation is not None) == (verdict == "violated")


OTHER_LAPLACE: dict[str, tuple[Any, float]] = {
    "maximum norm": (foundations.claims_the_maximum_norm, 2.5),
    "unscaled": (foundations.forgets_epsilon_in_the_scale, 1.0),
    "shared": (foundations.shares_the_laplace_noise, math.inf),
    "hadamard": (foundations.noise_below_root_n, 32.0),
    "noisy database": (foundations.claims_one_answer_of_a_noisy_database, 1.0),
    "one differs": (laplace_prefix_sum, 0.1),
    "half exponential": (noisy_max_values.half_exponential_scale, 2.0),
}


@pytest.mark.parametrize("name", OTHER_LAPLACE)
def test_other_mechanisms_with_laplace_noise_have_both_figures(name: str) -> None:
    mechanism, epsilon = OTHER_LAPLACE[name]
    result = hunt(mechanism)
    assert result.epsilon_upper == pytest.approx(epsilon, rel=1e-13)
    assert result.epsilon_upper is not None
    assert (1 - 1e-3) * epsilon <= result.epsilon_lower <= result.epsilon_upper


def test_without_sensitivity_nothing_is_lost_and_no_pair_is_found() -> None:
    mechanism = LaplaceMechanism(2, 1.0, 0.0)
    assert upper(mechanism) == 0
    with pytest.raises(UsageError, match="neighbours"):
        hunt(mechanism)


def test_a_theorem_on_one_relation_says_nothing_on_another() -> None:
    here, there = "vector:size=10,l0=1,linf=1,low=-10,high=10", "vector:size=10,linf=1,low=-10,high=10"
    target = "dpassay.impl.mechanisms.laplace_sums:laplace_prefix_sum"
    assert hunt(target, "pure:1", here).epsilon_upper == pytest.approx(0.1)
    assert hunt(target, "pure:1", there).epsilon_upper is None
    assert hunt(target, "pure:1", here, calls=1000, white_box=False).epsilon_upper is None


NARROW: dict[str, tuple[Any, float]] = {
    "integers": (LaplaceMechanism(2, 1.0, 1.5, low=0.0, high=5.0, integer=True), 2 / 3),
    "range": (LaplaceMechanism(2, 1.0, 3.0, low=0.0, high=1.0), 2 / 3),
    "one differs": (LaplaceMechanism(2, 1.0, 3.0, low=0.0, high=1.0, l0=1), 1 / 3),
    "a single bare answer": (sparse_vector.BareQueries(1, 0.0, 1.0, low=-1.0, high=1.0), 0.5),
    "a single tested answer": (sparse_vector.ReleasesTestedAnswer(1, 0.0, 1.0, low=-1.0, high=1.0), 0.5),
    "a single answer": (AllDiffer(1, 0.5), 0.5),
}


@pytest.mark.parametrize("name", NARROW)
def test_small_domains_do_not_attain_what_large_ones_do(name: str) -> None:
    mechanism, epsilon = NARROW[name]
    result = hunt(mechanism)
    assert result.scope == "all"
    assert result.epsilon_lower == pytest.approx(epsilon)
    assert result.epsilon_upper == pytest.approx(epsilon)


@pytest.mark.parametrize("kind", [LaplaceSparseVector, RestartedSparseVector, NumericSparseVector])
def test_without_a_range_the_bound_is_approached(kind: type[LaplaceSparseVector]) -> None:
    """With more answers than hits; a single answer pays for its own move only, and for its number."""
    bound = upper(kind(15, 0.0, 1.0, cutoff=2))
    wide = upper(kind(15, -500.0, 1.0, cutoff=2, low=-500.0, high=500.0))
    assert bound == pytest.approx(1.0, rel=1e-13)
    assert (1 - 1e-6) * bound < wide <= bound
    short = kind(1, 0.0, 1.0)
    assert upper(short) < 0.8
    assert upper(kind(1, 0.0, 1.0, low=-500.0, high=500.0)) <= upper(short)


@pytest.mark.parametrize("mechanism", [laplace_above_threshold, monotone_above_threshold])
def test_unbounded_streams_come_near_epsilon(mechanism: LaplaceAboveThreshold) -> None:
    result = hunt(mechanism)
    assert (result.verdict, result.scope) == ("holds", "all")
    assert 1 - 1e-9 < result.epsilon_lower <= 1


@pytest.mark.parametrize("row", ["NoisyHist2", "NoisyMax3", "NoisyMax4", "SVT3", "SVT4", "SVT5", "SVT6", "PrefixSum"])
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


def test_other_claims_and_relations_are_answered_from_the_distribution() -> None:
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


@pytest.mark.parametrize("row", THRESHOLDS_AND_MAXIMA)
def test_the_pairs_tried_first_belong_to_the_relation(row: str) -> None:
    mechanism = EXACT[row][0]
    pairs = worst_pairs(mechanism, mechanism.neighbours)
    assert pairs
    assert all(mechanism.neighbours.admits(*pair) for pair in pairs)
