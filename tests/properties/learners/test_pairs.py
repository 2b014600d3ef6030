"""Pairs of features tell the side where neither feature does."""

import math

import numpy as np
import pytest

from dpassay.properties.learners.mixture import Ensemble
from dpassay.properties.learners.pairs import PairLearner
from dpassay.properties.outcomes.batch import Outcomes

SIZE = 4000


def parity_of_flags(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return twelve flags, of which the second and the eighth differ on the left side and agree on the right."""
    rng = np.random.default_rng(seed)
    sides, flags = rng.random(SIZE) < 0.5, rng.integers(0, 2, (SIZE, 12))
    flags[:, 7] = flags[:, 1] ^ sides
    return flags, sides


def as_sets(flags: np.ndarray) -> list[frozenset[str]]:
    return [frozenset(f"tag {k}" for k in np.flatnonzero(row)) for row in flags]


@pytest.mark.parametrize("in_words", [False, True])
def test_the_parity_of_two_flags_is_learnt(in_words: bool) -> None:
    flags, sides = parity_of_flags(0)
    batch = Outcomes.of(as_sets(flags) if in_words else flags)
    learner = PairLearner()
    learner.observe(batch, sides, {})
    fresh, own = parity_of_flags(1)
    told = learner.opinions(Outcomes.of(as_sets(fresh) if in_words else fresh))["pairs of features"]
    assert np.where(own, told, -told).min() > 2


def test_the_mixture_of_all_learners_wins_by_the_parity() -> None:
    ensemble, won = Ensemble(), 0.0
    flags, sides = parity_of_flags(0)
    for start in range(0, SIZE, 500):
        part = slice(start, start + 500)
        batch = Outcomes.of(flags[part])
        logits = ensemble.logits(batch)
        won += float(np.where(sides[part], -np.logaddexp(0, -logits), -np.logaddexp(0, logits)).sum())
        ensemble.observe(batch, sides[part])
    # the first 1,500 outcomes are learnt from; the others are worth log 2 each
    assert won + SIZE * math.log(2) > (SIZE - 1500) * math.log(2) / 2


def test_an_opinion_depends_on_its_own_outcome_alone() -> None:
    flags, sides = parity_of_flags(0)
    learner = PairLearner()
    learner.observe(Outcomes.of(flags), sides, {})
    together = learner.opinions(Outcomes.of(flags[:9]))["pairs of features"]
    for row, opinion in zip(flags[:9], together, strict=True):
        assert learner.opinions(Outcomes.of(row[None]))["pairs of features"][0] == opinion


def test_outcomes_of_one_feature_and_ignored_features_make_no_pairs() -> None:
    flags, sides = parity_of_flags(0)
    numbers = PairLearner()
    numbers.observe(Outcomes.of(np.linspace(0, 1, SIZE)), sides, {})
    assert not numbers.names
    others = PairLearner(frozenset({"outcome[1]"}))
    others.observe(Outcomes.of(flags), sides, {})
    assert not others.opinions(Outcomes.of(flags))


def test_a_signal_that_each_flag_has_is_mixed_with_the_chances_of_saying_nothing() -> None:
    rng = np.random.default_rng(2)
    sides = rng.random(SIZE) < 0.5
    learner = PairLearner()
    learner.observe(Outcomes.of(rng.integers(0, 2, (SIZE, 12))), sides, {})
    assert not learner.opinions(Outcomes.of(rng.integers(0, 2, (5, 12))))
