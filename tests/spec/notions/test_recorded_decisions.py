"""Every decision on a claim records the divergence and its bound, so that pins and figures see them.

Equal distributions have a loss of 0, which is recorded too: otherwise a pin would not see that a statement compares a
distribution with itself.
"""

import math

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
from dpassay.spec.ball import precision
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.base import all_notions, find_notion
from dpassay.spec.proof.recording import recorded
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.accuracy_first import zcdp_conversions
from dpassay.spec.verdict import Outcome

RESPONSE = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
EQUAL = RESPONSE[0], RESPONSE[0]
LOG_3 = math.log(3)
DECIDED: dict[str, tuple[Claim, list[tuple[float, float]]]] = {
    "pure": (PureDP(2), [(LOG_3, 2)]),
    "approximate": (ApproximateDP(0, 0.75), [(0.5, 0.75)]),
    "probabilistic": (ProbabilisticDP(1, 1), [(0.75, 1)]),
    "range": (BoundedRange(3), [(2 * LOG_3, 3)]),
    "Renyi, an integer order": (RenyiDP(2, 1), [(math.log(7 / 3), 1)]),
    "Renyi, any order": (RenyiDP(1.5, 1), [(2 * math.log(27**0.5 / 4 + 1 / (4 * 3**0.5)), 1)]),
    "ex-post": (ExPost(lambda _: 2), [(LOG_3, 2), (-LOG_3, 2)]),
    "Gaussian": (GaussianDP(2), [(1.3489795003921634, 2)]),
    "concentrated, by the range": (ConcentratedDP(1, 2), [(LOG_3 / 2, 1), (LOG_3, 2)]),
}
"""Claims that hold for `RESPONSE`, with the divergences by hand and their bounds."""


def sides_of(claim: Claim, pair: tuple[FiniteDistribution, FiniteDistribution]) -> list[tuple[float, float]]:
    with recorded() as comparisons:
        verdict = find_notion(claim).decide(claim, *pair)
    assert verdict.outcome is Outcome.HOLDS
    with precision(128):
        return [(float(each.smaller()), float(each.larger())) for each in comparisons]


@pytest.mark.parametrize("name", DECIDED)
def test_a_decision_records_divergence_and_bound(name: str) -> None:
    claim, sides = DECIDED[name]
    assert sides_of(claim, RESPONSE) == [pytest.approx(each) for each in sides]


@pytest.mark.parametrize("name", DECIDED)
def test_of_equal_distributions_a_loss_of_zero_is_recorded(name: str) -> None:
    claim, sides = DECIDED[name]
    assert sides_of(claim, EQUAL) == [pytest.approx((0, bound)) for _, bound in sides]


@pytest.mark.parametrize(
    ("claim", "bound"), [(ZCDP(0.5), 0.5), (ApproximateZCDP(0.5, 0.0, -0.25), 0.25), (ZCDP(0.0), 0.0)]
)
def test_of_equal_distributions_concentrated_privacy_is_recorded(claim: Claim, bound: float) -> None:
    assert sides_of(claim, EQUAL) == [(0, bound)]


def test_no_notion_is_left_out() -> None:
    assert {type(claim) for claim, _ in DECIDED.values()} | {ZCDP, ApproximateZCDP} == {
        notion.claim_type for notion in all_notions()
    }


def test_a_pin_sees_that_a_distribution_is_compared_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    transcripts = zcdp_conversions._transcripts
    monkeypatch.setattr(zcdp_conversions, "_transcripts", lambda interaction: (transcripts(interaction)[1],) * 2)
    statement = find_statement("parameters_of_approximate_zcdp_add")
    pin = statement.pins[0]
    verdict, sides = pin.measure(statement)
    assert any(side.smaller() == 0 and side.larger() > 0 for side in sides)
    assert pin.judge(verdict, sides).outcome is Outcome.VIOLATED
