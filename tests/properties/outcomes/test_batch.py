"""Batches of outcomes of every kind."""

import math
from typing import Any

import numpy as np
import pytest

from dpassay.properties.learners.mixture import Ensemble
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import parse_event
from dpassay.properties.outcomes.telling_events import best_event


@pytest.mark.parametrize(
    "raw",
    [
        np.arange(4),
        np.array([1.5, math.nan, math.inf, -math.inf]),
        np.array([-1.7976931348623157e308, 5e-324, 1.7976931348623157e308, 0.0]),
        np.eye(4),
        [None, 1, "yes", (1, None)],
        [True, False, True, False],
        [10**30, 1, 2, 3],
        [b"x", "x", [1.0, 2.0], np.float64(3)],
        [(), (1,), (1, 2), None],
        [np.array([1, 2]), np.array([3, 4]), np.array([5, 6]), np.array([7, 8])],
    ],
)
def test_every_kind_of_outcome_is_counted_predicted_and_described(raw: Any) -> None:
    outcomes = Outcomes.of(raw)
    sides = np.array([True, False, True, False])
    assert len(outcomes) == 4
    assert len(set(map(str, outcomes.symbols()))) >= 2
    ensemble = Ensemble()
    ensemble.observe(outcomes, sides)
    assert np.isfinite(ensemble.logits(outcomes)).all()
    event = best_event(outcomes, sides, 0.0, 0.0)
    assert parse_event(str(event)).holds(outcomes).tolist() == event.holds(outcomes).tolist()


def test_integers_of_any_length_are_told_apart() -> None:
    long = 10**5000
    assert Outcomes.of([long, long, (long, 0.0)][:2]).are_alike()
    assert not Outcomes.of([long, long + 1]).are_alike()
    assert not Outcomes.of([(long, 0.0), (long, -0.0)]).are_alike()
    assert not Outcomes.of([(long, 1), (long, True)]).are_alike()


@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 1)])
def test_numbers_of_every_shape_have_a_lowest_bit(shape: tuple[int, ...]) -> None:
    outcomes = Outcomes.of(np.full((4, *shape), 0.75))
    assert outcomes.features["lowest_bit(outcome)"].tolist() == [-2.0] * 4
