"""The level holds whatever the auditor does with what is past: an adversary who sees everything picks the moment.

Each test plays many short seeded audits of a correct claim and counts the alarms; the probability of one is at most
ALPHA in each run, whatever the strategy, and the runs are independent. An exact binomial tail bounds the probability
that a test fails although the auditor is right: below 1e-9 for each.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.properties.betting import game as game_module
from dpassay.properties.betting.bets import WEIGHTS
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.outcomes.batch import Outcomes

Array = NDArray[np.float64]
Play = Callable[[int], bool]

ALPHA, RUNS, CALLS, FALSE_FAILURE = 0.05, 60, 800, 1e-9
MOST_ALARMS = int(binom.isf(FALSE_FAILURE, RUNS, ALPHA)) + 1
THRESHOLD = -math.log(ALPHA)
EPSILON = 1.0
PAIRS = [(np.array([0.0]), np.array([1.0])), (np.array([1.0]), np.array([2.0])), (np.array([2.0]), np.array([3.0]))]


def response(data: Array, size: int, rng: np.random.Generator) -> Array:
    """Randomised response on the parity: its loss is EPSILON on every outcome, so nothing is given away."""
    lies = rng.random(size) > 1 / (1 + math.exp(-EPSILON))
    return np.asarray(np.where(lies, 1 - data[0] % 2, data[0] % 2))


def run(draws: Iterable[Draw]) -> list[Outcomes | None]:
    return [sample_side(response, draw) for draw in draws]


class Gambler:
    """Stands for all learners: it believes in a larger loss, and changes its mind with every batch it sees."""

    def __init__(self, boldness: float) -> None:
        self.boldness, self.luck = boldness, 0.0

    def observe(self, outcomes: Outcomes, is_left: NDArray[np.bool_]) -> None:
        told = np.asarray(outcomes.rows, dtype=np.float64) == 1
        self.luck = float(np.mean(told == is_left)) - 0.5

    def logits(self, outcomes: Outcomes) -> Array:
        wild = self.boldness * (1 + abs(self.luck))
        return np.where(np.asarray(outcomes.rows, dtype=np.float64) == 1, -wild, wild)


def alarms(play: Play) -> int:
    return sum(play(seed) for seed in range(RUNS))


def test_the_bound_on_false_failures_is_exact() -> None:
    assert binom.sf(MOST_ALARMS, RUNS, ALPHA) < FALSE_FAILURE <= binom.sf(MOST_ALARMS - 2, RUNS, ALPHA)


def stops_at_the_peak(seed: int) -> bool:
    """Look after every round, in rounds that are the smaller the closer the evidence comes."""
    campaign = Campaign(PureDP(EPSILON), PAIRS, seed=seed)
    while campaign.calls < CALLS:
        campaign.play_round(run, most_calls=20 if campaign.calls and campaign.evidence.log_value() > 0 else 150)
        if campaign.evidence.log_value() >= THRESHOLD:
            return True
    return False


def picks_the_bound_that_errs(seed: int) -> bool:
    """Take the worst lower bound on epsilon that was ever shown."""
    campaign = Campaign(PureDP(0.25), PAIRS, seed=seed)
    worst = 0.0
    while campaign.calls < CALLS:
        campaign.play_round(run, most_calls=250)
        worst = max(worst, campaign.evidence.bounds(ALPHA)["epsilon"])
    return worst > EPSILON


def bets_on_whom_he_likes(seed: int) -> bool:
    """Swap learners, pairs and sizes by what happened so far: the mixture over the pairs is the evidence."""
    games = [PairGame(left, right, seed=seed, index=k) for k, (left, right) in enumerate(PAIRS)]

    def wealth() -> list[float]:
        return [float(game.log_wealth(EPSILON, 0.0)[0]) for game in games]

    for turn in range(25):
        order = np.argsort(wealth())
        played = games[order[-1] if turn % 3 else order[0]]
        boldness = 1.2 if max(wealth()) < 1 else 1.05
        played._ensemble = Gambler(boldness)
        batch = played.prepare(4 + 20 * (turn % 4))
        played.enter(batch, run(batch.draws))
        if np.logaddexp.reduce(wealth()) - math.log(len(games)) >= THRESHOLD:
            return True
    return False


def foresees_a_loss_and_stops(seed: int) -> bool:
    """Peek at the outcomes of the next batch, and interrupt the run for good rather than enter a loss."""

    class StoppedError(Exception):
        pass

    campaign = Campaign(PureDP(EPSILON), PAIRS, seed=seed)

    def peek(draws: Sequence[Draw]) -> list[Outcomes | None]:
        found = run(draws)
        ones = sum(float(np.sum(part.rows)) for part in found if part is not None)
        if campaign.calls > 100 and ones < 0.4 * sum(draw.size for draw in draws):
            raise StoppedError
        return found

    try:
        while campaign.calls < CALLS:
            campaign.play_round(peek, most_calls=100)
            if campaign.evidence.log_value() >= THRESHOLD:
                return True
    except StoppedError:
        return campaign.evidence.log_value() >= THRESHOLD
    return False


@pytest.mark.parametrize(
    "play",
    [
        stops_at_the_peak,
        picks_the_bound_that_errs,
        bets_on_whom_he_likes,
        pytest.param(foresees_a_loss_and_stops, marks=pytest.mark.slow),
    ],
)
def test_the_level_holds_against_who_sees_everything(play: Play) -> None:
    assert alarms(play) <= MOST_ALARMS


def test_the_adversary_who_gambles_has_something_to_win() -> None:
    """His stakes are real: within a hundred calls some are rich and some are ruined."""

    def final(seed: int) -> float:
        game = PairGame(*PAIRS[0], seed=seed, index=0)
        game._ensemble = Gambler(1.2)  # type: ignore[assignment]
        for _ in range(5):
            batch = game.prepare(20)
            game.enter(batch, run(batch.draws))
        return float(game.log_wealth(EPSILON, 0.0)[0])

    values = [final(seed) for seed in range(20)]
    assert max(values) - min(values) > 3


@pytest.mark.parametrize("weight", [WEIGHTS[1], pytest.param(WEIGHTS[2], marks=pytest.mark.slow)])
def test_the_level_holds_with_unfair_sides(monkeypatch: pytest.MonkeyPatch, weight: float) -> None:
    """Sides of any weight of the list, drawn for that weight and after any past."""

    def chosen(game: PairGame) -> float:
        return weight if game.log_wealth(EPSILON, 0.0)[0] < 0.3 else WEIGHTS[0]

    monkeypatch.setattr(PairGame, "_next_weight", chosen)
    assert alarms(stops_at_the_peak) <= MOST_ALARMS


def test_learners_of_unfair_batches_say_the_likelihood_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PairGame, "_next_weight", lambda _: 1 / 8)
    game = PairGame(*PAIRS[0], seed=0, index=0)
    for size in (200, 400, 4000, 20_000):
        batch = game.prepare(size)
        game.enter(batch, run(batch.draws))
    assert int(batch.is_left.sum()) == pytest.approx(2500, abs=300)  # more than six standard deviations
    predicted = game._ensemble.logits(Outcomes(np.array([0.0, 1.0])).with_inputs(*PAIRS[0]))
    np.testing.assert_allclose(predicted, [EPSILON, -EPSILON], atol=0.2)


def test_sides_are_fair_until_the_evidence_is_one_sided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the left input ever says "leak": then the calls go to the right one, and the bound rises faster."""

    def leaks(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.where(rng.random(size) < 0.05 * (data[0] == 0), 2.0, np.floor(2 * rng.random(size)))

    def bound(calls: int) -> tuple[float, list[float]]:
        campaign, weights = Campaign(PureDP(0.1), PAIRS[:1], seed=0), []
        prepare = campaign.games[0].prepare

        def noted(size: int) -> game_module.Batch:
            batch = prepare(size)
            weights.append(batch.weight)
            return batch

        campaign.games[0].prepare = noted  # type: ignore[method-assign]
        while campaign.calls < calls:
            campaign.play_round(
                lambda draws: [sample_side(leaks, draw) for draw in draws], most_calls=calls - campaign.calls
            )
        return campaign.evidence.bounds(ALPHA)["epsilon"], weights

    followed, weights = bound(60_000)
    assert weights[0] == 1 / 2
    assert weights[-1] == 1 / 8
    monkeypatch.setattr(PairGame, "_next_weight", lambda _: 1 / 2)
    fair, _ = bound(60_000)
    assert followed > fair + 0.2


# --- shares of mixtures -------------------------------------------------------------------------------------

NOTHING_YET = 1e-9
"""Nats that rounding down takes from a wealth of 1."""

CLAIMS = (
    PureDP(0.5), ApproximateDP(0.5, 1e-5), ApproximateDP(0.5, 0.1), BoundedRange(1.0), RenyiDP(2, 0.5), ZCDP(0.1),
    GaussianDP(1.0), ProbabilisticDP(0.5, 0.1), ApproximateZCDP(0.1, 0.01), ConcentratedDP(0.1, 0.5),
    ExPost(lambda _: 0.5),
)  # fmt: skip


def is_one(log_wealth: Any) -> bool:
    return bool(np.all(np.asarray(log_wealth) <= 0) and np.all(np.asarray(log_wealth) >= -NOTHING_YET))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: type(claim).__name__)
def test_before_the_first_call_the_wealth_against_a_claim_is_one(claim: Claim) -> None:
    """Shares of a mixture that summed to more than 1 would show: every part of it begins at 1."""
    campaign = Campaign(claim, PAIRS, seed=0, further=iter([(np.array([3.0]), np.array([4.0]))]))
    assert abs(campaign.weights.sum() + campaign.pool_share - 1) <= 1e-12
    assert is_one(campaign.evidence.claim_wealth_of(campaign.games[0]))
    for family in campaign.evidence._families:
        assert is_one(campaign.evidence.family_wealth(family, campaign.games[0]))


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_before_the_first_call_the_wealth_of_a_game_is_one(delta: float) -> None:
    claim = ExPost(lambda _: 0.5)
    game = PairGame(np.zeros(1), np.ones(1), seed=0, index=0, ex_post=claim, low_order="beside")
    assert is_one(game.log_wealth(0.5, delta))
    assert is_one(game.log_wealth_bounded_range(0.5))
    assert is_one(game.log_wealth_moment(2.0, 0.5))
    assert is_one(game.log_wealth_ex_post())
    assert np.all(game.log_wealth_float64(0.5, delta) <= 0)  # what does not count is left out
    game.blame_rounding()
    assert is_one(game.log_wealth_float64(0.5, delta))
    assert is_one(game.log_wealth_float64_ex_post())
