"""The first line of a failure, for every kind of claim."""

import math
from collections.abc import Hashable
from dataclasses import replace

import pytest

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.checks.failure import failure_message
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult, Witness
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.notions.base import bounds_of
from dpassay.spec.verdict import Evidence, Scope

LINE = VectorNeighbours(1, linf=1.0)
FOUND = HuntResult(
    target="package.module:mechanism", claim="", verdict=HuntVerdict.VIOLATED, bounds=(), evidence=Evidence.ENCLOSED,
    scope=Scope.POINTS, alpha=1e-9, e_value_log10=None,
    calls=0, seconds=0, cpu_seconds=0, seed=7, replay="",
    witness=Witness((0.0,), (1.0,), "outcome in {1}", (0.8, 0.8), (0.2, 0.2), certified=True),
)  # fmt: skip
SAMPLED = replace(FOUND, evidence=Evidence.SAMPLED, e_value_log10=12.34, calls=4_000)
LOWER = {"epsilon": math.log(4), "delta": 0.25, "rho": 0.75, "renyi_epsilon": 0.625, "loss_tail": 0.8}


def with_bounds(found: HuntResult, claim: Claim, **lower: float) -> HuntResult:
    """Return the result with the bounds that the claim speaks of."""
    return replace(found, bounds=bounds_of(claim, {**LOWER, **lower}))


def ex_post_bound(outcome: Hashable) -> float:
    return 1.0 if outcome == 1 else math.inf


@pytest.mark.parametrize(
    ("claim", "certified", "sampled"),
    [
        (
            PureDP(1.0),
            "privacy loss = 1.3863 (certified), but PureDP(1.0) allows at most 1",
            "privacy loss > 1.3862 (confidence 1 - 1e-09), but PureDP(1.0) allows at most 1",
        ),
        (
            BoundedRange(1.0),
            "range of the privacy loss = 1.3863 (certified), but BoundedRange(1.0) allows at most 1",
            "range of the privacy loss > 1.3862 (confidence 1 - 1e-09), but BoundedRange(1.0) allows at most 1",
        ),
        (
            ApproximateDP(1.0, 0.1),
            "delta at epsilon 1 = 0.25 (certified), but ApproximateDP(1.0, 0.1) allows at most 0.1",
            "epsilon at delta 0.1 > 1.3862 (confidence 1 - 1e-09), but ApproximateDP(1.0, 0.1) allows at most 1",
        ),
        (
            ProbabilisticDP(1.0, 0.1),
            "probability of a privacy loss above 1 = 0.8 (certified), but ProbabilisticDP(1.0, 0.1)",
            "epsilon at delta 0.1 > 1.3862 (confidence 1 - 1e-09), but ProbabilisticDP(1.0, 0.1) allows at most 1",
        ),
        (
            ZCDP(0.5),
            "rho = 0.75 (certified), but ZCDP(0.5) allows at most 0.5",
            "rho > 0.75 (confidence 1 - 1e-09), but ZCDP(0.5) allows at most 0.5",
        ),
        (
            RenyiDP(2.0, 0.5),
            "Renyi divergence of order 2 = 0.625 (certified), but RenyiDP(2.0, 0.5) allows at most 0.5",
            "Renyi divergence of order 2 > 0.625 (confidence 1 - 1e-09), but RenyiDP(2.0, 0.5) allows at most 0.5",
        ),
        (
            ApproximateZCDP(0.5, 0.1, 0.25),
            "rho at delta 0.1 and xi 0.25 = 0.75 (certified), but ApproximateZCDP(0.5, 0.1, 0.25) allows at most 0.5",
            "rho at delta 0.1 and xi 0.25 > 0.75 (confidence 1 - 1e-09), but ApproximateZCDP(0.5, 0.1, 0.25)",
        ),
        (
            ConcentratedDP(0.5, 1.0),
            "hockey-stick divergence above the curve that the claim implies (certified), but ConcentratedDP(0.5, 1.0)",
            "hockey-stick divergence above the curve that the claim implies (e-value 10^12.3), but ConcentratedDP(",
        ),
        (
            ExPost(ex_post_bound, "one for 1"),
            "privacy loss of outcome in {1} = 1.3863 (certified), but ExPost(one for 1) allows at most 1",
            "privacy loss above its ex-post bound (e-value 10^12.3), but ExPost(one for 1) forbids it",
        ),
    ],
    ids=repr,
)
def test_the_first_line_says_what_is_bounded_and_by_how_much(claim: Claim, certified: str, sampled: str) -> None:
    for found, expected in ((FOUND, certified), (SAMPLED, sampled)):
        first = failure_message(with_bounds(found, claim), claim, LINE, calls=4_000).splitlines()[0]
        assert first.startswith(expected)
        assert "[assert_private(package.module:mechanism, " in first


def test_numbers_that_nearly_agree_are_told_apart() -> None:
    close = with_bounds(FOUND, PureDP(1.0), epsilon=1 + 1e-9)
    first = failure_message(close, PureDP(1.0), LINE, calls=0).splitlines()[0]
    assert first.startswith("privacy loss = 1.000000001 (certified), but PureDP(1.0) allows at most 1 [")
    same = with_bounds(SAMPLED, PureDP(1.0), epsilon=1.0)
    assert failure_message(same, PureDP(1.0), LINE, calls=0).startswith("privacy loss > 1 (confidence 1 - 1e-09), but")
    infinite = with_bounds(FOUND, PureDP(1.0), epsilon=math.inf)
    assert failure_message(infinite, PureDP(1.0), LINE, calls=0).startswith("privacy loss = inf (certified), but")


def test_what_is_to_be_pasted_names_the_target() -> None:
    message = failure_message(replace(FOUND, target="path/to/file.py:noisy"), PureDP(1.0), LINE, calls=9)
    assert "    assert_private('path/to/file.py:noisy', PureDP(1.0), " in message
    assert "print(replay({'target': 'path/to/file.py:noisy', " in message
    message = failure_message(replace(FOUND, target="Noisy(scale=1.0)"), PureDP(1.0), LINE, calls=9)
    assert message.count("mechanism = ...  # Noisy(scale=1.0)") == 2
    message = failure_message(replace(FOUND, target="package.module:thing.method"), PureDP(1.0), LINE, calls=9)
    assert "from package.module import thing\n" in message
    assert "assert_private(thing.method, PureDP(1.0)" in message


@pytest.mark.parametrize(
    "claim", [PureDP(0.5), ProbabilisticDP(0.5, 0.1), ExPost(lambda _: 0.5), ZCDP(0.01)], ids=repr
)
def test_a_certified_failure_exceeds_what_is_allowed(claim: Claim) -> None:
    mechanism = RandomisedResponse(2, 1.0)
    result = hunt(mechanism, claim)
    first = failure_message(result, claim, mechanism.neighbours, calls=0).splitlines()[0]
    figure, allowed = first.split(" = ")[1].split()[0], first.split("allows at most ")[1].split()[0]
    assert float(figure) > float(allowed)
