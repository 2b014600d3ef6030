"""The distributions of BetweenThresholds, the boundary wrapper and the double run, and indistinguishable pairs."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from dpassay.arguments import UsageError
from dpassay.properties.strategies.indistinguishable import indistinguishable_pairs
from dpassay.spec.ball import ball, midpoint, precision, sum_balls
from dpassay.spec.distributions.between_thresholds import (
    BETWEEN,
    BetweenThresholdsDistribution,
    between_thresholds_probabilities,
)
from dpassay.spec.distributions.boundary_wrapper import BOUNDARY, BoundaryWrappedDistribution, boundary_wrapped
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution
from dpassay.spec.distributions.double_run import DoubleRunDistribution, run_twice
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.indistinguishable import IndistinguishablePairs, TargetedPair

SKEWED = FiniteDistribution.of(7, 2, 1)


def sums_to_one(distribution: DiscreteDistribution) -> bool:
    with precision(128):
        total = sum_balls(distribution.log_probability(o).exp() for o in distribution.outcomes)
        return bool(total.contains(1)) and total.rel_accuracy_bits() > 100


@pytest.mark.parametrize("value", [-3, -1, 0, Fraction(1, 3), 1, 50])
def test_between_thresholds_is_a_distribution(value: Any) -> None:
    assert sums_to_one(BetweenThresholdsDistribution(value, -1, 1, Fraction(1, 2)))


def test_zones_agree_on_the_thresholds() -> None:
    width = Fraction(1, 5)
    for position, zones in ((Fraction(1), ("below", "inside")), (1 / width, ("inside", "above"))):
        first, second = (between_thresholds_probabilities(position, width, zone) for zone in zones)  # type: ignore[arg-type]
        assert first == second


def test_between_is_accurate_in_the_far_tail() -> None:
    distribution = BetweenThresholdsDistribution(1000, -1, 1, 1)
    assert midpoint(distribution.log_probability(BETWEEN)) == pytest.approx(-999 - 0.8385606, abs=1e-6)


def test_the_wrapper_caps_the_boundary_at_one_third() -> None:
    assert boundary_wrapped(FiniteDistribution.of(1, 1)).probability(BOUNDARY) == Fraction(1, 3)
    assert boundary_wrapped(FiniteDistribution.of(1, 1, 1)).probability(BOUNDARY) == Fraction(1, 3)
    assert boundary_wrapped(SKEWED).weights == {0: Fraction(7, 13), 1: Fraction(2, 13), 2: Fraction(1, 13),
                                                BOUNDARY: Fraction(3, 13)}  # fmt: skip
    assert boundary_wrapped(FiniteDistribution.of(1, 0)).probability(BOUNDARY) == 0


@pytest.mark.parametrize("weights", [(7, 2, 1), (1, 1), (1, 0), (5, 4, 3, 2), (10**9, 1)])
def test_the_enclosed_distributions_agree_with_the_exact_ones(weights: tuple[int, ...]) -> None:
    base = FiniteDistribution.of(*weights)
    for enclosed, exact in (
        (BoundaryWrappedDistribution(base), boundary_wrapped(base)),
        (DoubleRunDistribution(base), run_twice(base)),
    ):
        assert set(enclosed.outcomes) == set(exact.outcomes)
        for outcome in exact.outcomes:
            assert enclosed.log_probability(outcome).exp().overlaps(ball(exact.probability(outcome)))


def test_a_certain_answer_keeps_the_accuracy_of_the_boundary() -> None:
    distribution = BoundaryWrappedDistribution(ExponentialMechanismDistribution((0, 1000), 1, 1))
    assert distribution.log_probability(BOUNDARY).rel_accuracy_bits() > 40
    assert sums_to_one(distribution)


def test_bad_outcomes_and_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="outcome"):
        BetweenThresholdsDistribution(0, -1, 1, 1).log_probability(3)
    with pytest.raises(UsageError, match="pair"):
        DoubleRunDistribution(SKEWED).log_probability(0)
    with pytest.raises(UsageError, match="below high"):
        BetweenThresholdsDistribution(0, 1, 1, 1)
    with pytest.raises(UsageError, match="epsilon"):
        BetweenThresholdsDistribution(0, 0, 1, 0)


@settings(max_examples=60, database=None)
@given(indistinguishable_pairs(2, 5))
def test_drawn_pairs_are_members(pair: TargetedPair) -> None:
    assert IndistinguishablePairs("any").contains(pair)
    assert not IndistinguishablePairs("any", largest_size=pair.size - 1).contains(pair)
    assert not IndistinguishablePairs("any").contains(TargetedPair(pair.left, pair.right, Fraction(1), pair.hits))


def test_the_strategy_reaches_both_ends_of_the_likelihood_ratio() -> None:
    reached: set[str] = set()

    @settings(max_examples=30, database=None)
    @given(indistinguishable_pairs(2, 5))
    def look(pair: TargetedPair) -> None:
        for o, p in pair.left.weights.items():
            q = pair.right.weights[o]
            reached.update(
                name for name, tie in (("up", p == pair.ratio * q), ("down", q == pair.ratio * p)) if p and tie
            )

    look()
    assert reached == {"up", "down"}
