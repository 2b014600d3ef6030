"""The optimal composition of a batch of bounded-range mechanisms, chosen before any interaction.

Chapter after Cesar and Rogers (2020), Lemma 4.1 with eq. (4), Lemma 4.2 and Thm 2 (of Dong, Durfee and Rogers 2020).
These are no bounds for adaptively chosen bounded-range mechanisms (`non_adaptive_delta_at_most_adaptive`).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, prod
from typing import Annotated, Any

from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.distributions.generalized_randomized_response import (
    RandomizedResponse,
    hinge,
    keep_probability,
    product_delta,
    product_distributions,
)
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.interactions.mechanism_classes import BatchesOnLattice, LatticeBatch, Shares
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import statement
from dpassay.spec.theorems.composition.bounded_range import common_support, window_of
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["optimal_bounded_range_delta", "subset_sum_delta"]

Pair = Annotated[PairAtRatio, FinitePairs("a pair of finite distributions, and a ratio e^epsilon_g", 3)]
Batch = Annotated[LatticeBatch, BatchesOnLattice("a batch of bounded-range mechanisms", 4, 0, 2, least_bounded=1)]
Tops = Annotated[tuple[Fraction, ...], Shares("positions of t_1, t_2, ... between 0 and epsilon", 4)]
Ratio = Annotated[Fraction, Reals("e^epsilon", Fraction(101, 100), 30, (2, 3, Fraction(3, 2)), logarithmic=True)]
Budget = Annotated[
    Fraction, Reals("e^epsilon_g, also below 1", Fraction(1, 100), 100, (1, 2, 4, Fraction(1, 2)), logarithmic=True)
]

Window = tuple[Fraction, Fraction]
"""(e^epsilon_i, e^t_i)."""


def subset_sum_delta(windows: Sequence[Window], budget: Fraction) -> Fraction:
    """Return eq. (4), the sum over S of [prod_{i not in S} q_i prod_S (1 - q_i) - e^epsilon_g (the same of p)]_+.

    The paper writes the arguments as (t_i, epsilon_i), with t first.
    """
    q = [keep_probability(span, top) for span, top in windows]
    p = [keep / top for keep, (_, top) in zip(q, windows, strict=True)]
    places = range(len(windows))
    subsets = (set(s) for size in range(len(windows) + 1) for s in combinations(places, size))
    terms = (
        hinge(
            prod((1 - q[i] if i in s else q[i] for i in places), start=Fraction(1))
            - budget * prod((1 - p[i] if i in s else p[i] for i in places), start=Fraction(1))
        )
        for s in subsets
    )
    return sum(terms, Fraction(0))


Weights = dict[Any, Fraction]


def _product(pairs: Iterable[PairAtRatio]) -> tuple[FiniteDistribution, FiniteDistribution]:
    left: Weights = {(): Fraction(1)}
    right: Weights = {(): Fraction(1)}
    for pair in pairs:
        left = {(*done, o): w * p for done, w in left.items() for o, p in pair.left.weights.items()}
        right = {(*done, o): w * p for done, w in right.items() for o, p in pair.right.weights.items()}
    return FiniteDistribution(left), FiniteDistribution(right)


@statement(
    CESAR_2020,
    "br_delta_subset_sum",
    cases=40,
    pins=(
        Pin(
            {
                "first": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2)),
                "second": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2)),
                "third": PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)),
                "budget": Fraction(1),
            },
            "truthful answers with probability 2/3, 2/3 and 3/4: (11 + 1 + 4 + 4)/36",
            both=lambda: Fraction(5, 9),
        ),
    ),
)
def batch_of_bounded_range_at_most_subset_sum(first: Pair, second: Pair, third: Pair, budget: Budget) -> Verdict:
    """For mechanisms of bounded range epsilon_1, ..., epsilon_k chosen in advance, on neighbours with largest losses
    t_1, ..., t_k, delta is at most the subset sum (4) at these t_i; products of responses attain it.
    """
    pairs = [common_support(pair) for pair in (first, second, third)]
    windows = [window for pair in pairs if (window := window_of(pair))[0] > 1]
    bound = subset_sum_delta(windows, budget)
    attained = hockey_stick_exact(*product_distributions(RandomizedResponse(*window) for window in windows), budget)
    return conjunction([
        at_most_exact(hockey_stick_exact(*_product(pairs), budget), bound, "delta of the batch"),
        equal_exact(attained, bound, "delta of the responses"),
    ])  # fmt: skip


def _windows(ratios: Sequence[Fraction], shares: Sequence[Fraction]) -> list[Window]:
    return [(ratio, 1 + share * (ratio - 1)) for ratio, share in zip(ratios, shares, strict=False)]


@statement(CESAR_2020, "permutation_invariance", cases=25)
def subset_sum_ignores_the_order(first: Ratio, second: Ratio, third: Ratio, tops: Tops, budget: Budget) -> Verdict:
    """The subset sum (4) is unchanged when the pairs (epsilon_i, t_i) are permuted; it is not when the t_i are
    permuted without their epsilon_i. (The paper prints one side with commas, which mean adaptive composition.)
    """
    windows = _windows([first, second, third], tops)
    distributions = [product_distributions(RandomizedResponse(*w) for w in order) for order in permutations(windows)]
    reference = subset_sum_delta(windows, budget)
    return conjunction(
        equal_exact(hockey_stick_exact(*distribution, budget), reference, "delta of a permutation")
        for distribution in distributions
    )


def candidate_tops(count: int, steps: int, level: int) -> list[int]:
    """Return t_l = (epsilon_g + (l + 1) epsilon) / (k + 1), l = 0..k, clipped to [0, epsilon], in lattice steps."""
    return [min(max((level + (ell + 1) * steps) // (count + 1), 0), steps) for ell in range(count + 1)]


def optimal_bounded_range_delta(batch: LatticeBatch) -> Fraction:
    """Return Thm 2: the largest, over t = t_l, of sum_i C(k,i) w_i [e^(k t - i epsilon) - e^epsilon_g]_+,
    w_i = (e^-t - e^-epsilon)^(k-i) (1 - e^-t)^i / (1 - e^-epsilon)^k.
    """
    count, ratio, budget = batch.bounded, batch.ratio, batch.budget
    values = []
    for step in candidate_tops(count, batch.steps, batch.level):
        top = batch.base**step
        cells = (
            comb(count, i)
            * (1 / top - 1 / ratio) ** (count - i)
            * (1 - 1 / top) ** i
            * hinge(top**count / ratio**i - budget)
            for i in range(count + 1)
        )
        values.append(sum(cells, Fraction(0)) / (1 - 1 / ratio) ** count)
    return max(values)


@statement(
    CESAR_2020,
    "optimal_br_nonadaptive",
    cases=25,
    pins=(
        Pin(
            {"batch": LatticeBatch(Fraction(2), 1, 0, 1, 0), "tops": (Fraction(1, 2),) * 4},
            "e^epsilon = 4: 1/5 (5/2 - 1) at e^t = 5/2, and 1/3 (2 - 1) at t = epsilon/2",
            smaller=lambda: Fraction(3, 10),
            larger=lambda: Fraction(1, 3),
        ),
    ),
)
def optimal_delta_of_bounded_range_batch(batch: Batch, tops: Tops) -> Verdict:
    """For a batch of k epsilon-bounded-range mechanisms delta_OPT is the delta of k responses with one common t, the
    best of t_l = (epsilon_g + (l + 1) epsilon)/(k + 1), l = 0..k, clipped to [0, epsilon]: no other t, and no vector
    of different t_i, does better. Holds for every real epsilon_g; the paper does not state the range.
    """
    best = optimal_bounded_range_delta(batch)
    common = [
        product_delta(batch.bounded, 0, batch.ratio, batch.base**t, batch.budget) for t in range(batch.steps + 1)
    ]
    windows = _windows([batch.ratio] * batch.bounded, tops)
    return conjunction([
        equal_exact(max(common), best, "the largest delta with a common t"),
        at_most_exact(subset_sum_delta(windows, batch.budget), best, "delta with different t"),
    ])  # fmt: skip
