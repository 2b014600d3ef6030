"""The sparse vector technique with Laplace noise: the exact cost of each variant.

Chapter after Gaboardi (2017), S10: restart AboveThreshold after each hit, at most c times, each with epsilon/c. The
variant with one noisy threshold, and the published variants that are wrong, follow from one bound: m answers that stay
below and h that reach the same noisy threshold lose at most

    min over a move s of the threshold of |s|/s_T + (m |Delta - s| + h |Delta + s|)/s_Q,

the cost of a substitution that moves the threshold by s and every noise by what is left. It is piecewise linear in s
and convex, so that s is 0, Delta or -Delta; and it is approached as the range of the answers grows. (M. Lyu, D. Su and
N. Li, PVLDB 2017, compare six published variants.)
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, less_than, max_balls, sum_balls
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.distributions.laplace import Side
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.distributions.sparse_vector import (
    BareQueriesDistribution,
    NumericSparseVectorDistribution,
    Places,
    SparseVectorDistribution,
    hit_places,
)
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.domains.laplace_streams import Answers, ThresholdStream, ThresholdStreams
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.theorems.foundations.threshold_corners import CornerLosses, Pattern, patterns
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["cells_of_places", "pattern_cost"]

Stream = Annotated[ThresholdStream, ThresholdStreams("a pair of streams of up to seven answers", 7)]
TinyStream = Annotated[ThresholdStream, ThresholdStreams("a pair of streams of up to four answers", 4)]
Cutoff = Annotated[int, Integers("a number of hits", 1, 3, (1, 2))]
Epsilon = Annotated[Exact, Reals("a privacy parameter", Fraction(1, 100), 20, (1, Fraction(1, 10)), logarithmic=True)]
Cost = Annotated[
    Fraction,
    Reals(
        "the cost in nats of a move by the sensitivity", Fraction(1, 100), 4, (1, Fraction(1, 20)), logarithmic=True
    ),
]
Halvings = Annotated[int, Integers("a number of halvings", 1, 30, (1, 10))]
Refreshed = Annotated[bool, Choices("whether the threshold's noise is drawn anew after each hit", (False, True))]

ONE = Fraction(1)
FALLS_TWICE = ThresholdStream((Block(Fraction(19), Fraction(20), 5), Block(ONE, Fraction(0), 2)), Fraction(3), ONE)
"""Five answers rise at 20, two fall to 0."""
FALLS_LAST = ThresholdStream((Block(Fraction(399), Fraction(400), 6), Block(ONE, Fraction(0))), Fraction(0), ONE)
"""Six answers far above the threshold rise, the last one falls to it: nearly all of epsilon is lost."""

TINY = ThresholdStream((Block(Fraction(3), Fraction(4), 2), Block(ONE, Fraction(0), 2)), Fraction(1), ONE)
ONE_FALLS = ThresholdStream((Block(ONE, Fraction(0)),), Fraction(0), ONE)


def _moved_tail() -> arb:
    """Enclose twice Pr[X - Y > 1] = 3/(2 e), X and Y with the density e^-|x|/2."""
    return 3 * arb(-1).exp() / 2


def pattern_cost(pattern: Pattern, threshold_cost: Fraction, query_cost: Fraction) -> Fraction:
    """Return the bound on the loss of m answers that stay below and h that reach the same noisy threshold.

    Parameters
    ----------
    pattern : (m, h)
        The counts.
    threshold_cost, query_cost : Fraction
        Delta/s_T and Delta/s_Q, in nats.
    """
    below, above = pattern
    stays = (below + above) * query_cost
    return min(stays, threshold_cost + 2 * above * query_cost, threshold_cost + 2 * below * query_cost)


def _losses(stream: ThresholdStream, noise: LaplaceThreshold, cutoff: int) -> Iterator[tuple[Places, arb]]:
    left, right = (SparseVectorDistribution(answers, noise, cutoff) for answers in stream.sides)
    for places in hit_places(stream.size, cutoff):
        if left.answers == right.answers:
            yield places, arb(0)  # two equal balls would not cancel
            continue
        yield places, abs(left.log_probability(places) - right.log_probability(places))


def _pattern_of(places: Places, size: int) -> Pattern:
    hits = sum(k > 0 for k in places)
    asked = places[-1] or size
    return asked - hits, hits


def _largest_loss(stream: ThresholdStream, noise: LaplaceThreshold, cutoff: int, *, refreshed: bool) -> arb:
    left, right = (SparseVectorDistribution(answers, noise, cutoff, refreshed) for answers in stream.sides)
    return max_divergence(left, right).max(max_divergence(right, left))


# --- the distribution ------------------------------------------------------------------------------------------------


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=({"stream": FALLS_TWICE, "cutoff": 2, "refreshed": True, "threshold_cost": ONE, "query_cost": ONE},),
    cases=15,
)
def sparse_vector_distribution_sums_to_one(
    stream: Stream, cutoff: Cutoff, refreshed: Refreshed, threshold_cost: Cost, query_cost: Cost
) -> Verdict:
    """The probabilities of all tuples of at most c places sum to 1, whether the threshold's noise is drawn once or
    anew after each hit (agreement to 60 bits); for c = 1 both are AboveThreshold.
    """
    noise = stream.noise(threshold_cost, query_cost)
    distribution = SparseVectorDistribution(stream.sides[0], noise, cutoff, refreshed)
    return agree(
        lambda: sum_balls(distribution.log_probability(o).exp() for o in distribution.outcomes),
        lambda: arb(1),
        "total",
    )


# --- what is private ----------------------------------------------------------------------------------------


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=(
        {"stream": FALLS_TWICE, "cutoff": 2, "epsilon": ONE},
        {"stream": FALLS_LAST, "cutoff": 1, "epsilon": ONE},
    ),
    cases=15,
    pins=(Pin({"stream": FALLS_LAST, "cutoff": 1, "epsilon": ONE}, "epsilon, attained up to e^-100", both=lambda: 1),),
)
def pure_dp_of_restarted_above_threshold(stream: Stream, cutoff: Cutoff, epsilon: Epsilon) -> Verdict:
    """AboveThreshold with epsilon/c, restarted after each of at most c hits with new noise on the threshold, is
    epsilon-DP: scales 2 c Delta/epsilon and 4 c Delta/epsilon.
    """
    budget = exact("epsilon", epsilon)
    noise = stream.noise(budget / (2 * cutoff), budget / (4 * cutoff))
    return at_most(lambda: _largest_loss(stream, noise, cutoff, refreshed=True), lambda: ball(budget), slack=ATTAINED)


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=(
        {"stream": FALLS_TWICE, "cutoff": 2, "epsilon": ONE},
        {"stream": FALLS_LAST, "cutoff": 1, "epsilon": ONE},
    ),
    cases=15,
    pins=(Pin({"stream": FALLS_LAST, "cutoff": 1, "epsilon": ONE}, "epsilon, attained up to e^-100", both=lambda: 1),),
)
def pure_dp_of_sparse_vector_with_one_noisy_threshold(stream: Stream, cutoff: Cutoff, epsilon: Epsilon) -> Verdict:
    """With the threshold's noise Lap(2 Delta/epsilon) drawn once, and not scaled with c, and Lap(4 c Delta/epsilon) on
    every answer, halting after c hits is epsilon-DP.
    """
    budget = exact("epsilon", epsilon)
    noise = stream.noise(budget / 2, budget / (4 * cutoff))
    return at_most(lambda: _largest_loss(stream, noise, cutoff, refreshed=False), lambda: ball(budget), slack=ATTAINED)


def cells_of_places(places: Places, edges: Answers) -> Iterator[tuple[Side, ...]]:
    """Yield an interval between neighbouring edges, or beyond them, for the number released with each hit."""
    cuts: list[Side] = list(itertools.pairwise([None, *edges, None]))
    yield from itertools.product(cuts, repeat=sum(k > 0 for k in places))


def _largest_numeric_loss(stream: ThresholdStream, noise: LaplaceThreshold, cutoff: int, scale: Exact | None) -> arb:
    """Enclose the largest loss over the cells that all answers of the pair make."""
    left, right = (NumericSparseVectorDistribution(answers, noise, cutoff, scale) for answers in stream.sides)
    edges = tuple(sorted({stream.low, stream.high}))
    return max_balls(
        abs(left.log_cell(places, sides) - right.log_cell(places, sides))
        for places in hit_places(stream.size, cutoff)
        for sides in cells_of_places(places, edges)
    )


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=({"stream": TINY, "cutoff": 2, "epsilon": ONE}, {"stream": FALLS_LAST, "cutoff": 1, "epsilon": ONE}),
    cases=10,
    pins=(
        Pin({"stream": FALLS_LAST, "cutoff": 1, "epsilon": ONE}, "a third for each of three noises", both=lambda: 1),
    ),
)
def pure_dp_of_numeric_sparse_vector(stream: Stream, cutoff: Cutoff, epsilon: Epsilon) -> Verdict:
    """With Lap(3 Delta/epsilon) on the threshold, Lap(6 c Delta/epsilon) on each answer that is tested, and a number
    with fresh noise Lap(3 c Delta/epsilon) released for each hit, the technique is epsilon-DP: a third for each.

    Decided on the cells between the least and the largest answer of the pair; finer cells lose no more, because the
    loss of a number is constant beyond all answers and largest there.
    """
    budget = exact("epsilon", epsilon)
    noise = stream.noise(budget / 3, budget / (6 * cutoff))
    scale = 3 * cutoff * stream.sensitivity / budget
    return at_most(lambda: _largest_numeric_loss(stream, noise, cutoff, scale), lambda: ball(budget), slack=ATTAINED)


# --- what each pattern of comparisons costs -----------------------------------------------------------------


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=(
        {"stream": FALLS_TWICE, "cutoff": 2, "threshold_cost": Fraction(1, 4), "query_cost": Fraction(3, 4)},
        {"stream": FALLS_TWICE, "cutoff": 3, "threshold_cost": ONE, "query_cost": Fraction(1, 4)},
    ),
    cases=15,
    pins=(
        Pin(
            {"stream": FALLS_TWICE, "cutoff": 2, "threshold_cost": Fraction(1, 4), "query_cost": Fraction(3, 4)},
            "the hits and the threshold pay all of the cost",
            both=lambda: 1,
        ),
    ),
)
def loss_of_comparisons_with_one_noisy_threshold(
    stream: Stream, cutoff: Cutoff, threshold_cost: Cost, query_cost: Cost
) -> Verdict:
    """m answers that stay below and h that reach the same noisy threshold lose at most the least of (m + h) Delta/s_Q,
    Delta/s_T + 2 h Delta/s_Q and Delta/s_T + 2 m Delta/s_Q, for all scales of the noise.
    """
    noise = stream.noise(threshold_cost, query_cost)

    def excess() -> arb:
        return max_balls(
            loss / ball(pattern_cost(_pattern_of(places, stream.size), threshold_cost, query_cost))
            for places, loss in _losses(stream, noise, cutoff)
        )

    return at_most(excess, lambda: arb(1), slack=ATTAINED)


def _approaches(pattern: Pattern, halvings: int, threshold: Fraction, query: Fraction, where: Fraction) -> Verdict:
    """Decide that the corner of a wide range, the threshold at `where` in it, loses nearly the bound, and no more."""
    height = Fraction(8 * (halvings + sum(pattern)), 1) / min(threshold, query)
    noise = LaplaceThreshold(where * height, 1 / threshold, 1 / query)
    corner = CornerLosses(noise, 0, height, 1)
    cost = pattern_cost(pattern, threshold, query)
    bound = cost * (1 - Fraction(1, 2**halvings))
    loss: Real = lambda: corner.loss(pattern)
    return conjunction([
        at_least(loss, lambda: ball(bound)),
        at_most(loss, lambda: ball(cost), slack=ATTAINED).without_tightness(),
    ])  # fmt: skip


@statement(
    GABOARDI_2017,
    "sparse_vector",
    cases=20,
    pins=(
        Pin(
            {"hits": 1, "threshold_cost": Fraction(1, 2), "query_cost": Fraction(1, 4), "halvings": 12},
            "1/2 + 2/4 for threshold and hit, 2/4 for two answers, 1/2 + 2/4 for threshold and answer below",
            both=lambda: [1, 1, Fraction(1, 2), Fraction(1, 2), 1, 1],
            within=Fraction(1, 4000),
        ),
    ),
)
def loss_of_comparisons_is_approached(
    hits: Annotated[int, Integers("a number of hits", 1, 4, (1, 2, 4))],
    threshold_cost: Cost,
    query_cost: Cost,
    halvings: Halvings,
) -> Verdict:
    """The bound on m answers below and h above is approached as the range grows: with the threshold at its bottom for
    m s_T > h s_T + s_Q, where threshold and hits pay, in its middle for m = h, where every answer pays, and at its
    top for h and m exchanged, where threshold and answers below pay.
    """
    many = hits + threshold_cost // query_cost + 2
    return conjunction([
        _approaches((int(many), hits), halvings, threshold_cost, query_cost, Fraction(0)),
        _approaches((hits, hits), halvings, threshold_cost, query_cost, Fraction(1, 2)),
        _approaches((hits, int(many)), halvings, threshold_cost, query_cost, Fraction(1)),
    ])  # fmt: skip


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=(
        {"stream": FALLS_TWICE, "cutoff": 2, "threshold_cost": ONE, "query_cost": ONE},
        {"stream": FALLS_TWICE, "cutoff": 1, "threshold_cost": Fraction(1, 4), "query_cost": Fraction(3, 4)},
    ),
    cases=15,
    pins=(
        Pin(
            {"stream": ONE_FALLS, "cutoff": 1, "threshold_cost": ONE, "query_cost": ONE},
            "the difference of the two noises exceeds d with probability e^-d (2 + d)/4",
            both=lambda: [-_moved_tail().log(), (2 - _moved_tail()).log()] * 2,
        ),
    ),
)
def sparse_vector_loss_is_largest_at_corners(
    stream: Stream, cutoff: Cutoff, threshold_cost: Cost, query_cost: Cost
) -> Verdict:
    """For answers in a bounded range, m that stay below and h that reach the same noisy threshold lose most where
    those below rise by Delta to the top of the range and those above fall by Delta to its bottom; if all answers of a
    pair move the same way, where the one kind does and the other stays there.

    Proved in the introduction of the module on corners; the corner itself is a pair of the range, so that it is exact.
    """
    noise = stream.noise(threshold_cost, query_cost)
    kinds = [False, True] if stream.is_monotone else [False]
    corners = [CornerLosses(noise, stream.low, stream.high, stream.sensitivity, kind) for kind in kinds]

    def largest_of(pattern: Pattern) -> arb:
        same = (loss for places, loss in _losses(stream, noise, cutoff) if _pattern_of(places, stream.size) == pattern)
        return max_balls(same)

    return conjunction(
        at_most(lambda p=pattern: largest_of(p), lambda c=corner, p=pattern: c.loss(p), slack=ATTAINED)  # type: ignore[misc]  # defaults bind the loop variables
        for corner in corners
        for pattern in dict.fromkeys(patterns(stream.size, cutoff))
    )


# --- published variants that are wrong ----------------------------------------------------------------------


@statement(
    GABOARDI_2017,
    "sparse_vector",
    cases=15,
    pins=(
        Pin(
            {"cutoff": 2, "epsilon": 1, "halvings": 12},
            "1/2 + 4/4 and 1/4 + 4 * 3/4 for threshold and two hits",
            both=lambda: [Fraction(3, 2)] * 2 + [Fraction(13, 4)] * 2,
            within=Fraction(1, 4000),
        ),
    ),
)
def query_noise_must_grow_with_the_cutoff(
    cutoff: Annotated[int, Integers("a number of hits", 1, 6, (1, 2, 4))], epsilon: Epsilon, halvings: Halvings
) -> Verdict:
    """If the noise on the answers is not scaled with c, Lap(2 Delta/epsilon) and Lap(4 Delta/epsilon) cost
    (1 + c) epsilon/2, and Lap(4 Delta/epsilon) and Lap(4 Delta/(3 epsilon)), as published, (1 + 6 c) epsilon/4; both
    are approached. The former is right for c = 1, the latter is never.
    """
    budget = exact("epsilon", epsilon)
    many = 2 * cutoff + 4
    half, published = (budget / 2, budget / 4), (budget / 4, 3 * budget / 4)
    return conjunction([
        equal_exact(pattern_cost((many, cutoff), *half), (1 + cutoff) * budget / 2, "cost"),
        equal_exact(pattern_cost((many * 2, cutoff), *published), (1 + 6 * cutoff) * budget / 4, "cost"),
        _approaches((many, cutoff), halvings, *half, Fraction(0)),
        _approaches((many * 2, cutoff), halvings, *published, Fraction(0)),
    ])  # fmt: skip


@statement(
    GABOARDI_2017,
    "sparse_vector",
    cases=15,
    pins=(
        Pin(
            {"size": 2, "epsilon": 1, "halvings": 12},
            "four answers at 1/2",
            both=lambda: [2] * 2,
            within=Fraction(1, 4000),
        ),
    ),
)
def cost_without_cutoff_grows_with_the_stream(
    size: Annotated[int, Integers("half a number of queries", 1, 40, (1, 2, 5, 40))],
    epsilon: Epsilon,
    halvings: Halvings,
) -> Verdict:
    """Without halting, and with Lap(2 Delta/epsilon) on threshold and answers, 2 n queries cost nearly n epsilon: n of
    them stay below and n reach the threshold.
    """
    budget = exact("epsilon", epsilon)
    pattern = (size, size)
    return conjunction([
        equal_exact(pattern_cost(pattern, budget / 2, budget / 2), size * budget, "cost"),
        _approaches(pattern, halvings, budget / 2, budget / 2, Fraction(1, 2)),
    ])  # fmt: skip


@statement(
    GABOARDI_2017,
    "sparse_vector",
    examples=({"stream": TINY, "cutoff": 2, "threshold_cost": ONE, "query_cost": ONE},),
    cases=10,
    pins=(
        Pin(
            {"stream": ONE_FALLS, "cutoff": 1, "threshold_cost": ONE, "query_cost": Fraction(3, 4)},
            "one query",
            both=lambda: Fraction(3, 4),
        ),
    ),
)
def released_tested_answers_cost_every_query(
    stream: TinyStream, cutoff: Cutoff, threshold_cost: Cost, query_cost: Cost
) -> Verdict:
    """If the noisy answer that passed the test is itself released, n queries lose at most n Delta/s_Q, and
    n Delta/s_Q is lost, exactly, where all answers rise, the last one is the only hit, and the number
    released lies below all of them: it tells that the noisy threshold does, too.
    """
    noise = stream.noise(threshold_cost, query_cost)
    rising = ThresholdStream((Block(stream.low, stream.low + stream.sensitivity, stream.size),), *_rest(stream))
    left, right = (NumericSparseVectorDistribution(answers, noise) for answers in rising.sides)
    last: Places = (stream.size,)
    lowest: tuple[Side] = ((None, min(stream.low, stream.threshold)),)
    bound = stream.size * query_cost
    return conjunction([
        at_most(
            lambda: _largest_numeric_loss(stream, noise, cutoff, None),
            lambda: ball(bound),
            slack=ATTAINED,
        ),
        agree(lambda: left.log_cell(last, lowest) - right.log_cell(last, lowest), lambda: ball(bound), "losses"),
    ])  # fmt: skip


def _rest(stream: ThresholdStream) -> tuple[Fraction, Fraction]:
    return stream.threshold, stream.sensitivity


@statement(
    GABOARDI_2017,
    "sparse_vector",
    cases=15,
    pins=(
        Pin(
            {"stream": FALLS_TWICE, "epsilon": 2, "lead": Fraction(1, 2)},
            "the noise of the threshold, of scale 1/2, is between 16 and 33/2",
            larger=lambda: ((1 - arb(-1).exp()) / 2).log() - 32,
        ),
    ),
)
def answers_without_noise_are_revealed(
    stream: Stream, epsilon: Epsilon, lead: Annotated[Exact, Reals("a lead", Fraction(1, 100), 1, (1,))]
) -> Verdict:
    """If the answers have no noise, whatever that of the threshold, the loss is infinite: where the second answer
    leads on the left and the first one on the right, "the second one alone" is possible on the left only.
    """
    step = stream.sensitivity * exact("lead", lead)
    scale = stream.sensitivity / exact("epsilon", epsilon)
    base = stream.sides[0][0]
    left = BareQueriesDistribution((base, base + step), stream.threshold, scale)
    right = BareQueriesDistribution((base + step, base), stream.threshold, scale)
    return conjunction([
        less_than(arb.neg_inf, lambda: left.log_probability((2, 0))),
        equal_exact((2, 0) in right.outcomes, False, "whether the right can produce it"),
    ])  # fmt: skip
