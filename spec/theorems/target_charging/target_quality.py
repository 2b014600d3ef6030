"""The exact quality of a target, and the meaning of a claimed quality.

Chapter after Cohen and Lyu (2023), Section 2 and Appendix B. The closed form of the largest q is our own; every q of
the paper is checked against it.
"""

from collections.abc import Hashable, Iterator
from fractions import Fraction
from itertools import product
from typing import Annotated

from dpassay.spec.ball import Exact, exact
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.distributions.indistinguishable import TargetedPair
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.target_quality import (
    Mixture,
    best_mixture,
    indistinguishable,
    normalised,
    of_target,
    outcomes_of,
    target_quality,
)
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023, DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.target_charging.decomposition import pure_with_errors
from dpassay.spec.theorems.target_charging.quantifiers import Pair, Targeted
from dpassay.spec.verdict import Evidence, Verdict, Violated, conjunction

__all__ = ["admissible_corners", "quality_with_common_mass"]

Growth = Annotated[
    Exact, Reals("a factor on e^epsilon", Fraction(1), 100, (1, Fraction(11, 10), 10), logarithmic=True)
]

Masses = dict[Hashable, Fraction]


def quality_with_common_mass(pair: TargetedPair, common: Masses) -> Fraction | None:
    """Return min_b (Z^b(T) - c(T)) / (1 - c(Y)) of a common sub-measure c, None if it is not admissible.

    Admissible: no residual mass is negative, and the residual masses are indistinguishable (both orders).
    """
    rest = [
        {o: side.probability(o) - common.get(o, Fraction(0)) for o in side.outcomes}
        for side in (pair.left, pair.right)
    ]
    if any(mass < 0 for side in rest for mass in side.values()):
        return None
    if any(rest[0][o] > pair.ratio * m or m > pair.ratio * rest[0][o] for o, m in rest[1].items()):
        return None
    whole = 1 - sum(common.values(), Fraction(0))
    return min(sum(side[o] for o in pair.target) for side in rest) / whole if whole else None


def admissible_corners(pair: TargetedPair) -> Iterator[Masses]:
    """Yield the corners of the box of common sub-measures: each outcome with its largest admissible mass, or none.

    The largest c with Z^0 - c <= e^eps (Z^1 - c) and the other order, from the definition.
    """
    r = pair.ratio
    largest = []
    for o in pair.left.outcomes:
        p, q = pair.left.probability(o), pair.right.probability(o)
        largest.append(min((r * q - p) / (r - 1), (r * p - q) / (r - 1)))
    for chosen in product((False, True), repeat=len(largest)):
        yield {o: mass for o, mass, taken in zip(pair.left.outcomes, largest, chosen, strict=True) if taken}


@statement(
    COHEN_2023,
    "q_target_pure",
    pins=(
        Pin(
            {
                "targeted": TargetedPair(FiniteDistribution.of(2, 8), FiniteDistribution.of(4, 6), Fraction(2), 1),
            },
            "0 in common on the target, up to 4/10 off it: 2/10 and (2/10)/(6/10)",
            smaller=lambda: [Fraction(1, 5), Fraction(1, 3)] * 2,
            larger=lambda: [Fraction(1, 3)] * 4,
        ),
    ),
)
def quality_of_target_in_closed_form(targeted: Targeted) -> Verdict:
    """T is a q-target of an epsilon-indistinguishable pair exactly for q up to min_b Z^b(T) / (1 - c_max(off T)),
    c_max(y) = (e^eps min Z^b(y) - max Z^b(y)) / (e^eps - 1).

    The decomposition that attains it is constructed. That none is better is decided at every corner of the box of
    admissible common masses, where the quality of the side with the smaller Z^b(T), linear-fractional in c, is
    largest.
    """
    pair = targeted
    quality = target_quality(pair.left, pair.right, pair.target, pair.ratio)
    shown = best_mixture(pair.left, pair.right, pair.target, pair.ratio).shows(
        pair.left, pair.right, pair.target, pair.ratio, quality
    )
    if pair.left == pair.right:
        return shown
    rarer = min((pair.left, pair.right), key=lambda side: of_target(side, pair.target))
    verdicts = [shown]
    for common in admissible_corners(pair):
        if quality_with_common_mass(pair, common) is None:
            return Violated(evidence=Evidence.EXACT, detail=f"the common mass {common} is not admissible")
        hits = of_target(rarer, pair.target) - sum((m for o, m in common.items() if o in pair.target), Fraction(0))
        reached = hits / (1 - sum(common.values(), Fraction(0)))
        verdicts.append(at_most_exact(reached, quality, "quality").without_tightness())
    return conjunction(verdicts)


@statement(
    DPASSAY,
    "quality_monotone",
    cases=25,
    pins=(
        Pin(
            {
                "targeted": TargetedPair(
                    FiniteDistribution.of(2, 4, 4), FiniteDistribution.of(3, 2, 5), Fraction(2), 1
                ),
                "growth": Fraction(3, 2),
            },
            "off the target 0 and 3/10 in common; 3/10; at e^epsilon = 3 these are 2/20 and 7/20",
            smaller=lambda: [Fraction(2, 7)] * 2,
            larger=lambda: [Fraction(5, 7), Fraction(4, 11)],
        ),
    ),
)
def quality_grows_with_target_and_epsilon(targeted: Targeted, growth: Growth) -> Verdict:
    """The quality of a target does not fall when outcomes are added to it, or when epsilon grows."""
    pair = targeted
    quality = target_quality(pair.left, pair.right, pair.target, pair.ratio)
    wider = target_quality(pair.left, pair.right, frozenset(range(pair.hits + 1)), pair.ratio)
    later = target_quality(pair.left, pair.right, pair.target, pair.ratio * exact("growth", growth))
    return conjunction([
        at_most_exact(quality, wider, "quality with one more outcome").without_tightness(),
        at_most_exact(quality, later, "quality at a larger epsilon").without_tightness(),
    ])  # fmt: skip


@statement(
    COHEN_2023,
    "q_target_iff_dp",
    "q_target_pair_approx",
    examples=(
        {
            "pair": PairAtRatio(FiniteDistribution.of(1, 1, 0), FiniteDistribution.of(1, 1, 2), Fraction(2)),
            "targeted": TargetedPair(FiniteDistribution.of(9, 1), FiniteDistribution.of(1, 9), Fraction(9)),
        },
    ),
    pins=(
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(0, 0, 1, 0), FiniteDistribution.of(0, 0, 0, 1), Fraction(2)),
                "targeted": TargetedPair(FiniteDistribution.of(9, 1), FiniteDistribution.of(1, 9), Fraction(9)),
            },
            "errors of probability 1/3 that have no outcome in common",
            both=lambda: Fraction(1, 3),
        ),
    ),
)
def approximate_dp_iff_whole_range_is_target(pair: Pair, targeted: Targeted) -> Verdict:
    """A pair with a q-target at (epsilon, delta), for any q, is (epsilon, delta)-indistinguishable; and of an
    (epsilon, delta)-indistinguishable pair the whole range is a 1-target, with p = 0 and B^b = N^b.

    The first half on mixtures with a common part and errors; the paper's proof has B^0 on both sides of it.
    """
    errors, core = pair, targeted
    best = best_mixture(core.left, core.right, core.target, core.ratio)
    delta = Fraction(1, 3)
    mixed = Mixture(best.weight, best.common, best.left, best.right, delta, errors.left, errors.right)
    left, right = (FiniteDistribution(mixed.side(left=left)) for left in (True, False))
    verdicts = [at_most_exact(least_delta(left, right, core.ratio), delta, "delta").without_tightness()]
    least = least_delta(pair.left, pair.right, pair.ratio)
    if least < 1:
        whole = frozenset(outcomes_of(pair.left, pair.right))
        parts = pure_with_errors(pair.left, pair.right, pair.ratio, least)
        verdicts.append(parts.shows(pair.left, pair.right, whole, pair.ratio, Fraction(1)))
    return conjunction(verdicts)


@statement(
    COHEN_2023,
    "neighbouring_abstraction",
    "q_target_algorithm_approx",
    cases=25,
    pins=(
        Pin(
            {"targeted": TargetedPair(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3), Fraction(3))},
            "common parts 1/8 and 3/8 off the target leave (6, 1) and (4, 3) over 7, (2, 3) and (4, 1) over 5",
            smaller=lambda: [Fraction(1, 4)] * 2,
            larger=lambda: [Fraction(4, 7), Fraction(2, 5)],
        ),
    ),
)
def quality_of_algorithm_is_the_worst_over_its_pairs(targeted: Targeted) -> Verdict:
    """The quality of a target of an algorithm is the least one over its neighbouring pairs, whatever symmetric
    relation makes neighbours: it is the same in both orders, and a further pair can only lower it.

    Three data sets, the middle distribution between the other two: the pairs of neighbours have at least the quality
    of the farther pair. (Only Alg 5 of the paper needs the particular relation "one record added or removed".)
    """
    pair = targeted
    outcomes = pair.left.outcomes
    middle = normalised({o: pair.left.probability(o) + pair.right.probability(o) for o in outcomes})
    far = target_quality(pair.left, pair.right, pair.target, pair.ratio)
    back = pair.swapped
    verdicts = [equal_exact(far, target_quality(back.left, back.right, back.target, back.ratio), "both orders")]
    for side in (pair.left, pair.right):
        if not indistinguishable(side, middle, pair.ratio):
            return Violated(evidence=Evidence.EXACT, detail="a mixture left the range of its parts")
        near = target_quality(side, middle, pair.target, pair.ratio)
        verdicts.append(at_most_exact(far, near, "quality of the farther pair").without_tightness())
    return conjunction(verdicts)
