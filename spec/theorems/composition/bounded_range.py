"""Bounded range, its relations with pure privacy, and the exponential mechanism.

Chapter after Cesar and Rogers (2020), Section 2. A pair of bounded range epsilon has all its losses in a window
[t - epsilon, t] with 0 <= t <= epsilon, and is then a post-processing of the response RR_{epsilon,t}: that is what
makes the optimal compositions of this chapter computable.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from dpassay.lazy import sympy as sp
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.distributions.generalized_randomized_response import (
    RandomizedResponse,
    keep_probability,
    pure_response,
)
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Domain, Reals
from dpassay.spec.notions.bounded_range import range_ratio, ratios
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, proof
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["ScorePairs", "common_support", "exponential_distribution", "score_range", "window_of"]

Pair = Annotated[PairAtRatio, FinitePairs("a pair of finite distributions, and a ratio e^epsilon_g")]
Base = Annotated[
    Fraction, Reals("a ratio e^(epsilon per unit of score)", Fraction(101, 100), 50, (2, Fraction(3, 2), 50))
]


def common_support(pair: PairAtRatio) -> PairAtRatio:
    """Return the pair, or a mixture of its two sides where an outcome is possible on one side only."""
    if isinstance(range_ratio(pair.left, pair.right), Fraction):
        return pair
    left = {o: (3 * p + pair.right.probability(o)) / 4 for o, p in pair.left.weights.items()}
    right = {o: (p + 3 * pair.right.probability(o)) / 4 for o, p in pair.left.weights.items()}
    return PairAtRatio(FiniteDistribution(left), FiniteDistribution(right), pair.ratio)


def _extreme_ratios(pair: PairAtRatio) -> tuple[Fraction, Fraction]:
    """Return the largest and the smallest likelihood ratio of a pair with common support."""
    values = [ratio for ratio in ratios(pair.left, pair.right).values() if isinstance(ratio, Fraction)]
    return max(values), min(values)


def window_of(pair: PairAtRatio) -> tuple[Fraction, Fraction]:
    """Return (e^epsilon, e^t) of a pair with common support: its losses lie in [t - epsilon, t]."""
    largest, smallest = _extreme_ratios(pair)
    return largest / smallest, largest


def extremal_response(span: Fraction, top: Fraction) -> RandomizedResponse:
    """Return the response that dominates every pair with ratios in [top / span, top]."""
    return RandomizedResponse(span, top)


@statement(
    CESAR_2020,
    "br_dp_relations",
    "generalized_rr",
    pins=(
        Pin(
            {"pair": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2), Fraction(3, 2))},
            "a response with odds of 2 to 1, at e^epsilon_g = 3/2, 2/3 and 1/2",
            smaller=lambda: [2, 2, 1, Fraction(1, 6), Fraction(4, 9), Fraction(1, 2)],
            larger=lambda: [4, 4, 2, Fraction(1, 6), Fraction(4, 9), Fraction(1, 2)],
        ),
    ),
)
def pure_dp_of_bounded_range(pair: Pair) -> Verdict:
    """An epsilon-bounded-range pair is epsilon-DP, and its losses lie in [t - epsilon, t] for t = its largest loss,
    which is in [0, epsilon]; at every epsilon_g its delta is at most that of RR_{epsilon,t}.

    Both deltas are convex in e^epsilon_g and the one of the response is linear between its two kinks, where they
    agree, so that it is enough that the inequality holds at points.
    """
    pair = common_support(pair)
    largest, smallest = _extreme_ratios(pair)
    span = largest / smallest
    window = [
        at_most_exact(largest, span, "e^(largest loss)").without_tightness(),
        at_most_exact(1 / smallest, span, "e^-(smallest loss)").without_tightness(),
        at_most_exact(Fraction(1), largest, "1").without_tightness(),
    ]
    if span == 1:
        return conjunction([*window, equal_exact(pair.left, pair.right, "a pair of range 0")])
    response = extremal_response(span, largest)
    budgets = [pair.ratio, 1 / pair.ratio, *(r for r in ratios(pair.left, pair.right).values())]
    return conjunction([
        *window,
        *(
            at_most_exact(
                hockey_stick_exact(pair.left, pair.right, Fraction(budget)),
                hockey_stick_exact(response.left, response.right, Fraction(budget)),
                "delta of the pair",
            )
            for budget in budgets
            if budget != largest  # where both are 0
        ),
    ])  # fmt: skip


def range_ratio_of_pure(ratio: Fraction) -> Fraction:
    """Return e^(2 epsilon), the range of an epsilon-DP pair, as ratios."""
    return ratio**2


@statement(
    CESAR_2020,
    "br_dp_relations",
    pins=(
        Pin(
            {"pair": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2))},
            "2 over 1/2",
            both=lambda: 4,
        ),
    ),
)
def bounded_range_of_pure_dp(pair: Pair) -> Verdict:
    """An epsilon-DP pair has bounded range 2 epsilon, and the factor 2 is attained by randomised response."""
    pair = common_support(pair)
    largest, smallest = _extreme_ratios(pair)
    ratio = max(largest, 1 / smallest)
    span = at_most_exact(largest / smallest, range_ratio_of_pure(ratio), "e^range")
    if ratio == 1:
        return span
    response = pure_response(ratio)
    attained = range_ratio(response.left, response.right)
    return conjunction([span, equal_exact(attained, range_ratio_of_pure(ratio), "e^range of randomised response")])


@statement(CESAR_2020, "generalized_rr")
def generalized_randomized_response_has_two_losses() -> Proof:
    """With q = (1 - e^(t - epsilon))/(1 - e^-epsilon) and p = (e^-t - e^-epsilon)/(1 - e^-epsilon): p = e^-t q and
    1 - p = e^(epsilon - t)(1 - q), so that the losses are t and t - epsilon; q + e^epsilon (1 - q) = e^t;
    1 - p_{epsilon,t} = q_{epsilon,epsilon-t}; RR_{2 epsilon, epsilon} is classical randomised response.

    Symbolic in s = e^epsilon and T = e^t. Needs epsilon > 0; the paper allows 0, where q is 0 / 0.
    """
    s, top = sp.symbols("s T", positive=True)
    q = keep_probability(s, top)
    p = (1 / top - 1 / s) / (1 - 1 / s)
    return proof(
        checked("loss t", "p = e^-t q.", identity, p, q / top),
        checked("loss t - epsilon", "1 - p = e^(epsilon - t) (1 - q).", identity, 1 - p, s / top * (1 - q)),
        checked("sum", "q + e^epsilon (1 - q) = e^t.", identity, q + s * (1 - q), top),
        checked(
            "swap",
            "1 - p_{epsilon,t} = q_{epsilon,epsilon-t}: swapping inputs and answers sends t to epsilon - t.",
            identity,
            1 - p,
            keep_probability(s, s / top),
        ),
        checked(
            "classical",
            "RR_{2 epsilon, epsilon} answers with probability e^epsilon/(1 + e^epsilon).",
            identity,
            keep_probability(s**2, s),
            s / (1 + s),
        ),
        checked("t = 0", "For t = 0 the answer is constant.", identity, keep_probability(s, sp.Integer(1)), 1),
        checked("t = epsilon", "For t = epsilon the answer is constant.", identity, keep_probability(s, s), 0),
        all_of("two losses", "loss t", "loss t - epsilon", "sum", "swap", "classical", "t = 0", "t = epsilon"),
    )


# --- the exponential mechanism ------------------------------------------------------------------------------

Scores = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ScorePairs(Domain):
    """Vectors of integer scores of two neighbours, as a tuple of (left, right) for each candidate.

    Parameters
    ----------
    largest_size : int
        Largest number of candidates.
    largest_score : int
        Scores lie between minus this and this.
    """

    largest_size: int = 5
    largest_score: int = 3

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a tuple."""
        return (
            isinstance(value, tuple)
            and 1 <= len(value) <= self.largest_size
            and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
            and all(isinstance(u, int) and abs(u) <= self.largest_score for pair in value for u in pair)
        )


def score_range(scores: Scores) -> int:
    """Return max_y [u(x, y) - u(x', y)] - min_y [u(x, y) - u(x', y)]."""
    differences = [left - right for left, right in scores]
    return max(differences) - min(differences)


def sensitivity(scores: Scores) -> int:
    """Return max_y |u(x, y) - u(x', y)|."""
    return max(abs(left - right) for left, right in scores)


def exponential_distribution(base: Fraction, scores: tuple[int, ...]) -> FiniteDistribution:
    """Return the distribution of the exponential mechanism, Pr[y] proportional to base^(score of y)."""
    return FiniteDistribution.of(*(base**score for score in scores))


@statement(CESAR_2020, "exponential_mechanism", "quality_score_range")
def bounded_range_of_exponential_mechanism(
    base: Base, scores: Annotated[Scores, ScorePairs("scores of at most 5 candidates on two neighbours")]
) -> Verdict:
    """Pr[y] proportional to e^(epsilon u(x,y) / range) has bounded range epsilon, exactly, for the range of the
    score differences; hence epsilon-DP. A range of 0 (all scores shift alike) is perfectly private.
    """
    left, right = (exponential_distribution(base, side) for side in zip(*scores, strict=True))
    return equal_exact(range_ratio(left, right), base ** score_range(scores), "e^(range of the losses)")


@statement(
    CESAR_2020,
    "quality_score_range",
    pins=(
        Pin(
            {"scores": ((2, -1), (0, 3), (-1, 0))},
            "changes of -3, 3, 1, and of 3, 3, 1",
            smaller=lambda: [6, 2],
            larger=lambda: [6, 3],
        ),
    ),
)
def score_range_at_most_twice_the_sensitivity(
    scores: Annotated[Scores, ScorePairs("scores of at most 5 candidates on two neighbours")],
) -> Verdict:
    """The range of a score is at most twice its sensitivity, at most the sensitivity itself if all scores move the
    same way; twice is attained: hence the exponents epsilon u / (2 sensitivity), epsilon u / sensitivity for monotone
    scores, and epsilon u / range, which is never worse than either.
    """
    monotone: Scores = tuple((max(pair), min(pair)) for pair in scores)
    opposite: Scores = ((sensitivity(scores), 0), (0, sensitivity(scores)))
    return conjunction([
        at_most_exact(Fraction(score_range(scores)), Fraction(2 * sensitivity(scores)), "range"),
        at_most_exact(Fraction(score_range(monotone)), Fraction(sensitivity(monotone)), "range of monotone scores"),
        equal_exact(score_range(opposite), 2 * sensitivity(scores), "range of two that move against each other"),
    ])  # fmt: skip
