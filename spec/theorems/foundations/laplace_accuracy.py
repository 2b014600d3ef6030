"""Laplace noise: its privacy cost, and the errors of answers to many queries.

Chapter after Gaboardi (2017), S5. n counting queries that share a budget epsilon equally get noise of scale
n/epsilon each. The slide's error of order 1/(epsilon n) is that of a single query, averaged over n records, before
the budget is split.
"""

from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, at_least, at_most, ball, exact, max_balls, sum_balls
from dpassay.spec.distributions.laplace import LaplaceDistribution, log_laplace_max_cdf
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["laplace_tail", "union_bound_radius"]

Answers = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of answers of neighbouring data sets", 40, 4)]
Queries = Annotated[int, Integers("a number of queries", 1, 10**6, (1, 2, 10, 1000), logarithmic=True)]
Epsilon = Annotated[Exact, Reals("a privacy parameter", Fraction(1, 1000), 100, (1,), logarithmic=True)]
Failure = Annotated[
    Exact,
    Reals(
        "a probability of failure", Fraction(1, 10**12), 1, (Fraction(1, 20), Fraction(1, 10**9), 1), logarithmic=True
    ),
]


def union_bound_radius(queries: int, failure: Exact) -> arb:
    """Enclose log(n / beta): the error, in noise scales, that is exceeded with probability at most beta."""
    return (ball(queries) / ball(exact("failure", failure))).log()


def laplace_tail(queries: int, radius: arb) -> arb:
    """Enclose the probability that the largest of n unit Laplace errors exceeds a radius: 1 - (1 - e^-radius)^n."""
    return -(log_laplace_max_cdf(radius, queries).expm1())


@statement(
    GABOARDI_2017,
    "split_budget_laplace_accuracy",
    pins=(
        Pin(
            {"queries": 20, "failure": Fraction(1, 20)},
            "20 independent errors, each exceeding with probability 1/400",
            smaller=lambda: 1 - Fraction(399, 400) ** 20,
            larger=lambda: Fraction(1, 20),
        ),
    ),
)
def laplace_error_exceeds_union_bound_rarely(queries: Queries, failure: Failure) -> Verdict:
    """With a budget of epsilon/n for each of n counting queries, Pr[largest error > (n/epsilon) log(n/beta)] <= beta.

    In units of the scale n/epsilon the statement is free of epsilon. The bound is the sum of the n chances.
    """
    return at_most(
        lambda: laplace_tail(queries, union_bound_radius(queries, failure)),
        lambda: ball(exact("failure", failure)),
        slack=ATTAINED,
    )


@statement(
    GABOARDI_2017,
    "split_budget_laplace_accuracy",
    pins=(
        Pin(
            {"queries": 3, "failure": Fraction(1, 10)},
            "1/10 - 1/200; three chances of 1/30",
            smaller=lambda: Fraction(19, 200),
            larger=lambda: 1 - Fraction(29, 30) ** 3,
        ),
    ),
)
def laplace_union_bound_is_tight(queries: Queries, failure: Failure) -> Verdict:
    """The chance that the error exceeds the union bound is 1 - (1 - beta/n)^n, which is at least beta - beta^2/2."""
    share = exact("failure", failure)
    tail = lambda: laplace_tail(queries, union_bound_radius(queries, failure))
    return conjunction([
        agree(tail, lambda: _one_minus_power(share / queries, queries), "the chance of a large error"),
        at_least(tail, lambda: ball(share - share * share / 2), slack=ATTAINED),
    ])  # fmt: skip


def _one_minus_power(p: Fraction, n: int) -> arb:
    """Enclose 1 - (1 - p)^n."""
    return arb(1) if p == 1 else -((n * (-ball(p)).log1p()).expm1())


@statement(GABOARDI_2017, "split_budget_laplace_accuracy")
def laplace_probabilities_of_halves_and_pieces_sum_to_one(pair: Answers, epsilon: Epsilon) -> Verdict:
    """The two half-lines beyond a pair of answers and the interval between them have total probability 1."""
    rate = exact("epsilon", epsilon)
    return conjunction(_total_is_one(block, rate) for block in pair.blocks)


def _total_is_one(block: Block, rate: Fraction) -> Verdict:
    return agree(lambda: sum_balls(x.exp() for x in _cells(block, rate)[0]), lambda: arb(1), "the total")


def _cells(block: Block, rate: Fraction) -> tuple[list[arb], list[arb]]:
    """Enclose the log-probabilities of the three intervals that a pair of answers makes, on both sides."""
    low, high = sorted((block.left, block.right))
    sides = ((None, low), (low, high), (high, None))
    left, right = (LaplaceDistribution((answer,), 1 / rate) for answer in (block.left, block.right))
    return [left.log_side(0, side) for side in sides], [right.log_side(0, side) for side in sides]


@statement(
    GABOARDI_2017,
    "split_budget_laplace_accuracy",
    examples=(
        {"pair": NeighbouringAnswers((Block(Fraction(0), Fraction(1), 20),), Fraction(0), Fraction(1), Fraction(1)),
         "epsilon": 1},
    ), pins=(Pin(
            {
                "pair": NeighbouringAnswers(
                    (Block(Fraction(0), Fraction(1, 4), 3), Block(Fraction(0), Fraction(1, 2), 2)),
                    Fraction(0), Fraction(1), Fraction(1, 2),
                ),
                "epsilon": 2,
            },
            "an l1 distance of 7/4 at the rate 4/5",
            smaller=lambda: Fraction(7, 5),
            larger=lambda: 2,
        ),),
)  # fmt: skip
def pure_dp_of_laplace_mechanism(pair: Answers, epsilon: Epsilon) -> Verdict:
    """n answers, each of sensitivity Delta and with Laplace noise of scale n Delta/epsilon, are epsilon-DP.

    Noise of rate epsilon/(n Delta) costs the l1 distance times the rate: exactly, since the loss of an answer is
    largest, and constant, on the half-line beyond the more likely side (an agreement to 60 bits).
    """
    if all(block.left == block.right for block in pair.blocks):
        return agree(lambda: arb(0), lambda: arb(0), "the loss where nothing moves")
    rate = exact("epsilon", epsilon) / (pair.size * (pair.sensitivity or pair.width))
    distance = sum(abs(block.left - block.right) * block.count for block in pair.blocks)
    loss = lambda: sum_balls(block.count * _largest_loss(block, rate) for block in pair.blocks)
    return conjunction([
        at_most(loss, lambda: ball(exact("epsilon", epsilon)), slack=ATTAINED),
        agree(loss, lambda: ball(distance * rate), "the loss and the l1 distance"),
    ])  # fmt: skip


def _largest_loss(block: Block, rate: Fraction) -> arb:
    if block.left == block.right:
        return arb(0)  # two equal balls would not cancel
    left, right = _cells(block, rate)
    return max_balls(p - q for p, q in zip(left, right, strict=True))
