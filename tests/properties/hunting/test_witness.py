"""Witnesses: minimal pairs, tested by fresh calls of their own, and replayed from what was saved."""

import json
import math
import time
from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.keys import press_control_c

from dpassay.arguments import UsageError
from dpassay.claims import Claim, ExPost, ProbabilisticDP, PureDP
from dpassay.properties.hunting.hunt import hunt as hunt_within
from dpassay.properties.hunting.replay import replay as replay_within
from dpassay.properties.hunting.result import HuntResult, Witness
from dpassay.properties.hunting.task import Task, neighbours_of
from dpassay.properties.hunting.witness import shrunk
from dpassay.properties.outcomes.calls import sampler_of

Array = NDArray[np.float64]
LINE = "vector:size=1,linf=1"
hunt = partial(hunt_within, budget_seconds=1e6)  # calls decide, not the clock
replay = partial(replay_within, budget_seconds=1e6)


def first_coordinate(data: Array, size: int, rng: np.random.Generator) -> Array:
    """Twice the loss that is claimed, on any pair that differs in the first coordinate."""
    return np.asarray(np.round(data[0] + rng.laplace(0, 0.5, size), 6))


def telling_above_five(data: Array, size: int, rng: np.random.Generator) -> Array:
    """Randomised response on whether the first input exceeds 5."""
    truth = float(data[0] > 5)
    return np.where(rng.random(size) < 0.9, truth, 1 - truth)


def same_but_for_time(result: HuntResult) -> HuntResult:
    return replace(result, seconds=0, cpu_seconds=0)


def test_a_witness_is_the_minimal_pair() -> None:
    result = hunt(first_coordinate, "pure:1", "vector:size=4,linf=1,low=-7,high=9", calls=12_000)
    assert result.witness is not None
    unit = {(1.0, 0.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0)}
    assert (0.0,) * 4 in {result.witness.left, result.witness.right}
    assert unit & {result.witness.left, result.witness.right}
    assert result.witness.certified
    assert 0 < result.shrink_calls <= 12_000
    low, high = result.witness.p_left
    other = result.witness.p_right
    assert low > math.e * other[0] - 0.05
    assert high - low < 0.2


def test_the_event_shows_a_faint_violation_by_itself() -> None:
    def barely_beyond(data: Array, size: int, rng: np.random.Generator) -> Array:
        truth = float(data[0] > 0.5)  # the loss is 1.15
        return np.where(rng.random(size) < 0.76, truth, 1 - truth)

    result = hunt(barely_beyond, "pure:1", "vector:size=1,linf=1,low=0,high=1", calls=40_000, alpha=0.05)
    assert result.witness is not None
    assert result.witness.p_left[0] > math.e * result.witness.p_right[1]
    assert 0 < result.shrink_calls <= 40_000


def test_what_a_violation_needs_is_kept() -> None:
    result = hunt(telling_above_five, "pure:1", "vector:size=3,linf=1,low=0,high=10", calls=20_000)
    assert result.witness is not None
    pair = sorted([result.witness.left, result.witness.right])
    assert pair[0][0] <= 5 < pair[1][0]
    assert all(value == 0 for side in pair for value in side[1:])


def test_shrinking_changes_the_witness_alone() -> None:
    relation = "vector:size=1,linf=1,low=-7,high=9"
    plain = hunt(first_coordinate, "pure:1", relation, calls=4_000, seed=3, shrink=False)
    small = hunt(first_coordinate, "pure:1", relation, calls=4_000, seed=3)
    again = hunt(first_coordinate, "pure:1", relation, calls=4_000, seed=3)
    assert same_but_for_time(small) == same_but_for_time(again)
    assert plain.shrink_calls == 0
    assert plain.witness is not None
    assert not plain.witness.certified
    kept = replace(small, witness=plain.witness, shrink_calls=0, confirm_calls=plain.confirm_calls)
    assert same_but_for_time(kept) == same_but_for_time(plain)


def test_the_pair_of_the_hunt_is_not_lost_when_calls_show_nothing_more() -> None:
    drawn = 0

    def tired(data: Array, size: int, rng: np.random.Generator) -> Array:
        nonlocal drawn
        drawn += size
        return first_coordinate(
            data if drawn <= 4_500 else np.zeros(1), size, rng
        )  # also probes, and other modes of rounding

    result = hunt(tired, "pure:1", LINE, calls=4_000, seed=2)
    assert result.verdict == "violated"
    assert result.witness is not None
    assert not result.witness.certified
    assert result.shrink_calls == 4_000

    drawn = 0

    def interrupted(data: Array, size: int, rng: np.random.Generator) -> Array:
        nonlocal drawn
        drawn += size
        if drawn > 5_000:
            press_control_c()
        return first_coordinate(data, size, rng)

    stopped = hunt(interrupted, "pure:1", LINE, calls=4_000, seed=2)
    assert stopped.witness is not None
    assert (stopped.witness.left, stopped.witness.right) == (result.witness.left, result.witness.right)


def test_inputs_that_the_target_refuses_are_no_simpler_ones() -> None:
    def picky(data: Array, size: int, rng: np.random.Generator) -> Any:
        return first_coordinate(data, size, rng) if abs(data[0]) > 4 else [0.0]  # too few outcomes

    assert hunt(picky, "pure:1", LINE, calls=2_000).verdict == "violated"  # the number of outcomes tells the side
    relation = "vector:size=1,linf=1,low=5,high=9"
    result = hunt(picky, "pure:1", relation, calls=4_000)
    assert result.witness is not None
    assert sorted([result.witness.left, result.witness.right]) == [(5.0,), (6.0,)]


def test_pairs_are_certified_by_calls_of_their_own_at_the_level() -> None:
    """A private mechanism, and a result that claims otherwise: no pair may be certified, with probability 1e-9."""

    def private(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.round(data[0] + rng.laplace(0, 1, size), 6))

    found = hunt(first_coordinate, "pure:1", LINE, calls=3_000, shrink=False)
    wrong = replace(found, witness=Witness((7.0,), (8.0,), "outcome > 0.0", (0.5, 0.6), (0.1, 0.2), certified=False))
    task = Task(private, PureDP(1.0), neighbours_of(None, LINE), 1e-9, 0, 3_000, 1.0)
    result = shrunk(wrong, task, sampler_of(private))
    assert result.witness == wrong.witness
    assert result.shrink_calls == 3_000


@pytest.mark.parametrize(("calls", "is_cut"), [(None, True), (1_000, False)])
def test_shrinking_ends_with_the_time_where_no_number_of_calls_is_the_limit(calls: int | None, is_cut: bool) -> None:
    def tells_plainly(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.round(data[0] + rng.laplace(0, 0.1, size), 6))

    found = hunt(tells_plainly, "pure:1", "vector:size=2,linf=1", calls=1_000, shrink=False)
    task = Task(tells_plainly, PureDP(1.0), neighbours_of(None, "vector:size=2,linf=1"), 1e-6, 0, calls, 1e-9)
    result = shrunk(found, task, sampler_of(tells_plainly))
    assert (result.shrink_calls == 0, result.verdict) == (is_cut, "violated")
    assert (result.witness == found.witness) is is_cut


def test_every_phase_has_a_share_of_the_budget_and_no_more_than_is_left() -> None:
    began = time.monotonic() - 20
    task = Task(first_coordinate, PureDP(1.0), neighbours_of(None, LINE), 1e-6, 0, None, 60.0, began=began)
    assert 39 < task.seconds_left(1 / 4) < 40
    assert 35 < task.sampling_seconds < 36.25  # 3.75 s are for the report
    assert 39 < replace(task, calls=1_000).sampling_seconds < 40
    late = replace(task, began=began - 60)
    assert (late.seconds_left(1 / 4), late.sampling_seconds) == (15, 26.25)


# --- saved and replayed -------------------------------------------------------------------------------------


def tells(data: Array, size: int, rng: np.random.Generator) -> list[object]:
    """Releases, at times, None, words, bytes, NaN, infinity, tuples or a raised error, on large inputs only."""
    if size == 1 and data[0] > 0 and rng.random() < 0.5:
        raise ValueError
    kinds: list[object] = [None, "a or b", b"{x}", math.nan, -math.inf, (1, None, "and"), 1e300]
    return [kinds[rng.integers(7)] if data[0] > 0 else float(rng.random()) for _ in range(size)]


@pytest.mark.parametrize(
    "event",
    [
        "outcome in {None}",
        "outcome in {'a or b', 'x and y'}",
        pytest.param("outcome in {b'{x}'}", marks=pytest.mark.slow),
        pytest.param("outcome in {'<nan>'}", marks=pytest.mark.slow),
        pytest.param("outcome in {-1e999}", marks=pytest.mark.slow),
        pytest.param("outcome in {(1, None, 'and')}", marks=pytest.mark.slow),
        pytest.param("special_values(outcome) > 0.0", marks=pytest.mark.slow),
        "not (outcome > 0.0 or outcome in {'a or b', None})",
        pytest.param("outcome <= -1.0 or outcome > 1.0", marks=pytest.mark.slow),
        "len(outcome) > 2.0 and outcome in {'a or b', (1, None, 'and')}",
        "left_values(outcome) > 0.0 or outcome in {None}",
    ],
)
def test_every_kind_of_event_is_replayed(event: str) -> None:
    game = {"left": [1.0], "right": [0.0], "event": event}
    saved = {"target": "x:y", "claim": "pure:1.0", "neighbours": LINE, "witness": game}
    result = replay(saved, tells, calls=1_800)
    assert result.verdict == "violated"
    assert result.witness is not None
    assert result.witness.event == event
    assert result.witness.certified
    assert replay(saved, lambda _, size, rng: tells(np.ones(1), size, rng), calls=200).verdict == "not refuted"


def releasing(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(np.where(rng.random(size) < 0.2, data[0], data[0] + rng.normal(0, 20, size)))


@pytest.mark.parametrize("places", [("left", "right"), ("right", "left")])
def test_coincidences_are_told_from_the_side_that_the_witness_calls_left(places: tuple[str, str]) -> None:
    left, right = places
    event = f"{left}_values(outcome) > 0.0"
    game: dict[str, object] = {left: [0.25], right: [1.0], "event": event}
    saved = {"target": "x:y", "claim": "pure:1.0", "neighbours": LINE, "witness": game}
    result = replay(saved, releasing, calls=3_000)
    assert result.witness is not None
    assert result.witness.event == "left_values(outcome) > 0.0"
    assert result.witness.left == (0.25,)
    again = replay(result.to_json(), releasing, calls=3_000)
    assert again.verdict == "violated"


def test_a_shrunk_witness_of_a_file_is_replayed_and_its_snippet_runs(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def noisy(data, size, rng):\n    return data[0] + rng.laplace(0, 0.4, size)\n", encoding="utf-8")
    found = hunt(f"{file}:noisy", "pure:1", "vector:size=2,linf=1,low=-3,high=8", calls=6_000, float64="ignore")
    record = json.loads(json.dumps(found.to_json()))
    assert record["witness"]["certified"] is True
    assert record["shrink_calls"] == found.shrink_calls
    assert replay(record, record["target"], calls=4_000).verdict == "violated"
    code = record["witness"]["snippet"].replace("print(", "results.append(")
    results: list[HuntResult] = []
    exec(compile(code, "snippet", "exec"), {"results": results})  # noqa: S102  # it is meant to be pasted and run
    assert results[0].verdict == "violated"


def test_an_object_is_named_in_the_snippet() -> None:
    result = hunt(lambda data, size, rng: data[0] + rng.laplace(0, 0.4, size), "pure:1", LINE, calls=4_000)
    assert result.snippet is not None
    assert "mechanism = ...  # " in result.snippet
    assert result.snippet.endswith(", mechanism))")
    quiet = hunt(lambda _, size, rng: rng.random(size), "pure:1", LINE, calls=64)
    assert quiet.snippet is None
    assert quiet.to_json()["witness"] is None


def ex_post_bound(outcome: Hashable) -> float:
    return 0.2 if outcome == 1 else 5.0


@pytest.mark.parametrize("claim", [ExPost(ex_post_bound, "small for 1"), ProbabilisticDP(1.0, 0.1)], ids=repr)
def test_claims_without_words_of_their_own_can_be_given_to_a_replay(claim: Claim) -> None:
    found = hunt(telling_above_five, claim, LINE + ",low=0,high=10", calls=20_000)
    assert found.verdict == "violated"
    again = replay(found.to_json(), telling_above_five, claim=claim, calls=4_000)
    assert again.verdict == "violated"
    assert again.claim == found.claim
    if isinstance(claim, ExPost):
        assert found.witness is not None
        assert found.witness.event == "outcome in {1}"
        with pytest.raises(UsageError, match="claim must be given"):
            replay(found.to_json(), telling_above_five)
    else:
        assert replay(found.to_json(), telling_above_five, calls=4_000).verdict == "violated"
