"""A target is reported as faulty only if calls on both inputs of a pair raised."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.hunting.black_box import sample_pairs
from dpassay.properties.hunting.idle import every_call_raised
from dpassay.properties.hunting.task import Task, neighbours_of
from dpassay.properties.hunting.verdicts import HuntVerdict


def _game(*, calls: int = 8, failures: int = 8, both: bool = True) -> Any:
    return SimpleNamespace(calls=calls, only_failures=failures == calls, called_both=both)


@pytest.mark.parametrize(
    ("games", "raised"),
    [
        ([_game()], True),
        ([_game(failures=7)], False),
        ([_game(both=False)], False),  # the other input may return: the exception tells them apart
        ([_game(both=False), _game()], True),
        ([_game(both=False), _game(both=False)], False),
        ([_game(), _game(failures=0)], False),
        ([_game(calls=0, failures=0)], False),
    ],
)
def test_every_call_raised(games: list[Any], *, raised: bool) -> None:
    assert every_call_raised(games) is raised


def _raising(data: Any, size: int, rng: np.random.Generator) -> Any:
    raise ZeroDivisionError


def test_a_game_knows_which_inputs_were_called() -> None:
    """One call falls on one input only, and tells nothing of the other one."""
    game = PairGame(np.zeros(1), np.ones(1), seed=0, index=0)
    for size, raised in ((1, False), (64, True)):
        batch = game.prepare(size)
        game.enter(batch, [sample_side(_raising, draw) for draw in batch.draws])
        assert game.only_failures
        assert every_call_raised([game]) is raised


def test_a_batch_that_raised_as_a_whole_counts_as_well() -> None:
    game = PairGame(np.zeros(1), np.ones(1), seed=0, index=0)
    batch = game.prepare(64)
    game.enter(batch, [None] * len(batch.draws))
    assert every_call_raised([game])


@pytest.mark.parametrize(("seed", "raises_on"), [(166, 0.0), (868, 1.0)])
def test_a_hunt_goes_on_when_its_first_calls_fall_on_the_input_that_raises(seed: int, raises_on: float) -> None:
    """With these seeds the first batch calls one input only."""
    pair = np.zeros(1), np.ones(1)
    first = Campaign(PureDP(1.0), [pair], seed=seed).games[0].prepare(8)
    assert set(first.is_left.tolist()) == {raises_on == 0.0}

    def told(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        if data[0] == raises_on:
            raise ZeroDivisionError
        return np.zeros(size)

    task = Task(told, PureDP(1.0), neighbours_of(None, "vector:size=1,linf=1"), 1e-6, seed, 500, 60.0)
    assert sample_pairs(task, told, [pair]).verdict is HuntVerdict.VIOLATED
