"""The utility of a private selection: the accuracy of noisy max, the F1 score of repeated AboveThreshold.

Chapter after Lebensold, Precup and Balle (2024), Section 4: Eq 39 and the F1 score. The paper estimates both by
simulation; the accuracy of noisy max is a sum over its exact distribution.
"""

from fractions import Fraction
from typing import Annotated, Any, TypeVar

from flint import acb, arb

from dpassay.arguments import UsageError
from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, at_least, at_most, ball, exact, sum_balls
from dpassay.spec.distributions.noisy_max import log_report_probability
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, proof
from dpassay.spec.proof.symbolic import identity, nonnegative
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["f1_score", "noisy_max_accuracy"]

T = TypeVar("T", Fraction, Any)
Pair = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of answers of neighbouring data sets")]
RelativeNoise = Annotated[
    Exact,
    Reals("a noise scale, in widths of the range", Fraction(1, 1000), 1000, (1, Fraction(1, 20)), logarithmic=True),
]
Count = Annotated[int, Integers("a count", 0, 10**6, (0, 1), logarithmic=True)]


# --- Eq 39 --------------------------------------------------------------------------------------------------


def noisy_max_accuracy(blocks: list[tuple[Fraction, int]], sigma: Exact) -> arb:
    """Enclose Eq 39, 1 - E[q_best - q_reported] / q_best, of Gaussian noisy max.

    Parameters
    ----------
    blocks : list of (answer, count)
        Non-negative answers, not all 0.
    sigma : exact number
        Standard deviation of the noise, positive.

    Raises
    ------
    UsageError
        If the best answer is not positive or some answer is negative: the accuracy is then no share.
    """
    best = max(answer for answer, _ in blocks)
    if not best > 0 or min(answer for answer, _ in blocks) < 0:
        raise UsageError(f"blocks must hold non-negative answers, one of them positive, got {blocks!r}")
    scale = exact("sigma", sigma)
    losses = []
    for own, count in blocks:
        if own < best:
            rivals = [(answer, n - (answer == own)) for answer, n in blocks]
            wins = log_report_probability(own, rivals, scale).exp()
            losses.append(ball((best - own) / best * count) * wins)
    return 1 - sum_balls(losses)


def _non_negative_blocks(pair: NeighbouringAnswers) -> list[tuple[Fraction, int]]:
    """Group the left answers by value, shifted so that the low end of the range is 0 (and 1 if all are 0)."""
    counts: dict[Fraction, int] = {}
    for block in pair.blocks:
        counts[block.left - pair.low] = counts.get(block.left - pair.low, 0) + block.count
    return list(counts.items()) if any(counts) else [(Fraction(1), pair.size)]


def _uniform_accuracy(blocks: list[tuple[Fraction, int]]) -> Fraction:
    best, size = max(answer for answer, _ in blocks), sum(count for _, count in blocks)
    return sum((answer * count for answer, count in blocks), Fraction(0)) / (best * size)


def _two_answers() -> arb:
    return (1 + ball(Fraction(1, 2)).erf()) / 2


def _three_answers() -> arb:
    """Enclose Phi(h) - 2 T(h, 1/sqrt(3)), h^2 = 1/2: two normals of correlation 1/2 stay below h (T is Owen's)."""
    root = 1 / arb(3).sqrt()
    owen = acb.integral(lambda x, _: (-(1 + x * x) / 4).exp() / (1 + x * x), 0, root).real / (2 * arb.pi())
    return _two_answers() - 2 * owen


def _one_leader(rivals: int) -> NeighbouringAnswers:
    blocks = (Block(Fraction(1), Fraction(1)), Block(Fraction(0), Fraction(0), rivals))
    return NeighbouringAnswers(blocks, Fraction(0), Fraction(1), Fraction(0))


SPLIT = NeighbouringAnswers(
    (*_one_leader(1).blocks, Block(Fraction(0), Fraction(1))), Fraction(0), Fraction(1), Fraction(1)
)


@statement(
    LEBENSOLD_2024,
    "rnm_accuracy",
    examples=(
        {"pair": _one_leader(1), "relative_sigma": Fraction(1, 1000)},
        {"pair": _one_leader(364), "relative_sigma": 1000},
    ),
    pins=(
        Pin(
            {"pair": _one_leader(1), "relative_sigma": 1},
            "two answers: the better one wins with probability (1 + erf(1/2))/2",
            smaller=lambda: [Fraction(1, 2), _two_answers(), 1 - (2 * arb(2).log()).sqrt()],
            larger=lambda: [_two_answers(), 1, _two_answers()],
        ),
        Pin(
            {"pair": SPLIT, "relative_sigma": 1},
            "two blocks share an answer: the better answer beats two normals that share its noise",
            smaller=lambda: [Fraction(1, 3), _three_answers(), 1 - (2 * arb(3).log()).sqrt()],
            larger=lambda: [_three_answers(), 1, _three_answers()],
        ),
    ),
    cases=25,
)
def noisy_max_is_no_worse_than_a_uniform_choice(pair: Pair, relative_sigma: RelativeNoise) -> Verdict:
    """For non-negative answers, mean(q) / max(q) <= accuracy <= 1: the winning probability increases with the
    answer, so that Chebyshev's sum inequality gives the lower end, which noise of any size approaches.

    And accuracy >= 1 - sigma sqrt(2 log d) / max(q): the gap q_best - q_reported is at most the difference of
    their noises, whose mean is at most that of the largest of d normals.
    """
    blocks, sigma = _non_negative_blocks(pair), exact("relative_sigma", relative_sigma) * pair.width
    best = max(answer for answer, _ in blocks)

    def accuracy() -> arb:
        return noisy_max_accuracy(blocks, sigma)

    def noise_bound() -> arb:
        return 1 - ball(sigma / best) * (2 * ball(pair.size).log()).sqrt()

    return conjunction([
        at_least(accuracy, lambda: ball(_uniform_accuracy(blocks)), slack=ATTAINED),
        at_most(accuracy, lambda: arb(1), slack=ATTAINED),
        at_least(accuracy, noise_bound, slack=ATTAINED),
    ])  # fmt: skip


# --- F1 -----------------------------------------------------------------------------------------------------


def f1_formula(true_positives: T, false_positives: T, false_negatives: T) -> T:
    """Return 2 TP / (2 TP + FP + FN), for rationals or sympy expressions."""
    return 2 * true_positives / (2 * true_positives + false_positives + false_negatives)


def f1_score(true_positives: int, false_positives: int, false_negatives: int) -> Fraction:
    """Return 2 TP / (2 TP + FP + FN), and 1 if there is nothing to find and nothing was reported.

    The paper leaves the zero denominator open.

    Examples
    --------
    >>> f1_score(3, 1, 2), f1_score(0, 0, 0)
    (Fraction(2, 3), Fraction(1, 1))
    """
    counts = Fraction(true_positives), Fraction(false_positives), Fraction(false_negatives)
    return f1_formula(*counts) if any(counts) else Fraction(1)


@statement(
    LEBENSOLD_2024,
    "at_f1_score",
    examples=(
        {"true_positives": 0, "false_positives": 0, "false_negatives": 0},
        {"true_positives": 5, "false_positives": 0, "false_negatives": 0},
        {"true_positives": 0, "false_positives": 3, "false_negatives": 0},
    ),
    pins=(
        Pin(
            {"true_positives": 1, "false_positives": 2, "false_negatives": 3},
            "precision 1/3 and recall 1/4: 2/(3 + 4)",
            smaller=lambda: [0, Fraction(2, 7)],
            larger=lambda: [Fraction(2, 7), 1],
        ),
    ),
)
def f1_score_is_a_share(true_positives: Count, false_positives: Count, false_negatives: Count) -> Verdict:
    """0 <= F1 <= 1; F1 = 1 if and only if nothing is missed and nothing wrong is reported (also if there is
    nothing to find); and F1 does not depend on which of the two lists is called the truth.
    """
    score = f1_score(true_positives, false_positives, false_negatives)
    mistakes = false_positives + false_negatives
    return conjunction([
        at_most_exact(Fraction(0), score, "0"),
        at_most_exact(score, Fraction(1), "F1").without_tightness(),
        equal_exact(score == 1, mistakes == 0, "perfect"),
        equal_exact(score, f1_score(true_positives, false_negatives, false_positives), "exchanged"),
    ])  # fmt: skip


@statement(LEBENSOLD_2024, "at_f1_score")
def f1_score_is_the_harmonic_mean_of_precision_and_recall() -> Proof:
    """Where TP > 0, F1 = 2 P R / (P + R) with precision P = TP / (TP + FP) and recall R = TP / (TP + FN); it lies
    between the smaller of the two and their mean.
    """
    tp = sp.Symbol("TP", positive=True)
    fp, fn = sp.symbols("FP FN", nonnegative=True)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    score = f1_formula(tp, fp, fn)
    more = sp.Symbol("h", nonnegative=True)  # FN = FP + h, so that recall is the smaller one
    return proof(
        checked(
            "harmonic mean", "F1 = 2 P R/(P + R).", identity, score, 2 * precision * recall / (precision + recall)
        ),
        checked(
            "at least recall",
            "For FN = FP + h, where recall is the smaller one, F1 is at least recall.",
            nonnegative,
            sp.factor((score - recall).subs(fn, fp + more)),
        ),
        checked(
            "at least precision",
            "For FP = FN + h, where precision is the smaller one, F1 is at least precision.",
            nonnegative,
            sp.factor((score - precision).subs(fp, fn + more)),
        ),
        checked("at most the mean", "F1 <= (P + R)/2.", nonnegative, sp.factor((precision + recall) / 2 - score)),
        all_of("F1", "harmonic mean", "at least recall", "at least precision", "at most the mean"),
    )
