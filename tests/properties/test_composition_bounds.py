"""The accountants of composition against the enclosures and exact recursions of spec."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.impl.accounting.adaptive_composition import AdaptiveComposition, bounded_range_round, pure_round
from dpassay.impl.accounting.mixed_composition import MixedBatch
from dpassay.impl.accounting.optimal_composition import PureComposition
from dpassay.properties.checks.bounds import on_the_safe_side
from dpassay.properties.strategies.composition import class_sequences
from dpassay.spec.ball import ball
from dpassay.spec.mechanism_classes import ClassSequence, ClassSequences, adaptive_delta
from dpassay.spec.theorems.composition.counting import mixed_delta
from dpassay.spec.verdict import Outcome

checked = settings(max_examples=25, deadline=None, derandomize=True, database=None)
epsilons = st.one_of(st.sampled_from([1e-3, 0.1, 1.0, 8.0]), st.floats(-3, 1).map(lambda e: 10.0**e))
shares = st.one_of(st.sampled_from([0.0, 0.5, 0.25]), st.floats(-1.2, 0.999))


@checked
@given(st.integers(0, 6), st.integers(0, 6), epsilons, shares)
def test_mixed_batches(bounded: int, pure: int, epsilon: float, share: float) -> None:
    pure = pure or (0 if bounded else 1)
    level = share * (bounded + pure) * epsilon
    bound = MixedBatch(pure=pure, bounded_range=bounded, mechanism_epsilon=epsilon).delta(level)
    verdict = on_the_safe_side(min(bound, 1.0), lambda: mixed_delta(bounded, pure, epsilon, level))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@checked
@given(st.integers(1, 40), epsilons, shares)
def test_equal_pure_mechanisms(count: int, epsilon: float, share: float) -> None:
    level = share * count * epsilon
    accountant = PureComposition([epsilon] * count)
    assert accountant.exact
    verdict = on_the_safe_side(accountant.delta(level), lambda: mixed_delta(0, count, epsilon, level))
    assert verdict.outcome is Outcome.HOLDS, verdict.detail
    assert not ball(accountant.delta_lower(level)) > mixed_delta(0, count, epsilon, level)


def in_nats(sequence: ClassSequence, *, up: bool) -> tuple[list[float], float]:
    """The parameters, rounded up, and the level, rounded down; or both the other way."""
    unit = math.log(sequence.base)
    wider = 1 + (2.0**-50 if up else -(2.0**-50))
    level = sequence.level * unit
    return [each.steps * unit * wider for each in sequence.classes], level - math.copysign(2.0**-50, wider - 1) * abs(
        level
    )


@checked
@given(class_sequences(ClassSequences("", 4, 4)))
def test_adaptive_sequences(sequence: ClassSequence) -> None:
    exact = adaptive_delta(sequence.base, sequence.classes, sequence.level)
    parameters, level = in_nats(sequence, up=True)
    make = {"pure": pure_round, "bounded range": bounded_range_round}
    rounds = [make[each.kind](epsilon) for each, epsilon in zip(sequence.classes, parameters, strict=True)]
    assert Fraction(AdaptiveComposition(rounds, cells=200).delta(level)) >= exact


@checked
@given(class_sequences(ClassSequences("", 5, 4, kinds=("pure",))))
def test_different_pure_mechanisms(sequence: ClassSequence) -> None:
    exact = adaptive_delta(sequence.base, sequence.classes, sequence.level)
    parameters, level = in_nats(sequence, up=True)
    assert Fraction(PureComposition(parameters).delta(level)) >= exact
    parameters, level = in_nats(sequence, up=False)
    assert Fraction(PureComposition(parameters).delta_lower(level)) <= exact


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("level", [-0.7, 0.0, 0.35, 1.1])
def test_one_bounded_range_mechanism_among_pure_ones(place: int, level: float) -> None:
    rounds = [bounded_range_round(0.5) if k == place else pure_round(0.5) for k in range(4)]
    recursion = AdaptiveComposition(rounds, cells=512)
    truth = mixed_delta(1, 3, 0.5, level)
    assert ball(recursion.delta_lower(level)) <= truth <= ball(recursion.delta(level))
    assert recursion.delta(level) - recursion.delta_lower(level) < 2e-5


def test_the_order_of_different_pure_mechanisms_changes_no_digit_that_counts() -> None:
    orders = itertools.permutations([0.4, 0.9, 0.2])
    values = [AdaptiveComposition([pure_round(e) for e in order], cells=300).delta(0.3) for order in orders]
    exact = PureComposition([0.4, 0.9, 0.2]).delta(0.3)
    assert values == pytest.approx([exact] * 6, rel=1e-6)
