"""A notion is one record: its claim, its divergence in spec and what the audit knows of it go together."""

import math

import numpy as np
import pytest

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
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.notions.base import all_audited, audited, bounds_of, families_of
from dpassay.properties.notions.bounds import bounds_of_record, bounds_text, words_below
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.base import all_notions, allowed, find_notion
from dpassay.spec.verdict import Outcome

CLAIMS: tuple[Claim, ...] = (
    PureDP(1.0), ApproximateDP(0.5, 0.01), ProbabilisticDP(0.5, 0.01), ZCDP(0.3), ApproximateZCDP(0.3, 0.01, 0.1),
    GaussianDP(0.7), ConcentratedDP(0.3, 0.9), RenyiDP(4, 0.7), BoundedRange(1.0), ExPost(lambda _: 1.0),
)  # fmt: skip
RANDOMISED = RandomisedResponse(1, math.log(3))
P, Q = FiniteDistribution.of(90, 9, 1), FiniteDistribution.of(1, 9, 90)


def test_claims_notions_and_audited_notions_are_the_same_set() -> None:
    claims = {each for each in Claim.__subclasses__() if each.__module__ == "dpassay.claims"}
    assert {notion.claim_type for notion in all_notions()} == claims
    assert {notion.claim_type for notion in all_audited()} == claims
    assert {type(claim) for claim in CLAIMS} == claims


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_a_far_pair_exceeds_the_bound_and_equal_distributions_do_not(claim: Claim) -> None:
    notion = find_notion(claim)
    assert notion.divergence(claim, P, Q) > allowed(claim)
    assert notion.decide(claim, P, Q).outcome is Outcome.VIOLATED
    assert notion.divergence(claim, P, P) <= allowed(claim)
    assert notion.decide(claim, P, P).outcome is Outcome.HOLDS
    assert notion.event(claim, P, Q)[0] == 0


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_an_enlarged_claim_is_weaker_by_the_allowance(claim: Claim) -> None:
    enlarged = find_notion(claim).enlarged(claim)
    if isinstance(enlarged, ExPost):
        assert 0 < float(enlarged.epsilon_of(0) - 1) < 2.0**-49
        return
    grown = [float(new / old - 1) for old, new in zip(vars(claim).values(), vars(enlarged).values(), strict=True)]
    assert max(grown) == pytest.approx(2.0**-50, rel=1e-3, abs=0)
    assert min(grown) >= 0


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_bounds_are_reported_for_what_is_bet_on_and_for_the_divergence(claim: Claim) -> None:
    notion = audited(claim)
    labels = notion.labels(claim)
    assert {family.parameter for family in families_of(claim)} <= labels.keys()
    assert notion.divergence in labels
    assert len({label for label, _ in labels.values()}) == len(labels)
    for bound in bounds_of(claim, dict.fromkeys(labels, 0.25)):
        assert f"{bound.quantity.replace('_', ' ')} >= 0.25" in str(bound)


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if not isinstance(claim, ExPost | BoundedRange)], ids=repr
)
def test_what_is_bet_against_follows_from_the_claim(claim: Claim) -> None:
    """A pair scaled to attain the claim, about, exceeds none of the implied statements."""
    family = next(family for family in families_of(claim) if family.claimed >= 0)
    near = FiniteDistribution.of(2000, 1000, 1000), FiniteDistribution.of(1990, 1000, 1010)
    assert find_notion(claim).decide(claim, *near).outcome is Outcome.HOLDS
    points = zip(family.epsilon[family.claimed], family.delta[family.claimed], strict=True)
    for epsilon, delta in points:
        implied = ApproximateDP(float(epsilon), float(delta))
        assert find_notion(implied).decide(implied, *near).outcome is Outcome.HOLDS


@pytest.mark.parametrize("order", [4, 4.0, np.int64(4), np.float32(4)], ids=repr)
def test_the_implied_curve_does_not_depend_on_the_type_of_the_order(order: float) -> None:
    curve = families_of(RenyiDP(order, 0.1))[1]
    expected = families_of(RenyiDP(4.0, 0.1))[1]
    assert np.array_equal(curve.epsilon, expected.epsilon)
    delta = curve.delta[curve.claimed, -1]
    formula = 0.1 + math.log(3 / 4) - (math.log(delta) + math.log(4)) / 3  # Balle et al. 2020, Thm 21
    assert curve.epsilon[curve.claimed, -1] == pytest.approx(formula, rel=1e-12)


@pytest.mark.parametrize("white_box", [True, False])
def test_the_renyi_bound_is_printed(white_box: bool) -> None:
    result = hunt(RANDOMISED, RenyiDP(2, 0.1), calls=4000, white_box=white_box)
    assert result.verdict == "violated"
    assert result.renyi_epsilon_lower is not None
    text = f"renyi epsilon >= {words_below(result.renyi_epsilon_lower)} (Renyi divergence of order 2)"
    assert text in str(result)
    assert text in bounds_text(bounds_of_record(result.record()))
    assert 0.1 < result.renyi_epsilon_lower <= float(ball(7).log() - ball(3).log()) * (1 + 1e-12)


def test_what_else_is_refuted_is_reported() -> None:
    result = hunt(RANDOMISED, ApproximateDP(0.1, 0.1))
    assert result.verdict == "violated"
    assert [other.partition(":")[0] for other in result.also_refutes].count("zcdp") == 1
    (told,) = (line for line in str(result).splitlines() if "this also refutes: " in line)
    names = [other.partition(":")[0] for other in result.also_refutes]
    listed = told.partition("refutes: ")[2].partition(" (derived")[0]
    assert [other.partition(":")[0] for other in listed.split("; ")] == names
    assert result.to_json()["also_refutes"] == list(result.also_refutes)
    for other in result.also_refutes:
        assert hunt(RANDOMISED, other).verdict == "violated", other
    assert hunt(RANDOMISED, ApproximateDP(1.0, 0.9)).also_refutes == ()
