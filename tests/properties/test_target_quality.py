"""The qualities of impl against the exact ones of spec, on the safe side and as close as they say."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.impl.accounting import target_quality as floats
from dpassay.impl.accounting.target_programme import quality_by_programme
from dpassay.impl.mechanisms.between_thresholds import BetweenThresholds
from dpassay.impl.mechanisms.boundary_wrapper import BoundaryWrapper
from dpassay.impl.mechanisms.double_run import DoubleRun
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.finite import FiniteMechanism
from dpassay.properties.strategies.indistinguishable import indistinguishable_pairs
from dpassay.spec.ball import Real, at_least, at_most, ball
from dpassay.spec.distributions.indistinguishable import TargetedPair
from dpassay.spec.notions.target_quality import target_quality
from dpassay.spec.theorems.target_charging.boundary_quality import boundary_quality, printed_boundary_quality
from dpassay.spec.theorems.target_charging.boundary_wrapper import wrapped_classifier_ratio
from dpassay.spec.verdict import Outcome, conjunction

checked = settings(max_examples=80, deadline=None, derandomize=True, database=None)
ACCURACY = Fraction(1, 10**12)

epsilons = st.one_of(st.sampled_from([1e-3, 0.1, 0.5, 1.0, 3.0]), st.floats(-8, 1.3).map(lambda e: 10.0**e))
gaps = st.floats(-6, 2).map(lambda e: 10.0**e)


def rounded_down(value: float, truth: Real, accuracy: Fraction = ACCURACY) -> None:
    verdict = conjunction([
        at_most(lambda: ball(value), truth),
        at_least(lambda: ball(value), lambda: truth() * (1 - ball(accuracy))),
    ])  # fmt: skip
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


def rounded_up(value: float, truth: Real) -> None:
    verdict = conjunction([
        at_least(lambda: ball(value), truth),
        at_most(lambda: ball(value), lambda: truth() * (1 + ball(ACCURACY))),
    ])  # fmt: skip
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


def of_ratio(formula: Callable[[arb], arb], epsilon: float) -> Real:
    return lambda: formula(ball(epsilon).exp())


@checked
@given(epsilons, gaps)
def test_qualities_of_families(epsilon: float, gap: float) -> None:
    rounded_down(float(floats.not_prior_quality(epsilon)), of_ratio(lambda e: 1 / (e + 1), epsilon))
    rounded_down(float(floats.revision_quality(epsilon)), of_ratio(lambda e: 1 / (e * e + 1), epsilon))
    product = Fraction(gap) * Fraction(epsilon)
    rounded_down(
        float(floats.between_thresholds_quality(epsilon, gap)),
        of_ratio(lambda e: -ball(-product).expm1() / (e + 1), epsilon),
    )
    rounded_down(
        float(floats.double_run_quality(epsilon)),
        of_ratio(disagreement_quality, epsilon),
    )
    rounded_down(
        float(floats.printed_double_run_quality(epsilon)),
        of_ratio(lambda e: 1 - (e * e / (1 + e * e)).sqrt(), epsilon),
    )


@checked
@given(epsilons, st.floats(1, 5))
def test_the_boundary_wrapper(epsilon: float, growth: float) -> None:
    t = float(floats.wrapped_classifier_epsilon(epsilon)) * growth

    def at(formula: Callable[[arb, arb], arb]) -> Real:
        return lambda: formula(ball(epsilon).exp(), ball(t).exp())

    def turned(e: arb) -> arb:
        return (3 * (2 * e - 1) / (2 * e + 1)).log().max(ball(epsilon))

    rounded_down(float(floats.boundary_quality(epsilon, t)), at(boundary_quality))
    rounded_down(float(floats.printed_boundary_quality(epsilon, t)), at(printed_boundary_quality))
    own = of_ratio(lambda e: ball(1) * wrapped_classifier_ratio(e).log(), epsilon)
    rounded_up(float(floats.wrapped_classifier_epsilon(epsilon)), own)
    rounded_up(float(floats.wrapped_test_epsilon(epsilon)), of_ratio(turned, epsilon))


def disagreement_quality(e: arb) -> arb:
    """Enclose the quality of disagreement of two runs."""
    return (2 * e / (1 + e) ** 2).min((e + 1) / (e * e + e + 1))


CHARGED: list[tuple[Any, Callable[[arb, arb], arb]]] = [
    *(
        (BoundaryWrapper(FiniteMechanism((w, 1), (1, w)), binary=binary), boundary_quality)
        for w in (2, 5, 40)
        for binary in (False, True)
    ),
    (BoundaryWrapper(ExponentialMechanism(size=3, epsilon=0.5)), boundary_quality),
    *(
        (
            BetweenThresholds(epsilon, -1.0, high, sensitivity),
            lambda _, r, gap=(high + 1) / sensitivity: (1 - r ** -ball(gap)) / (r + 1),
        )
        for epsilon, high, sensitivity in ((0.25, 0.5, 1.0), (2.0, 3.0, 1.0), (0.5, 1.0, 4.0))
    ),
    *((DoubleRun(FiniteMechanism((w, 1), (1, w))), lambda e, _: disagreement_quality(e)) for w in (2, 40)),
]
"""Mechanisms that state the quality of a target, and the exact one at e^epsilon of what is inside and of a call."""


@pytest.mark.parametrize(("mechanism", "formula"), CHARGED)
def test_a_mechanism_states_the_quality_at_the_epsilon_that_it_charges(
    mechanism: Any, formula: Callable[[arb, arb], arb]
) -> None:
    """A larger epsilon has a larger quality: the two must be those of one account."""
    (claim,) = mechanism.claims
    inner = getattr(mechanism, "base", mechanism).claims[0]
    rounded_down(
        mechanism.quality, lambda: formula(ball(inner.epsilon).exp(), ball(claim.epsilon).exp()), Fraction(1, 10**11)
    )


def as_floats(pair: TargetedPair) -> tuple[Any, Any, Any, float]:
    left, right = ([float(side.weights[o]) for o in side.outcomes] for side in (pair.left, pair.right))
    return left, right, [o in pair.target for o in pair.left.outcomes], math.log(pair.ratio) * (1 + 2.0**-40)


def read_back(row: list[float], largest: int) -> list[Fraction]:
    """The floats as impl reads them: the likeliest outcome is one minus the others."""
    exact = [Fraction(p) for p in row]
    return [1 - sum(exact) + p if k == largest else p for k, p in enumerate(exact)]


@checked
@given(indistinguishable_pairs(2, 5))
def test_the_closed_form_in_floats(pair: TargetedPair) -> None:
    left, right, target, epsilon = as_floats(pair)
    found = float(floats.target_quality(left, right, target, epsilon))
    if pair.left == pair.right or pair.ratio > 10**3:
        return  # any q, or too little is certified
    largest = int(np.argmax(np.array(left) + np.array(right)))
    p, q = read_back(left, largest), read_back(right, largest)
    hits = [sum((x for x, t in zip(row, target, strict=True) if t), Fraction(0)) for row in (p, q)]

    def truth() -> arb:
        r = ball(epsilon).exp()
        off = [(x, y) for x, y, t in zip(p, q, target, strict=True) if not t]
        common = sum(((r * ball(min(x, y)) - ball(max(x, y))) / (r - 1) for x, y in off), arb(0))
        return ball(min(hits)) / (1 - common)

    if p == q or not min(hits):
        assert found in (0, 1)
        return
    rounded_down(found, truth, Fraction(len(left) + 17) * (1 + pair.ratio) * 2 / 2**52)


@settings(checked, max_examples=40)
@given(indistinguishable_pairs(2, 4))
def test_the_programme_finds_the_exact_quality(pair: TargetedPair) -> None:
    left, right, target, epsilon = as_floats(pair)
    if pair.left == pair.right or not Fraction(11, 10) <= pair.ratio <= 100:
        return  # p = 1 is not looked at, and the solver's tolerance is absolute
    found = quality_by_programme(left, right, target, epsilon)
    assert found == pytest.approx(float(target_quality(pair.left, pair.right, pair.target, pair.ratio)), abs=1e-5)
