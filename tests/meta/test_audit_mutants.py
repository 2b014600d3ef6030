"""Ways to cheat at the game, each of which must be noticed by the law that guards against it.

Laws: the mean of a factor is at most 1 under every pair of distributions that obeys the claim (`best_mean`,
computed exactly up to rounding); wealth against a true claim reaches 1/alpha in at most a share alpha of the runs
(`false_alarms`, simulated from fixed seeds); a lower bound exceeds the truth no more often.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from dpassay.claims import PureDP
from dpassay.properties.betting.bets import last_refuted, log_factors, to_levels
from dpassay.properties.betting.books import KEPT
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import Batch, PairGame
from dpassay.properties.betting.wealth import Ledger, log_wealth
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.outcomes.batch import Outcomes

Array = NDArray[np.float64]
Factors = Callable[[Array, float, float], tuple[Array, Array]]

EPSILON = math.log(2)
ROUNDING = 1e-12  # of sums of four terms of order 1


def hockey_stick(p: Array, q: Array) -> float:
    return float(np.maximum(0, p - math.exp(EPSILON) * q).sum())


def best_mean(factors: Factors, *, pure: bool) -> float:
    """Return the largest mean factor over random pairs of distributions that obey the claim."""
    rng, best = np.random.default_rng(0), 0.0
    for _ in range(300):
        if pure:  # two outcomes with losses of epsilon and minus epsilon: the bound is attained both ways
            p = np.array([2 / 3, 1 / 3])
            q = p[::-1]
        else:
            p, q = rng.dirichlet([0.5, 0.5, 0.5], 2)
        delta = max(hockey_stick(p, q), hockey_stick(q, p))
        logits = rng.normal(0, 4, p.size)
        left, right = factors(logits, EPSILON, 0.0 if pure else min(delta, 1.0))
        best = max(best, float((p @ left + q @ right) / 2))
    return best


def honest_pure(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    left, right = log_factors(logits, epsilon)
    return np.exp(left), np.exp(right)


def honest_approximate(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    left, right = log_factors(logits, epsilon, delta, direction="left over right")
    return np.exp(left), np.exp(right)


def honest_in_both_directions(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    left, right = log_factors(logits, epsilon, delta)
    return np.exp(left), np.exp(right)


def stake(logits: Array, epsilon: float) -> Array:
    a = expit(logits)
    return np.maximum(0, a * math.exp(-epsilon) - (1 - a))


def without_the_fee(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    bet = np.minimum(stake(logits, epsilon), 1 / (math.exp(epsilon) + delta / 2))
    return 1 + bet, 1 - math.exp(epsilon) * bet


def fee_paid_once_for_both_directions(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    most = 1 / (math.exp(epsilon) + delta)
    fee, ratio = delta * most / 2, math.exp(epsilon)
    up, down = np.minimum(stake(logits, epsilon), most), np.minimum(stake(-logits, epsilon), most)
    return 1 + up - ratio * down - fee, 1 - ratio * up + down - fee


def stake_above_the_declared_one(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    declared = 0.1 / (math.exp(epsilon) + delta / 2)
    bet = stake(logits, epsilon)
    return 1 + bet - delta * declared / 2, 1 - math.exp(epsilon) * bet - delta * declared / 2


def stake_chosen_after_the_side(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    return 1 + stake(logits, epsilon), np.ones_like(logits)


def capital_clipped_from_below(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    left, right = honest_pure(logits, epsilon, delta)
    return np.maximum(left, 0.9), np.maximum(right, 0.9)


def weight_of_the_bet_is_not_that_of_the_coin(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    """Bet on both directions as if a left call were rare, and toss a fair coin."""
    left, right = log_factors(logits, epsilon, delta, weight=1 / 8)
    return np.exp(left), np.exp(right)


def weight_chosen_after_the_outcome(logits: Array, epsilon: float, delta: float) -> tuple[Array, Array]:
    claimed = np.where(logits > 0, 0.25, 0.75)  # the coin was fair
    parts = [log_factors(logits[k], epsilon, weight=float(w)) for k, w in enumerate(claimed)]
    return np.exp([part[0] for part in parts]), np.exp([part[1] for part in parts])


def test_honest_factors_have_mean_at_most_one() -> None:
    assert best_mean(honest_pure, pure=True) <= 1 + ROUNDING
    assert best_mean(honest_approximate, pure=False) <= 1 + ROUNDING
    assert best_mean(honest_in_both_directions, pure=False) <= 1 + ROUNDING


@pytest.mark.parametrize(
    ("mutant", "pure"),
    [
        (without_the_fee, False),
        (fee_paid_once_for_both_directions, False),
        (stake_above_the_declared_one, False),
        (stake_chosen_after_the_side, True),
        (capital_clipped_from_below, True),
        (weight_chosen_after_the_outcome, True),
        (weight_of_the_bet_is_not_that_of_the_coin, True),
        (weight_of_the_bet_is_not_that_of_the_coin, False),
    ],
)
def test_dishonest_factors_are_noticed(mutant: Factors, pure: bool) -> None:
    assert best_mean(mutant, pure=pure) > 1.001


# --- whole games --------------------------------------------------------------------------------------------

ALPHA, RUNS, CALLS = 0.05, 100, 400
# the probability that an honest game (share at most 0.05) exceeds so many alarms of 100 is below 1e-9
MOST_ALARMS = int(binom.isf(1e-9, RUNS, ALPHA)) + 1


def laplace(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(np.round(data[0] + rng.laplace(0, 1.0, size), 6))  # low bits would tell the side


def run_draws(draws: Sequence[Draw]) -> list[Outcomes | None]:
    return [sample_side(laplace, draw) for draw in draws]


class TrainedOnTheBatchItBetsOn(PairGame):
    """Its learners see the batch many times, as gradient descent does: once is hardly enough for cautious ones."""

    def _settle(self, outcomes: Outcomes, is_left: NDArray[np.bool_], weight: float) -> None:
        for _ in range(8):
            self._ensemble.observe(outcomes, is_left)
        super()._settle(outcomes, is_left, weight)


def false_alarms(make: Callable[[int], PairGame]) -> int:
    alarms = 0
    for seed in range(RUNS):
        game = make(seed)
        for _ in range(CALLS // 100):
            batch = game.prepare(100)
            game.enter(batch, run_draws(batch.draws))
        alarms += bool(game.log_wealth(1.0, 0.0)[0] >= -math.log(ALPHA))
    return alarms


def game_on(kind: type[PairGame]) -> Callable[[int], PairGame]:
    return lambda seed: kind(np.zeros(1), np.ones(1), seed=seed, index=0)


def test_honest_games_raise_few_alarms() -> None:
    assert false_alarms(game_on(PairGame)) <= MOST_ALARMS


def test_training_on_the_batch_that_is_bet_on_is_noticed() -> None:
    assert false_alarms(game_on(TrainedOnTheBatchItBetsOn)) > MOST_ALARMS


def response(epsilon: float, rng: np.random.Generator, calls: int) -> Ledger:
    """Play randomised response of this epsilon against a bettor who knows it."""
    ledger = Ledger()
    is_left = rng.random(calls) < 0.5
    truthful = rng.random(calls) < 1 / (1 + math.exp(-epsilon))
    ledger.record(to_levels(np.where(is_left == truthful, epsilon, -epsilon)), is_left)
    return ledger


def test_reading_the_first_standing_point_as_the_bound_is_noticed() -> None:
    truth, grid = 0.55, np.array([0.25, 0.5, 1.0])
    rng, honest, mutant = np.random.default_rng(0), 0, 0
    for _ in range(RUNS):
        refuted = log_wealth(response(truth, rng, 20_000), grid) >= -math.log(ALPHA)
        honest += last_refuted(grid, refuted) > truth
        mutant += float(grid[int(np.argmin(refuted))]) > truth
    assert honest <= MOST_ALARMS
    assert mutant > MOST_ALARMS


def test_the_maximum_over_pairs_instead_of_the_mixture_is_noticed() -> None:
    """Exactly, for two pairs and one call each: the mean of the larger wealth exceeds 1, of the mean wealth not."""
    left, right = (np.exp(part) for part in log_factors(np.array([4.0, -4.0]), EPSILON))
    p = np.array([2 / 3, 1 / 3])
    values, shares = np.concatenate([left, right]), np.concatenate([p, p[::-1]]) / 2
    both = np.multiply.outer(shares, shares)
    assert np.sum(both * (values[:, None] + values) / 2) <= 1 + ROUNDING
    assert np.sum(both * np.maximum(values[:, None], values)) > 1.001


def test_a_pool_that_leaves_out_pairs_that_lost_is_noticed() -> None:
    """Exactly, for two pairs and one call each: the mean of the product is 1, that without the losses exceeds it."""
    left, right = (np.exp(part) for part in log_factors(np.array([4.0, -4.0]), EPSILON))
    p = np.array([2 / 3, 1 / 3])
    values, shares = np.concatenate([left, right]), np.concatenate([p, p[::-1]]) / 2
    both = np.multiply.outer(shares, shares)
    assert np.sum(both * np.multiply.outer(values, values)) <= 1 + ROUNDING
    assert np.sum(both * np.multiply.outer(np.maximum(values, 1), np.maximum(values, 1))) > 1.001


def test_a_campaign_mixes_its_pairs() -> None:
    pairs = [(np.zeros(1), np.ones(1)), (np.ones(1), np.full(1, 2.0)), (np.full(1, 3.0), np.full(1, 4.0))]
    campaign = Campaign(PureDP(0.2), pairs, seed=0)
    for _ in range(4):
        campaign.play_round(lambda draws: run_draws(list(draws)))
    wealth = [float(game.log_wealth(0.2, 0.0)[0]) for game in campaign.games]
    mixed = sum(share * math.exp(part) for share, part in zip(campaign.weights, wealth, strict=True))
    mixed += campaign.pool_share * math.exp(campaign.evidence.pool_log_wealth(np.array([0.2]), np.zeros(1))[0])
    assert float(campaign.weights.sum()) + campaign.pool_share <= 1 + ROUNDING
    assert campaign.evidence.log_value() <= math.log(mixed * 15 / 16)


# --- a gambler, call by call: randomised response at the claim itself, and he believes in four times the loss-----


TRUTHFUL = 2 / 3  # e^EPSILON to 1
WON, LOST = (float(np.exp(part)[0]) for part in log_factors([4 * EPSILON], EPSILON))
"""What his wealth is multiplied by on a truthful call and on a lie: 2/3 WON + 1/3 LOST = 1, a martingale."""


def gambles(strategy: Callable[[Array], float]) -> int:
    """Count the runs of 200 calls in which a strategy shows evidence of 1/ALPHA."""
    rng = np.random.default_rng(0)
    factors = np.where(rng.random((RUNS, 200)) < TRUTHFUL, WON, LOST)
    return sum(strategy(run) >= 1 / ALPHA for run in factors)


def stopping_at_the_peak(factors: Array) -> float:
    return float(np.cumprod(factors).max())


def resampling_until_large(factors: Array) -> float:
    """Draw every batch of five again and again, up to four times, and enter the one with the largest factor."""
    batches = factors.reshape(-1, 4, 5).prod(axis=2)
    return float(np.cumprod(batches.max(axis=1)).max())


def discarding_what_loses(factors: Array) -> float:
    """Look at a batch of ten first; without entering a loss, go on."""
    return float(np.cumprod(np.maximum(factors.reshape(-1, 10).prod(axis=1), 1.0)).max())


def restarting_without_paying(factors: Array) -> float:
    best = wealth = 1.0
    for factor in factors:
        wealth *= factor
        best = max(best, wealth)
        if wealth < 1 / 10:
            wealth = 1.0
    return best


def restarting_and_paying(factors: Array) -> float:
    """Every restart has a share of the wealth that was fixed before: 1/2, 1/4, ..."""
    share, best, wealth = 0.5, 0.0, 1.0
    for factor in factors:
        wealth *= factor
        best = max(best, share * wealth)
        if wealth < 1 / 10:
            wealth, share = 1.0, share / 2
    return best


def clipping_the_capital(factors: Array) -> float:
    best = wealth = 1.0
    for factor in factors:
        wealth = max(wealth * factor, 1 / 2)
        best = max(best, wealth)
    return best


def level_chosen_from_the_data(factors: Array) -> float:
    """Claim level 5 % for whatever was reached at a level that was picked to be reached: evidence of 2 and more."""
    peak = stopping_at_the_peak(factors)
    return 1 / ALPHA if peak >= 2 else peak


def test_the_gambler_plays_fair() -> None:
    assert math.isclose(TRUTHFUL * WON + (1 - TRUTHFUL) * LOST, 1, rel_tol=ROUNDING)


@pytest.mark.parametrize("strategy", [stopping_at_the_peak, restarting_and_paying])
def test_honest_gamblers_raise_few_alarms(strategy: Callable[[Array], float]) -> None:
    assert gambles(strategy) <= MOST_ALARMS


@pytest.mark.parametrize(
    "strategy",
    [
        resampling_until_large,
        discarding_what_loses,
        restarting_without_paying,
        clipping_the_capital,
        level_chosen_from_the_data,
    ],
)
def test_gamblers_who_cheat_are_noticed(strategy: Callable[[Array], float]) -> None:
    assert gambles(strategy) > MOST_ALARMS


def test_the_peak_itself_is_no_evidence_to_average_or_to_choose_a_level_by() -> None:
    """Exactly, over all outcomes of ten calls: the mean of the peak exceeds 1, of the wealth at the end not."""
    truthful = (np.arange(2**10)[:, None] >> np.arange(10)) & 1
    chances = np.where(truthful, TRUTHFUL, 1 - TRUTHFUL).prod(axis=1)
    wealth = np.cumprod(np.where(truthful, WON, LOST), axis=1)
    assert chances @ wealth[:, -1] <= 1 + ROUNDING
    assert chances @ wealth.max(axis=1) > 1.5


def test_the_same_random_numbers_on_both_sides_are_noticed() -> None:
    """A left and a right call that lie together: exactly, the mean of the product of their factors exceeds 1."""
    independent = (TRUTHFUL * WON + (1 - TRUTHFUL) * LOST) ** 2
    together = TRUTHFUL * WON**2 + (1 - TRUTHFUL) * LOST**2
    assert independent <= 1 + ROUNDING
    assert together > 1.2


def test_no_two_draws_of_a_campaign_share_their_random_numbers() -> None:
    """The sides of a batch, the batches of a game and the games of a campaign have seeds of their own."""
    seen: list[tuple[int, ...]] = []
    campaign = Campaign(PureDP(0.2), [(np.full(1, k), np.full(1, k + 1.0)) for k in range(3)], seed=0)
    for _ in range(6):
        campaign.play_round(lambda draws: [_noted(draw, seen) for draw in draws])
    assert len(seen) > 12
    assert len(set(seen)) == len(seen)


def _noted(draw: Draw, seen: list[tuple[int, ...]]) -> Outcomes | None:
    seen.append(tuple(np.random.default_rng(draw.seed).integers(0, 2**62, 4).tolist()))
    return sample_side(laplace, draw)


def dropping_failures(draw: Draw) -> Outcomes:
    """Call again and again until the call does not raise."""
    rng = np.random.default_rng(draw.seed)
    shares = {0.0: [0.9, 0.1], 1.0: [0.1, 0.9]}
    drawn = [rng.choice(2, p=shares[float(data[0])], size=count) for data, count in draw.runs()]
    return Outcomes.of(np.concatenate(drawn))


def test_dropping_calls_that_raise_is_noticed() -> None:
    """A mechanism that answers rarely: with 1/100 it tells the side with 9 to 1, else it raises.

    Its total variation distance is 0.008, so (0, 0.008)-DP is true; answers alone break it at once.
    """

    def rarely(data: Array, size: int, rng: np.random.Generator) -> Array:
        if (rng.random(size) > 0.01).any():
            raise ValueError("no answer")
        told = rng.random(size) < (0.9 if data[0] == 1 else 0.1)
        return told.astype(np.float64)

    def play(sample: Callable[[Draw], Outcomes | None]) -> float:
        game = PairGame(np.zeros(1), np.ones(1), seed=0, index=0)
        for _ in range(4):
            batch: Batch = game.prepare(200)
            game.enter(batch, [sample(draw) for draw in batch.draws])
        return float(game.log_wealth(0.0, 0.008)[0])

    assert play(lambda draw: sample_side(rarely, draw)) < -math.log(ALPHA)
    assert play(dropping_failures) > -math.log(ALPHA)


def test_a_batch_that_raised_costs_all_but_the_part_that_was_kept_from_it() -> None:
    game = PairGame(np.zeros(1), np.ones(1), seed=0, index=0)
    first = game.prepare(32)
    game.enter(first, run_draws(first.draws))
    before = game.log_wealth(1.0, 0.0)[0]
    second = game.prepare(100)
    game.enter(second, [None] * len(second.draws))
    assert game.calls == 132
    kept = math.log(KEPT * 100 / 132)
    assert before + kept - 1e-9 < game.log_wealth(1.0, 0.0)[0] <= before + kept


class RefundsABatchThatRaised(PairGame):
    """It takes back what was staked on a batch that raised, and asks for many outcomes again."""

    def enter(self, batch: Batch, results: list[Outcomes | None]) -> None:
        if all(result is not None for result in results):
            super().enter(batch, results)
        else:
            self.calls += batch.calls


def wealth_on_calls_that_raise_for_bad_luck(kind: type[PairGame]) -> float:
    """Return the wealth against a true claim: the single releases are private, but whether many raise is luck.

    A call for many outcomes raises where they tell the side less well than they do on average, so that the others tell
    it better than the claim allows.
    """

    def lucky(data: Array, size: int, rng: np.random.Generator) -> Array:
        share = 2 / 3 if data[0] == 1 else 1 / 3
        ones = rng.random(size) < share
        if size > 1 and (ones.mean() - share) * (2 * data[0] - 1) < 0.08:
            raise ValueError("out of luck")
        return ones.astype(np.float64)

    game = kind(np.zeros(1), np.ones(1), seed=0, index=0)
    for _ in range(400):
        batch = game.prepare(64)
        game.enter(batch, [sample_side(lucky, draw) for draw in batch.draws])
    return float(game.log_wealth(EPSILON, 0.0)[0])


def test_batches_that_raise_cannot_be_taken_back() -> None:
    assert wealth_on_calls_that_raise_for_bad_luck(PairGame) < 0
    assert wealth_on_calls_that_raise_for_bad_luck(RefundsABatchThatRaised) > -math.log(ALPHA)
