"""Top-k selection and the release of its counts: Cesar and Rogers (2020), Section 6.2, Table 1, Alg 1 and eq (9).

The first phase peels off k labels by exponential mechanisms, normalised by the range of the scores; the second
releases their counts with Gaussian noise, post-processed by `CountMLE` in the order that the first phase *released*.
The noise of the two phases is independent, and both are charged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Annotated, Any

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.peeling import arrival_probability_exact, peeling_probability_exact, ranked_lists
from dpassay.spec.domains.base import Domain, Integers
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.truncated_gaussian import RAISED, TIED, released_labels
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["RationalVectors", "ScoredLabels", "count_mle"]

Vector = tuple[Fraction, ...]
TRIED = ((1, -3, 2), (-1, -2), (3, 3, 3), (0, 5), (4, 1, 2, -7))


@dataclass(frozen=True)
class RationalVectors(Domain):
    """Vectors of between one and `largest_size` rationals."""

    largest_size: int = 6

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a tuple of that number of rationals."""
        return (
            isinstance(value, tuple)
            and 1 <= len(value) <= self.largest_size
            and all(isinstance(x, Fraction) for x in value)
        )


@dataclass(frozen=True)
class ScoredLabels(Domain):
    """Labels as (weight e^(rate score), whether the neighbour has one count more); at most `largest_size` of them."""

    largest_size: int = 5

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a tuple of (positive rational, bool)."""
        return (
            isinstance(value, tuple)
            and 1 <= len(value) <= self.largest_size
            and all(isinstance(w, Fraction) and w > 0 and isinstance(moved, bool) for w, moved in value)
        )


Labels = Annotated[tuple[tuple[Fraction, bool], ...], ScoredLabels("labels with weights and moves")]
Length = Annotated[int, Integers("k", 1, 3, (1, 2))]
Ratio = Annotated[int, Integers("e^epsilon", 2, 9, (2,))]


# --- peeling ------------------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "two_phase_topk_gaussian",
    "linkedin_mechanism_grid",
    examples=({"labels": ((Fraction(1), False), (Fraction(2), True), (Fraction(3), False)), "k": 2},),
)
def top_k_of_gumbel_noise_is_peeling(labels: Labels, k: Length) -> Verdict:
    """The k largest of the scores with independent Gumbel noise, in their noisy order, are distributed as k
    exponential
    mechanisms without replacement; all lists together have probability 1.
    """
    weights = [w for w, _ in labels]
    lists = ranked_lists(len(weights), min(k, len(weights)))
    peeled = {ranked: peeling_probability_exact(weights, ranked) for ranked in lists}
    raced = {ranked: arrival_probability_exact(weights, ranked) for ranked in lists}
    return conjunction([
        equal_exact(raced, peeled, "distributions of the ranked list"),
        equal_exact(sum(peeled.values(), Fraction(0)), Fraction(1), "total probability"),
    ])  # fmt: skip


def next_choice(weights: list[Fraction], taken: tuple[int, ...]) -> FiniteDistribution:
    """Return the distribution of the next label, given those taken: proportional to the weights left."""
    return FiniteDistribution.of(*(Fraction(0) if o in taken else w for o, w in enumerate(weights)))


@statement(
    CESAR_2020,
    "two_phase_topk_gaussian",
    examples=({"labels": ((Fraction(1), False), (Fraction(1), True), (Fraction(5), True)), "k": 2, "ratio": 2},),
    pins=(
        Pin(
            {"labels": ((Fraction(1), False), (Fraction(1), True), (Fraction(5), True)), "k": 2, "ratio": 2},
            "four peels, and two in a row",
            larger=lambda: [2, 2, 2, 2, 4],
        ),
        Pin(
            {"labels": ((Fraction(1), False), (Fraction(1), True)), "k": 1, "ratio": 2},
            "1/2 to 1/3 of the label that stays, above 2/3 to 1/2 of the other",
            smaller=lambda: [2, Fraction(3, 2)],
        ),
        Pin(
            {"labels": ((Fraction(2), False), (Fraction(1), True)), "k": 1, "ratio": 2},
            "1/2 to 1/3 of the label that moves, in the other order of the pair",
            smaller=lambda: [2, Fraction(3, 2)],
        ),
    ),
)
def each_peel_is_bounded_range(labels: Labels, k: Length, ratio: Ratio) -> Verdict:
    """For counts, of which a neighbour has some one larger, every peel with weights e^(epsilon count) is
    epsilon-bounded-range given those before, and the ranked list is k epsilon-DP: the first phase enters eq (3) as k
    adaptive bounded-range mechanisms, the second as one CDP mechanism (k/(2 sigma^2), sqrt(k)/sigma).
    """
    left = [w for w, _ in labels]
    right = [w * ratio if moved else w for w, moved in labels]
    lists = ranked_lists(len(left), min(k, len(left)))
    steps = []
    for taken in {ranked[:j] for ranked in lists for j in range(len(ranked))}:
        p, q = next_choice(left, taken), next_choice(right, taken)
        ratios = [p.probability(o) / q.probability(o) for o in p.outcomes if p.probability(o)]
        steps.append(at_most_exact(max(ratios) / min(ratios), Fraction(ratio), "e^range of a peel"))
    quotients = [peeling_probability_exact(left, r) / peeling_probability_exact(right, r) for r in lists]
    whole = max(*quotients, *(1 / x for x in quotients)) if len(quotients) > 1 else Fraction(1)
    return conjunction([*steps, at_most_exact(whole, Fraction(ratio) ** k, "e^loss of the list").without_tightness()])


# --- Alg 1 --------------------------------------------------------------------------------------------------


def count_mle(noisy: Vector) -> Vector:
    """Return the closest x with x_1 >= ... >= x_k >= 0 in l2: pool adjacent violators, then cut off at 0.

    Cutting off before pooling is another, wrong, thing: (1, -3, 2) would become (1, 1, 1).
    """
    pools: list[tuple[Fraction, int]] = []
    for y in noisy:
        total, count = y, 1
        while pools and pools[-1][0] * count <= total * pools[-1][1]:  # the mean before is not above this one
            before, many = pools.pop()
            total, count = total + before, count + many
        pools.append((total, count))
    return tuple(max(total / count, Fraction(0)) for total, count in pools for _ in range(count))


def _order_leaks(limit: int) -> Verdict:
    released = [released_labels(h, Fraction(0), limit, by_label=False) for h in (TIED, RAISED)]
    return equal_exact(released[0], released[1], "order of the released counts")


def _released_order_is_common(limit: int) -> Verdict:
    released = [released_labels(h, Fraction(0), limit, by_label=True) for h in (TIED, RAISED)]
    return equal_exact(released[0], released[1], "order of the released counts")


ORDER_MUST_BE_RELEASED = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 6.2, Algorithm 1, its input",
    printed_text="Alg 1 takes any ordering as input; with the ordering of the true counts its output "
    "order alone tells {a: 10, b: 10} from {a: 10, b: 11}; the ordering must be public or released privately",
    answer="The ordering comes from the private first phase, as the paragraph before the algorithm says.",
    witness={"limit": 2},
    printed=_order_leaks,
    corrected=_released_order_is_common,
)


@statement(
    CESAR_2020,
    "count_mle",
    errata=(ORDER_MUST_BE_RELEASED,),
    examples=tuple({"noisy": tuple(map(Fraction, v))} for v in TRIED),
    pins=(
        Pin(
            {"noisy": tuple(map(Fraction, (6, 1, 2, 5, -7)))},
            "6, 8/3, 8/3, 8/3, 0: the mean of the pool, and the cut",
            both=lambda: [0, 0],
        ),
        Pin(
            {"noisy": tuple(map(Fraction, (5, 3)))},
            "what falls is its own fit",
            smaller=lambda: [-2, 0],
            larger=lambda: [0, 0],
        ),
    ),
)
def count_mle_is_the_projection(
    noisy: Annotated[Vector, RationalVectors("noisy counts in the released order")],
) -> Verdict:
    """Pooling adjacent violators of the decreasing order and cutting off at 0 gives the least-squares fit of eq (9),
    which is unique: x is in the cone, the residual y - x has no positive sum over any prefix, and is orthogonal to x.
    """
    fit = count_mle(noisy)
    steps = [*(b - a for a, b in pairwise(fit)), -fit[-1]]
    gaps = [y - x for y, x in zip(noisy, fit, strict=True)]
    prefixes = list(accumulate(gaps))
    product = sum((gap * x for gap, x in zip(gaps, fit, strict=True)), Fraction(0))
    return conjunction([
        at_most_exact(max(steps), Fraction(0), "largest rise"),
        at_most_exact(max(prefixes), Fraction(0), "largest prefix of the residual"),
        equal_exact(product, Fraction(0), "product of residual and fit"),
        equal_exact(count_mle(fit), fit, "fit of the fit"),
    ])  # fmt: skip


@statement(
    CESAR_2020,
    "count_mle",
    "fig6_macbeth_counts",
    pins=(
        Pin(
            {"noisy": (Fraction(1), Fraction(3)), "truth": (Fraction(3), Fraction(1))},
            "the fit is (2, 2)",
            smaller=lambda: 2,
            larger=lambda: 8,
        ),
    ),
)
def count_mle_does_not_increase_the_error(
    noisy: Annotated[Vector, RationalVectors("noisy counts")], truth: Annotated[Vector, RationalVectors("true counts")]
) -> Verdict:
    """If the true counts obey the order, the fit is no farther from them in l2 than the noisy counts are: a
    projection on a convex set that contains them.
    """
    size = min(len(noisy), len(truth))
    counts = sorted((abs(x) for x in truth[:size]), reverse=True)
    error: Callable[[Vector], Fraction] = lambda guess: sum(
        ((g - c) ** 2 for g, c in zip(guess, counts, strict=True)), Fraction(0)
    )
    return at_most_exact(error(count_mle(noisy[:size])), error(noisy[:size]), "squared error of the fit")
