"""What the record of every notion says besides its decision: bound, allowance, event and post-processing.

Each is held against the definition, by hand, on rational pairs; the searches of `properties` rest on them.
"""

import math
from collections.abc import Hashable
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.base import ALLOWANCE, all_notions, allowed, find_notion
from dpassay.spec.verdict import Outcome

Pair = tuple[FiniteDistribution, FiniteDistribution]


def fields_of(claim: Any) -> dict[str, Any]:
    return asdict(claim)


BOUNDED: dict[str, Claim] = {
    "epsilon": PureDP(1.2),
    "delta": ApproximateDP(0.5, 0.2),
    "range": BoundedRange(1.5),
    "tail": ProbabilisticDP(0.7, 0.3),
    "order": RenyiDP(2, 0.4),
    "rho": ZCDP(0.3),
    "mu": GaussianDP(0.9),
}
"""Claims that bound a divergence by a parameter of their own; the last parameter is it."""
IMPLIED: dict[str, tuple[Claim, set[str]]] = {
    "approximate zCDP": (ApproximateZCDP(0.2, 0.3, 0.3), {"rho"}),
    "CDP": (ConcentratedDP(0.3, 1.0), {"mu", "tau"}),
}
"""Claims that bound an excess by 0, and the parameters that their allowance enlarges."""
BOUNDS: dict[Hashable, float] = {0: 0.25, 1: 1.0, 2: math.inf}
EX_POST = ExPost(BOUNDS.__getitem__, "a bound for each outcome")

PAIRS: dict[str, Pair] = {
    "uneven": (FiniteDistribution.of(6, 3, 1), FiniteDistribution.of(2, 3, 5)),
    "narrow": (FiniteDistribution.of(11, 9, 10), FiniteDistribution.of(10, 10, 10)),
    "largest in the middle": (FiniteDistribution.of(3, 6, 1), FiniteDistribution.of(4, 1, 5)),
    "left only": (FiniteDistribution.of(1, 8, 1), FiniteDistribution.of(0, 9, 1)),
    "left only, without zeros": (FiniteDistribution({0: Fraction(1, 2), 1: Fraction(1, 2)}), FiniteDistribution.of(1)),
    "right only": (FiniteDistribution.of(0, 9, 1), FiniteDistribution.of(1, 8, 1)),
}
ALL: list[Claim] = [*BOUNDED.values(), *(claim for claim, _ in IMPLIED.values()), EX_POST]


def test_every_notion_is_asked() -> None:
    assert {notion.claim_type for notion in all_notions()} == {type(claim) for claim in ALL}


@pytest.mark.parametrize("claim", BOUNDED.values(), ids=repr)
def test_the_bound_is_the_parameter_and_the_allowance_a_share_of_it(claim: Claim) -> None:
    notion = find_notion(claim)
    *others, (name, value) = fields_of(claim).items()
    assert notion.bound(claim).overlaps(ball(value))
    assert fields_of(notion.enlarged(claim)) == dict([*others, (name, Fraction(value) * (1 + Fraction(1, 2**50)))])
    with precision(128):
        assert abs(allowed(claim) / ball(value) - 1 - ball(ALLOWANCE)) < 1e-30


@pytest.mark.parametrize("claim", [ApproximateDP(0.5, 1.0), ProbabilisticDP(0.5, 1.0)], ids=repr)
def test_a_delta_is_enlarged_to_1_at_most(claim: Claim) -> None:
    assert fields_of(find_notion(claim).enlarged(claim)) == {"epsilon": 0.5, "delta": 1}


@pytest.mark.parametrize(("claim", "enlarged"), IMPLIED.values(), ids=IMPLIED)
def test_an_excess_is_bounded_by_0_and_its_claim_enlarged(claim: Claim, enlarged: set[str]) -> None:
    notion = find_notion(claim)
    assert notion.bound(claim) == 0
    expected = {k: Fraction(v) * (1 + ALLOWANCE) if k in enlarged else v for k, v in fields_of(claim).items()}
    assert fields_of(notion.enlarged(claim)) == expected


def test_an_ex_post_claim_is_enlarged_outcome_by_outcome() -> None:
    notion = find_notion(EX_POST)
    assert notion.bound(EX_POST) == 0
    larger: Any = notion.enlarged(EX_POST)
    assert [larger.epsilon_of(k) for k in (0, 1)] == pytest.approx([0.25, 1.0], rel=1e-14)
    assert [larger.epsilon_of(k) > EX_POST.epsilon_of(k) for k in (0, 1)] == [True, True]
    assert larger.epsilon_of(2) == math.inf


def loss(pair: Pair, outcome: Hashable) -> float:
    p, q = (side.probability(outcome) for side in pair)
    return math.log(p / q) if p and q else math.inf if p else -math.inf


def excess(pair: Pair, outcome: Hashable) -> float:
    bound = EX_POST.epsilon_of(outcome)
    return loss(pair, outcome) - bound if bound < math.inf else -math.inf


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("claim", ALL, ids=lambda claim: type(claim).__name__)
def test_the_event_shows_what_the_claim_denies(claim: Claim, name: str) -> None:
    """The likeliest losses: those beyond epsilon where a delta is spent on them, or largest ones."""
    left, right = pair = PAIRS[name]
    event = find_notion(claim).event(claim, left, right)
    possible = [outcome for outcome in left.outcomes if left.probability(outcome)]
    if isinstance(claim, ApproximateDP | ProbabilisticDP):
        beyond = tuple(o for o in possible if loss(pair, o) > claim.epsilon)
        assert event == (beyond or (max(possible, key=lambda o: loss(pair, o)),))
    elif isinstance(claim, RenyiDP | ZCDP | GaussianDP):  # the outcomes beyond a level of the loss
        outside = [loss(pair, o) for o in possible if o not in event]
        assert event
        assert all(loss(pair, o) >= other for o in event for other in outside)
    else:
        measure = excess if isinstance(claim, ExPost) else loss
        assert event == (max(possible, key=lambda o: measure(pair, o)),)


@pytest.mark.parametrize("name", PAIRS)
def test_the_divergence_of_an_ex_post_claim_is_the_largest_excess(name: str) -> None:
    left, right = pair = PAIRS[name]
    found = find_notion(EX_POST).divergence(EX_POST, left, right)
    largest = max(excess(pair, outcome) for outcome in left.outcomes if left.probability(outcome))
    assert found == arb.pos_inf() if largest == math.inf else abs(found - largest) < 1e-14


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("claim", [*BOUNDED.values(), *(claim for claim, _ in IMPLIED.values())], ids=repr)
def test_what_holds_survives_in_cells(claim: Claim, name: str) -> None:
    """The smallest claim of its kind that holds on a pair; two outcomes are one cell."""
    notion = find_notion(claim)
    left, right = PAIRS[name]
    merged = [FiniteDistribution({0: s.probability(0) + s.probability(1), 2: s.probability(2)}) for s in (left, right)]
    followed = notion.through_cells(claim)
    expected = ApproximateDP(0.7, 0.3) if isinstance(claim, ProbabilisticDP) else claim
    assert followed == expected
    if notion.decide(claim, left, right).outcome is Outcome.HOLDS:
        assert find_notion(followed).decide(followed, *merged).outcome is Outcome.HOLDS


TIGHT = ("epsilon", "delta", "range", "tail", "order", "mu")
"""Notions whose decisions report how tight a claim is on a pair; over all orders none does."""


@pytest.mark.parametrize("kind", TIGHT)
@pytest.mark.parametrize("name", ["uneven", "narrow", "largest in the middle"])
def test_the_tightness_of_a_decision_is_bound_over_divergence(kind: str, name: str) -> None:
    claim: Any = BOUNDED[kind]
    notion, (left, right) = find_notion(claim), PAIRS[name]
    claim = replace(claim, epsilon=0.05) if kind in ("delta", "tail") else claim
    truth = notion.divergence(claim, left, right)
    share = 1.25
    last = list(fields_of(claim))[-1]
    larger = replace(claim, **{last: share * float(truth.mid())})
    verdict = notion.decide(larger, left, right)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.tightness == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(
    ("bound", "message"), [(lambda _: math.nan, "NaN"), (lambda o: {}[o], "raises KeyError")], ids=["NaN", "raises"]
)
def test_an_ex_post_claim_that_cannot_tell_is_refused(bound: Any, message: str) -> None:
    claim = ExPost(bound, "none")
    with pytest.raises(UsageError, match=f"^epsilon_of must.*{message}"):
        find_notion(claim).divergence(claim, *PAIRS["uneven"])
