"""Evidence on the ideal mechanism and evidence on floats are kept apart."""

import math
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

NEEDED = math.log(1e6)
BITS = frozenset({LOWEST_BIT})


def noisy(scale: float) -> Any:
    return lambda data, size, rng: data[0] + rng.laplace(scale=scale, size=size)


def campaign_on(base: float, mechanism: Any, *, calls: int = 4_000, **options: Any) -> Campaign:
    pair = np.array([base]), np.array([base + 1])
    campaign = Campaign(PureDP(1.0), [pair], seed=0, ignored=BITS, **{"low_order": "beside", **options})
    while campaign.calls < calls:
        campaign.play_round(lambda draws: [sample_side(mechanism, draw) for draw in draws])
    return campaign


def test_low_order_bits_are_evidence_on_floats_alone() -> None:
    campaign = campaign_on(0.0, noisy(1.0))
    assert campaign.float64.log_value() > NEEDED > 5 > campaign.evidence.log_value()
    assert campaign.float64.epsilon_lower(1e-6) > 1
    assert campaign.float64.best_game() is campaign.games[0]


def test_a_violation_without_low_order_bits_is_evidence_on_the_ideal_mechanism_alone() -> None:
    def on_lattice(data: Any, size: int, rng: Any) -> Any:
        return np.round((data[0] + rng.laplace(scale=0.3, size=size)) * 2**10) / 2**10

    campaign = campaign_on(0.0, on_lattice)
    assert campaign.evidence.log_value() > NEEDED > 5 > campaign.float64.log_value()


@pytest.mark.parametrize(("base", "is_about_rounding"), [(0.0, False), (1e8, False), (1e9, True), (2.0**51, True)])
def test_where_rounding_shows_all_evidence_is_on_floats(base: float, is_about_rounding: bool) -> None:
    """At 1e9 the step of float64 is 2^-23."""
    campaign = campaign_on(base, noisy(0.2))
    [game] = campaign.games
    assert game.is_about_rounding is is_about_rounding
    assert bool(campaign.evidence.ideal) is not is_about_rounding
    assert (campaign.ideal_calls == 0) is is_about_rounding
    assert (campaign.evidence.log_value() > NEEDED) is not is_about_rounding
    if is_about_rounding:
        assert campaign.float64.log_value() > NEEDED
        assert campaign.evidence.epsilon_lower(1e-6) == campaign.evidence.log_value() == 0


def test_without_the_second_question_all_evidence_is_one() -> None:
    assert campaign_on(2.0**51, noisy(0.2), low_order="none").evidence.log_value() > NEEDED


def test_evidence_that_is_blamed_on_rounding_changes_sides() -> None:
    campaign = campaign_on(0.0, noisy(0.3))
    before = campaign.float64.log_value()
    assert campaign.evidence.log_value() > NEEDED
    campaign.games[0].blame_rounding()
    assert campaign.evidence.log_value() == 0
    assert campaign.float64.log_value() >= before


def test_low_order_bits_alone_find_the_same() -> None:
    """Nothing else is bet on: there is no evidence on the ideal mechanism."""
    beside, alone = (campaign_on(0.0, noisy(0.3), low_order=mode, calls=1_000) for mode in ("beside", "alone"))
    assert alone.float64.log_value() == pytest.approx(beside.float64.log_value(), rel=0.5)
    assert alone.evidence.log_value() <= 0 < beside.evidence.log_value()


@pytest.mark.parametrize("seed", range(3))
def test_private_outcomes_are_no_evidence_on_floats(seed: int) -> None:
    """Outcomes with the same lowest bits on both sides: wealth of 10^6 would be a chance of 1e-6 for each seed."""
    game = PairGame(np.zeros(1), np.ones(1), seed=seed, index=0, ignored=BITS, low_order="beside")
    for _ in range(6):
        batch = game.prepare(200)
        game.enter(batch, [sample_side(lambda data, size, rng: rng.laplace(size=size), draw) for draw in batch.draws])
    assert float(game.log_wealth_float64(0.1, 0.0)[0]) < NEEDED
