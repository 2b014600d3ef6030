"""Samplers of the mechanisms with targets, against distributions that are written out here."""

import math
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.mechanisms.between_thresholds import BetweenThresholds
from dpassay.impl.mechanisms.boundary_wrapper import BOUNDARY, BoundaryWrapper
from dpassay.impl.mechanisms.double_run import DoubleRun
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.finite import FiniteMechanism
from dpassay.impl.mechanisms.gaussian import gaussian_mechanism

CALLS = 200_000
SKEWED = FiniteMechanism((7, 2, 1), (6, 3, 1))
ZERO, ONE = np.array([0.0]), np.array([1.0])


def test_a_finite_mechanism_follows_its_weights(follows) -> None:  # type: ignore[no-untyped-def]
    follows(SKEWED.sample(ZERO, CALLS, np.random.default_rng(1)).tolist(), {0: 0.7, 1: 0.2, 2: 0.1})
    follows(SKEWED.sample(ONE, CALLS, np.random.default_rng(1)).tolist(), {0: 0.6, 1: 0.3, 2: 0.1})


def test_a_finite_mechanism_claims_its_exact_epsilon() -> None:
    (claim,) = SKEWED.claims
    assert isinstance(claim, PureDP)
    assert math.log(1.5) <= claim.epsilon <= math.log(1.5) * (1 + 1e-12)


@pytest.mark.parametrize(("zero", "one"), [(1, 1), (5, 1), (1, 7)])
def test_the_claim_depends_on_probabilities_and_not_on_the_sums_of_the_weights(zero: int, one: int) -> None:
    (claim,) = FiniteMechanism((zero, zero), (one, 3 * one)).claims  # 1/2, 1/2 and 1/4, 3/4
    assert isinstance(claim, PureDP)
    assert claim.epsilon == pytest.approx(math.log(2), rel=1e-12)


def test_the_wrapper_adds_the_boundary(follows) -> None:  # type: ignore[no-untyped-def]
    outcomes = BoundaryWrapper(SKEWED).sample(ZERO, CALLS, np.random.default_rng(2))
    follows(outcomes.tolist(), {0: 7 / 13, 1: 2 / 13, 2: 1 / 13, BOUNDARY: 3 / 13})


def test_the_boundary_is_capped_and_keeps_its_accuracy() -> None:
    wrapped = BoundaryWrapper(ExponentialMechanism(size=3, epsilon=2.0))
    assert wrapped.boundary_probability(np.zeros(3)) == pytest.approx(1 / 3)
    sure = wrapped.boundary_probability(np.array([60.0, 0.0, 0.0]))
    assert sure == pytest.approx(2 * math.exp(-60), rel=1e-12)


def test_a_wrapped_test_is_charged_less() -> None:
    bit = FiniteMechanism((21, 20), (20, 21))
    test, classifier = BoundaryWrapper(bit, binary=True), BoundaryWrapper(bit)
    assert test.epsilon < classifier.epsilon
    assert classifier.quality > 0.25
    with pytest.raises(UsageError, match="binary"):
        BoundaryWrapper(SKEWED, binary=True).sample(ZERO, 1, np.random.default_rng(0))


class FalseOracle(FiniteMechanism):
    def log_probabilities(self, data: Any) -> Any:
        return super().log_probabilities(data) + 0.5


class NoOracle(FiniteMechanism):
    def log_probabilities(self, data: Any) -> Any:
        return super().log_probabilities(data) * np.nan


@pytest.mark.parametrize("oracle", [FalseOracle, NoOracle])
def test_probabilities_that_do_not_sum_to_one_draw_nothing(oracle: type[FiniteMechanism]) -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(UsageError, match="sum to 1"):
        BoundaryWrapper(oracle((7, 2, 1), (6, 3, 1))).sample(ZERO, 1, rng)
    assert rng.bit_generator.state == before


def test_two_runs_are_independent(follows) -> None:  # type: ignore[no-untyped-def]
    rows = DoubleRun(SKEWED).sample(ZERO, CALLS, np.random.default_rng(3))
    chances = (0.7, 0.2, 0.1)
    distribution = {(a, b): p * q for a, p in enumerate(chances) for b, q in enumerate(chances)}
    follows(list(map(tuple, rows.tolist())), distribution)
    assert DoubleRun(SKEWED).quality > 0.4


@pytest.mark.parametrize("answer", [-4.0, 0.25, 1.0, 3.0])
def test_between_thresholds_follows_the_laplace_distribution(answer: float, follows) -> None:  # type: ignore[no-untyped-def]
    mechanism = BetweenThresholds(epsilon=0.8, low=-1.0, high=1.5, sensitivity=2.0)

    def below(x: float) -> float:
        z = (x - answer) * 0.8 / 2
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    outcomes = mechanism.sample(np.array([answer]), CALLS, np.random.default_rng(4))
    follows(outcomes.tolist(), {0: below(-1.0), 1: below(1.5) - below(-1.0), 2: 1 - below(1.5)})


def test_between_thresholds_knows_its_quality() -> None:
    wide = BetweenThresholds(epsilon=0.5, low=-1000.0, high=1000.0)
    assert wide.quality == pytest.approx(float(not_prior_quality(0.5)))


MECHANISMS: list[tuple[Any, Any]] = [
    (SKEWED, ZERO),
    (BoundaryWrapper(SKEWED), ZERO),
    (DoubleRun(SKEWED), ZERO),
    (BetweenThresholds(1.0, 0.0, 1.0), ZERO),
]


@pytest.mark.parametrize(("mechanism", "data"), MECHANISMS)
def test_the_same_seed_gives_the_same_outcomes_and_no_call_none(mechanism: Any, data: Any) -> None:
    first, second = (mechanism.sample(data, 50, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first, second)
    assert len(mechanism.sample(data, 0, np.random.default_rng(9))) == 0


@pytest.mark.parametrize(("mechanism", "data"), MECHANISMS)
def test_bad_data_and_sizes_are_refused(mechanism: Any, data: Any) -> None:
    rng = np.random.default_rng(0)
    for wrong in (np.array([math.nan]), np.zeros(2), np.array([])):
        with pytest.raises(UsageError, match="data"):
            mechanism.sample(wrong, 1, rng)
    for size in (-1, 1.5):
        with pytest.raises(UsageError, match="size"):
            mechanism.sample(data, size, rng)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="zero"):
        FiniteMechanism((1, 0), (1, 1))
    with pytest.raises(UsageError, match="equally many"):
        FiniteMechanism((1, 1), (1, 1, 1))
    with pytest.raises(UsageError, match="bit"):
        SKEWED.sample(np.array([0.5]), 1, np.random.default_rng(0))
    for wrapper in (BoundaryWrapper, DoubleRun):
        with pytest.raises(UsageError, match="pure DP"):
            wrapper(gaussian_mechanism)  # type: ignore[arg-type]  # that is the point
    for low, high in ((1.0, 1.0), (2.0, 1.0), (0.0, math.inf)):
        with pytest.raises(UsageError, match="low"):
            BetweenThresholds(1.0, low, high)
    with pytest.raises(UsageError, match="epsilon"):
        BetweenThresholds(0.0, 0.0, 1.0)


def test_two_runs_need_single_numbers() -> None:
    with pytest.raises(UsageError, match="one number"):
        DoubleRun(DoubleRun(SKEWED)).sample(ZERO, 2, np.random.default_rng(0))
