import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.properties.learners.combining import SIGNS, SIGNS_ALIKE, CombiningLearner
from dpassay.properties.learners.logistic import StreamingLogistic, weighted_sums
from dpassay.properties.learners.regressors import Regressors
from dpassay.properties.learners.two_sample import RampLearner, ScaleLearner
from dpassay.properties.outcomes.batch import Outcomes

TRUE = np.array([0.5, -0.3, 0.0])


def stream(calls: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.normal(size=(calls, 2)), np.ones(calls)])
    return values, rng.random(calls) < expit(values @ TRUE)


def learnt(values: np.ndarray, sides: np.ndarray, *precisions: float, batch: int = 1000) -> StreamingLogistic:
    logistic = StreamingLogistic([precision * np.eye(values.shape[1]) for precision in precisions])
    for start in range(0, len(values), batch):
        part = values[start : start + batch]
        logistic.learn(part.__getitem__, sides[start : start + batch])
    return logistic


def test_the_weights_are_found_from_batches() -> None:
    values, sides = stream(40_000)
    found = learnt(values, sides, 1.0).weights[0]
    assert np.abs(found - TRUE).max() < 0.05


def test_all_priors_are_served_by_one_pass() -> None:
    values, sides = stream(2000)
    both = learnt(values, sides, 1.0, 1000.0)
    assert np.abs(both.weights[1]).max() < 0.5 * np.abs(both.weights[0]).max()
    np.testing.assert_allclose(both.weights[0], learnt(values, sides, 1.0).weights[0])
    assert both.effective_weights(0) == pytest.approx(3, abs=0.05)
    assert both.effective_weights(1) < 1.5


def test_regressors_join_and_leave() -> None:
    values, sides = stream(20_000)
    logistic = learnt(values[:, :1], sides, 1.0)
    logistic.widen(3)
    assert logistic.weights[0, 1:].tolist() == [0, 0]
    logistic.learn(lambda part: values[part], sides)
    assert logistic.cost_without(1) > 50
    assert logistic.cost_without(2) < 10
    kept = logistic.weights[0, [0, 1]]
    logistic.drop(2)
    np.testing.assert_allclose(logistic.weights[0], kept, atol=0.02)


def test_sums_do_not_depend_on_the_number_of_rows() -> None:
    values = np.random.default_rng(0).normal(size=(101, 40)).astype(np.float32)
    weights = np.random.default_rng(1).normal(size=40)
    alone = [weighted_sums(values[k : k + 1], weights)[0] for k in range(101)]
    assert weighted_sums(values, weights).tolist() == alone


@pytest.mark.parametrize("width", [1, 3])
def test_there_is_a_group_for_every_regressor(width: int) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(300, width))
    places = rng.integers(0, 5, size=(300, 1)).astype(np.float64)
    hits = np.hstack([places, numbers[:, :1]] * width)
    for rows in (numbers, places, np.hstack([places, numbers]), np.hstack([places, places]), hits):
        fitted = Regressors.fitted(rows)
        values = fitted.of(rows)
        assert values.shape == (300, len(fitted.groups()))
        assert np.isfinite(values).all()
        np.testing.assert_array_equal(fitted.of(rows[7:8])[0], values[7])


def test_a_number_may_move_either_way_depending_on_its_place() -> None:
    learner, rng = CombiningLearner(4), np.random.default_rng(0)

    def hits(sides: NDArray[np.bool_]) -> NDArray[np.float64]:
        places = rng.integers(0, 6, size=(len(sides), 2))
        moved = np.where(places < 3, 0.5, -0.5) * sides[:, None]
        numbers = rng.laplace(size=places.shape) + moved
        return np.stack([places[:, 0], numbers[:, 0], places[:, 1], numbers[:, 1]], axis=1)

    for _ in range(8):
        sides = rng.random(2000) < 0.5
        learner.observe(Outcomes.of(hits(sides)), sides, {})
    opinions = learner.opinions(Outcomes.of(np.array([[1.0, 2.0, 5.0, -2.0], [1.0, -2.0, 5.0, 2.0]])))
    for name in ("signs alike of 4", "faint coordinates of 4"):
        high, low = opinions[name]
        assert high > 0.25, name
        assert low < -0.25, name


def test_the_first_term_of_a_running_sum_is_a_difference() -> None:
    rng = np.random.default_rng(0)
    fitted = Regressors.fitted(np.cumsum(rng.laplace(size=(300, 3)), axis=1))
    assert fitted.differences.tolist() == [-1, 0, 1]
    terms = fitted._terms(np.array([[1.0, 3.0, 6.0]]))
    assert terms[:, 0].tolist() == [1.0, 3.0, 6.0, 1.0, 2.0, 3.0]


def test_signs_are_the_only_weights_of_their_priors() -> None:
    learner, rng = CombiningLearner(2), np.random.default_rng(0)
    sides = rng.random(600) < 0.5
    learner.observe(Outcomes.of(rng.normal(size=(600, 2)) + sides[:, None]), sides, {})
    regressors = learner.regressors
    assert regressors is not None
    is_sign = regressors.signs()
    for name in (*SIGNS, *SIGNS_ALIKE):
        weights = learner._logistic.weights[learner.names.index(f"{name} of 2")]
        assert weights[is_sign].any()
        assert not weights[~is_sign].any()


def test_coordinates_of_vectors_of_another_length_are_left_alone() -> None:
    learner, rng = CombiningLearner(2), np.random.default_rng(0)
    sides = rng.random(600) < 0.5
    rows = rng.normal(size=(600, 2)) + sides[:, None]
    learner.observe(Outcomes.of(rows), sides, {})
    opinions = learner.opinions(Outcomes.of([(2.0, 2.0), (2.0,), None, 2.0, (2.0, math.inf)]))
    for name in ("coordinates of 2", "coordinates alike of 2"):
        assert opinions[name][0] > 1
        assert not opinions[name][1:].any()
    for name in list(learner.names):
        learner.retire(name)
    assert not learner.opinions(Outcomes.of(rows))
    learner.observe(Outcomes.of(rows), sides, {})


def test_a_shift_shows_as_a_ramp() -> None:
    """The log ratio of two Laplace distributions is linear between their centres, and level beyond."""
    learner, rng = RampLearner(), np.random.default_rng(0)
    for _ in range(8):
        sides = rng.random(2000) < 0.5
        learner.observe(Outcomes.of(rng.laplace(np.where(sides, 1.0, 0.0), 1.0)), sides, {})
    places = np.array([-5.0, 0.0, 0.5, 1.0, 5.0])
    opinions = learner.opinions(Outcomes.of([*places.tolist(), None, math.inf]))
    best = min(np.abs(opinion[:5] - np.clip(2 * places - 1, -1, 1)).max() for opinion in opinions.values())
    assert best < 0.2
    assert all(not opinion[5:].any() for opinion in opinions.values())
    for name in list(learner.names):
        learner.retire(name)
    assert not learner.opinions(Outcomes.of([1.0]))


@pytest.mark.parametrize("family", ["gaussian", "laplace"])
def test_a_ratio_of_scales_shows(family: str) -> None:
    learner, rng = ScaleLearner(family), np.random.default_rng(0)  # type: ignore[arg-type]
    sides = np.arange(400) % 2 == 0
    draw = rng.normal if family == "gaussian" else rng.laplace
    learner.observe(Outcomes.of(draw(0.0, np.where(sides, 2.0, 1.0))), sides, {})
    inside, outside, missing = learner.opinions(Outcomes.of([0.0, 5.0, None]))[f"{family} scale"]
    assert inside < -0.2
    assert outside > 1
    assert missing == 0
