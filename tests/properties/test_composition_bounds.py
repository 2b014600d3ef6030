"""The accountants of composition against the enclosures and exact recursions of spec."""

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.bounds import on_the_safe_side, safe_at_a_rounded_level

from dpassay.impl.accounting.adaptive_composition import AdaptiveComposition, bounded_range_mechanism, pure_mechanism
from dpassay.impl.accounting.composition import UNDERFLOW, CompositionAccountant
from dpassay.impl.accounting.mixed_composition import MixedBatch
from dpassay.impl.accounting.optimal_composition import PureComposition
from dpassay.properties.strategies.composition import class_sequences
from dpassay.spec.ball import Real, at_most, ball
from dpassay.spec.interactions.mechanism_classes import ClassSequence, ClassSequences, adaptive_delta
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


NEAR = [1 - 1e-6, 1 - 1e-9, 1 - 1e-11, 1 - 2.0**-40, 1 - 2.0**-44, 1 - 2.0**-50]
"""Shares of the total epsilon close below it: there delta is the rounding of a difference of nearly equal numbers."""

LOWERED = Fraction(1, 2**44)
"""What the accountants state for the rounding of the global epsilon, relative to it and the total together."""


def between_delta_and_delta_at_a_lower_level(
    bound: float, truth: Callable[[Fraction], arb], level: float, total: float
) -> None:
    """delta(level) <= bound <= delta(level - 2^-44 (|level| + total)) (1 + 10^-9)."""
    lower = Fraction(level) - LOWERED * (abs(Fraction(level)) + Fraction(total))
    verdict = safe_at_a_rounded_level(bound, truth, level, lower, UNDERFLOW)
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1 / 3, 1.0, 7.3])
@pytest.mark.parametrize(("bounded", "pure"), [(0, 1), (0, 7), (5, 0), (3, 4), (1, 40)])
def test_close_to_the_total_epsilon_no_rounding_is_on_the_unsafe_side(bounded: int, pure: int, epsilon: float) -> None:
    accountants: list[CompositionAccountant] = [
        MixedBatch(pure=pure, bounded_range=bounded, mechanism_epsilon=epsilon)
    ]
    if not bounded:
        accountants.append(PureComposition([epsilon] * pure))
    truth: Callable[[Fraction], arb] = lambda level: mixed_delta(bounded, pure, epsilon, level)
    for accountant, share in itertools.product(accountants, NEAR):
        level = share * accountant.total_epsilon
        if level < accountant.total_epsilon:
            bound = accountant.delta(level)
            between_delta_and_delta_at_a_lower_level(bound, truth, level, accountant.total_epsilon)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1 / 3, 1.0, 7.3])
@pytest.mark.parametrize("pure", [0, 1, 4])
def test_the_recursion_close_to_the_total_epsilon(pure: int, epsilon: float) -> None:
    """The chord of the last lattice step is exact for pure mechanisms; for bounded range it is not, but safe."""
    bounded = 0 if pure > 1 else 1
    accountant = AdaptiveComposition(
        [bounded_range_mechanism(epsilon)] * bounded + [pure_mechanism(epsilon)] * pure, cells=64
    )
    for share in NEAR:
        level = share * accountant.total_epsilon
        truth: Callable[[Fraction], arb] = lambda at: mixed_delta(bounded, pure, epsilon, at)
        bound, lower = accountant.delta(level), accountant.delta_lower(level)
        if not bounded:
            between_delta_and_delta_at_a_lower_level(bound, truth, level, accountant.total_epsilon)
        assert encloses(lower, bound, functools.partial(truth, Fraction(level)))


def encloses(lower: float, upper: float, truth: Real) -> bool:
    """Whether a number is certified to lie between two floats."""
    verdicts = at_most(lambda: ball(lower), truth), at_most(truth, lambda: ball(upper))
    return all(verdict.outcome is Outcome.HOLDS for verdict in verdicts)


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
    make = {"pure": pure_mechanism, "bounded range": bounded_range_mechanism}
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
    rounds = [bounded_range_mechanism(0.5) if k == place else pure_mechanism(0.5) for k in range(4)]
    recursion = AdaptiveComposition(rounds, cells=512)
    truth = mixed_delta(1, 3, 0.5, level)
    assert ball(recursion.delta_lower(level)) <= truth <= ball(recursion.delta(level))
    assert recursion.delta(level) - recursion.delta_lower(level) < 2e-5


def test_the_order_of_different_pure_mechanisms_changes_no_digit_that_counts() -> None:
    orders = itertools.permutations([0.4, 0.9, 0.2])
    values = [AdaptiveComposition([pure_mechanism(e) for e in order], cells=300).delta(0.3) for order in orders]
    exact = PureComposition([0.4, 0.9, 0.2]).delta(0.3)
    assert values == pytest.approx([exact] * 6, rel=1e-6)
