"""Samplers of AboveThreshold and sparse vector with Laplace noise against their exact distributions, and bad input."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.broken.sparse_vector import BareQueries, NeverHalts, ReleasesTestedAnswer, ThirdAndFourth
from dpassay.impl.mechanisms.halting import HaltedError
from dpassay.impl.mechanisms.laplace_above_threshold import LaplaceAboveThreshold
from dpassay.impl.mechanisms.laplace_sparse_vector import (
    LaplaceSparseVector,
    NumericSparseVector,
    RestartedSparseVector,
    first_places,
)
from dpassay.spec.distributions.laplace_above_threshold import LaplaceAboveThresholdDistribution
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.distributions.sparse_vector import (
    BareQueriesDistribution,
    NumericSparseVectorDistribution,
    SparseVectorDistribution,
    hit_places,
)

ANSWERS = np.array([0.5, 2.0, -1.0, 1.5])
STREAM = tuple(map(Fraction, ("1/2", "2", "-1", "3/2")))
DRAWS = 200_000


def table(distribution: Any) -> dict[Any, float]:
    return {outcome: float(distribution.log_probability(outcome).exp().mid()) for outcome in distribution.outcomes}


def rows(outcomes: Any) -> list[Any]:
    return list(map(tuple, np.asarray(outcomes).tolist()))


def test_above_threshold_follows_its_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    mechanism = LaplaceAboveThreshold(4, 1.0, 2.0)
    outcomes = mechanism.sample(ANSWERS, DRAWS, np.random.default_rng(1)).tolist()
    follows(outcomes, table(LaplaceAboveThresholdDistribution(STREAM, LaplaceThreshold(1, 1, 2))))


def test_monotone_streams_need_half_of_the_noise(follows) -> None:  # type: ignore[no-untyped-def]
    mechanism = LaplaceAboveThreshold(4, 1.0, 2.0, monotone=True)
    outcomes = mechanism.sample(ANSWERS, DRAWS, np.random.default_rng(2)).tolist()
    follows(outcomes, table(LaplaceAboveThresholdDistribution(STREAM, LaplaceThreshold(1, 1, 1))))
    assert mechanism.neighbours.monotone


CASES: dict[str, tuple[Any, Any]] = {
    "one threshold": (
        LaplaceSparseVector(4, 1.0, 2.0, cutoff=2), SparseVectorDistribution(STREAM, LaplaceThreshold(1, 1, 4), 2),
    ),
    "cutoff beyond the stream": (
        LaplaceSparseVector(4, 1.0, 2.0, cutoff=9), SparseVectorDistribution(STREAM, LaplaceThreshold(1, 1, 18), 4),
    ),
    "restarted": (
        RestartedSparseVector(4, 1.0, 2.0, cutoff=2),
        SparseVectorDistribution(STREAM, LaplaceThreshold(1, 2, 4), 2, refreshed=True),
    ),
    "never halts": (NeverHalts(4, 1.0, 2.0), SparseVectorDistribution(STREAM, LaplaceThreshold(1, 1, 1), 4)),
    "bare queries": (BareQueries(4, 1.0, 2.0), BareQueriesDistribution(STREAM, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_places_follow_their_distribution(follows, name: str) -> None:  # type: ignore[no-untyped-def]
    mechanism, distribution = CASES[name]
    follows(rows(mechanism.sample(ANSWERS, DRAWS, np.random.default_rng(3))), table(distribution))


@pytest.mark.parametrize(
    "mechanism", [NumericSparseVector(4, 1.0, 2.0, cutoff=2), ReleasesTestedAnswer(4, 1.0, 2.0, 2)]
)
def test_numbers_follow_their_distribution(follows, mechanism: LaplaceSparseVector) -> None:  # type: ignore[no-untyped-def]
    noise = LaplaceThreshold(1, mechanism.threshold_scale, mechanism.query_scale)
    scale = mechanism.value_scale if isinstance(mechanism, NumericSparseVector) else None
    distribution = NumericSparseVectorDistribution(STREAM, noise, 2, scale)
    cut = Fraction(3, 4)
    cells = {}
    for places in hit_places(4, 2):
        for above in np.ndindex(*(2,) * sum(k > 0 for k in places)):
            sides = tuple((cut, None) if each else (None, cut) for each in above)
            cells[places, above] = float(distribution.log_cell(places, sides).exp().mid())
    outcomes = []
    for first, number, second, other in rows(mechanism.sample(ANSWERS, DRAWS, np.random.default_rng(4))):
        released = [x for place, x in ((first, number), (second, other)) if place]
        outcomes.append(((int(first), int(second)), tuple(int(x > cut) for x in released)))
    follows(outcomes, cells)


def test_the_third_and_the_fourth_are_independent() -> None:
    both = ThirdAndFourth(4, 1.0, 2.0, cutoff=2)
    outcomes = np.asarray(both.sample(ANSWERS, 1000, np.random.default_rng(5)))
    assert outcomes.shape == (1000, 6)
    counts = Counter((int(a), int(b)) for a, b in outcomes[:, [0, 4]])
    assert {a for a, _ in counts} | {b for _, b in counts} <= set(range(5))
    assert len(counts) > 8  # the places of one part do not determine those of the other


@pytest.mark.parametrize("mechanism", [LaplaceSparseVector(4, 1.0, 2.0, 2), RestartedSparseVector(4, 1.0, 2.0, 2)])
def test_the_same_seed_gives_the_same_sample(mechanism: LaplaceSparseVector) -> None:
    one, other = (np.asarray(mechanism.sample(ANSWERS, 50, np.random.default_rng(6))) for _ in range(2))
    assert np.array_equal(one, other)
    assert np.asarray(mechanism.sample(ANSWERS, 0, np.random.default_rng(6))).shape == (0, 2)


def test_first_places_are_padded() -> None:
    hits = np.array([[True, False, True, True], [False] * 4, [False, True, False, False]])
    assert first_places(hits, 2).tolist() == [[1, 3], [0, 0], [2, 0]]
    assert first_places(hits, 1).tolist() == [[1], [0], [2]]


# --- an interactive run -------------------------------------------------------------------------------------


def test_a_session_follows_the_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    mechanism, rng = LaplaceAboveThreshold(4, 1.0, 2.0), np.random.default_rng(7)
    outcomes = []
    for _ in range(5_000):
        session = mechanism.session(rng)
        for answer in ANSWERS:
            if session.ask(float(answer)):
                break
        outcomes.append(session.outcome)
    follows(outcomes, table(LaplaceAboveThresholdDistribution(STREAM, LaplaceThreshold(1, 1, 2))))


def test_a_session_ends() -> None:
    session = LaplaceAboveThreshold(2, 0.0, 1.0, high=1e9).session(np.random.default_rng(8))
    assert session.outcome == 0
    assert session.ask(1e9)
    with pytest.raises(HaltedError, match="1 answers"):
        session.ask(0.0)
    with pytest.raises(UsageError, match="answer"):
        LaplaceAboveThreshold(2, 0.0, 1.0, high=1.0).session(np.random.default_rng(8)).ask(2.0)


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LaplaceAboveThreshold, LaplaceSparseVector, RestartedSparseVector])
@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": np.inf}, {"threshold": np.nan}, {"epsilon": 0.0}, {"epsilon": np.inf}, {"size": 0},
        {"sensitivity": 0.0}, {"sensitivity": -1.0},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(kind: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        kind(**{"size": 3, "threshold": 0.0, "epsilon": 1.0} | wrong)


def test_wrong_cutoffs_and_answers_are_refused() -> None:
    with pytest.raises(UsageError, match="cutoff"):
        LaplaceSparseVector(3, 0.0, 1.0, cutoff=0)
    mechanism = LaplaceSparseVector(2, 0.0, 1.0, low=0.0, high=1.0)
    for data in ([0.0], [0.0, 2.0], [0.0, np.nan], "ab"):
        with pytest.raises(UsageError, match="data"):
            mechanism.sample(data, 1, np.random.default_rng(0))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [LaplaceSparseVector, RestartedSparseVector])
def test_answers_of_1e308_are_compared_rightly(kind: Any) -> None:
    mechanism = kind(3, -1e308, 1.0, cutoff=2)
    outcomes = mechanism.sample(np.array([-1.7e308, 1e308, 1.7e308]), 20, np.random.default_rng(9))
    assert np.asarray(outcomes).tolist() == [[2, 3]] * 20
