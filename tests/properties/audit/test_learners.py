import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.properties.audit.betting import to_levels
from dpassay.properties.audit.learners import AtomLearner, Ensemble, ScalarLearner
from dpassay.properties.audit.outcomes import Outcomes

numbers = st.one_of(st.integers(-3, 3), st.floats(), st.booleans(), st.just(10**400), st.integers(2**53, 2**53 + 3))
symbols = st.one_of(
    numbers,
    st.none(),
    st.text("ab", max_size=3),
    st.lists(numbers, max_size=9).map(tuple),
    st.lists(st.one_of(st.none(), numbers), max_size=9).map(tuple),
)
same_shape = st.one_of(
    st.lists(st.floats(), min_size=4, max_size=30),
    st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3).map(tuple), min_size=4, max_size=30),
)
batches = st.one_of(st.lists(symbols, min_size=4, max_size=30), same_shape)


@settings(max_examples=40, deadline=None)
@given(past=st.lists(batches, min_size=1, max_size=2), batch=batches, data=st.data())
def test_a_prediction_depends_on_its_own_outcome_and_the_past_alone(
    past: list[list[object]], batch: list[object], data: st.DataObject
) -> None:
    ensemble = Ensemble()
    for rows in past:
        ensemble.observe(Outcomes.of(rows), np.array([data.draw(st.booleans()) for _ in rows]))
    together = to_levels(ensemble.logits(Outcomes.of(batch)))
    alone = np.concatenate([to_levels(ensemble.logits(Outcomes.of([row]))) for row in batch])
    mixed = to_levels(ensemble.logits(Outcomes.of([*batch, None, (1, None)])))[: len(batch)]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, mixed)


def test_atoms_retire_when_outcomes_are_continuous() -> None:
    learner = AtomLearner()
    rng = np.random.default_rng(0)
    learner.observe(Outcomes.of(np.array([1.0, 1.0, 2.0])), np.array([True, True, False]))
    assert learner.logits(Outcomes.of(np.array([1.0, 2.0, 3.0]))).round(3).tolist() == [1.609, -1.099, 0.0]
    learner.observe(Outcomes.of(rng.random(100)), rng.random(100) < 0.5)
    assert not learner.logits(Outcomes.of(np.array([1.0, 2.0]))).any()


def test_a_scalar_learner_tells_missing_values_from_others() -> None:
    learner = ScalarLearner("outcome")
    learner.observe(Outcomes.of([1.0, math.nan] * 50), np.array([True, False] * 50))
    on_number, on_nan, on_none = learner.logits(Outcomes.of([1.0, math.nan, None]))
    assert on_number > 2
    assert on_nan == on_none < -2


def test_the_ensemble_follows_its_best_learner() -> None:
    ensemble, rng = Ensemble(), np.random.default_rng(0)
    for _ in range(5):
        sides = rng.random(400) < 0.5
        rows = np.column_stack([rng.normal(size=400), np.where(sides, 1.0, -1.0) + rng.normal(0, 0.1, 400)])
        ensemble.observe(Outcomes.of(rows), sides)
    prediction = ensemble.logits(Outcomes.of(np.array([[0.0, 1.0], [0.0, -1.0]])))
    assert prediction[0] > 3
    assert prediction[1] < -3
