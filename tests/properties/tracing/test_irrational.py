"""Functions of noise beside numbers that have no rational preimage: a gap of certified mass is left undecided."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import erfinv

from dpassay.claims import ApproximateDP, Claim, PureDP
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.traced import decide
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.probability import leaf_probability

GAP = Fraction(1, 2**200)


def traced(sampler: Any, **options: Any) -> Any:
    result = trace(sampler, None if options else [0.25], replays=16, **options)
    assert isinstance(result, Trace), result
    return result.model


def above_two(data: Any, size: Any, rng: Any) -> Any:
    return [bool(np.exp(data[0] + rng.laplace()) > 2)]


def below_minus_two(data: Any, size: Any, rng: Any) -> Any:
    return [bool(-3 * np.log(rng.random()) + 1 <= 7)]


def scaled_normal(data: Any, size: Any, rng: Any) -> Any:
    return [bool(math.sqrt(2) * erfinv(2 * rng.random() - 1) > 1)]


def shifted_tail(data: Any, size: Any, rng: Any) -> Any:
    return [bool(np.expm1(rng.exponential()) >= 1)]


@pytest.mark.parametrize(
    ("sampler", "chance"),
    [
        (above_two, lambda: (ball(Fraction(1, 4)) - ball(2).log()).exp() / 2),
        (below_minus_two, lambda: 1 - (-ball(2)).exp()),
        (scaled_normal, lambda: (1 - (1 / ball(Fraction(math.sqrt(2)))).erf()) / 2),
        (shifted_tail, lambda: ball(Fraction(1, 2))),
    ],
)
def test_the_probability_is_that_of_the_irrational_number(sampler: Any, chance: Any) -> None:
    model = traced(sampler)
    assert 0 < model.undecided < GAP
    [leaf] = [leaf for leaf in model.leaves if leaf.outcome is True]
    with precision(128):
        difference = abs(leaf_probability(leaf) - chance())
        assert difference < ball(Fraction(1, 2**60))


def test_the_gap_counts_once_for_each_decision_that_is_taken() -> None:
    def twice(data: Any, size: Any, rng: Any) -> Any:
        return [(above_two(data, 1, rng)[0], above_two(data, 1, rng)[0])]

    one, two = traced(above_two), traced(twice)
    assert one.undecided < two.undecided < 4 * one.undecided


def test_a_truncated_normal_number_keeps_its_form() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return data + 2 * np.clip(erfinv(rng.uniform(-1, 1, size) * 0.75), -0.5, 0.5)

    outcomes = {leaf.outcome for leaf in traced(sampler).leaves}
    numbers = {outcome for outcome in outcomes if isinstance(outcome, float)}
    assert numbers == {-0.75, 1.25}
    [image] = outcomes - numbers
    assert image.steps == (("erfinv",), ("scale", 2, Fraction(1, 4)))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [(ApproximateDP(1.0, 1e-9), "holds"), (PureDP(0.9), "violated"), (ApproximateDP(0.9, 1e-9), "violated")],
)
def test_a_claim_is_decided_up_to_the_gap(claim: Claim, verdict: str) -> None:
    assert decide(above_two, claim, parse_neighbours("vector:size=1,linf=1"), 0, 60.0).verdict == verdict


def test_what_lies_in_the_gap_proves_no_claim_without_delta() -> None:
    found = decide(above_two, PureDP(1.0), parse_neighbours("vector:size=1,linf=1"), 0, 60.0)
    assert found.verdict is None


@pytest.mark.parametrize(
    "sampler",
    [
        lambda data, size, rng: [bool(np.exp(data[0]) > 2)],
        lambda data, size, rng: [bool(np.log(rng.exponential()) > 1e6)],
        lambda data, size, rng: [bool(np.exp(np.floor(rng.laplace())) > 2)],
    ],
)
def test_gaps_without_a_small_mass_are_refused(sampler: Any) -> None:
    assert isinstance(trace(sampler, size=1), Refusal)
