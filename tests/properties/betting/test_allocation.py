import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.properties.betting.allocation import EVERYONES, Allocation

Array = NDArray[np.float64]
PAIRS, TOTAL = 48, 100_000
EVERYONE = range(PAIRS)


def note(
    shared: Allocation, pair: int, calls: int, claimed: float, told: float, wealth: Array, foremost: float = 0.0
) -> None:
    shared.note(pair, calls, claimed, told)
    shared.compare(pair, calls, wealth, foremost)


def allocation() -> Allocation:
    shared = Allocation(np.full(PAIRS, 1 / PAIRS), 4)
    shared.add(PAIRS)
    for pair in range(PAIRS):
        note(shared, pair, 1000, -0.1, 0.0, np.full(4, -0.1))
    return shared


def test_a_rare_leak_beyond_the_claim_gets_its_part_beside_an_ordinary_signal_below_it() -> None:
    shared = allocation()
    # the references grow from next to nothing to the claim and beyond it
    note(shared, 3, 20_000, -0.1, 4000.0, np.array([4000.0, 900.0, 0.0, -0.1]))
    before = shared.shares(TOTAL, EVERYONE)
    assert before[3] > 1 / 2
    # what its learners lost to chance counts against next to nothing most
    note(shared, 7, 2000, 4.0, 0.5, np.array([0.5, 2.0, 4.0, 3.5]))
    after = shared.shares(TOTAL, EVERYONE)
    assert after[7] > 1 / 4 > before[7]
    assert after[3] > 1 / 4


def test_chance_makes_no_leader_beyond_the_claim() -> None:
    shared = allocation()
    note(shared, 3, 20_000, -0.1, 4000.0, np.array([4000.0, 900.0, 0.0, -0.1]))
    before = shared.shares(TOTAL, EVERYONE)
    note(shared, 7, 2000, 1.0, 1.0, np.full(4, -0.1))
    np.testing.assert_allclose(shared.shares(TOTAL, EVERYONE), before, atol=0.02)


def test_first_rare_events_raise_the_part_of_a_pair_before_its_wealth_shows_them() -> None:
    shared = allocation()
    note(shared, 3, 20_000, -0.1, 4000.0, np.array([4000.0, 900.0, 0.0, -0.1]))
    before = shared.shares(TOTAL, EVERYONE)
    # the share of the bets on rare events still hides what they won
    note(shared, 7, 2000, 0.2, 0.2, np.full(4, 0.1), foremost=3.0)
    after = shared.shares(TOTAL, EVERYONE)
    assert after[7] > 5 * before[7]
    assert after.min() >= EVERYONES / TOTAL


def test_while_no_pair_is_proven_the_first_ones_share_the_calls() -> None:
    shares = allocation().shares(1_000_000, EVERYONE)
    assert np.sort(shares)[-1] < 1 / 2
    assert np.sort(shares)[-8] > 1 / 100


def test_a_pair_that_promises_no_bound_takes_no_lead() -> None:
    shared = allocation()
    # told from equality in 40,000 calls by a nat more than chance: all calls so far would refute nothing
    note(shared, 7, 40_000, -0.1, 4.0, np.array([4.0, 0.0, 0.0, 0.0]))
    assert shared.shares(TOTAL, EVERYONE)[7] < 1 / 10
    note(shared, 7, 80_000, -0.1, 40.0, np.array([40.0, 0.0, 0.0, 0.0]))
    assert shared.shares(TOTAL, EVERYONE)[7] > 1 / 2


def test_pairs_that_the_screening_chose_are_looked_at_as_much_as_others() -> None:
    shared = Allocation(np.array([0.9, *[0.005] * 20]), 4)
    shared.add(7)
    for pair in range(7):
        note(shared, pair, 2000, -0.1, 3000.0 if pair == 0 else 5.0, np.array([3000.0 if pair == 0 else 5.0, 0, 0, 0]))
    assert shared.shares(TOTAL, range(7))[1:].min() > 1 / 100


def test_everyone_keeps_a_share_and_the_best_is_named() -> None:
    shared = allocation()
    note(shared, 5, 2000, 30.0, 30.0, np.full(4, 30.0))
    note(shared, 6, 2000, 20.0, 20.0, np.full(4, 20.0))
    assert shared.shares(TOTAL, EVERYONE).min() >= EVERYONES / TOTAL
    assert shared.best(EVERYONE) == 5
    assert shared.foremost(2) == [5, 6]


@pytest.mark.parametrize("rates", [(5.0, 9.0), (9.0, 5.0)])
def test_of_two_leaks_the_one_that_wins_faster_leads(rates: tuple[float, float]) -> None:
    shared = allocation()
    for pair, won in zip((1, 2), rates, strict=True):
        note(shared, pair, 2000, won, won, np.full(4, won))
    shares = shared.shares(TOTAL, EVERYONE)
    assert (shares[2] > shares[1]) == (rates[1] > rates[0])


def test_a_pair_about_rounding_leads_nothing() -> None:
    shared, others = allocation(), [pair for pair in EVERYONE if pair != 5]
    note(shared, 5, 2000, 30.0, 30.0, np.full(4, 30.0))
    note(shared, 6, 2000, 20.0, 20.0, np.full(4, 20.0))
    assert shared.best(others) == 6
    assert shared.beyond(others) == [6]
    shares = shared.shares(TOTAL, others)
    assert shares[5] < 1 / 20 < shares[6]


def leading(challenger: float) -> float:
    """Return the share of a pair with 60,000 calls beside one with 30,000 that wins so many times as fast."""
    shared = allocation()
    for pair, calls, times in ((3, 60_000, 1.0), (7, 30_000, challenger)):
        for seen in (calls // 2, calls):  # only the later half tells the rate
            won = times * seen * np.full(4, 1e-2)
            note(shared, pair, seen, -0.1, float(won[0]), won)
    return float(shared.shares(TOTAL, EVERYONE)[3])


def test_a_pair_that_wins_as_fast_after_fewer_calls_takes_no_lead() -> None:
    assert leading(1.1) > 1 / 2
    assert leading(4.0) < 1 / 3
