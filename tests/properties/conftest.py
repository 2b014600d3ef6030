"""Playing the game of an audit on one pair."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.draws import sample_side

Evidence = Callable[[Any, int], tuple[PairGame, float]]


@pytest.fixture
def one_or_two_records() -> Evidence:
    """Plays on the pair of one and two records; returns the game, and the evidence against pure:0.1 in needed ones.

    From 1 on a claim is refuted at level 1e-9.
    """

    def play(target: Any, calls: int) -> tuple[PairGame, float]:
        game = PairGame(np.zeros(1), np.zeros(2), seed=0, index=0)
        while game.calls < calls:
            batch = game.prepare(min(16, calls - game.calls))
            game.enter(batch, [sample_side(target, draw) for draw in batch.draws])
        return game, float(game.log_wealth(0.1, 0.0)[0]) / (9 * math.log(10))

    return play
