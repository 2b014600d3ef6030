"""From Renyi and probabilistic privacy to approximate: the formulas, each with the statement of its soundness."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, Real, at_most, ball, exact
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    hockey_stick,
    hockey_stick_exact,
    loss_tail,
    loss_tail_exact,
    max_divergence,
    renyi_divergence,
)
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.notions.conversion_domains import SPIKE, VACUOUS, Delta, Order, Pair
from dpassay.spec.notions.second_derivations import RESPONSE, THREE
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, computed, proof
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Scope, Verdict

__all__ = ["approximate_epsilon_of_renyi", "probabilistic_epsilon_of_renyi"]

HALF = Fraction(1, 2)


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
