"""Ex-post privacy: constant bounds are pure privacy, bounds add up, and processing takes their maximum.

After Lebensold, Precup and Balle (2024), Def 9. Exact: a bound is kept as the ratio e^bound, None for infinity.
"""

from collections.abc import Iterable
from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import Kernel, PairAtRatio
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, computed, proof
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.approximate_privacy import (
    Pair,
    Processing,
    merge_first_two,
    worst_advantage,
)
from dpassay.spec.verdict import Evidence, Holds, Scope, Verdict, Violated, conjunction

__all__ = ["Ratio", "composed_bound", "image_bound", "least_bound"]

Ratio = Fraction | None
"""e^bound of an outcome; None stands for an infinite bound."""

ONE = Fraction(1)
RESPONSE = PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3))
MERGED_EXAMPLE = PairAtRatio(FiniteDistribution.of(6, 1, 3), FiniteDistribution.of(1, 1, 8))


def least_bound(left: FiniteDistribution, right: FiniteDistribution, outcome: int) -> Ratio:
    """Return e^bound for the least admissible bound of an outcome: never below 1, a bound is not negative."""
    p, q = left.probability(outcome), right.probability(outcome)
    if p <= q:
        return ONE
    return p / q if q else None


def composed_bound(first: Ratio, second: Ratio) -> Ratio:
    """Return e^bound of a transcript of two outcomes: bounds add, their exponentials multiply."""
    return None if first is None or second is None else first * second


def image_bound(preimages: Iterable[Ratio]) -> Ratio:
    """Return e^bound of a processed outcome: the maximum over its preimages."""
    bounds = list(preimages)
    return None if None in bounds else max((b for b in bounds if b is not None), default=ONE)


def _within(p: Fraction, q: Fraction, bound: Ratio, name: str) -> Verdict:
    return Holds(evidence=Evidence.EXACT) if bound is None else at_most_exact(p, bound * q, name)


def obeys_bound(pair: PairAtRatio, bounds: list[Ratio]) -> bool:
    """Return whether the loss of every outcome is at most its own bound."""
    return all(
        bound is None or pair.left.probability(o) <= bound * pair.right.probability(o)
        for o, bound in enumerate(bounds)
    )


@statement(LEBENSOLD_2024, "ex_post_dp", "pure_dp_pointwise")
def pure_dp_of_constant_ex_post_dp(pair: Pair) -> Verdict:
    """A mechanism is ex-post private with the constant bound epsilon if and only if it is epsilon-DP."""
    ex_post, pure = obeys_bound(pair, [pair.ratio] * pair.size), worst_advantage(pair) <= 0
    kind = Holds if ex_post == pure else Violated
    return kind(evidence=Evidence.EXACT, detail=f"ex-post: {ex_post}, by events: {pure}")


@statement(
    LEBENSOLD_2024,
    "ex_post_dp",
    cases=30,
    examples=(
        {"pair": RESPONSE, "left_next": Kernel((RESPONSE.left,) * 5), "right_next": Kernel((RESPONSE.right,) * 5)},
    ),
    pins=(
        Pin(
            {"pair": RESPONSE, "left_next": Kernel((RESPONSE.left,) * 5), "right_next": Kernel((RESPONSE.right,) * 5)},
            "ratios 3 and 1 of each answer",
            smaller=lambda: [Fraction(n, 16) for n in (9, 3, 3, 1)],
            larger=lambda: [Fraction(9, 16)] * 4,
        ),
    ),
)
def ex_post_bounds_add_under_composition(pair: Pair, left_next: Processing, right_next: Processing) -> Verdict:
    """If the second mechanism, chosen after the first outcome, is ex-post private with its own bounds, the pair of
    outcomes is ex-post private with the sum of the two bounds.

    `left_next.rows[o]` and `right_next.rows[o]` are the second distributions after the first outcome o.
    """
    verdicts = []
    for o in range(pair.size):
        left, right = left_next.rows[o], right_next.rows[o]
        for image in range(min(len(left.weights), len(right.weights))):
            bound = composed_bound(least_bound(pair.left, pair.right, o), least_bound(left, right, image))
            p = pair.left.probability(o) * left.probability(image)
            q = pair.right.probability(o) * right.probability(image)
            verdicts.append(_within(p, q, bound, f"probability of the transcript ({o}, {image})"))
    return conjunction(verdicts)


@statement(
    LEBENSOLD_2024,
    "ex_post_dp",
    "post_processing",
    pins=(
        Pin(
            {"pair": MERGED_EXAMPLE, "kernel": Kernel((*merge_first_two().rows, *merge_first_two().rows[:2]))},
            "the bound of 6/10 against 1/10 for both of the merged outcomes",
            smaller=lambda: [Fraction(7, 10), Fraction(3, 10)],
            larger=lambda: [Fraction(6, 5), Fraction(4, 5)],
        ),
    ),
)
def ex_post_bound_after_post_processing_is_maximum(pair: Pair, kernel: Processing) -> Verdict:
    """After a randomised map the bound of an outcome is the maximum of the bounds of its possible preimages."""
    image = pair.mapped(kernel)
    verdicts = []
    for y in range(image.size):
        sources = [o for o in range(pair.size) if kernel.rows[o].probability(y)]
        bound = image_bound(least_bound(pair.left, pair.right, o) for o in sources)
        p, q = image.left.probability(y), image.right.probability(y)
        verdicts.append(_within(p, q, bound, f"probability of the image {y}"))
    return conjunction(verdicts)


@statement(LEBENSOLD_2024, "ex_post_dp", "post_processing")
def ex_post_dp_does_not_survive_averaging() -> Proof:
    """Ex-post bounds may not be averaged over preimages: P = (.6, .1, .3), Q = (.1, .1, .8) has the bounds
    (log 6, 0, 0), and merging the first two outcomes gives the ratio 7/2, above e^(log 6 / 2).
    """
    pair, merged = MERGED_EXAMPLE, MERGED_EXAMPLE.mapped(merge_first_two())
    ratio = merged.left.probability(0) / merged.right.probability(0)
    first, second = (least_bound(pair.left, pair.right, o) for o in (0, 1))
    product = composed_bound(first, second)
    return proof(
        computed(
            "merged ratio",
            "Merging the first two outcomes gives the ratio 7/2.",
            lambda: equal_exact(ratio, Fraction(7, 2), "ratio after merging"),
            scope=Scope.ALL,
        ),
        computed(
            "mean bound",
            "e^(twice the mean of their bounds) is 6.",
            lambda: equal_exact(
                product if product is not None else Fraction(0), Fraction(6), "e^(twice the mean bound)"
            ),
            scope=Scope.ALL,
        ),
        computed(
            "comparison",
            "6 is at most the square of the ratio, 49/4.",
            lambda: conjunction(
                [
                    equal_exact(ratio**2, Fraction(49, 4), "the ratio squared"),
                    at_most_exact(Fraction(6), Fraction(49, 4), "e^(twice the mean) against the ratio squared"),
                ]
            ),
            given=["merged ratio", "mean bound"],
            scope=Scope.ALL,
        ),
    )
