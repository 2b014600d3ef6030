"""The comparison with other auditors: equal CPU time, and outcomes in the encoding that DP-Sniper publishes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.peers.__main__ import PeerResult, compare, figures
from benchmarks.peers.equal import LEAST_CALLS, Ours, with_calls, within_cpu
from benchmarks.peers.runners.streams import encode, flags_of
from benchmarks.rows import ROWS, Row

from dpassay.impl.broken.sparse_vector import never_halts, quarter_split, releases_tested_answer, third_and_fourth
from dpassay.impl.mechanisms.laplace_sparse_vector import numeric_sparse_vector
from dpassay.properties.drawing.target import load_target


@pytest.fixture(scope="module")
def shortest() -> Ours:
    row = next(row for row in ROWS if row.name == "TruncatedGeometric")
    return with_calls(row, 1, seed=0, alpha=0.1)


def test_ours_has_at_least_a_thousand_calls(shortest: Ours) -> None:
    assert shortest.result.calls == LEAST_CALLS
    assert shortest.cpu_seconds >= shortest.result.cpu_seconds > 0


@pytest.mark.parametrize(("fixed", "each"), [(0.0, 1e-6), (0.5, 1e-5), (1.9, 1e-7), (0.0, 1e-3)])
def test_the_calls_that_fit_into_the_cpu_time(shortest: Ours, fixed: float, each: float) -> None:
    asked = []

    def run(calls: int) -> Ours:
        asked.append(calls)
        return Ours(replace(shortest.result, calls=calls), fixed + each * calls)

    found = within_cpu(2.0, 100_000, run)
    assert found.cpu_seconds <= 2.0
    assert found.cpu_seconds == pytest.approx(2.0, rel=0.3)
    assert found.result.calls == max(calls for calls in asked if fixed + each * calls <= 2.0)


def test_a_time_too_short_for_any_try(shortest: Ours) -> None:
    found = within_cpu(1e-6, 20_000, lambda calls: Ours(replace(shortest.result, calls=calls), 1.0))
    assert found.result.calls == LEAST_CALLS


def test_comparison_with_equal_calls() -> None:
    row = next(row for row in ROWS if row.name == "TruncatedGeometric")
    peer = PeerResult(0.1, 1234, 1.0, "")
    assert compare(row, peer, equal="calls", seed=0, alpha=0.1).result.calls == peer.calls


def test_figures_of_a_side() -> None:
    assert figures(0.25, 2000, 0.5) == ["0.25", "2,000", "0.5", "250.00"]
    assert figures(None, 0, 0.5) == ["-", "0", "0.5", "-"]


CASES: list[tuple[Any, list[float], list[float], tuple[float, ...]]] = [
    (quarter_split, [3], [0, 0, 1, *[-1] * 7], (-1,)),
    (quarter_split, [0], [0] * 10, (-1,)),
    (never_halts, [1, 10, *[0] * 8], [1, *[0] * 8, 1], ()),
    (releases_tested_answer, [2, 7.5], [-1000, 7.5, *[-2000] * 8], (-1000, -2000)),
    (numeric_sparse_vector, [1, 84.5, 3, -2], [84.5, 0, -2, *[-1000] * 7], ()),
    (numeric_sparse_vector, [1, 84.5, 0, 0], [84.5, *[0] * 9], ()),
    (
        third_and_fourth,
        [1, 2.5, 0, 0, 1, 2],
        [2.5, *[-1000] * 9, 1, 1, *[-1] * 8],
        (-1, -1000, -2000),
    ),
]


@pytest.mark.parametrize(("mechanism", "outcome", "published", "flags"), CASES)
def test_sparse_vectors_have_a_number_for_every_answer(
    mechanism: Any, outcome: list[float], published: list[float], flags: tuple[float, ...]
) -> None:
    given = np.array([outcome], dtype=np.float64)
    assert encode(mechanism, given).tolist() == [published]
    assert flags_of(mechanism) == flags


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_all_rows_are_encoded_whole(row: Row) -> None:
    mechanism: Any = load_target(row.target)
    data = np.full(mechanism.neighbours.size, max(mechanism.neighbours.low, 0.0))
    outcomes = np.asarray(mechanism.sample(data, 50, np.random.default_rng(0)), dtype=np.float64)
    encoded = encode(mechanism, outcomes)
    assert len(encoded) == len(outcomes)
    assert len(np.unique(encoded, axis=0)) == len(np.unique(outcomes, axis=0))
