"""The level holds, or the hunt says why there is no verdict, where calls are no independent releases."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign, RunDraws
from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.call_guard import Habit
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.hunting.hunt import hunt
from dpassay.testing import assert_private

Array = NDArray[np.float64]
Target = Callable[[Array, int, np.random.Generator], Any]

BITS = [(np.full(1, float(k)), np.full(1, k + 1.0)) for k in range(3)]
LINE = "vector:size=1,linf=1,low=0,high=1,integer"
ALPHA, RUNS, CALLS = 0.05, 10, 900
MOST_ALARMS = int(binom.isf(1e-9, RUNS, ALPHA)) + 1


def shares_its_noise(data: Array, size: int, rng: np.random.Generator) -> Array:
    """All outcomes of a call have the same noise; each of them is 1-DP."""
    return np.full(size, np.round(data[0] + rng.laplace(0, 1), 3))


def tells_the_parity_of_the_call() -> Target:
    calls = 0

    def target(data: Array, size: int, rng: np.random.Generator) -> Array:
        nonlocal calls
        calls += 1
        return np.full(size, float(calls % 2))

    return target


def running(target: Target) -> RunDraws:
    return lambda draws: [sample_side(target, draw) for draw in draws]


def alarms(make: Callable[[], Target]) -> tuple[int, int]:
    """Return in how many runs the claim was refuted at any time, and in how many the calls were drawn apart."""
    refuted = apart = 0
    for seed in range(RUNS):
        run, campaign, peak = running(make()), Campaign(PureDP(1.0), BITS, seed=seed), 0.0
        while campaign.calls < CALLS:
            campaign.play_round(run, most_calls=CALLS)
            peak = max(peak, campaign.evidence.log_value())
        refuted += peak >= -math.log(ALPHA)
        apart += campaign.draws_apart
    return refuted, apart


@pytest.mark.parametrize("make", [lambda: shares_its_noise, tells_the_parity_of_the_call])
def test_the_level_holds_although_outcomes_of_a_call_share_noise(make: Callable[[], Target]) -> None:
    refuted, apart = alarms(make)
    assert apart == RUNS
    assert refuted <= MOST_ALARMS


def test_independent_outcomes_are_not_suspected() -> None:
    def independent(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.round(data[0] + rng.laplace(0, 1, size), 3))

    assert alarms(lambda: independent)[1] == 0


def test_a_hunt_says_that_outcomes_of_a_call_share_noise() -> None:
    result = hunt(shares_its_noise, "pure:1", LINE, calls=600, alpha=1e-9)
    assert result.verdict == "not refuted"
    assert Habit.SHARES_NOISE.value in result.notes
    broken = hunt(shares_its_noise, "pure:0.1", LINE, calls=1500, alpha=1e-3)
    assert broken.verdict == "violated"


def test_calls_one_by_one_change_between_the_sides_at_random() -> None:
    game = PairGame(np.zeros(1), np.ones(1), seed=0, index=0, apart=True)
    batch = game.prepare(3000)
    assert [draw.size for draw in batch.draws] == [1024, 1024, 952]
    runs = [run for draw in batch.draws for run in draw.runs()]
    assert np.array_equal(np.repeat([float(data[0]) == 0 for data, _ in runs], [n for _, n in runs]), batch.is_left)
    changes = np.count_nonzero(np.diff(batch.is_left))
    assert abs(changes - 1500) < 6.5 * math.sqrt(750)


def test_the_order_of_the_sides_of_a_batch_is_tossed() -> None:
    first = []
    for seed in range(64):
        game = PairGame(np.zeros(1), np.ones(1), seed=seed, index=0)
        game.enter(
            game.prepare(32),
            [
                sample_side(shares_its_noise, d)
                for d in PairGame(np.zeros(1), np.ones(1), seed=seed, index=0).prepare(32).draws
            ],
        )
        first.append(bool(game.prepare(64).is_left[0]))
    assert 8 <= sum(first) <= 56  # either is exceeded with probability 1e-10


def caching() -> Target:
    kept: dict[bytes, float] = {}

    def target(data: Array, size: int, rng: np.random.Generator) -> Array:
        if data.tobytes() not in kept:
            kept[data.tobytes()] = float(data[0] + rng.laplace(0, 1))
        return np.full(size, kept[data.tobytes()])

    return target


@pytest.mark.parametrize("seed", range(2))
def test_cached_answers_are_no_violation(seed: int) -> None:
    result = hunt(caching(), "pure:1", LINE, calls=500, seed=seed)
    assert (result.verdict, result.is_void, result.witness) == ("undecided", True, None)
    assert Habit.RELEASES_ONCE.value in result.notes
    with pytest.raises(UsageError, match="not a fresh draw"):
        assert_private(caching(), "pure:1", LINE, calls=500, seed=seed)


def test_a_function_without_noise_is_a_violation() -> None:
    result = hunt(lambda data, size, rng: np.full(size, data[0]), "pure:1", LINE, calls=500)
    assert result.verdict == "violated"
    assert Habit.NOT_RANDOM.value in result.notes


def drops_a_row(data: Array, size: int, rng: np.random.Generator) -> Array:
    noise = np.round(rng.laplace(0, 1, size))
    return noise[rng.random(size) > 0.1] if data[0] == 1 else noise


def test_a_wrong_number_of_outcomes_now_and_then_is_bet_on() -> None:
    result = hunt(drops_a_row, "pure:1", LINE, calls=2000, shrink=False)
    assert result.verdict == "violated"


def test_a_wrong_number_of_outcomes_in_every_call_is_an_error() -> None:
    with pytest.raises(UsageError, match="must return 1 outcomes"):
        hunt(lambda data, size, rng: rng.random(size + 1), "pure:1", LINE, calls=500)
