"""Campaigns on planted problems, from fixed seeds.

Where chance decides, the event asserted fails for an honest campaign with probability below 1e-9; the seed is fixed
besides, so that nothing flakes.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP, PureDP
from dpassay.properties.betting.allocation import Allocation
from dpassay.properties.betting.bets import to_levels
from dpassay.properties.betting.books import KEPT
from dpassay.properties.betting.bounds import OWN_SHARE, lower_bound
from dpassay.properties.betting.campaign import Campaign, RunDraws
from dpassay.properties.betting.game import PairGame
from dpassay.properties.betting.pool import POOL_SHARE
from dpassay.properties.betting.wealth import Ledger
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler

Array = NDArray[np.float64]

PAIRS = [(np.array([float(k)]), np.array([k + 0.5])) for k in range(48)]
CLAIM = PureDP(0.1)
OWN = math.log1p(-1 / 16)  # the part of the evidence that is the claim's own


def leaks_on(planted: int, chance: float = 0.8) -> Sampler:
    """Return a fair coin, but for the right input of one pair."""

    def toss(data: Array, size: int, rng: np.random.Generator) -> Array:
        return (rng.random(size) < (chance if data[0] == planted + 0.5 else 0.5)).astype(float)

    return toss


def runs(sampler: Sampler) -> RunDraws:
    return lambda draws: (sample_side(sampler, draw) for draw in draws)


def play(campaign: Campaign, run: RunDraws, calls: int) -> None:
    while campaign.calls < calls and campaign.play_round(run, most_calls=calls - campaign.calls):
        pass


def campaign_on(pairs: Sequence[tuple[Array, Array]] = PAIRS, seed: int = 0) -> Campaign:
    return Campaign(CLAIM, pairs, seed=seed)


@pytest.mark.parametrize("planted", [0, pytest.param(11, marks=pytest.mark.slow), 47])
def test_the_only_pair_that_leaks_leads_wherever_it_stands(planted: int) -> None:
    campaign = campaign_on()
    play(campaign, runs(leaks_on(planted)), 80_000)
    before = campaign.games[planted].calls
    play(campaign, runs(leaks_on(planted)), 110_000)
    assert campaign.games[planted].calls - before > 15_000  # most of what was spent
    assert campaign.best_game() is campaign.games[planted]
    assert campaign.evidence.log_value() > math.log(1e9)
    # the truth is log(0.5 / 0.2): a bound above it at this level is an event of probability 1e-9
    assert 0.6 < campaign.evidence.bounds(1e-9)["epsilon"] <= math.log(2.5)


def test_a_larger_leak_overtakes_a_smaller_one_found_first() -> None:
    def two_leaks(data: Array, size: int, rng: np.random.Generator) -> Array:
        chance = {0.5: 0.6, 20.5: 0.9}.get(float(data[0]), 0.5)
        return (rng.random(size) < chance).astype(float)

    campaign = campaign_on()
    play(campaign, runs(two_leaks), 100_000)
    calls = [game.calls for game in campaign.games]
    assert calls[20] == max(calls)
    assert campaign.evidence.bounds(0.05)["epsilon"] > math.log(0.5 / 0.4)  # more than the first pair could ever show


def test_calls_follow_rare_events_that_their_share_of_the_wealth_still_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, compare = [], Allocation.compare

    def comparing(self: Allocation, index: int, calls: int, wealth: Array, foremost: float = 0.0) -> None:
        compared.append((campaign.evidence.claim_wealth(index), foremost))
        compare(self, index, calls, wealth, foremost)

    def leaks_rarely(data: Array, size: int, rng: np.random.Generator) -> Array:
        noisy = data[0] + rng.laplace(0, 5, size)
        return np.where((rng.random(size) < 0.02) & (data[0] == 0.5), np.nan, noisy)

    monkeypatch.setattr(Allocation, "compare", comparing)
    campaign = campaign_on(PAIRS[:2])
    play(campaign, runs(leaks_rarely), 2000)
    assert any(foremost > max(claimed, 0.0) + 2 for claimed, foremost in compared)


@pytest.mark.parametrize("count", [1, 2, 7, 48, 1000])
def test_the_weights_of_the_pairs_make_a_mixture(count: int) -> None:
    campaign = campaign_on([(np.array([float(k)]), np.array([k + 0.5])) for k in range(count)])
    assert campaign.weights.shape == (count,)
    assert (np.diff(campaign.weights) < 0).all()
    assert campaign.weights.min() > 0
    assert math.fsum([*campaign.weights, campaign.pool_share]) <= 1 + 2**-41  # the wealth is rounded down by more


def test_of_the_usual_number_of_pairs_the_last_pays_little_more_than_an_equal_share() -> None:
    weights = campaign_on().weights
    assert weights[0] > (1 - POOL_SHARE) * 5 / 48
    assert weights[-1] > 1 / 4 / 48


@pytest.mark.parametrize("way", ["raises", "returns too few"])
def test_a_rare_exception_on_both_sides_does_not_hide_what_was_won(way: str) -> None:
    """One of many calls for many outcomes fails late: all that was won before was lost once."""
    asked = 0

    def fails_once(data: Array, size: int, rng: np.random.Generator) -> Array:
        nonlocal asked
        first, asked = asked < 60_000, asked + size
        if first and asked >= 60_000:
            if way == "raises":
                raise RuntimeError("disk full")
            return np.zeros(size - 1)
        return np.asarray(data[0] + rng.laplace(0, 4, size))  # 0.125-DP on this pair

    campaign = Campaign(CLAIM, PAIRS[:1], seed=0)
    play(campaign, runs(fails_once), 90_000)
    assert campaign.games[0].failures > 1000  # the calls of the batch
    assert campaign.evidence.log_value() > 0
    before = Campaign(CLAIM, PAIRS[:1], seed=0)
    asked = 60_000
    play(before, runs(fails_once), 60_000)
    assert campaign.evidence.log_value() > before.evidence.log_value() - 8


def test_no_pair_is_left_out_for_long() -> None:
    campaign = campaign_on()
    play(campaign, runs(leaks_on(0)), 100_000)
    assert min(game.calls for game in campaign.games) >= 400
    assert campaign.games[1].calls > campaign.games[47].calls


def test_a_pair_not_yet_played_keeps_its_share() -> None:
    campaign = campaign_on()
    campaign.play_round(runs(leaks_on(2, chance=1.0)))
    played = [k for k, game in enumerate(campaign.games) if game.calls]
    assert 0 < len(played) < len(PAIRS)
    parts = [
        float(game.log_wealth(CLAIM.epsilon, 0.0)[0]) + math.log(weight)
        for game, weight in zip(campaign.games, campaign.weights, strict=True)
    ]
    pooled = math.log(POOL_SHARE) + float(campaign.evidence.pool_log_wealth(np.array([CLAIM.epsilon]), np.zeros(1))[0])
    of_the_played = float(logsumexp([*(parts[k] for k in played), pooled])) + OWN
    # a game that was not played has a wealth of 1, less what rounding takes
    assert of_the_played - 1e-9 <= campaign.evidence.log_value() <= of_the_played
    assert campaign.evidence.log_value() < float(logsumexp([*parts, pooled])) + OWN


def test_a_bound_is_the_last_point_before_the_first_that_stands_however_many_are_looked_at_together() -> None:
    # with delta > 0 claims are looked at some at a time; here all of them are, one by one
    campaign = Campaign(ApproximateDP(0.1, 1e-3), PAIRS[:3], seed=0)
    play(campaign, runs(leaks_on(1)), 3000)
    alpha = 0.05
    found = campaign.evidence.bounds(alpha)
    weights = np.log(campaign.weights)

    def evidence(epsilon: float, delta: float) -> float:
        return float(logsumexp([game.log_wealth(epsilon, delta)[0] for game in campaign.games] + weights))

    claimed = evidence(0.1, 1e-3) + OWN
    assert claimed >= -math.log(alpha)  # so all that is stronger is refuted too
    for lower, at in ((found["epsilon"], lambda e: (e, 1e-3)), (found["delta"], lambda d: (0.1, d))):
        assert evidence(*at(lower)) >= -math.log(alpha) - 1e-6
        assert evidence(*at(lower * 1.2)) < -math.log(alpha)
    assert 0.1 < found["epsilon"] == campaign.evidence.epsilon_lower(alpha)


def test_before_the_first_call_nothing_is_refuted() -> None:
    campaign = campaign_on()
    assert campaign.evidence.log_value() == 0.0
    assert campaign.evidence.bounds(0.05)["epsilon"] == 0.0


def test_the_same_seed_gives_the_same_campaign_in_any_order_of_work() -> None:
    def backwards(draws: Sequence[Draw]) -> list[Outcomes | None]:
        return [sample_side(leaks_on(5), draw) for draw in reversed(draws)][::-1]

    def summary(seed: int, run: RunDraws) -> tuple[float, float, list[int]]:
        campaign = campaign_on(seed=seed)
        play(campaign, run, 12_000)
        return (
            campaign.evidence.log_value(),
            campaign.evidence.bounds(0.05)["epsilon"],
            [game.calls for game in campaign.games],
        )

    first = summary(3, runs(leaks_on(5)))
    assert summary(3, backwards) == first
    assert summary(4, backwards) != first


def test_exactly_the_calls_that_were_asked_for_are_spent() -> None:
    campaign = campaign_on()
    play(campaign, runs(leaks_on(0)), 4_321)
    assert campaign.calls == 4_321
    assert not campaign.play_round(runs(leaks_on(0)), most_calls=0)


def test_an_interruption_leaves_every_game_before_or_after_its_batch() -> None:
    def interrupted_after(count: int) -> Callable[[Sequence[Draw]], Iterator[Outcomes | None]]:
        def run(draws: Sequence[Draw]) -> Iterator[Outcomes | None]:
            for position, draw in enumerate(draws):
                if position == count:
                    raise KeyboardInterrupt
                yield sample_side(leaks_on(1), draw)

        return run

    campaign = campaign_on()
    play(campaign, runs(leaks_on(1)), 20_000)
    before = [game.calls for game in campaign.games]
    evidence = [float(game.log_wealth(CLAIM.epsilon, 0.0)[0]) for game in campaign.games]
    with pytest.raises(KeyboardInterrupt):
        campaign.play_round(interrupted_after(1))  # the first game lacks its right outcomes
    assert [game.calls for game in campaign.games] == before
    assert [float(game.log_wealth(CLAIM.epsilon, 0.0)[0]) for game in campaign.games] == evidence
    assert campaign.evidence.bounds(0.05)["epsilon"] > CLAIM.epsilon
    play(campaign, runs(leaks_on(1)), 30_000)  # and it can go on
    assert campaign.calls == 30_000


def test_once_it_is_over_no_further_batch_is_settled() -> None:
    campaign = campaign_on()
    assert campaign.play_round(runs(leaks_on(0)), is_over=lambda: True)
    assert sum(game.calls > 0 for game in campaign.games) == 1


def test_without_pairs_there_is_no_campaign() -> None:
    with pytest.raises(UsageError, match="neighbours"):
        campaign_on([])


def test_evidence_counts_calls_that_were_entered_in_a_game_directly() -> None:
    campaign, sampler = campaign_on(PAIRS[:1]), leaks_on(0)
    for _ in range(8):
        batch = campaign.games[0].prepare(500)
        campaign.games[0].enter(batch, [sample_side(sampler, draw) for draw in batch.draws])
    assert campaign.evidence.log_value() > math.log(1e9)
    assert campaign.evidence.bounds(1e-9)["epsilon"] > CLAIM.epsilon


def test_the_first_batch_of_a_pair_is_learnt_from_when_the_second_one_is_bet_on() -> None:
    campaign = Campaign(ApproximateDP(0.1, 0.1), PAIRS[:1], seed=0)
    (game,) = campaign.games
    run = runs(leaks_on(0, chance=1.0))
    campaign.play_round(run)
    # a bet on it would have paid its fee
    assert game.log_wealth(0.1, 0.1)[0] == pytest.approx(math.log1p(-KEPT), abs=1e-9)
    assert "_ensemble" not in vars(game)
    seen = game.archive[0]
    campaign.play_round(run)
    batch, is_left = game.archive[1]
    taught = PairGame(game.left, game.right, seed=0, index=0)
    taught._ensemble.observe(*seen)
    levels = to_levels(taught._ensemble.logits(batch))
    assert levels.any()
    expected = Ledger()
    expected.record(levels, is_left)
    np.testing.assert_array_equal(game._books.ledger.places, expected.places)
    np.testing.assert_array_equal(game._books.ledger.sides, expected.sides)


def test_a_bound_of_nothing_asks_for_the_strongest_claim_alone() -> None:
    campaign = campaign_on()
    asked = []

    def own(rows: slice) -> Array:
        asked.append(rows)
        return np.zeros(rows.stop - rows.start)

    family = campaign.evidence._families[0]
    assert lower_bound(family, math.log(20), 0.0, own) == 0.0
    assert asked == [slice(0, 1)]
    refuted_to_the_third = np.where(np.arange(len(family.grid)) < 3, 10.0, 0.0)
    found = lower_bound(family, math.log(20), -math.inf, lambda rows: refuted_to_the_third[rows] - math.log(OWN_SHARE))
    assert found == family.grid[2]


@pytest.mark.parametrize(("begins_small", "most"), [(True, 9), (False, 64)])
def test_on_few_pairs_batches_begin_small_if_that_is_wanted(begins_small: bool, most: int) -> None:
    campaign, sizes = Campaign(CLAIM, PAIRS[:1], seed=0, begins_small=begins_small), []
    while campaign.calls < 80:
        before = campaign.calls
        campaign.play_round(runs(leaks_on(9)))
        sizes.append(campaign.calls - before)
    assert max(sizes) == most
