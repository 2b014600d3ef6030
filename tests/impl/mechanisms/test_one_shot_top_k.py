import itertools
import math
from collections import Counter

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.mechanisms.one_shot_top_k import (
    Candidate,
    LaplaceTopK,
    ResponseTopK,
    Selected,
    above_threshold_selection,
    one_shot_top_k,
    response_top_k,
    sweep_session,
    swept_top_k,
    top_k_by_sweep,
    top_one_by_sweep,
)
from dpassay.impl.mechanisms.target_charging import TargetCharging


def candidates(scores: tuple[float, ...]) -> list[Candidate]:
    return [lambda i=i, score=score: (f"value {i}", score) for i, score in enumerate(scores)]  # type: ignore[misc]


def test_the_sweep_publishes_what_the_one_shot_does_in_all_small_cases() -> None:
    for size in range(1, 5):
        for scores in itertools.product((0.0, 1.0, 2.5), repeat=size):
            for k in range(1, size + 1):
                session = sweep_session(k, 0.1)
                swept = top_k_by_sweep(candidates(scores), (0, 1, 2.5), session, 0.1)
                assert swept == one_shot_top_k(candidates(scores), k)
                assert session.counts == (k,)
            assert top_one_by_sweep(candidates(scores), (0, 1, 2.5)) == one_shot_top_k(candidates(scores), 1)[0]


def test_a_stopping_rule_sees_what_was_revealed_only() -> None:
    seen: list[tuple[int, float]] = []

    def stop(found: list[Selected], level: float) -> bool:
        seen.append((len(found), level))
        return bool(found) and found[-1].score - level > 1

    found = top_k_by_sweep(candidates((5.0, 1.0, 4.5)), np.arange(0, 7, 0.5), sweep_session(3, 0.1), 0.1, stop=stop)
    assert [chosen.score for chosen in found] == [5.0, 4.5]
    assert seen[0] == (0, 6.5)
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)


def test_above_threshold_selection_pays_for_hits_only() -> None:
    session = TargetCharging(2, 0.1, float(not_prior_quality(0.1)))
    found = above_threshold_selection(candidates((0.0, 3.0, 1.0, 2.0, 9.0)), 2.0, session, 0.1)
    assert [chosen.candidate for chosen in found] == [1, 3]
    assert session.halted


def test_all_below_the_grid_releases_nothing() -> None:
    session = sweep_session(1, 0.1)
    assert top_k_by_sweep(candidates((0.0, -math.inf)), (1, 2), session, 0.1) == []
    assert session.counts == (0,)
    assert top_one_by_sweep(candidates((0.0,)), (1, 2)) is None


def test_the_swept_sampler_draws_what_the_one_shot_draws() -> None:
    one_shot = ResponseTopK(swept_top_k.size, swept_top_k.k, swept_top_k.truth, swept_top_k.delta)
    bits, draws = np.array([0.0, 1.0] * 3), 1500
    first, second = (m.sample(bits, draws, np.random.default_rng(7)) for m in (one_shot, swept_top_k))
    assert list(first) == list(second)  # the same numbers are drawn in the same order


def test_laplace_scores_come_in_order() -> None:
    drawn = LaplaceTopK(size=6, k=3, epsilon=0.5, delta=1e-3).sample(np.zeros(6), 200, np.random.default_rng(0))
    assert drawn.shape == (200, 6)
    assert bool(np.all(np.diff(drawn[:, 3:], axis=1) <= 0))
    assert set(Counter(drawn[:, 0].tolist())) == set(range(6))


def test_errors_of_use() -> None:
    for k in (0, 3):
        with pytest.raises(UsageError, match="k must"):
            one_shot_top_k(candidates((1.0, 2.0)), k)
    with pytest.raises(UsageError, match="score"):
        one_shot_top_k(candidates((1.0, math.nan)), 1)
    with pytest.raises(UsageError, match="epsilon"):
        sweep_session(1, 0.0)
    with pytest.raises(UsageError, match="truth"):
        ResponseTopK(size=3, k=1, truth=1.0, delta=0.1)
    with pytest.raises(UsageError, match="data"):
        response_top_k.sample(np.zeros(3), 1, np.random.default_rng(0))


def test_a_candidate_that_tells_the_truth_with_odds_of_three_costs_log_three() -> None:
    epsilon = ResponseTopK(size=3, k=1, truth=0.75, delta=0.1).epsilon
    assert math.log(3) <= epsilon <= math.log(3) * (1 + 1e-15)
