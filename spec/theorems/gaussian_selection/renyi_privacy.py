"""Renyi privacy: the divergence, its limits, and the way back to probabilistic privacy.

After Lebensold, Precup and Balle (2024), Defs 4 and 5 and the conversion that follows them. Notation: L is the
privacy loss under P, K(s) = log E_P[e^(s L)], so that D_alpha = K(alpha - 1) / (alpha - 1).
"""

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, sum_balls
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    loss_range,
    losses,
    max_divergence,
    relative_entropy,
    renyi_divergence,
    renyi_moment_exact,
)
from dpassay.spec.distributions.pairs import FinitePairs, Kernel, PairAtRatio
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.notions.second_derivations import THREE
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import at_least_by
from dpassay.spec.proof.steps import Proof, all_of, checked, proof
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.approximate_privacy import Processing
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["Order", "Pair", "rdp_curve_optimum"]

Pair = Annotated[PairAtRatio, FinitePairs("a pair of rational distributions")]
PositivePair = Annotated[
    PairAtRatio, FinitePairs("a pair of different rational distributions, the right one positive", positive=True)
]
Order = Annotated[
    Exact, Reals("an order", Fraction(1001, 1000), 1000, (2, Fraction(3, 2), Fraction(1001, 1000)), logarithmic=True)
]
IntegerOrder = Annotated[int, Integers("an integer order", 2, 12, (2,))]
Gap = Annotated[Exact, Reals("a difference of orders", Fraction(1, 1000), 100, logarithmic=True)]

INFINITE = Holds(evidence=Evidence.EXACT, detail="the right cannot produce all outcomes of the left")


@statement(
    LEBENSOLD_2024, "renyi_divergence", also=(("cesar2020", "renyi_divergence"), ("rogers2023", "renyi_divergence"))
)
def renyi_divergence_is_moment_of_loss(pair: Pair, alpha: IntegerOrder) -> Verdict:
    """(alpha - 1) D_alpha(P || Q) = log E_Q[(P/Q)^alpha] = log E_P[e^((alpha - 1) L)], alpha > 1.

    Def 4 prints the exponent outside the expectation; read literally, (E_Q[P/Q])^alpha is 1 and every divergence
    0. A misprint: the paper goes on with the exponent inside. Agreement to 60 bits.
    """
    moment = renyi_moment_exact(pair.left, pair.right, alpha)
    if moment is None:
        infinite = not renyi_divergence(pair.left, pair.right, ball(alpha)).is_finite()
        return INFINITE if infinite else Violated(evidence=Evidence.EXACT, detail="finite divergence")
    by_losses: Real = lambda: sum_balls(
        (p + (alpha - 1) * loss).exp() for p, loss in losses(pair.left, pair.right)
    ).log()
    divergence: Real = lambda: (alpha - 1) * renyi_divergence(pair.left, pair.right, ball(alpha))
    return conjunction([
        agree(divergence, lambda: ball(moment).log(), "divergence and moment of the likelihood ratio"),
        agree(divergence, by_losses, "divergence and moment of the loss"),
    ])  # fmt: skip


def _third_order_of_three() -> arb:
    return ball(Fraction(25, 2) + Fraction(27, 160) + Fraction(4, 125)).log() / 2


@statement(
    LEBENSOLD_2024,
    "renyi_divergence",
    pins=(
        Pin(
            {"pair": THREE, "alpha": Fraction(2), "gap": Fraction(1)},
            "25/10 + 9/40 + 4/50 and 125/10 + 27/160 + 8/250 for the moments",
            smaller=lambda: ball(Fraction(561, 200)).log(),
            larger=_third_order_of_three,
        ),
    ),
)
def renyi_divergence_increases_with_order(pair: PositivePair, alpha: Order, gap: Gap) -> Verdict:
    """D_alpha <= D_beta for alpha <= beta; equality where the loss is constant. (Trivial where D_beta is infinite.)"""
    low, high = exact("alpha", alpha), exact("alpha", alpha) + exact("gap", gap)
    return at_most(
        lambda: renyi_divergence(pair.left, pair.right, ball(low)),
        lambda: renyi_divergence(pair.left, pair.right, ball(high)),
        slack=ATTAINED,
    ).without_tightness()


@statement(
    LEBENSOLD_2024,
    "renyi_divergence",
    pins=(
        Pin(
            {"pair": THREE, "alpha": Fraction(3)},
            "125/10 + 27/160 + 8/250 for the moment; the largest ratio is 5, with probability 1/2",
            smaller=lambda: [_third_order_of_three(), (ball(25) / 2).log() / 2],
            larger=lambda: [ball(5).log(), _third_order_of_three()],
        ),
    ),
)
def renyi_divergence_tends_to_max_divergence(pair: PositivePair, alpha: Order) -> Verdict:
    """max L + log P(argmax L) / (alpha - 1) <= D_alpha <= max L: the limit for alpha -> infinity, with its rate."""
    largest: Real = lambda: max_divergence(pair.left, pair.right)
    divergence: Real = lambda: renyi_divergence(pair.left, pair.right, ball(exact("alpha", alpha)))
    weight = _weight_of_largest_ratio(pair)
    return conjunction([
        at_most(divergence, largest, slack=ATTAINED),
        at_least(
            divergence, lambda: largest() + ball(weight).log() / ball(exact("alpha", alpha) - 1), slack=ATTAINED
        ),
    ]).without_tightness()  # fmt: skip


def _ratios(pair: PairAtRatio) -> dict[Hashable, Fraction]:
    return {o: p / pair.right.probability(o) for o, p in pair.left.weights.items() if p}


def _weight_of_largest_ratio(pair: PairAtRatio) -> Fraction:
    ratios = _ratios(pair)
    return sum((pair.left.probability(o) for o, r in ratios.items() if r == max(ratios.values())), Fraction(0))


def _entropy_of_three() -> arb:
    return (5 * ball(5).log() + 3 * ball(Fraction(3, 4)).log() + 2 * ball(Fraction(2, 5)).log()) / 10


@statement(
    LEBENSOLD_2024,
    "renyi_divergence",
    pins=(
        Pin(
            {"pair": THREE, "alpha": Fraction(2)},
            "losses log 5, log(3/4) and log(2/5) with range log(25/2); 25/10 + 9/40 + 4/50 for the moment",
            smaller=lambda: [_entropy_of_three(), ball(Fraction(561, 200)).log()],
            larger=lambda: [
                ball(Fraction(561, 200)).log(),
                _entropy_of_three() + ball(Fraction(25, 2)).log() ** 2 / 8,
            ],
        ),
    ),
)
def renyi_divergence_tends_to_relative_entropy(pair: PositivePair, alpha: Order) -> Verdict:
    """D_1 <= D_alpha <= D_1 + (alpha - 1) R^2 / 8, with D_1 = E_P[L] and R the range of L: the limit for
    alpha -> 1, with its rate. (Hoeffding's lemma; the notion of zCDP is decided by it.)
    """
    entropy: Real = lambda: relative_entropy(pair.left, pair.right)
    divergence: Real = lambda: renyi_divergence(pair.left, pair.right, ball(exact("alpha", alpha)))
    upper: Real = lambda: entropy() + ball(exact("alpha", alpha) - 1) * loss_range(pair.left, pair.right) ** 2 / 8
    if len(set(_ratios(pair).values())) == 1:
        return agree(divergence, entropy, "divergence of a constant loss and its mean")
    sandwich = [at_most(entropy, divergence, slack=ATTAINED), at_most(divergence, upper, slack=ATTAINED)]
    return conjunction(sandwich).without_tightness()


_BITS = FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1)


@statement(
    LEBENSOLD_2024,
    "rdp",
    "post_processing",
    pins=(
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)),
                "kernel": Kernel((*_BITS, *_BITS, _BITS[0])),
                "alpha": 2,
            },
            "9/16 over 1/4 and 1/16 over 3/4",
            both=lambda: Fraction(7, 3),
        ),
    ),
)
def renyi_dp_survives_post_processing(pair: Pair, kernel: Processing, alpha: IntegerOrder) -> Verdict:
    """No randomised map of the outcomes increases the Renyi divergence of any order; exact, at integer orders.

    (Def 5 puts the quantifier over neighbours after the inequality; the meaning is clear.)
    """
    image = pair.mapped(kernel)
    before = renyi_moment_exact(pair.left, pair.right, alpha)
    after = renyi_moment_exact(image.left, image.right, alpha)
    if before is None:
        return INFINITE
    if after is None:
        return Violated(evidence=Evidence.EXACT, detail="infinite after post-processing, finite before")
    return at_most_exact(after, before, f"E_Q[(P/Q)^{alpha}] after post-processing")


def rdp_curve_optimum(slope: "sp.Expr", excess: "sp.Expr") -> "tuple[sp.Expr, sp.Expr]":
    """Return the least value of alpha A + C / (alpha - 1) over alpha > 1, and the order where it is attained.

    Parameters
    ----------
    slope, excess : sympy expressions
        A > 0 and C > 0. With an RDP curve alpha A + B / (alpha - 1) and C = B + log(1/delta) the value is the
        epsilon of probabilistic privacy.
    """
    return slope + 2 * sp.sqrt(slope * excess), 1 + sp.sqrt(excess / slope)


@statement(LEBENSOLD_2024, "rdp_to_pdp")
def best_order_of_conversion_to_probabilistic_dp() -> Proof:
    """For the RDP curve alpha A + B / (alpha - 1), the least of alpha A + (B + log(1/delta)) / (alpha - 1) over
    alpha > 1 is A + 2 sqrt(A (B + log(1/delta))), at alpha = 1 + sqrt((B + log(1/delta)) / A).

    For the Gaussian curve alpha mu^2 / 2 that is mu^2 / 2 + mu sqrt(2 log(1/delta)).
    """
    slope, excess, u, mu, log_inverse = sp.symbols("A C u mu ell", positive=True)
    curve: Callable[[Any], Any] = lambda alpha: alpha * slope + excess / (alpha - 1)
    least, where = rdp_curve_optimum(slope, excess)
    square = (sp.sqrt(slope * u) - sp.sqrt(excess / u)) ** 2
    gaussian, _ = rdp_curve_optimum(mu**2 / 2, log_inverse)
    return proof(
        checked(
            "least",
            "The curve exceeds A + 2 sqrt(A C), C = B + log(1/delta), by a square.",
            at_least_by,
            curve(1 + u),
            least,
            square,
        ),
        checked("attained", "It takes this value at 1 + sqrt(C/A).", identity, curve(where), least),
        checked(
            "Gaussian",
            "For A = mu^2/2 and B = 0 the value is mu^2/2 + mu sqrt(2 log(1/delta)).",
            identity,
            gaussian,
            mu**2 / 2 + mu * sp.sqrt(2 * log_inverse),
        ),
        all_of("the best order", "least", "attained", "Gaussian"),
    )
