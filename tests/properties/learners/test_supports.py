"""The learner of supports."""

import numpy as np
import pytest

from dpassay.properties.learners.mixture import Ensemble
from dpassay.properties.learners.supports import SupportLearner
from dpassay.properties.outcomes.batch import Outcomes

ALL_LEFT = np.full(4, True)


def taught(left: list[float], right: list[float]) -> SupportLearner:
    learner = SupportLearner()
    values = np.array(left + right)
    learner.observe(Outcomes(values), np.arange(values.size) < len(left), {})
    return learner


def opinion(learner: SupportLearner, values: list[float]) -> list[float]:
    (logits,) = learner.opinions(Outcomes(np.array(values))).values()
    found: list[float] = logits.tolist()
    return found


def test_values_below_all_of_the_other_side_are_the_sides_own() -> None:
    learner = taught([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, 5.0], [0.0, 1.0, 9.0])
    below, inside, at_the_bound, above = opinion(learner, [-2.5, 0.5, 0.0, 9.5])
    assert below > 2.0
    assert inside == at_the_bound == 0.0
    assert -1.0 < above < 0.0  # a single value beyond is next to nothing


def test_the_more_values_lie_beyond_the_surer() -> None:
    sure = [opinion(taught([-1.0 - k for k in range(count)], [0.0]), [-1.5])[0] for count in (1, 4, 16, 64)]
    assert sure == sorted(sure)
    assert np.log(64) < sure[-1] < np.log(2 * 65)


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_sides_that_showed_nothing_have_no_support(values: list[float]) -> None:
    assert opinion(taught(values, [1.0, 2.0]), [0.0, 3.0]) == [0.0, 0.0]


def test_what_it_says_of_an_outcome_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(5)
    learner = SupportLearner()
    learner.observe(Outcomes(rng.normal(size=(200, 3))), rng.random(200) < 0.3, {})
    rows = 2 * rng.normal(size=(50, 3))
    (together,) = learner.opinions(Outcomes(rows)).values()
    alone = [learner.opinions(Outcomes(row[None])).popitem()[1][0] for row in rows]
    assert together.tolist() == alone
    assert np.count_nonzero(together) > 0


def test_a_rare_outcome_that_one_side_alone_has_is_noticed_within_some_thousand_calls() -> None:
    rng = np.random.default_rng(1)
    ensemble, won = Ensemble(), 0.0
    for _ in range(12):
        is_left = rng.random(1_000) < 0.5
        values = rng.random(1_000)
        values[is_left & (rng.random(1_000) < 0.01)] -= 1.0
        outcomes = Outcomes(values)
        signed = np.where(is_left, 1, -1) * ensemble.logits(outcomes)
        won += float(np.log(2) - np.log1p(np.exp(-signed)).mean()) * 1_000
        ensemble.observe(outcomes, is_left)
    assert won > 15.0  # of some 60 outcomes, each worth log 2


def test_retired_it_says_nothing() -> None:
    learner = taught([-1.0], [0.0])
    learner.retire(learner.names[0])
    learner.observe(Outcomes(np.arange(4.0)), ALL_LEFT, {})
    assert learner.opinions(Outcomes(np.arange(4.0))) == {}
