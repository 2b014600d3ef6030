"""Implications to and from Gaussian DP, and its composition (Dong, Roth and Su 2022), as statements.

Items of that paper are named; the one number, Cor 2.13 (the delta of the Gaussian mechanism), is that of arXiv
1905.02383.

The converses fail: `gaussian_dp_does_not_follow_from_zcdp` and `gaussian_dp_does_not_follow_from_approximate_dp` give
the witnesses.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated

from flint import arb

from dpassay.arguments import require_at_least
from dpassay.claims import ZCDP, ApproximateDP, GaussianDP, PureDP
from dpassay.spec.ball import (
    ATTAINED,
    Exact,
    at_least,
    at_most,
    ball,
    exact,
    float_lower,
    float_upper,
    less_than,
    normal_cdf,
    normal_quantile,
    precision,
    sum_balls,
)
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    hockey_stick_exact,
    least_delta,
    max_divergence,
    renyi_divergence,
)
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.gdp import from_deltas, gaussian_dp_of, trade_off
from dpassay.spec.notions.second_derivations import RESPONSE, THREE
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import DONG_2022
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Outcome, Verdict, Violated, conjunction

__all__ = [
    "gaussian_implying_approximate",
    "gaussian_implying_zcdp",
    "gaussian_mu_of_pure",
    "gaussian_to_approximate",
    "gaussian_to_zcdp",
    "pure_implying_gaussian",
    "pure_to_gaussian",
]

WORKING_BITS = 192
Pair = Annotated[PairAtRatio, FinitePairs("a pair of rational distributions and a ratio e^epsilon")]
Positive = Annotated[PairAtRatio, FinitePairs("two different distributions, the right one positive", positive=True)]
Order = Annotated[Exact, Reals("an order", Fraction(1001, 1000), 100, (2, Fraction(3, 2)), logarithmic=True)]
Level = Annotated[Exact, Reals("a level of a test", 0, 1, (Fraction(1, 2),))]
VACUOUS = Holds(evidence=Evidence.EXACT, detail="no finite mu: nothing to show")
ONE_SIDED = PairAtRatio(FiniteDistribution.of(0, 1), FiniteDistribution.of(1, 1), Fraction(3, 2))
WIDE = PairAtRatio(FiniteDistribution.of(999, 1), FiniteDistribution.of(1, 999), Fraction(3, 2))


# --- conversions --------------------------------------------------------------------------------------------


def _mu_of_the_response() -> arb:
    return 2 * normal_quantile(ball(Fraction(3, 4)))


def _gaussian_delta(mu: arb, ratio: Fraction) -> arb:
    cut = ball(ratio).log() / mu
    return normal_cdf(mu / 2 - cut) - ball(ratio) * normal_cdf(-mu / 2 - cut)


def _twice(value: Fraction) -> list[Fraction]:
    return [value] * 2


def gaussian_mu_of_pure(epsilon: arb) -> arb:
    """Enclose 2 Phi^-1(e^epsilon / (1 + e^epsilon)), the mu of epsilon-DP; randomised response attains it."""
    return -2 * normal_quantile((-epsilon).exp() / (1 + (-epsilon).exp()))


def pure_to_gaussian(claim: PureDP) -> GaussianDP:
    """Convert to mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)), rounded up."""
    with precision(WORKING_BITS):
        return GaussianDP(max(float_upper(gaussian_mu_of_pure(ball(claim.epsilon))), 0.0) if claim.epsilon else 0.0)


def pure_implying_gaussian(target: GaussianDP) -> tuple[PureDP, ...]:
    """Return PureDP of log(Phi(mu/2) / Phi(-mu/2)), rounded down."""
    with precision(WORKING_BITS):
        half = ball(target.mu) / 2
        return (PureDP(max(float_lower((normal_cdf(half) / normal_cdf(-half)).log()), 0.0)),)


def gaussian_to_approximate(claim: GaussianDP, *, epsilon: float) -> ApproximateDP:
    """Convert to any epsilon, at least 0: the delta of the Gaussian mechanism, rounded up."""
    require_at_least("epsilon", epsilon, 0)
    with precision(WORKING_BITS):
        return ApproximateDP(epsilon, min(max(float_upper(gaussian_hockey_stick(claim.mu, epsilon)), 0.0), 1.0))


def gaussian_implying_approximate(target: ApproximateDP) -> tuple[GaussianDP, ...]:
    """Return GaussianDP of a mu, by bisection, at which the Gaussian mechanism certainly has at most delta."""
    if not 0 < target.delta < 1:
        return ()
    low, high = 0.0, 2 * math.sqrt(2 * target.epsilon) + 80.0
    for _ in range(70):
        middle = (low + high) / 2
        implies = at_most(lambda m=middle: gaussian_hockey_stick(m, target.epsilon), lambda: ball(target.delta))  # type: ignore[misc]
        low, high = (middle, high) if implies.outcome is Outcome.HOLDS else (low, middle)
    return (GaussianDP(low),)


def gaussian_to_zcdp(claim: GaussianDP) -> ZCDP:
    """Convert to rho = mu^2 / 2, rounded up."""
    with precision(WORKING_BITS):
        return ZCDP(float_upper(ball(Fraction(claim.mu) ** 2 / 2)))


def gaussian_implying_zcdp(target: ZCDP) -> tuple[GaussianDP, ...]:
    """Return GaussianDP of sqrt(2 rho), rounded down."""
    with precision(WORKING_BITS):
        return (GaussianDP(max(float_lower((2 * ball(target.rho)).sqrt()), 0.0)),)


# --- duality ------------------------------------------------------------------------------------------------


@statement(
    DONG_2022,
    "duality of f-DP and (epsilon, delta)",
    pins=(Pin({"pair": THREE}, "5/10 - 3/2 * 2/10 of the last outcome", both=lambda: [Fraction(1, 5)] * 2),),
)
def deltas_are_the_conjugate_of_the_trade_off_function(pair: Pair) -> Verdict:
    """1 + f*(-e^epsilon), for the trade-off function f of P and Q, is the hockey-stick divergence of Q from P."""
    found, truth = (
        trade_off(pair.left, pair.right).delta(pair.ratio),
        hockey_stick_exact(pair.right, pair.left, pair.ratio),
    )
    return conjunction([at_most_exact(found, truth, "1 + f*"), at_most_exact(truth, found, "delta")])


@statement(
    DONG_2022,
    "supremum of (epsilon, delta)",
    pins=tuple(
        Pin({"pair": THREE, "level": level}, by, both=partial(_twice, value))
        for level, by, value in (
            (Fraction(1, 10), "half of the last outcome: 1 - 5/20", Fraction(3, 4)),
            (Fraction(3, 5), "the last two outcomes and a fifth of the first: 1 - 9/10 - 1/50", Fraction(2, 25)),
        )
    ),
)
def the_trade_off_function_is_the_supremum_of_its_deltas(pair: Pair, level: Level) -> Verdict:
    """The largest of 1 - delta - e^epsilon alpha over all (epsilon, delta) of a pair is its trade-off function."""
    alpha, function = exact("level", level), trade_off(pair.left, pair.right)
    found = from_deltas(
        ((slope, hockey_stick_exact(pair.right, pair.left, slope)) for slope in function.slopes), alpha
    )
    truth = function(alpha)
    return conjunction([at_most_exact(found, truth, "supremum"), at_most_exact(truth, found, "f(alpha)")])


@statement(
    DONG_2022,
    "inverse trade-off function",
    pins=tuple(
        Pin({"pair": THREE, "level": level}, by, both=partial(_twice, value))
        for level, by, value in (
            (Fraction(1, 20), "half of the first outcome: 1 - 5/20", Fraction(3, 4)),
            (Fraction(1, 4), "the first outcome and 3/8 of the second: 1 - 5/10 - 9/80", Fraction(31, 80)),
        )
    ),
)
def the_trade_off_function_of_the_swapped_pair_is_the_inverse(pair: Pair, level: Level) -> Verdict:
    """T(Q, P) is the inverse of T(P, Q)."""
    alpha = exact("level", level)
    found, truth = trade_off(pair.left, pair.right).inverse()(alpha), trade_off(pair.right, pair.left)(alpha)
    return conjunction([at_most_exact(found, truth, "inverse"), at_most_exact(truth, found, "T(Q, P)")])


# --- implications -------------------------------------------------------------------------------------------


@statement(
    DONG_2022,
    "pure DP gives GDP",
    examples=({"pair": WIDE}, {"pair": ONE_SIDED}),
    pins=(Pin({"pair": RESPONSE}, "2 Phi^-1(3/4)", both=_mu_of_the_response),),
)
def gaussian_dp_of_pure_dp(pair: Positive) -> Verdict:
    """epsilon-DP, in both orders, implies mu-GDP for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon))."""

    def epsilon() -> arb:
        return max_divergence(pair.left, pair.right).max(max_divergence(pair.right, pair.left))

    return at_most(
        lambda: gaussian_dp_of(pair.left, pair.right), lambda: gaussian_mu_of_pure(epsilon()), slack=ATTAINED
    )


@statement(
    DONG_2022,
    "Cor 2.13",
    examples=({"pair": WIDE}, {"pair": ONE_SIDED}),
    pins=(
        Pin({"pair": replace(RESPONSE, ratio=Fraction(1))}, "3/4 - 1/4: total variation", both=lambda: Fraction(1, 2)),
        Pin(
            {"pair": replace(RESPONSE, ratio=Fraction(3, 2))},
            "3/4 - 3/8; Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)",
            smaller=lambda: Fraction(3, 8),
            larger=lambda: _gaussian_delta(_mu_of_the_response(), Fraction(3, 2)),
        ),
    ),
)
def approximate_dp_of_gaussian_dp(pair: Positive) -> Verdict:
    """mu-GDP implies (epsilon, delta)-DP with the delta of the Gaussian mechanism, at every epsilon."""
    if not all(pair.left.weights.values()):
        return VACUOUS
    truth, level = least_delta(pair.left, pair.right, pair.ratio), pair.ratio
    return at_least(
        lambda: gaussian_hockey_stick(gaussian_dp_of(pair.left, pair.right), ball(level).log()),
        lambda: ball(truth),
        slack=ATTAINED,
    )


@statement(
    DONG_2022,
    "GDP gives zCDP",
    examples=tuple({"pair": pair, "alpha": Fraction(2)} for pair in (WIDE, ONE_SIDED)),
    pins=(
        Pin(
            {"pair": RESPONSE, "alpha": Fraction(2)},
            "9/4 + 1/12 for the moment",
            smaller=lambda: ball(Fraction(7, 3)).log(),
            larger=lambda: _mu_of_the_response() ** 2,
        ),
    ),
)
def zcdp_of_gaussian_dp(pair: Positive, alpha: Order) -> Verdict:
    """mu-GDP implies mu^2/2-zCDP: D_alpha <= alpha mu^2 / 2 at every order."""
    if not all(pair.left.weights.values()):
        return VACUOUS
    order = exact("alpha", alpha)
    return at_most(
        lambda: renyi_divergence(pair.left, pair.right, ball(order)),
        lambda: ball(order) * gaussian_dp_of(pair.left, pair.right) ** 2 / 2,
    )


@statement(
    DONG_2022,
    "composition of GDP",
    cases=20,
    examples=({"pair": WIDE, "other": WIDE}, {"pair": WIDE, "other": ONE_SIDED}),
    pins=(
        Pin(
            {"pair": RESPONSE, "other": RESPONSE},
            "Phi^-1(15/16) - Phi^-1(7/16) of two responses; twice the square",
            smaller=lambda: normal_quantile(ball(Fraction(15, 16))) - normal_quantile(ball(Fraction(7, 16))),
            larger=lambda: arb(2).sqrt() * _mu_of_the_response(),
        ),
    ),
)
def gaussian_dp_composes_by_squares(pair: Positive, other: Positive) -> Verdict:
    """The composition of mu-GDP and nu-GDP is sqrt(mu^2 + nu^2)-GDP."""
    if not (all(pair.left.weights.values()) and all(other.left.weights.values())):
        return VACUOUS
    left, right = _product(pair.left, other.left), _product(pair.right, other.right)

    def composed() -> arb:
        squares = (gaussian_dp_of(each.left, each.right) ** 2 for each in (pair, other))
        return sum_balls(squares).sqrt()

    return at_most(lambda: gaussian_dp_of(left, right), composed, slack=ATTAINED)


@statement(
    DONG_2022,
    "group privacy of GDP",
    examples=({"pair": ONE_SIDED, "share": Fraction(1, 3)},),
    pins=(
        Pin(
            {"pair": RESPONSE, "share": Fraction(1, 3)},
            "2 Phi^-1(3/4): two outcomes have one vertex, and the quantiles between add up",
            both=_mu_of_the_response,
        ),
    ),
)
def gaussian_dp_of_groups_is_linear(pair: Positive, share: Level) -> Verdict:
    """If P, R and R, Q are mu-GDP and nu-GDP, then P, Q is (mu + nu)-GDP; R is any mixture of the two here."""
    part = exact("share", share)
    weights = {o: part * p + (1 - part) * pair.right.probability(o) for o, p in pair.left.weights.items()}
    middle = FiniteDistribution(weights)
    steps = [(pair.left, middle), (middle, pair.right)]
    if part in (0, 1):
        return Holds(evidence=Evidence.EXACT, detail="one of the steps is empty")
    return at_most(
        lambda: gaussian_dp_of(pair.left, pair.right),
        lambda: gaussian_dp_of(*steps[0]) + gaussian_dp_of(*steps[1]),
        slack=ATTAINED,
    )


def _product(first: FiniteDistribution, second: FiniteDistribution) -> FiniteDistribution:
    return FiniteDistribution({(a, b): p * q for a, p in first.weights.items() for b, q in second.weights.items()})


# --- what does not follow -----------------------------------------------------------------------------------


@statement(DONG_2022, "zCDP does not give GDP")
def gaussian_dp_does_not_follow_from_zcdp() -> Verdict:
    """rho-zCDP does not imply sqrt(2 rho)-GDP, the mu of the Gaussian mechanism with that rho.

    Randomised response with odds 3 is rho-zCDP with rho = epsilon tanh(epsilon/2), about 0.549; its mu is about 1.349,
    above sqrt(2 rho), about 1.048.
    """
    left, right = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
    return less_than(lambda: (ball(3).log()).sqrt(), lambda: gaussian_dp_of(left, right))


@statement(DONG_2022, "approximate DP does not give GDP")
def gaussian_dp_does_not_follow_from_approximate_dp() -> Verdict:
    """(0, delta)-DP implies mu-GDP for no mu, however small delta > 0: an event of one side alone tells them apart."""
    left, right = FiniteDistribution.of(99, 1, 0), FiniteDistribution.of(99, 0, 1)
    delta = hockey_stick_exact(left, right, Fraction(1))
    if gaussian_dp_of(left, right) == arb.pos_inf() and delta == Fraction(1, 100):
        return Holds(evidence=Evidence.EXACT, detail="delta = 1/100, and no mu is finite")
    return Violated(evidence=Evidence.EXACT, detail="mu is finite")
