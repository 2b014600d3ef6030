"""Rare structural leaks are found beside an ordinary signal that is stronger in all."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.learners.structural import KINDS, EventLearner, StructuralLearners
from dpassay.properties.outcomes.batch import Outcomes

Array = NDArray[np.float64]
SIDES = np.array([True, True, True, False, False, False])


def test_an_event_of_one_side_alone_is_predicted_and_one_of_both_is_not() -> None:
    learner = EventLearner()
    batch = Outcomes.of(np.array([np.nan, np.nan, 1.25, np.inf, 0.5, np.inf]))
    learner.observe(batch, np.array([True, True, True, True, False, False]), {})
    fresh = learner.opinions(Outcomes.of(np.array([np.nan, 7.0])))["structural events"]
    assert fresh[1] == 0
    words = EventLearner()
    words.observe(Outcomes.of(["gone", "gone", 1.5, 2.5, 3.5, 4.5]), SIDES, {})
    told = words.opinions(Outcomes.of(["gone", 1.5, "other"]))["structural events"]
    assert told[0] > 1
    assert told[2] == 0


def test_a_rare_form_is_an_event_beside_numbers_that_never_return() -> None:
    learner = EventLearner()
    values = iter(np.random.default_rng(0).normal(size=12_000).tolist())
    for _ in range(2):
        batch = [{"total": next(values), "note": f"of {next(values)}"} for _ in range(2998)]
        batch += [{"total": next(values)}, {"total": next(values), "note": None}]
        learner.observe(Outcomes.of(batch), np.arange(3000) >= 2998, {})
    fresh = Outcomes.of([{"total": 0.25}, {"total": 0.5, "note": None}, {"total": 0.75, "note": "of 3.5"}])
    told = learner.opinions(fresh)["structural events"]
    assert told[0] == told[1] > 1
    assert told[2] < 0


def test_a_type_that_one_side_alone_has_is_an_event() -> None:
    learner = EventLearner()
    batch = replace(Outcomes.of([1, 2, 3, 4.0, 5.0, 6.0]), typed=True)
    learner.observe(batch, SIDES, {})
    told = learner.opinions(replace(Outcomes.of([9, 9.0]), typed=True))["structural events"]
    assert told[0] > 1 > -1 > told[1]


def test_an_opinion_depends_on_its_own_outcome_alone() -> None:
    learners = StructuralLearners()
    values = np.array([0.0, np.nan, np.inf, 2.5, -3.75, np.nan])
    learners.observe(Outcomes.of(values), SIDES)
    together = learners.logits(Outcomes.of(values))
    assert len(together) == len(KINDS)
    for k, value in enumerate(values):
        alone = learners.logits(Outcomes.of(np.array([value])))
        assert [part[0] for part in alone] == [part[k] for part in together]


def leaks(mass: float) -> Campaign:
    """Play on Laplace noise of true epsilon 1, which is claimed, with NaN on the right side of a small mass."""

    def target(data: Array, size: int, rng: np.random.Generator) -> Array:
        noisy = np.round((data[0] + rng.laplace(0, 1, size)) * 1024) / 1024
        return np.asarray(np.where((rng.random(size) < mass) & (data[0] == 1), np.nan, noisy))

    campaign = Campaign(PureDP(1.0), [(np.zeros(1), np.ones(1))], seed=0)
    ideal = -math.log(1e-6) / (mass / 2 * math.log(1 + math.tanh(0.5)))
    while campaign.calls < 4 * ideal and campaign.evidence.log_value() < -math.log(1e-6):
        campaign.play_round(lambda draws: [sample_side(target, d) for d in draws], most_calls=int(4 * ideal))
    return campaign


@pytest.mark.parametrize("mass", [1e-3, pytest.param(1e-5, marks=pytest.mark.slow)])
def test_a_rare_leak_is_found_within_four_times_the_calls_of_the_ideal_bettor(mass: float) -> None:
    assert leaks(mass).evidence.log_value() >= -math.log(1e-6)
