"""A target is reported as faulty only if calls on both inputs of a pair raised."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.hunting.idle import every_call_raised


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
