"""From zero-concentrated privacy to Renyi, probabilistic and approximate: the formulas, each with its soundness."""

import math
from fractions import Fraction
from functools import partial
from typing import Annotated

from flint import arb

from dpassay.claims import ZCDP, RenyiDP
from dpassay.spec.ball import Exact, Real, at_most, ball, enclosure, exact, float_lower
from dpassay.spec.distributions.discrete import loss_tail, renyi_divergence
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.conversion_domains import SPIKE, Delta, Order, Pair, Rho, Shift
from dpassay.spec.notions.renyi import renyi_dp_holds
from dpassay.spec.notions.renyi_conversions import approximate_epsilon_of_renyi
from dpassay.spec.notions.second_derivations import (
    RESPONSE,
    delta_at_shift_two,
    least_epsilon_at_shift_two,
    response_below_rho,
    rho_of_the_response,
)
from dpassay.spec.notions.zcdp import zcdp_holds
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict, Violated, conjunction

__all__ = ["best_order", "optimal_probabilistic_epsilon"]


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
