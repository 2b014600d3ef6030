"""Decisions about claims: exact where they can be, three-valued, with the corners of each notion."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    BoundedRange,
    Claim,
    ExPost,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.spec.ball import UndecidedError, ball
from dpassay.spec.distributions.discrete import FiniteDistribution, renyi_divergence
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.notions.base import ALLOWANCE, all_notions, find_notion
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.verdict import Evidence, Outcome

RESPONSE = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
LEAK = FiniteDistribution.of(1, 9, 0), FiniteDistribution.of(0, 9, 1)
EQUAL = FiniteDistribution.of(1, 2), FiniteDistribution.of(1, 2)
LOG_3 = math.log(3)  # rounded up: its float64 exceeds log 3
HOLDS, VIOLATED, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED


def decide(claim: Claim, pair: tuple[FiniteDistribution, FiniteDistribution]) -> tuple[Outcome, Evidence]:
    verdict = find_notion(claim).decide(claim, *pair)
    return verdict.outcome, verdict.evidence


@pytest.mark.parametrize(
    ("claim", "pair", "outcome"),
    [
        (PureDP(LOG_3), RESPONSE, HOLDS),
        (PureDP(math.nextafter(LOG_3, 0)), RESPONSE, VIOLATED),
        (PureDP(0), EQUAL, HOLDS),
        (PureDP(1e300), LEAK, VIOLATED),
        (PureDP(1e300), RESPONSE, HOLDS),
        (ApproximateDP(0, 0.5), RESPONSE, HOLDS),
        (ApproximateDP(0, math.nextafter(0.5, 0)), RESPONSE, VIOLATED),
        (ApproximateDP(50, math.nextafter(0.1, 1)), LEAK, HOLDS),
        (ApproximateDP(50, math.nextafter(0.1, 0)), LEAK, VIOLATED),
        (ProbabilisticDP(LOG_3, 0), RESPONSE, HOLDS),
        (ProbabilisticDP(1, 0.75), RESPONSE, HOLDS),
        (ProbabilisticDP(1, 0.7499), RESPONSE, VIOLATED),
        (ProbabilisticDP(0, 0), EQUAL, HOLDS),
        (RenyiDP(2, 0.8473), RESPONSE, HOLDS),  # log(7/3) = 0.84729786...
        (RenyiDP(2, 0.8472), RESPONSE, VIOLATED),
        (RenyiDP(1.5, 0), EQUAL, HOLDS),
        (RenyiDP(1.5, 0), RESPONSE, VIOLATED),
        (RenyiDP(2, 5), LEAK, VIOLATED),
        (ZCDP(0), EQUAL, HOLDS),
        (ZCDP(100), LEAK, VIOLATED),
    ],
)
def test_claims_about_rational_distributions_are_decided_exactly(
    claim: Claim, pair: tuple[FiniteDistribution, FiniteDistribution], outcome: Outcome
) -> None:
    assert decide(claim, pair) == (outcome, Evidence.EXACT)


def test_ex_post_bounds_are_per_outcome() -> None:
    assert decide(ExPost(lambda o: 1.1 if o == 0 else 0), RESPONSE)[0] is HOLDS
    assert decide(ExPost(lambda o: 1.0 if o == 0 else 9), RESPONSE)[0] is VIOLATED
    assert decide(ExPost(lambda o: math.inf if o == 0 else 0), LEAK)[0] is HOLDS
    with pytest.raises(UsageError, match="ex-post bound"):
        decide(ExPost(lambda o: -1.0), RESPONSE)
    with pytest.raises(UsageError, match="ex-post bound"):
        decide(ExPost(lambda o: math.nan), RESPONSE)


def test_zcdp_of_randomised_response_changes_where_it_should() -> None:
    """The parameter is epsilon tanh(epsilon/2), attained only in the limit alpha -> 1."""
    rho = LOG_3 * math.tanh(LOG_3 / 2)
    assert decide(ZCDP(rho * 1.0001), RESPONSE) == (HOLDS, Evidence.BOX)
    assert decide(ZCDP(rho * 0.9999), RESPONSE)[0] is VIOLATED


def test_zcdp_with_an_interior_worst_order_is_bracketed() -> None:
    pair = FiniteDistribution.of(1, 99), FiniteDistribution.of(1, 9999)
    grid = [1 + k / 200 for k in range(1, 4000)]
    worst = max(float(renyi_divergence(*pair, ball(alpha))) / alpha for alpha in grid)
    assert decide(ZCDP(worst * 1.001), pair) == (HOLDS, Evidence.BOX)
    assert decide(ZCDP(worst * 0.999), pair)[0] is VIOLATED


def test_attained_zcdp_is_undecided_not_a_pass() -> None:
    """P = (1, 0), Q = (1/2, 1/2): the loss is log 2, D_alpha / alpha falls from log 2, the limit for alpha -> 1."""
    pair = FiniteDistribution.of(1, 0), FiniteDistribution.of(1, 1)
    assert decide(ZCDP(math.nextafter(math.log(2), 0)), pair)[0] is VIOLATED
    assert decide(ZCDP(math.nextafter(math.log(2), 1)), pair)[0] is HOLDS
    tight = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
    assert decide(ZCDP(LOG_3 * 0.5), tight)[0] in {HOLDS, UNDECIDED}  # one rounding from the parameter
    assert decide(ZCDP(LOG_3 * 0.4999), tight)[0] is VIOLATED


@pytest.mark.parametrize(
    "make",
    [PureDP, lambda x: ApproximateDP(0.25, x), lambda x: ProbabilisticDP(0.5, x), lambda x: RenyiDP(2.5, x), ZCDP,
     BoundedRange, GaussianDP],
)  # fmt: skip
def test_a_claim_holds_from_the_divergence_of_the_ordered_pair_on(make: Callable[[float], Claim]) -> None:
    """The pair is not symmetric: each order has a divergence of its own, and is decided by it."""
    one, other = FiniteDistribution.of(5, 3, 1), FiniteDistribution.of(2, 3, 4)
    for pair in ((one, other), (other, one)):
        divergence = float(find_notion(make(0.5)).divergence(make(0.5), *pair))
        assert decide(make(divergence * (1 + 1e-6)), pair)[0] is HOLDS
        assert decide(make(divergence * (1 - 1e-6)), pair)[0] is VIOLATED


def test_distributions_that_are_not_rational_are_enclosed() -> None:
    left, right = ExponentialMechanismDistribution((1, 4), 1, 1), ExponentialMechanismDistribution((0, 5), 1, 1)
    cases: list[tuple[Claim, Outcome]] = [
        (PureDP(1), HOLDS),
        (PureDP(0.5), VIOLATED),
        (ApproximateDP(0.5, 0.2), HOLDS),
        (ApproximateDP(0.1, 0.0), VIOLATED),
        (ProbabilisticDP(1, 0), HOLDS),
        (RenyiDP(2.5, 2), HOLDS),
        (ZCDP(0.5), HOLDS),
        (ZCDP(0.001), VIOLATED),
        (ExPost(lambda o: 1.0), HOLDS),
    ]
    for claim, outcome in cases:
        assert find_notion(claim).decide(claim, left, right).outcome is outcome, claim


def test_e_to_a_rational_never_ties_but_at_zero() -> None:
    assert not above_exponential(Fraction(2), Fraction(2), Fraction(0))
    assert above_exponential(Fraction(1), Fraction(0), Fraction(10**6))
    assert not above_exponential(Fraction(0), Fraction(0), Fraction(1))
    assert not above_exponential(Fraction(-1), Fraction(1), Fraction(1))
    close = Fraction(math.exp(1))
    assert above_exponential(close, Fraction(1), Fraction(1)) is False  # the float64 below e
    with pytest.raises(UndecidedError):
        above_exponential(1 + Fraction(1, 2**70000), Fraction(1), Fraction(1, 2**70000))


def test_every_notion_has_its_claim_and_place() -> None:
    notions = all_notions()
    assert {PureDP, ApproximateDP, ProbabilisticDP, ZCDP, RenyiDP, ExPost} <= {n.claim_type for n in notions}
    assert all(notion.definition.endswith(".") for notion in notions)


def test_an_infinite_ex_post_bound_stays_infinite_when_claims_are_enlarged() -> None:
    claim = ExPost(lambda outcome: math.inf if outcome == 0 else 2.0)
    enlarged = find_notion(claim).enlarged(claim)
    assert isinstance(enlarged, ExPost)
    assert enlarged.epsilon_of(0) == math.inf
    assert enlarged.epsilon_of(1) == Fraction(2) * (1 + ALLOWANCE)
