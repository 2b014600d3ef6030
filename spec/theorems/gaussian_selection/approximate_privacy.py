"""Approximate and pure privacy: the definitions on discrete outcomes, and post-processing.

After Lebensold, Precup and Balle (2024), Section 2, Defs 1 to 3 and the claims between them. Everything here is
decided exactly: probabilities and ratio = e^epsilon are rational, and events are enumerated.
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    hockey_stick_exact,
    loss_tail_exact,
    privacy_loss,
)
from dpassay.spec.distributions.pairs import FinitePairs, Kernel, Kernels, PairAtRatio
from dpassay.spec.domains.answers import AnswerPairs, NeighbouringAnswers
from dpassay.spec.domains.base import Choices
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, computed, proof
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Scope, Verdict, Violated, conjunction

__all__ = ["Pair", "Processing", "events", "worst_advantage"]

Pair = Annotated[PairAtRatio, FinitePairs("a pair of rational distributions and a ratio e^epsilon")]
Processing = Annotated[Kernel, Kernels("a randomised map of the outcomes")]
Answers = Annotated[
    NeighbouringAnswers, AnswerPairs("a pair of vectors of answers", largest_size=12, largest_blocks=4)
]

HALF = Fraction(1, 2)
MERGED_EXAMPLE = PairAtRatio(FiniteDistribution.of(100, 400, 500), FiniteDistribution.of(1, 300, 699), Fraction(4, 3))


def events(size: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of outcomes 0, ..., size - 1."""
    for length in range(size + 1):
        yield from itertools.combinations(range(size), length)


def worst_advantage(pair: PairAtRatio) -> Fraction:
    """Return the largest P(S) - ratio Q(S) over all events S: the definition of the least delta."""
    return max(
        sum((pair.left.probability(o) - pair.ratio * pair.right.probability(o) for o in event), Fraction(0))
        for event in events(pair.size)
    )


# --- neighbours ---------------------------------------------------------------------------------------------


@statement(LEBENSOLD_2024, "neighbouring_relation")
def neighbouring_is_symmetric(
    pair: Answers, norm: Annotated[str, Choices("a norm of the difference", ("l1", "l2", "linf", "monotone"))]
) -> Verdict:
    """D ~ D' if and only if D' ~ D: every guarantee is one about both orders.

    The relation itself is a parameter; here it is one on vectors of answers, with a bound on a norm of the change.
    """
    left, right = (
        np.array([float(value) for block in p.blocks for value in [block.left] * block.count])
        for p in (pair, pair.swapped)
    )
    bound = float(pair.sensitivity)
    relation = {
        "l1": VectorNeighbours(len(left), l1=bound),
        "l2": VectorNeighbours(len(left), l2=bound),
        "linf": VectorNeighbours(len(left), linf=bound),
        "monotone": VectorNeighbours(len(left), linf=bound, monotone=True),
    }[norm]
    forth, back = relation.admits(left, right), relation.admits(right, left)
    kind = Holds if forth == back else Violated
    return kind(evidence=Evidence.EXACT, detail=f"admitted forth: {forth}, back: {back}")


@statement(LEBENSOLD_2024, "neighbouring_relation", "approx_dp")
def one_order_does_not_bound_the_other() -> Proof:
    """A guarantee for the ordered pair (D, D') alone says nothing about (D', D): there are distributions with
    P <= 2 Q everywhere and Q(o) > 0 = P(o) at an outcome.
    """
    pair = PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(1, 1), Fraction(2))
    return proof(
        computed(
            "one order",
            "P <= 2 Q everywhere: delta is 0 at epsilon = log 2.",
            lambda: at_most_exact(worst_advantage(pair), Fraction(0), "delta of the one order"),
            scope=Scope.ALL,
        ),
        computed(
            "other order",
            "In the other order delta is 1/2 at that epsilon; an outcome of probability 0 keeps it there at every "
            "epsilon.",
            lambda: equal_exact(worst_advantage(pair.swapped), HALF, "delta of the other order"),
            scope=Scope.ALL,
        ),
        all_of("one order says nothing about the other", "one order", "other order"),
    )


# --- events and outcomes ------------------------------------------------------------------------------------


@statement(
    LEBENSOLD_2024,
    "approx_dp",
    also=(("gaboardi2017", "approx_dp"), ("cesar2020", "approx_dp"), ("rogers2023", "approx_dp")),
    examples=({"pair": PairAtRatio(FiniteDistribution.of(2, 2, 1), FiniteDistribution.of(1, 1, 3), Fraction(1))},),
)
def delta_is_hockey_stick(pair: Pair) -> Verdict:
    """The least delta with P(S) <= e^epsilon Q(S) + delta for every event S is sum_o max(0, P(o) - e^epsilon Q(o)).

    Single outcomes do not suffice when delta > 0.
    """
    return equal_exact(
        hockey_stick_exact(pair.left, pair.right, pair.ratio), worst_advantage(pair), "hockey-stick and worst event"
    )


@statement(LEBENSOLD_2024, "pure_dp_pointwise")
def pure_dp_is_pointwise(pair: Pair) -> Verdict:
    """For discrete outcomes, P(S) <= e^epsilon Q(S) for every event S if and only if P(o) <= e^epsilon Q(o) for
    every outcome o; an outcome with Q(o) = 0 < P(o) refutes every epsilon.
    """
    pointwise = exceeding_outcomes(pair) == []
    by_events = worst_advantage(pair) <= 0
    kind = Holds if pointwise == by_events else Violated
    return kind(evidence=Evidence.EXACT, detail=f"by outcomes: {pointwise}, by events: {by_events}")


def exceeding_outcomes(pair: PairAtRatio) -> list[int]:
    """Return the outcomes with P(o) > ratio Q(o)."""
    return [o for o in range(pair.size) if pair.left.probability(o) > pair.ratio * pair.right.probability(o)]


@statement(
    LEBENSOLD_2024,
    "post_processing",
    "approx_dp",
    pins=(
        Pin(
            {
                "pair": PairAtRatio(
                    FiniteDistribution.of(6, 2, 2, 0, 0), FiniteDistribution.of(2, 5, 1, 1, 1), Fraction(3, 2)
                ),
                "kernel": Kernel(
                    (
                        *(FiniteDistribution({0: Fraction(p), 1: Fraction(1 - p)}) for p in (1, 0, 0, 1)),
                        FiniteDistribution.of(1, 1),
                    )
                ),
            },
            "6/10 - 3/2 (2 + 1 + 1/2)/10 of what is sent to 0; 6/10 - 3/10 + 2/10 - 3/20 before",
            smaller=lambda: Fraction(3, 40),
            larger=lambda: Fraction(7, 20),
        ),
    ),
)
def approximate_dp_survives_post_processing(pair: Pair, kernel: Processing) -> Verdict:
    """No randomised map of the outcomes increases the hockey-stick divergence, at any epsilon >= 0."""
    image = pair.mapped(kernel)
    return at_most_exact(
        hockey_stick_exact(image.left, image.right, pair.ratio),
        hockey_stick_exact(pair.left, pair.right, pair.ratio),
        "delta after post-processing",
    )


# --- the privacy loss ---------------------------------------------------------------------------------------


@statement(
    LEBENSOLD_2024, "privacy_loss", also=(("rogers2023", "privacy_loss"), ("cesar2020", "privacy_loss_rv")), cases=20
)
def privacy_loss_is_log_likelihood_ratio(pair: Pair) -> Verdict:
    """P(o) = e^L(o) Q(o), the loss of the other order is -L(o), and L(o) > epsilon exactly where
    P(o) > e^epsilon Q(o); L = +inf where only P can produce o, -inf where only Q can.

    The paper leaves the outcomes of probability 0 open. Finite values agree to 60 bits.
    """
    return conjunction(
        [Holds(evidence=Evidence.EXACT), *(_loss_is_right(pair, o) for o in range(pair.size) if _possible(pair, o))]
    )


def _possible(pair: PairAtRatio, outcome: int) -> bool:
    return pair.left.probability(outcome) > 0 or pair.right.probability(outcome) > 0


def _loss_is_right(pair: PairAtRatio, outcome: int) -> Verdict:
    p, q = pair.left.probability(outcome), pair.right.probability(outcome)
    if not (p and q):
        loss = privacy_loss(pair.left, pair.right, outcome)
        kind = Holds if not loss.is_finite() and bool(loss > 0) == (p > 0) else Violated
        return kind(evidence=Evidence.EXACT, detail=f"probabilities {p} and {q}, loss {loss}")
    return conjunction([
        agree(lambda: privacy_loss(pair.left, pair.right, outcome).exp() * ball(q), lambda: ball(p), "P and e^L Q"),
        agree(
            lambda: -privacy_loss(pair.right, pair.left, outcome),
            lambda: privacy_loss(pair.left, pair.right, outcome),
            "the losses of the two orders",
        ),
    ])  # fmt: skip


# --- probabilistic privacy ----------------------------------------------------------------------------------


@statement(
    LEBENSOLD_2024,
    "pdp",
    examples=({"pair": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2), Fraction(2))},),
)
def probabilistic_delta_is_least_bad_event(pair: Pair) -> Verdict:
    """Pr_P[L > epsilon] is the least P-probability of an event off which P <= e^epsilon Q holds pointwise.

    The inequality inside is strict and the loss is signed: an outcome with L = epsilon is not bad, nor is one
    with L < -epsilon.
    """
    least = min(
        sum((pair.left.probability(o) for o in bad), Fraction(0))
        for bad in events(pair.size)
        if set(exceeding_outcomes(pair)) <= set(bad)
    )
    return equal_exact(loss_tail_exact(pair.left, pair.right, pair.ratio), least, "loss tail and least bad event")


@statement(LEBENSOLD_2024, "post_processing", "pdp")
def probabilistic_dp_does_not_survive_post_processing() -> Proof:
    """Merging a harmless outcome with a bad one may make both bad: P = (.1, .4, .5), Q = (.001, .3, .699) is
    (log 4/3, .1)-pDP, and after merging the first two outcomes the loss exceeds log 4/3 with probability .5.
    """
    pair = MERGED_EXAMPLE
    merged = pair.mapped(merge_first_two())
    return proof(
        computed(
            "before",
            "The loss exceeds log 4/3 with probability at most 1/10.",
            lambda: at_most_exact(loss_tail_exact(pair.left, pair.right, pair.ratio), Fraction(1, 10), "tail before"),
            scope=Scope.ALL,
        ),
        computed(
            "after",
            "After merging the first two outcomes it does with probability 1/2.",
            lambda: equal_exact(loss_tail_exact(merged.left, merged.right, pair.ratio), HALF, "tail after"),
            scope=Scope.ALL,
        ),
        all_of("lost by merging", "before", "after"),
    )


def merge_first_two() -> Kernel:
    """Return the map that sends outcomes 0 and 1 to 0 and outcome 2 to 1."""
    first, second = FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1)
    return Kernel((first, first, second))


@statement(LEBENSOLD_2024, "pdp_implies_dp")
def approximate_dp_does_not_imply_probabilistic_dp() -> Proof:
    """The converse of pDP => DP fails: P = (1/2, 1/2), Q = (1/4, 3/4) is (log 3/2, 1/8)-DP, but the loss exceeds
    log 3/2 with probability 1/2.
    """
    left, right, ratio = FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 3), Fraction(3, 2)
    return proof(
        computed(
            "approximate",
            "The pair has delta 1/8 at epsilon = log 3/2.",
            lambda: equal_exact(hockey_stick_exact(left, right, ratio), Fraction(1, 8), "delta"),
            scope=Scope.ALL,
        ),
        computed(
            "loss tail",
            "Its loss exceeds log 3/2 with probability 1/2.",
            lambda: equal_exact(loss_tail_exact(left, right, ratio), HALF, "loss tail"),
            scope=Scope.ALL,
        ),
        all_of("the converse fails", "approximate", "loss tail"),
    )
