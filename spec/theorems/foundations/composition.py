"""Composition: the joint cost of several private mechanisms.

Chapter after Gaboardi (2017), S3 and S6. Basic composition adds the epsilons, also for mechanisms that are chosen
adaptively, and is attained by randomised response. Advanced composition trades a small delta for a loss of order
sqrt(r); the form here, epsilon' = r epsilon^2/2 + epsilon sqrt(2 r log(1/delta)), is the one of Cohen and Lyu (2023),
Lemma A.4, and of concentrated privacy.
"""

from collections.abc import Hashable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, at_most, ball, exact, less_than
from dpassay.spec.distributions.randomised_response import composed_response_hockey_stick
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.transcripts import (
    AdaptiveInteractions,
    Interaction,
    Round,
    branches,
    chain,
    loss_distribution,
    randomised_response,
)
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import at_least_by
from dpassay.spec.proof.steps import Proof, all_of, checked, proof
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import Ratio, at_most_exact, equal_exact, product
from dpassay.spec.sources import GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.theorems.foundations.second_derivations import advanced_responses_delta
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["advanced_composition_epsilon", "advanced_share", "composed_ratio"]

Adaptive = Annotated[
    Interaction, AdaptiveInteractions("an adaptive interaction of at most 4 rounds of finite mechanisms")
]
Budget = Annotated[Fraction, Reals("e^epsilon", 1, 100, (2, 1, Fraction(3, 2)), logarithmic=True)]
Few = Annotated[int, Integers("a number of mechanisms", 1, 16, (1, 2, 10))]
Copies = Annotated[int, Integers("a number of mechanisms", 1, 4000, (1, 16, 30, 100), logarithmic=True)]
Epsilon = Annotated[Exact, Reals("a privacy parameter", Fraction(1, 1000), 4, (1,), logarithmic=True)]
Delta = Annotated[
    Exact, Reals("a probability", Fraction(1, 10**15), 1, (1, Fraction(1, 2), Fraction(1, 10**6)), logarithmic=True)
]


# --- basic composition --------------------------------------------------------------------------------------


class _Unlimited:
    """The rule that admits everything."""

    def start(self) -> None:
        """Return the state before the first round."""

    def admits(self, state: None, offer: Round) -> bool:  # noqa: ARG002  # the protocol of rules
        """Return True."""
        return True

    def spend(self, state: None, offer: Round, outcome: Hashable) -> None:
        """Keep no account."""


def _pure_ratio(offer: Round) -> Ratio:
    """Return e^epsilon of the least pure guarantee of a mechanism, in both orders."""
    swapped = Round(offer.right, offer.left, offer.ratio_max)
    return max(ratio.likelihood_ratio(o) for ratio in (offer, swapped) for o in offer.outcomes)


def composed_ratio(interaction: Interaction) -> Ratio:
    """Return e^(sum of the epsilons): in each round the largest guarantee among the mechanisms that may run there."""
    total: Ratio = Fraction(1)
    level: list[Interaction] = [interaction]
    while level:
        total = product(total, max(_pure_ratio(node.offer) for node in level))
        level = [child for node in level for child in node.after.values()]
    return total


@statement(
    GABOARDI_2017,
    "basic_composition",
    examples=({"interaction": Interaction(randomised_response(Fraction(2)))},),
    pins=(
        Pin(
            {"interaction": chain(randomised_response(Fraction(2)), randomised_response(Fraction(3)))},
            "6 times the product of the probabilities 2/3, 1/3 and 3/4, 1/4 on the other side",
            smaller=lambda: [Fraction(n, 12) for n in (1, 3, 2, 6, 6, 2, 3, 1)],
            larger=lambda: [Fraction(n, 2) for n in (6, 2, 3, 1, 1, 3, 2, 6)],
        ),
    ),
)
def pure_dp_of_basic_composition(interaction: Adaptive) -> Verdict:
    """The transcript of mechanisms M_1, ..., M_n that are epsilon_i-DP is (epsilon_1 + ... + epsilon_n)-DP, also
    where each is chosen after seeing the earlier outputs. Every transcript is compared, in both orders; exact.
    """
    bound = composed_ratio(interaction)
    if not isinstance(bound, Fraction):
        return Holds(evidence=Evidence.EXACT, detail="no finite epsilon is claimed")
    complete = list(branches(interaction, _Unlimited()))
    sides = [(b.left, b.right) for b in complete] + [(b.right, b.left) for b in complete]
    return conjunction(at_most_exact(p, bound * q, "probability of a transcript") for p, q in sides)


@statement(GABOARDI_2017, "basic_composition")
def basic_composition_is_attained(copies: Few, ratio: Budget) -> Verdict:
    """n randomised responses with epsilons log(ratio) and log(ratio + 1) in turn have a transcript whose loss is
    exactly the sum of the epsilons.
    """
    offers = [randomised_response(exact("ratio", ratio) + k % 2) for k in range(copies)]
    largest = max(loss_distribution(offers, _Unlimited()).masses)
    later = copies // 2
    expected = exact("ratio", ratio) ** (copies - later) * (exact("ratio", ratio) + 1) ** later
    return equal_exact(largest, expected, "the largest likelihood ratio")


# --- advanced composition -----------------------------------------------------------------------------------


def advanced_composition_epsilon(copies: int, epsilon: arb, delta: Exact) -> arb:
    """Enclose r epsilon^2/2 + epsilon sqrt(2 r log(1/delta))."""
    tail = -ball(exact("delta", delta)).log()
    return copies * epsilon * epsilon / 2 + epsilon * (2 * copies * tail).sqrt()


@statement(
    GABOARDI_2017,
    "advanced_composition_accuracy",
    also=(("cohen2023", "dp_composition"),),
    examples=(
        {"copies": 16, "epsilon": Fraction("0.136"), "delta": Fraction(25, 10**7)},
        {"copies": 30, "epsilon": Fraction("0.051"), "delta": Fraction(1, 10**12)},
        {"copies": 100, "epsilon": Fraction("0.173"), "delta": Fraction(1, 10**12)},
        {"copies": 1, "epsilon": 1, "delta": 1},
    ),
    pins=(
        Pin(
            {"copies": 16, "epsilon": Fraction("0.136"), "delta": Fraction(25, 10**7)},
            "tails of truthful answers by the incomplete beta function, at the square completed",
            smaller=lambda: advanced_responses_delta(16, Fraction("0.136"), Fraction(25, 10**7)),
            larger=lambda: Fraction(25, 10**7),
        ),
    ),
)
def approximate_dp_of_advanced_composition(copies: Copies, epsilon: Epsilon, delta: Delta) -> Verdict:
    """r mechanisms, each epsilon-DP and chosen adaptively, are together (epsilon', delta)-DP for
    epsilon' = r epsilon^2/2 + epsilon sqrt(2 r log(1/delta)).

    Decided for r randomised responses, which dominate all others (Kairouz, Oh and Viswanath 2015): a sum of
    binomial probabilities. Without the 2 under the root it fails from r = 16 on.
    """
    step = exact("epsilon", epsilon)
    return at_most(
        lambda: composed_response_hockey_stick(copies, step, advanced_composition_epsilon(copies, ball(step), delta)),
        lambda: ball(exact("delta", delta)),
    )


def advanced_share(copies: int | arb, epsilon: arb, delta: Exact) -> arb:
    """Enclose the epsilon of each of r mechanisms that together cost epsilon.

    2 epsilon / (sqrt(r) (a + b)) with a = sqrt(2 (L + epsilon)), b = sqrt(2 L) and L = log(1/delta); no cancellation.
    """
    tail = -ball(exact("delta", delta)).log()
    return 2 * epsilon / (ball(copies).sqrt() * ((2 * (tail + epsilon)).sqrt() + (2 * tail).sqrt()))


def _share_symbols() -> tuple[Any, Any, Any, Any, Any]:
    """Return r, epsilon, L = log(1/delta), a = sqrt(2 (L + epsilon)) and b = sqrt(2 L)."""
    r, budget = sp.symbols("r epsilon", positive=True)
    tail = sp.Symbol("L", nonnegative=True)
    return r, budget, tail, sp.sqrt(2 * (tail + budget)), sp.sqrt(2 * tail)


@statement(GABOARDI_2017, "advanced_composition_accuracy")
def advanced_share_exhausts_the_budget() -> Proof:
    """With L = log(1/delta), a = sqrt(2 (L + epsilon)) and b = sqrt(2 L), the share (a - b)/sqrt(r) = 2 epsilon /
    (sqrt(r) (a + b)) of each of r mechanisms makes r share^2/2 + share sqrt(2 r L) equal to epsilon.
    An identity; that this sum is the epsilon of the composition is `approximate_dp_of_advanced_composition`.
    """
    r, budget, tail, a, b = _share_symbols()
    share = (a - b) / sp.sqrt(r)
    return proof(
        checked("two forms", "share sqrt(r) (a + b) = 2 epsilon.", identity, share * sp.sqrt(r) * (a + b), 2 * budget),
        checked(
            "total",
            "r share^2/2 + share sqrt(2 r L) = epsilon.",
            identity,
            r * share**2 / 2 + share * sp.sqrt(2 * r * tail),
            budget,
        ),
        all_of("the share exhausts the budget", "two forms", "total"),
    )


@statement(GABOARDI_2017, "advanced_composition_accuracy")
def advanced_noise_is_of_order_root_n() -> Proof:
    """The scale 1/share of the Laplace noise for r counting queries lies between sqrt(2 r L)/epsilon and
    sqrt(2 r (L + epsilon))/epsilon: of order sqrt(r log(1/delta))/epsilon, where basic composition needs r/epsilon.
    """
    r, budget, _, a, b = _share_symbols()
    share, scale = (a - b) / sp.sqrt(r), sp.sqrt(r) * (a + b) / (2 * budget)
    margin = sp.sqrt(r) / (a + b)  # sqrt(r) (a - b)/(2 epsilon), since a^2 - b^2 = 2 epsilon
    return proof(
        checked("inverse", "sqrt(r) (a + b)/(2 epsilon) is 1/share.", identity, scale * share, 1),
        checked(
            "lower",
            "sqrt(r) b/epsilon is at most the scale.",
            at_least_by,
            scale,
            sp.sqrt(r) * b / budget,
            margin,
            given=["inverse"],
        ),
        checked(
            "upper",
            "The scale is at most sqrt(r) a/epsilon.",
            at_least_by,
            sp.sqrt(r) * a / budget,
            scale,
            margin,
            given=["inverse"],
        ),
        all_of("the order of the scale", "lower", "upper"),
    )


def _log_million() -> arb:
    return arb(10**6).log()


def _crossover_at_one() -> arb:
    return (_log_million().sqrt() + (_log_million() + 1).sqrt()) ** 2 / 2


def _advanced_share_of_29() -> arb:
    return ((2 * _log_million() + 2).sqrt() - (2 * _log_million()).sqrt()) / arb(29).sqrt()


@statement(
    GABOARDI_2017,
    "advanced_composition_accuracy",
    examples=tuple({"copies": copies, "epsilon": 1, "delta": Fraction(1, 10**6)} for copies in (28, 29)),
    pins=(
        Pin(
            {"copies": 29, "epsilon": 1, "delta": Fraction(1, 10**6)},
            "L = log(10^6): half of (sqrt(L) + sqrt(L + 1))^2; the root of s^2/2 + s sqrt(2 L) = 1, over sqrt(29)",
            smaller=lambda: [2 * _log_million(), _crossover_at_one(), _crossover_at_one(), Fraction(1, 29)],
            larger=lambda: [_crossover_at_one(), 2 * _log_million() + 1, 29, _advanced_share_of_29()],
        ),
    ),
)
def advanced_split_beats_basic_split_iff_many(copies: Copies, epsilon: Epsilon, delta: Delta) -> Verdict:
    """For r > L + epsilon/2 + sqrt(L (L + epsilon)), L = log(1/delta), and not for fewer mechanisms, a share of the
    budget by advanced composition is larger than epsilon/r: the crossover, at which the two shares agree, lies between
    2 L and 2 L + epsilon.
    """
    budget = exact("epsilon", epsilon)

    def tail() -> arb:
        return -ball(exact("delta", delta)).log()

    def crossover() -> arb:
        return tail() + ball(budget / 2) + (tail() * (tail() + ball(budget))).sqrt()

    between = conjunction([
        at_most(lambda: 2 * tail(), crossover),
        less_than(crossover, lambda: 2 * tail() + ball(budget)),
        agree(
            lambda: crossover() * advanced_share(crossover(), ball(budget), delta),
            lambda: ball(budget),
            "crossover shares and the budget",
        ),
    ]).without_tightness()  # fmt: skip
    many = less_than(crossover, lambda: ball(copies))
    shares: list[Any] = [lambda: ball(budget / copies), lambda: advanced_share(copies, ball(budget), delta)]
    if isinstance(many, Holds):
        return conjunction([between, less_than(*shares)]).without_tightness()
    return conjunction([between, less_than(*shares[::-1])]).without_tightness()
