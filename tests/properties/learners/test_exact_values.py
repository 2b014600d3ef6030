import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.learners.structural import ExactValueLearner
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

Array = NDArray[np.float64]


def batch(rng: np.random.Generator, size: int, mass: float) -> tuple[Outcomes, NDArray[np.bool_]]:
    is_left = rng.random(size) < 1 / 2
    return Outcomes(np.where(is_left & (rng.random(size) < mass), 7.25, rng.normal(size=size))), is_left


def test_a_value_that_comes_back_in_continuous_noise_tells_its_side() -> None:
    rng, learner = np.random.default_rng(0), ExactValueLearner()
    for _ in range(4):
        learner.observe(*batch(rng, 2000, 0.005), {})
    logits = learner.opinions(Outcomes(np.array([7.25, 7.5])))["exact values"]
    assert logits[0] > 3
    assert logits[1] == 0


def test_a_value_of_both_sides_tells_nothing() -> None:
    rng, learner = np.random.default_rng(0), ExactValueLearner()
    for _ in range(4):
        outcomes, is_left = batch(rng, 4000, 0.02)
        learner.observe(outcomes, rng.permutation(is_left), {})
    assert abs(learner.opinions(Outcomes(np.array([7.25])))["exact values"][0]) < 1


@pytest.mark.parametrize("mass", [0.02])
def test_a_rare_value_is_found_beside_noise_that_spends_the_claim(mass: float) -> None:
    def leaking(data: Array, size: int, rng: np.random.Generator) -> Array:
        return np.where(rng.random(size) < mass * data[0], 7.25, data[0] + rng.laplace(size=size))

    campaign = Campaign(PureDP(1.0), [(np.zeros(1), np.ones(1))], seed=0, ignored=frozenset({LOWEST_BIT}))
    while campaign.calls < 20_000:
        campaign.play_round(lambda draws: [sample_side(leaking, draw) for draw in draws], most_calls=20_000)
    assert campaign.evidence.log_value() > 21  # nats; an ideal bettor has 60
