"""From pure privacy to approximate, probabilistic and zero-concentrated: the formulas, each with its soundness."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, at_most, ball, exact
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    hockey_stick_exact,
    loss_tail_exact,
    renyi_divergence,
)
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.conversion_domains import VACUOUS, Pair
from dpassay.spec.notions.second_derivations import RESPONSE
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import nonnegative_from_zero
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, positive
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import DPASSAY, LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict

__all__ = ["approximate_delta_of_pure", "zcdp_rho_of_pure"]

FAIR = PairAtRatio(FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 3), Fraction(6, 5))


def approximate_delta_of_pure(largest: Fraction, ratio: Fraction) -> Fraction:
    """Return the least delta at ratio = e^epsilon of a pair that is log(largest)-DP in both orders.

    (largest - ratio) / (largest + 1), at least 0: attained by randomised response.
    """
    return max(Fraction(0), (largest - ratio) / (largest + 1))


def _largest_ratio(pair: PairAtRatio) -> Fraction | None:
    """Return e^epsilon of the sharpest pure claim, in both orders; None if there is none."""
    ratios = [Fraction(1)]
    for o in range(pair.size):
        p, q = pair.left.probability(o), pair.right.probability(o)
        if (p == 0) != (q == 0):
            return None
        if p:
            ratios += [p / q, q / p]
    return max(ratios)


@statement(
    LEBENSOLD_2024,
    "approx_dp",
    "pure_dp_pointwise",
    pins=(
        Pin({"pair": replace(RESPONSE, ratio=Fraction(3, 2))}, "3/4 - 3/8, attained", both=lambda: Fraction(3, 8)),
        *(
            Pin(
                {"pair": pair},
                "1/2 - 3/10, and 3/4 - 6/10; 2/3 - 2/5 of a response with odds 2",
                smaller=partial(Fraction, delta),
                larger=lambda: Fraction(4, 15),
            )
            for pair, delta in ((FAIR, Fraction(1, 5)), (FAIR.swapped, Fraction(3, 20)))
        ),
    ),
)
def approximate_dp_of_pure_dp(pair: Pair) -> Verdict:
    """epsilon-DP implies (epsilon', delta)-DP for every epsilon' <= epsilon, with
    delta = (e^epsilon - e^epsilon') / (e^epsilon + 1); attained by randomised response.
    """
    largest = _largest_ratio(pair)
    if largest is None:
        return VACUOUS
    return at_most_exact(
        hockey_stick_exact(pair.left, pair.right, pair.ratio),
        approximate_delta_of_pure(largest, pair.ratio),
        "delta of a purely private pair",
    )


@statement(
    LEBENSOLD_2024,
    "pdp",
    "pure_dp_pointwise",
    examples=({"pair": PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3))},),
)
def probabilistic_dp_of_pure_dp(pair: Pair) -> Verdict:
    """epsilon-DP implies (epsilon, 0)-pDP, in both orders: a loss equal to epsilon does not exceed it."""
    largest = _largest_ratio(pair)
    if largest is None:
        return VACUOUS
    tails = [loss_tail_exact(each.left, each.right, largest) for each in (pair, pair.swapped)]
    return equal_exact(tails, [Fraction(0)] * 2, "loss tails")


def zcdp_rho_of_pure(epsilon: arb) -> arb:
    """Enclose epsilon tanh(epsilon/2), the zCDP parameter of epsilon-DP; at most epsilon^2 / 2.

    Bun and Steinke (2016, Prop. 3.3) have epsilon^2 / 2. This one is attained by randomised response, as
    alpha -> 1, and is proved in `zcdp_of_pure_dp_by_randomised_response`.
    """
    return epsilon * (epsilon / 2).tanh()


@statement(
    DPASSAY,
    "pure DP gives zCDP",
    examples=(
        {
            "pair": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2)),
            "alpha": Fraction(100001, 100000),
        },
    ),
    pins=(
        Pin(
            {"pair": FAIR, "alpha": Fraction(2)},
            "1 + 1/3 for the moment; twice log 2 times 2/3 - 1/3",
            smaller=lambda: ball(Fraction(4, 3)).log(),
            larger=lambda: ball(2).log() * 2 / 3,
        ),
    ),
)
def zcdp_of_pure_dp(
    pair: Pair, alpha: Annotated[Exact, Reals("an order", Fraction(100001, 100000), 1000, (2,), logarithmic=True)]
) -> Verdict:
    """epsilon-DP, in both orders, implies rho-zCDP for rho = epsilon tanh(epsilon/2), at every order alpha."""
    largest = _largest_ratio(pair)
    if largest is None or pair.left == pair.right:
        return VACUOUS
    order = exact("alpha", alpha)
    return at_most(
        lambda: renyi_divergence(pair.left, pair.right, ball(order)),
        lambda: ball(order) * zcdp_rho_of_pure(ball(largest).log()),
        slack=ATTAINED,
    )


def randomised_response_rho(epsilon: Any) -> Any:
    """Return epsilon tanh(epsilon/2) for a sympy symbol."""
    import sympy as sp  # takes a quarter of a second to import

    return epsilon * sp.tanh(epsilon / 2)


@statement(DPASSAY, "pure DP gives zCDP")
def zcdp_of_pure_dp_by_randomised_response() -> Proof:
    """Randomised response has the largest Renyi divergences among epsilon-DP pairs, and for it
    K(s) = log E_P[e^(s L)] <= epsilon tanh(epsilon/2) s (s + 1).

    t^alpha is convex and P/Q has Q-mean 1 in [e^-epsilon, e^epsilon], so that its moment is largest for the
    two-point distribution on the ends. For that, K(s) = log(cosh((s + 1/2) epsilon) / cosh(epsilon/2)); K'' falls,
    so K(s) <= K'(0) s + K''(0) s^2 / 2, and K''(0) <= 2 K'(0).
    """
    import sympy as sp

    t, epsilon, s = sp.symbols("t epsilon s", positive=True)
    alpha = s + 1
    upper = 1 / (1 + sp.exp(epsilon))  # Q-probability of the ratio e^epsilon
    mean = upper * sp.exp(epsilon) + (1 - upper) * sp.exp(-epsilon)
    moment = upper * sp.exp(alpha * epsilon) + (1 - upper) * sp.exp(-alpha * epsilon)
    ratio = sp.cosh((s + sp.Rational(1, 2)) * epsilon) / sp.cosh(epsilon / 2)
    slope = epsilon * sp.tanh((s + sp.Rational(1, 2)) * epsilon)
    bend = epsilon**2 / sp.cosh((s + sp.Rational(1, 2)) * epsilon) ** 2
    gap = sp.sinh(epsilon) - epsilon
    rho = randomised_response_rho(epsilon)
    return proof(
        suppose("pure", "P/Q lies in [e^-epsilon, e^epsilon] and has Q-mean 1."),
        checked("convex", "t^alpha is convex for alpha = s + 1 > 1.", positive, sp.diff(t**alpha, t, 2)),
        checked(
            "two points",
            "On the two ends, e^epsilon with Q-probability 1/(1 + e^epsilon), the mean is 1.",
            identity,
            mean,
            1,
        ),
        prose(
            "extremal",
            "The moment E_Q[(P/Q)^alpha] is largest for the two points: the chord over the ends bounds a convex "
            "function.",
            given=["pure", "convex", "two points"],
        ),
        checked(
            "moment",
            "That moment is cosh((s + 1/2) epsilon)/cosh(epsilon/2).",
            identity,
            moment,
            ratio,
            given=["extremal"],
        ),
        checked(
            "K'",
            "K' is epsilon tanh((s + 1/2) epsilon).",
            identity,
            sp.diff(sp.log(ratio), s),
            slope,
            given=["moment"],
        ),
        checked("K''", "K'' is epsilon^2/cosh((s + 1/2) epsilon)^2.", identity, sp.diff(slope, s), bend, given=["K'"]),
        checked("K'' falls", "K'' falls in s.", positive, -sp.diff(bend, s), given=["K''"]),
        checked("K(0)", "K vanishes at 0.", identity, sp.log(ratio).subs(s, 0), 0, given=["moment"]),
        checked("K'(0)", "K'(0) is rho = epsilon tanh(epsilon/2).", identity, slope.subs(s, 0), rho, given=["K'"]),
        checked(
            "difference",
            "(2 K'(0) - K''(0)) cosh(epsilon/2)^2 = epsilon (sinh(epsilon) - epsilon).",
            identity,
            (2 * rho - bend.subs(s, 0)) * sp.cosh(epsilon / 2) ** 2,
            epsilon * gap,
            given=["K'(0)", "K''"],
        ),
        checked(
            "sinh",
            "sinh(epsilon) >= epsilon: both vanish at 0, and the derivative of the difference is 2 sinh(epsilon/2)^2.",
            nonnegative_from_zero,
            gap,
            epsilon,
            2 * sp.sinh(epsilon / 2) ** 2,
        ),
        prose(
            "rho-zCDP",
            "K(s) <= K'(0) s + K''(0) s^2/2, as K'' falls, and K''(0) <= 2 K'(0): so K(s) <= rho s (s + 1), s "
            "D_(s+1) of "
            "the extremal pair.",
            given=["K'' falls", "K(0)", "K'(0)", "difference", "sinh"],
        ),
    )
