"""The wealth that bets on the calls of all pairs."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import PureDP
from dpassay.properties.betting.bets import to_levels
from dpassay.properties.betting.books import KEPT
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.pool import Pool
from dpassay.properties.betting.wealth import Ledger, log_wealth
from dpassay.properties.drawing.draws import sample_side

Array = NDArray[np.float64]

EPSILON, DELTA = np.array([0.1, 0.5]), np.zeros(2)


def ledger(logit: float, left: int, right: int) -> Ledger:
    found = Ledger()
    found.record(to_levels(np.full(left + right, logit)), np.arange(left + right) < left)
    return found


def one_sided(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(data[0] + rng.exponential(20.0, size))


def test_the_evidence_of_pairs_adds_up() -> None:
    ledgers = [ledger(1.0, 30, 10), ledger(-0.7, 5, 20), ledger(0.3, 8, 9)]
    together = sum(log_wealth(each, EPSILON, DELTA) for each in ledgers)
    np.testing.assert_allclose(Pool().log_wealth(EPSILON, DELTA, ledgers), together, atol=1e-6)


def test_calls_at_the_same_bets_of_two_pairs_are_counted_together() -> None:
    first, second = ledger(1.0, 30, 10), ledger(1.0, 5, 20)
    expected = log_wealth(first + second, EPSILON, DELTA)
    np.testing.assert_allclose(Pool().log_wealth(EPSILON, DELTA, [first, second]), expected, atol=1e-6)


def test_pairs_that_are_no_evidence_keep_their_losses_but_not_their_gains() -> None:
    kept, won, lost = ledger(0.3, 8, 9), ledger(1.0, 40, 5), ledger(1.0, 5, 40)
    expected = log_wealth(kept, EPSILON, DELTA) + log_wealth(lost, EPSILON, DELTA)
    np.testing.assert_allclose(Pool().log_wealth(EPSILON, DELTA, [kept], [won, lost]), expected, atol=1e-6)


def test_a_batch_that_is_lost_leaves_what_was_kept() -> None:
    pool = Pool()
    pool.stake(100, 100, lost=True)
    assert pool.log_wealth(EPSILON, DELTA, []) == pytest.approx(math.log(KEPT))
    pool.stake(10, 110, lost=False)
    assert pool.log_wealth(EPSILON, DELTA, []) == pytest.approx(math.log(KEPT) + math.log1p(-KEPT * 10 / 110))


def test_a_rare_leak_that_each_pair_shows_a_few_times_is_found_in_all_of_them() -> None:
    pairs = [(np.array([float(k)]), np.array([k + 1.0])) for k in range(12)]
    campaign = Campaign(PureDP(0.5), pairs, seed=0)
    while campaign.play_round(
        lambda draws: [sample_side(one_sided, draw) for draw in draws], most_calls=2_500 - campaign.calls
    ):
        pass
    alone = max(float(game.log_wealth(0.5, 0.0)[0]) for game in campaign.games)
    assert campaign.evidence.log_value() > max(alone, 0) + 5
