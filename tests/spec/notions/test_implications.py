"""Implications in both directions: what follows from a claim, and what its counterexamples refute."""

import math
from collections.abc import Callable, Hashable
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
from dpassay.spec.notions.base import find_notion
from dpassay.spec.notions.implications import (
    IMPLICATIONS,
    Implication,
    refuted_by,
    zcdp_implying_approximate,
    zcdp_implying_probabilistic,
)
from dpassay.spec.verdict import Outcome

TARGETS: tuple[Claim, ...] = (
    PureDP(0.7),
    ApproximateDP(1.0, 1e-6),
    ApproximateDP(0.0, 0.25),
    ApproximateDP(3.0, 0.0),
    ApproximateDP(700.0, 0.5),
    ProbabilisticDP(2.0, 1e-3),
    ProbabilisticDP(0.0, 0.3),
    RenyiDP(3.0, 0.2),
    ZCDP(0.01),
    ZCDP(40.0),
    ZCDP(0.0),
    ApproximateZCDP(0.3, 0.01),
    ApproximateZCDP(0.3, 0.01, 0.25),
    ApproximateZCDP(0.3, 0.0, 2.0),
    ApproximateZCDP(0.3, 0.01, -0.25),
    ApproximateZCDP(0.3, 0.0, -0.3),
    ConcentratedDP(0.2, 0.5),
    BoundedRange(0.7),
    GaussianDP(0.8),
    GaussianDP(0.0),
)


def free_parameters(implication: Implication, target: Any) -> dict[str, Any]:
    """The parameters of a conversion that the caller may choose, chosen so as to arrive at `target`."""
    match implication.source_type.__name__, target:
        case (("PureDP" | "GaussianDP"), ApproximateDP(epsilon, _)):
            return {"epsilon": epsilon}
        case (("ZCDP" | "RenyiDP" | "ApproximateZCDP"), (ApproximateDP(_, delta) | ProbabilisticDP(_, delta))):
            return {"delta": delta}
        case "ZCDP", RenyiDP(alpha, _):
            return {"alpha": alpha}
        case "ExPost", _:
            return {"outcomes": ["any"]}
    return {}


def implies(claim: Any, target: Any) -> bool:
    """Whether a claim is at least as strong as another one of the same notion, parameter by parameter."""
    if isinstance(claim, RenyiDP) and claim.alpha != target.alpha:
        return False
    if isinstance(claim, ApproximateZCDP):  # xi + rho alpha for all alpha > 1
        starts = [Fraction(one.rho) + Fraction(one.xi) for one in (claim, target)]
        return claim.rho <= target.rho and claim.delta <= target.delta and starts[0] <= starts[1]
    return all(getattr(claim, name) <= getattr(target, name) for name in vars(target))


@pytest.mark.parametrize("target", TARGETS, ids=repr)
def test_pulling_back_and_converting_arrives_within_the_claim(target: Claim) -> None:
    arrived = 0
    for implication in IMPLICATIONS:
        if isinstance(target, implication.target_type):
            for source in implication.pull_back(target):
                converted = implication.convert(source, **free_parameters(implication, target))
                slackened = _one_rounding_weaker(target)
                assert implies(converted, slackened), f"{source} gives {converted}"
                arrived += 1
    assert arrived


def _one_rounding_weaker(target: Any) -> Any:
    """Both directions round once, to the safe side: 2^-50 relative covers the two."""
    weaker = {name: value * (1 + 2.0**-50) for name, value in vars(target).items() if name not in {"alpha", "delta"}}
    if isinstance(target, ApproximateDP):
        weaker["delta"] = min(target.delta * (1 + 2.0**-45), 1.0)
    if isinstance(target, ApproximateZCDP):
        weaker["xi"] += target.rho * 2.0**-50  # the difference of two rounded numbers
    return type(target)(**{**vars(target), **weaker})


@pytest.mark.parametrize("implication", IMPLICATIONS, ids=lambda i: i.statement_name)
def test_every_implication_is_a_statement(implication: Implication) -> None:
    assert implication.statement.name == implication.statement_name


def test_known_conversions() -> None:
    find: dict[tuple[type, type], Callable[..., Any]] = {
        (i.source_type, i.target_type): i.convert for i in IMPLICATIONS
    }
    assert find[PureDP, ZCDP](PureDP(1.0)).rho == pytest.approx(math.tanh(0.5))
    assert find[ZCDP, ProbabilisticDP](ZCDP(0.005), delta=1e-5).epsilon == pytest.approx(0.48485, rel=1e-4)
    assert find[PureDP, ApproximateDP](PureDP(1.0), epsilon=0.0).delta == pytest.approx((math.e - 1) / (math.e + 1))
    assert find[PureDP, ApproximateDP](PureDP(1.0)) == ApproximateDP(1.0, 0.0)
    assert find[PureDP, ApproximateDP](PureDP(1e5), epsilon=3.0) == ApproximateDP(3.0, 1.0)
    assert find[RenyiDP, ProbabilisticDP](RenyiDP(2.0, 1.0), delta=0.5).epsilon == pytest.approx(1 + math.log(2))
    assert find[RenyiDP, ApproximateDP](RenyiDP(2.0, 1.0), delta=0.5).epsilon == pytest.approx(1 - math.log(2))
    assert (
        find[ZCDP, ApproximateDP](ZCDP(0.5), delta=1e-6).epsilon
        < find[ZCDP, ProbabilisticDP](ZCDP(0.5), delta=1e-6).epsilon
    )


@pytest.mark.parametrize("target", [ApproximateDP(1.0, 1e-6), ApproximateDP(0.1, 1e-3), ApproximateDP(8.0, 1e-12)])
def test_the_zcdp_claim_that_implies_approximate_dp_is_the_largest_one(target: ApproximateDP) -> None:
    """Converted forth again it gives the target, up to the steps of the search for the best order."""
    (through,) = (i for i in IMPLICATIONS if (i.source_type, i.target_type) == (ZCDP, ApproximateDP))
    (implying,) = zcdp_implying_approximate(target)
    back = through.convert(implying, delta=target.delta)
    assert isinstance(back, ApproximateDP)
    assert 0.999 * target.epsilon <= back.epsilon <= target.epsilon * (1 + 1e-9)


@pytest.mark.parametrize("delta", [0, -0.1, 1.5, math.nan])
def test_conversions_refuse_a_useless_delta(delta: float) -> None:
    for implication in IMPLICATIONS:
        if implication.source_type in {ZCDP, RenyiDP} and implication.target_type not in {RenyiDP, ApproximateZCDP}:
            source = ZCDP(1.0) if implication.source_type is ZCDP else RenyiDP(2.0, 1.0)
            with pytest.raises(UsageError, match="delta"):
                implication.convert(source, delta=delta)


def test_an_unbounded_ex_post_claim_gives_no_pure_one() -> None:
    (to_pure,) = (i.convert for i in IMPLICATIONS if i.source_type is ExPost)
    assert to_pure(ExPost(lambda o: 1.0 if o else 2.0), outcomes=[0, 2, 1]) == PureDP(2.0)
    with pytest.raises(UsageError, match="epsilon"):
        to_pure(ExPost(lambda o: math.inf), outcomes=[0])
    with pytest.raises(UsageError, match="epsilon"):
        to_pure(ExPost(lambda o: 1.0), outcomes=[])


def test_a_counterexample_refutes_everything_that_implies_the_claim() -> None:
    """The pair that refutes the target refutes each pulled-back claim too, in one of the two orders."""
    left, right = FiniteDistribution.of(20, 1), FiniteDistribution.of(1, 20)
    target = ApproximateDP(1.0, 0.2)
    assert find_notion(target).decide(target, left, right).outcome is Outcome.VIOLATED
    refuted = refuted_by(target)
    decided = {PureDP, ProbabilisticDP, ZCDP, RenyiDP, ExPost, ConcentratedDP, GaussianDP}
    assert {type(claim) for claim in refuted} == {*decided, BoundedRange, ApproximateZCDP}
    for claim in refuted:
        if type(claim) in decided:
            verdicts = [find_notion(claim).decide(claim, *pair).outcome for pair in ((left, right), (right, left))]
            assert Outcome.VIOLATED in verdicts, claim
    (approximate,) = (claim for claim in refuted if isinstance(claim, ApproximateZCDP))
    assert find_notion(approximate).decide(approximate, left, right).outcome is not Outcome.HOLDS


def test_refutation_follows_chains_and_keeps_the_weakest() -> None:
    (zcdp, pure, ranged, gaussian, ex_post) = refuted_by(RenyiDP(2.0, 1.0))
    assert gaussian == GaussianDP(1.0)
    assert zcdp == ZCDP(0.5)
    assert isinstance(ranged, BoundedRange)
    assert ranged.epsilon == pytest.approx(2.058, rel=1e-3)  # kappa(epsilon) = 1/2
    assert isinstance(pure, PureDP)
    assert pure.epsilon == pytest.approx(1.0436, rel=1e-4)  # epsilon tanh(epsilon/2) = 1/2
    assert isinstance(ex_post, ExPost)
    assert ex_post.epsilon_of("any") == pure.epsilon
    assert refuted_by(ex_post) == ()


def test_a_circle_of_implications_ends_and_weakens_nothing() -> None:
    """Bounded range implies pure privacy, and pure privacy twice the range: neither comes back to itself."""
    assert refuted_by(PureDP(1.0))[0] == BoundedRange(1.0)
    (pure, ex_post) = refuted_by(BoundedRange(1.0))
    assert pure == PureDP(0.5)
    assert isinstance(ex_post, ExPost)
    left, right = FiniteDistribution.of(30, 11), FiniteDistribution.of(11, 30)  # range 2 log(30/11) = 2.007
    for claim in (BoundedRange(2.0), *refuted_by(BoundedRange(2.0))):
        assert find_notion(claim).decide(claim, left, right).outcome is Outcome.VIOLATED, claim


def test_a_bound_that_looks_at_outcomes_is_not_asked_about_others() -> None:
    bounds: dict[Hashable, float] = {"a": 1.0, "b": 2.0}
    assert refuted_by(ExPost(bounds.__getitem__)) == ()


def test_a_claim_that_cannot_be_violated_refutes_nothing_pure() -> None:
    assert not any(isinstance(claim, PureDP) for claim in refuted_by(ApproximateDP(0.0, 1.0)))


def test_the_pure_claim_pulled_back_is_the_sharp_one() -> None:
    """Randomised response with that epsilon attains the target: any larger epsilon would not imply it."""
    (pure,) = (claim for claim in refuted_by(ApproximateDP(0.5, 0.1)) if isinstance(claim, PureDP))
    odds = Fraction(math.exp(pure.epsilon * (1 + 1e-12)))
    pair = FiniteDistribution.of(odds, 1), FiniteDistribution.of(1, odds)
    target = ApproximateDP(0.5, 0.1)
    assert find_notion(target).decide(target, *pair).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("delta", [1e-300, 1e-9, 0.1])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1 / 3, 7.0])
def test_zcdp_that_implies_probabilistic_dp_is_rounded_down(epsilon: float, delta: float) -> None:
    """rho + 2 sqrt(rho log(1/delta)) stays certainly below epsilon; with four times the rounding added it does not."""
    (source,) = zcdp_implying_probabilistic(ProbabilisticDP(epsilon, delta))
    loss: Callable[[float], arb] = lambda rho: ball(rho) + 2 * (-ball(rho) * ball(delta).log()).sqrt()
    with precision(200):
        assert loss(source.rho) < ball(epsilon)
        assert loss(source.rho * (1 + 2.0**-50)) > ball(epsilon)
