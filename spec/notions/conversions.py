"""Conversions between notions: the formulas, each with the statement of its soundness.

A statement here takes a pair of distributions, computes the sharpest claim of one notion that the pair satisfies,
converts it, and decides the claim of the other notion.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from flint import arb

from dpassay.claims import ZCDP, RenyiDP
from dpassay.spec.ball import ATTAINED, Exact, Real, at_most, ball, enclosure, exact, float_lower
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    hockey_stick,
    hockey_stick_exact,
    loss_tail,
    loss_tail_exact,
    max_divergence,
    renyi_divergence,
)
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.renyi import renyi_dp_holds
from dpassay.spec.notions.second_derivations import (
    RESPONSE,
    THREE,
    delta_at_shift_two,
    least_epsilon_at_shift_two,
    response_below_rho,
    rho_of_the_response,
)
from dpassay.spec.notions.zcdp import zcdp_holds
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import nonnegative_from_zero
from dpassay.spec.proof.steps import Proof, checked, computed, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, positive
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import DPASSAY, LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Outcome, Scope, Undecided, Verdict, Violated, conjunction

__all__ = [
    "approximate_delta_of_pure",
    "approximate_epsilon_of_renyi",
    "best_order",
    "optimal_probabilistic_epsilon",
    "probabilistic_epsilon_of_renyi",
    "zcdp_rho_of_pure",
]

Pair = Annotated[PairAtRatio, FinitePairs("a pair of rational distributions and a ratio e^epsilon")]
Order = Annotated[Exact, Reals("an order", Fraction(1001, 1000), 1000, (2, Fraction(3, 2)), logarithmic=True)]
Delta = Annotated[
    Exact, Reals("a probability", Fraction(1, 10**12), Fraction(999, 1000), (Fraction(1, 2),), logarithmic=True)
]
Shift = Annotated[Exact, Reals("a shift, in noise scales", Fraction(1, 1000), 20, (1,), logarithmic=True)]
Rho = Annotated[Exact, Reals("a parameter of zCDP", Fraction(1, 1000), 10, (Fraction(1, 2),), logarithmic=True)]

HALF = Fraction(1, 2)
SPIKE = PairAtRatio(FiniteDistribution.of(1, 99), FiniteDistribution.of(1, 9999))
FAIR = PairAtRatio(FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 3), Fraction(6, 5))
VACUOUS = Holds(evidence=Evidence.EXACT, detail="an infinite loss, or none at all: nothing to show")


# --- from pure ----------------------------------------------------------------------------------------------


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


# --- from probabilistic -------------------------------------------------------------------------------------


@statement(
    LEBENSOLD_2024,
    "pdp_implies_dp",
    pins=(
        Pin(
            {"pair": THREE},
            "5/10 - 3/20 of the first outcome, and all of it",
            smaller=lambda: Fraction(7, 20),
            larger=lambda: Fraction(1, 2),
        ),
        Pin(
            {"pair": replace(RESPONSE, ratio=Fraction(3))},
            "no loss exceeds log 3",
            both=lambda: Fraction(0),
        ),
    ),
)
def approximate_dp_of_probabilistic_dp(pair: Pair) -> Verdict:
    """(epsilon, delta)-pDP implies (epsilon, delta)-DP: the hockey-stick divergence is at most the loss tail."""
    return at_most_exact(
        hockey_stick_exact(pair.left, pair.right, pair.ratio),
        loss_tail_exact(pair.left, pair.right, pair.ratio),
        "hockey-stick divergence",
    )


# --- from Renyi ---------------------------------------------------------------------------------------------


def probabilistic_epsilon_of_renyi(alpha: Exact, epsilon: arb, delta: Exact) -> arb:
    """Enclose epsilon + log(1/delta) / (alpha - 1): (alpha, epsilon)-RDP implies pDP with this and delta (Markov)."""
    return epsilon - ball(exact("delta", delta)).log() / ball(exact("alpha", alpha) - 1)


def approximate_epsilon_of_renyi(alpha: Exact, epsilon: arb, delta: Exact) -> arb:
    """Enclose epsilon + log((alpha - 1)/alpha) - (log delta + log alpha) / (alpha - 1); may be negative.

    Balle, Barthe, Gaboardi, Hsu and Sato (2020), Thm 21. It gives approximate, not probabilistic, privacy.
    """
    order, tail = exact("alpha", alpha), exact("delta", delta)
    return epsilon + ball((order - 1) / order).log() - ball(tail * order).log() / ball(order - 1)


@statement(
    LEBENSOLD_2024,
    "rdp_to_pdp",
    examples=(
        {"pair": SPIKE, "alpha": Fraction(2), "delta": Fraction(1, 50)},
        {"pair": SPIKE, "alpha": Fraction(2), "delta": Fraction(99, 10000)},
    ),
    pins=tuple(
        Pin(
            {"pair": SPIKE, "alpha": Fraction(3), "delta": delta},
            "the loss log 100 exceeds log(M/delta)/2 where delta is above M/100^2 = 0.01009705, M the third moment",
            smaller=partial(Fraction, tail),
            larger=partial(Fraction, delta),
        )
        for delta, tail in ((Fraction("0.010097"), 0), (Fraction("0.010098"), Fraction(1, 100)))
    ),
)
def probabilistic_dp_of_renyi_dp(pair: Pair, alpha: Order, delta: Delta) -> Verdict:
    """(alpha, epsilon)-RDP implies (epsilon + log(1/delta)/(alpha - 1), delta)-pDP for every delta in (0, 1)."""
    if not max_divergence(pair.left, pair.right).is_finite():
        return VACUOUS
    tail: Real = lambda: loss_tail(
        pair.left,
        pair.right,
        probabilistic_epsilon_of_renyi(alpha, renyi_divergence(pair.left, pair.right, ball(alpha)), delta),
    )
    return at_most(tail, lambda: ball(exact("delta", delta)))


@statement(
    LEBENSOLD_2024,
    "rdp_to_pdp",
    "approx_dp",
    examples=(
        {
            "pair": PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(1, 1)),
            "alpha": Fraction(2),
            "delta": Fraction(1, 2),
        },
    ),
    pins=(
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(1, 1)),
                "alpha": Fraction(2),
                "delta": Fraction(1, 2),
            },
            "a constant loss of log 2: epsilon is 0, where delta is 1 - 1/2",
            smaller=lambda: Fraction(1, 2),
            larger=lambda: Fraction(1, 2),
        ),
    ),
)
def approximate_dp_of_renyi_dp(pair: Pair, alpha: Order, delta: Delta) -> Verdict:
    """(alpha, epsilon)-RDP implies (epsilon + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1), delta)-DP;
    attained at delta = 1/alpha by a constant loss.
    """
    if not max_divergence(pair.left, pair.right).is_finite():
        return VACUOUS
    least: Real = lambda: hockey_stick(
        pair.left,
        pair.right,
        approximate_epsilon_of_renyi(alpha, renyi_divergence(pair.left, pair.right, ball(alpha)), delta),
    )
    return at_most(least, lambda: ball(exact("delta", delta)), slack=ATTAINED)


@statement(LEBENSOLD_2024, "rdp_to_pdp", "pdp")
def tighter_conversion_does_not_give_probabilistic_dp() -> Proof:
    """The conversion of Balle et al. gives approximate privacy only: for P = (1, 0), Q = (1/2, 1/2), alpha = 2 and
    delta = 1/2 it allows epsilon = 0, while the loss is log 2 with probability 1.
    """
    left, right = FiniteDistribution.of(1, 0), FiniteDistribution.of(1, 1)
    tail: Real = lambda: loss_tail(
        left, right, approximate_epsilon_of_renyi(2, renyi_divergence(left, right, arb(2)), HALF)
    )
    return proof(
        computed(
            "loss tail",
            "At the epsilon of the conversion (0 to all digits) the loss tail is 1, above delta = 1/2.",
            lambda: at_most(lambda: arb(1), tail),
            scope=Scope.ALL,
        )
    )


# --- from zCDP ----------------------------------------------------------------------------------------------


def optimal_probabilistic_epsilon(rho: Exact, delta: Exact) -> arb:
    """Enclose rho + 2 sqrt(rho log(1/delta)), the best of the conversions of the curve rho alpha; delta in (0, 1]."""
    curve = ball(exact("rho", rho))
    return curve + 2 * (-curve * ball(exact("delta", delta)).log()).sqrt()


def best_order(rho: float, delta: float) -> float:
    """Find, in float64, the order at which `approximate_epsilon_of_renyi` of the curve rho alpha is least.

    Any order above 1 gives a sound conversion; this one a good one.
    """

    def converted(log_excess: float) -> float:
        excess = math.exp(log_excess)
        return rho * excess - math.log1p(1 / excess) - (math.log(delta) + math.log1p(excess)) / excess

    low, high = -20.0, 40.0
    for _ in range(120):  # comparisons alone: the parabolas of Brent's method fail where a value is infinite
        third = (high - low) / 3
        if converted(low + third) < converted(high - third):
            high -= third
        else:
            low += third
    return 1 + math.exp((low + high) / 2)


@statement(
    LEBENSOLD_2024,
    "rdp",
    examples=({"pair": SPIKE, "alpha": Fraction(6), "share": Fraction(999_999, 10**6)},),
    pins=(
        Pin(
            {"pair": RESPONSE, "alpha": Fraction(2), "share": Fraction(999_999, 10**6)},
            "9/4 + 1/12 for the moment, log 3 times 3/4 - 1/4 for the entropy; neither is below the claims",
            smaller=lambda: [ball(Fraction(7, 3)).log(), ball(3).log() / 2],
            larger=lambda: [ball(Fraction(7, 3)).log() * ball(Fraction(999_999, 10**6)) / part for part in (1, 2)],
        ),
    ),
)
def renyi_dp_of_zcdp(
    pair: Annotated[
        PairAtRatio, FinitePairs("a pair of different rational distributions, the right one positive", positive=True)
    ],
    alpha: Order,
    share: Annotated[
        Exact, Reals("rho alpha over D_alpha", Fraction(1, 2), Fraction(999_999, 10**6), (Fraction(999_999, 10**6),))
    ],
) -> Verdict:
    """rho-zCDP implies (alpha, rho alpha)-RDP for every alpha > 1: where D_alpha exceeds rho alpha, however little,
    the decision on rho-zCDP does not establish it.
    """
    order = float(exact("alpha", alpha))
    divergence = enclosure(lambda: renyi_divergence(pair.left, pair.right, ball(order)))
    claimed = float_lower(divergence * ball(exact("share", share)) / ball(order))
    point = renyi_dp_holds(RenyiDP(order, math.nextafter(claimed * order, math.inf)), pair.left, pair.right)
    if point.outcome is not Outcome.VIOLATED:
        return Undecided(evidence=Evidence.ENCLOSED, detail=f"RDP: {point.outcome}")
    curve = zcdp_holds(ZCDP(claimed), pair.left, pair.right)
    kind = Violated if curve.outcome is Outcome.HOLDS else Holds
    return kind(evidence=Evidence.ENCLOSED, detail=f"zCDP: {curve.outcome}, RDP: {point.outcome}")


@statement(
    LEBENSOLD_2024,
    "rdp_to_pdp",
    examples=(
        {"pair": SPIKE, "rho": Fraction(4, 5), "delta": Fraction(11, 1000)},
        {"pair": SPIKE, "rho": Fraction(4, 5), "delta": Fraction(9, 1000)},
    ),
    pins=tuple(
        Pin(
            {"pair": RESPONSE, "rho": Fraction(11, 20), "delta": delta},
            "cosh for the premise; log 3 exceeds 0.55 + 2 sqrt(0.55 log(1/delta)) where delta is above 0.8721385",
            smaller=partial(response_below_rho, Fraction(tail)),
            larger=partial(rho_of_the_response, delta),
        )
        for delta, tail in ((Fraction("0.8721"), 0), (Fraction("0.8722"), Fraction(3, 4)))
    ),
)
def probabilistic_dp_of_zcdp(pair: Pair, rho: Rho, delta: Delta) -> Verdict:
    """rho-zCDP implies (rho + 2 sqrt(rho log(1/delta)), delta)-pDP, hence DP. Needs delta <= 1."""
    claimed, tail = exact("rho", rho), exact("delta", delta)
    if zcdp_holds(ZCDP(float(claimed)), pair.left, pair.right).outcome is not Outcome.HOLDS:
        return Holds(evidence=Evidence.EXACT, detail="the premise is not established: nothing to show")
    bad: Real = lambda: loss_tail(pair.left, pair.right, optimal_probabilistic_epsilon(Fraction(float(claimed)), tail))
    return at_most(bad, lambda: ball(tail))


@statement(
    LEBENSOLD_2024,
    "rdp_to_pdp",
    "analytic_gaussian_dp",
    pins=(
        Pin(
            {"shift": Fraction(2), "delta": Fraction(1, 1000)},
            "the least conversion by bisection, in the delta of the Gaussian mechanism; 2 + sqrt(8 log 1000)",
            smaller=lambda: [delta_at_shift_two(least_epsilon_at_shift_two()), least_epsilon_at_shift_two()],
            larger=lambda: [Fraction(1, 1000), 2 + (8 * ball(1000).log()).sqrt()],
        ),
    ),
)
def approximate_dp_of_zcdp(shift: Shift, delta: Delta) -> Verdict:
    """rho-zCDP implies (epsilon, delta)-DP with the least epsilon of the conversions of (alpha, rho alpha)-RDP over
    alpha; below rho + 2 sqrt(rho log(1/delta)).

    Tried on the Gaussian pair, whose Renyi divergences are exactly rho alpha with rho = shift^2 / 2.
    """
    m, tail = exact("shift", shift), exact("delta", delta)
    rho = m**2 / 2
    order = Fraction(best_order(float(rho), float(tail)))
    converted: Real = lambda: approximate_epsilon_of_renyi(order, ball(rho * order), tail)
    return conjunction([
        at_most(lambda: gaussian_hockey_stick(m, converted()), lambda: ball(tail)),
        at_most(converted, lambda: optimal_probabilistic_epsilon(rho, tail)),
    ])  # fmt: skip
