"""The learner that all pairs share, on planted problems, from fixed seeds."""

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.combining import CombiningLearner
from dpassay.properties.learners.moves import CommonLearner, MovesView, unit_of
from dpassay.properties.outcomes.batch import Outcomes

Array = NDArray[np.float64]

SIGNS = [np.array(signs) for signs in ([1.0, -1, 1, -1], [-1.0, -1, 1, 1], [-1.0, 1, 1, -1], [1.0, 1, -1, -1])]


def noisy(move: Array, calls: int, rng: np.random.Generator) -> tuple[Outcomes, NDArray[np.bool_]]:
    is_left = rng.random(calls) < 1 / 2
    return Outcomes.of(np.where(is_left[:, None], 0.0, move) + rng.laplace(0, 4.0, (calls, len(move)))), is_left


def watched(common: CommonLearner, move: Array, rng: np.random.Generator) -> tuple[MovesView, CombiningLearner]:
    """Return a view of a pair, and the pair's own learner after its first calls, which chose the regressors."""
    learner = CombiningLearner(len(move))
    learner.observe(*noisy(move, 256, rng), {})
    return MovesView(common, np.zeros(len(move)), move), learner


def taught(common: CommonLearner, move: Array, calls: int, rng: np.random.Generator) -> None:
    view, learner = watched(common, move, rng)
    for _ in range(4):
        view.observe(*noisy(move, calls // 4, rng), learner)


def test_what_some_pairs_taught_tells_the_sides_of_another_from_its_first_bet() -> None:
    rng = np.random.default_rng(0)
    common = CommonLearner(1.0)
    for move in SIGNS[:3]:
        taught(common, move, 4000, rng)
    view, learner = watched(common, SIGNS[3], rng)
    outcomes, is_left = noisy(SIGNS[3], 20_000, rng)
    ahead = np.where(is_left, 1, -1) * view.logits(outcomes, learner)
    best = np.where(is_left, 1, -1) * (np.abs(outcomes.rows - SIGNS[3]) - np.abs(outcomes.rows)).sum(axis=1) / 4
    won, most = (float((np.log(2) - np.logaddexp(0, -each)).sum()) for each in (ahead, best))
    assert won > 0.8 * most > 0


def test_a_pair_the_other_way_round_is_told_the_other_way_round() -> None:
    rng = np.random.default_rng(1)
    common = CommonLearner(1.0)
    taught(common, SIGNS[0], 4000, rng)
    _, learner = watched(common, SIGNS[0], rng)
    there, back = MovesView(common, np.zeros(4), SIGNS[0]), MovesView(common, SIGNS[0], np.zeros(4))
    outcomes, _ = noisy(SIGNS[0], 50, rng)
    np.testing.assert_allclose(there.logits(outcomes, learner), -back.logits(outcomes, learner), atol=1e-6)


def test_a_prediction_depends_on_its_own_outcome_alone() -> None:
    rng = np.random.default_rng(2)
    common = CommonLearner(1.0)
    taught(common, SIGNS[0], 800, rng)
    view, learner = watched(common, SIGNS[1], rng)
    outcomes, _ = noisy(SIGNS[1], 80, rng)
    together = view.logits(outcomes, learner)
    for start, end in [(0, 1), (0, 3), (7, 80), (40, 57), (79, 80)]:
        alone = view.logits(outcomes.taken(np.arange(start, end)), learner)
        np.testing.assert_array_equal(alone, together[start:end])


def test_outcomes_between_the_inputs_are_counted_over_all_pairs() -> None:
    rng = np.random.default_rng(3)
    common = CommonLearner(1.0)
    for base in range(8):
        left, right = np.full(1, float(base)), np.full(1, base + 1.0)
        view = MovesView(common, left, right)
        is_left = rng.random(60) < 1 / 2
        values = np.where(is_left, left, right) + rng.exponential(20.0, 60)
        view.observe(Outcomes.of(values), is_left, None)
    logits = MovesView(common, np.full(1, 30.0), np.full(1, 31.0)).logits(Outcomes.of(np.array([30.5, 29.0])), None)
    assert logits[0] > 1.5
    assert logits[1] == 0


def test_places_that_outcomes_name_stand_for_the_moves_there() -> None:
    rng = np.random.default_rng(4)
    common = CommonLearner(1.0)

    def named(move: Array, calls: int) -> tuple[Outcomes, NDArray[np.bool_]]:
        is_left = rng.random(calls) < 1 / 2
        scores = np.where(is_left[:, None], 0.0, move) + rng.laplace(0, 2.0, (calls, 4))
        return Outcomes.of(scores.argmax(axis=1)), is_left

    for move in SIGNS[:3]:
        learner = CombiningLearner(0)
        learner.observe(*named(move, 256), {})
        view = MovesView(common, np.zeros(4), move)
        for _ in range(4):
            view.observe(*named(move, 1000), learner)
    learner = CombiningLearner(0)
    learner.observe(*named(SIGNS[3], 256), {})
    logits = MovesView(common, np.zeros(4), SIGNS[3]).logits(Outcomes.of(np.arange(4)), learner)
    assert (np.sign(logits) == -SIGNS[3]).all()


def test_the_unit_is_the_largest_finite_move() -> None:
    pairs = [
        (np.zeros(2), np.array([1.0, -3.0])),
        (np.zeros(1), np.array([np.inf])),
        (np.array([2.0]), np.array([2.0, 5.0])),
    ]
    assert unit_of(pairs) == 5
    assert unit_of([(np.zeros(2), np.zeros(2))]) == 0


def test_nothing_moves_and_nothing_is_told() -> None:
    common = CommonLearner(0.0)
    view = MovesView(common, np.zeros(2), np.zeros(2))
    outcomes = Outcomes.of(np.zeros((5, 2)))
    view.observe(outcomes, np.ones(5, dtype=np.bool_), None)
    assert not view.logits(outcomes, None).any()
    assert not MovesView(common, np.zeros(1), np.zeros(3)).logits(Outcomes.of(["a", "b"]), None).any()
