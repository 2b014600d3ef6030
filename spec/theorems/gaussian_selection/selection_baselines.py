"""The selection mechanisms that Gaussian noisy max is compared with, and why each is epsilon-DP.

Exponential mechanism, permute-and-flip and Laplace noisy max, the baselines of Lebensold, Precup and Balle (2024),
who cite but do not state them; the exponential mechanism is also Gaboardi (2017), S2. All three use the rate
epsilon / (2 Delta) per unit of score, epsilon / Delta for monotone neighbours (every score moves the same way).
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, Real, at_most, ball, exact, max_balls, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution, first_accepted_exact
from dpassay.spec.distributions.selection import Rivals, block_losses, selection_rate
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers
from dpassay.spec.domains.base import Reals
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["raised"]

Report = Callable[[Fraction, Rivals, Fraction], arb]
"""The log-probability of a candidate, of its score, its rivals and the rate."""

Answers = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of scores", 40, 4)]
ManyAnswers = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of scores")]
Epsilon = Annotated[
    Exact, Reals("a privacy parameter", Fraction(1, 1000), 100, (1, Fraction(1, 1000)), logarithmic=True)
]

ONE = Fraction(1)


def _one_against_all(rivals: int, gap: int) -> NeighbouringAnswers:
    """One candidate far below rises by the sensitivity while all others fall by it: the worst pair, in the limit."""
    blocks = (Block(Fraction(gap + 1), Fraction(gap), rivals), Block(Fraction(0), ONE))
    return NeighbouringAnswers(blocks, Fraction(0), Fraction(gap + 1), ONE)


WORST = {"pair": _one_against_all(5, 100), "epsilon": Fraction(1, 2)}
SINGLE = {"pair": NeighbouringAnswers((Block(ONE, Fraction(0)),), Fraction(0), ONE, ONE), "epsilon": ONE}
TIES = {"pair": _one_against_all(3, 0), "epsilon": ONE}
HUGE = {"pair": _one_against_all(2, 10**9), "epsilon": Fraction(20)}
FAR = {"pair": _one_against_all(5, 300), "epsilon": Fraction(1, 2)}
LIMIT = Pin(FAR, "the limit of a candidate far below", both=lambda: Fraction(1, 2))
FAR_RISING = {
    "pair": NeighbouringAnswers(
        (Block(Fraction(100), Fraction(100), 5), Block(Fraction(0), ONE)), Fraction(0), Fraction(100), ONE
    ),
    "epsilon": ONE,
}
RISING_LIMIT = Pin(FAR_RISING, "the limit of a candidate far below", both=lambda: 1)
RISING = {
    "pair": NeighbouringAnswers(
        (Block(Fraction(10), Fraction(10), 5), Block(Fraction(0), ONE)), Fraction(0), Fraction(10), ONE
    ),
    "epsilon": ONE,
}


def _losses(pair: NeighbouringAnswers, report: Report, rate: Fraction) -> list[arb]:
    return block_losses(pair, lambda own, rivals: report(own, rivals, rate))


def _largest_loss(pair: NeighbouringAnswers, report: Report, rate: Fraction) -> Real:
    return lambda: max_balls([*_losses(pair, report, rate), *_losses(pair.swapped, report, rate)])


def _is_pure(pair: NeighbouringAnswers, report: Report, epsilon: Exact, *, monotone: bool = False) -> Verdict:
    """Decide both orders; a relation of sensitivity 0 may be calibrated to any larger one."""
    rate = selection_rate(epsilon, pair.sensitivity or pair.width, monotone=monotone)
    return at_most(_largest_loss(pair, report, rate), lambda: ball(exact("epsilon", epsilon)), slack=ATTAINED)


def raised(pair: NeighbouringAnswers) -> NeighbouringAnswers:
    """Return the pair with every falling score left where it was: a monotone neighbour."""
    blocks = tuple(Block(b.left, max(b.left, b.right), b.count) for b in pair.blocks)
    return replace(pair, blocks=blocks)


# --- exponential mechanism ----------------------------------------------------------------------------------


@statement(
    LEBENSOLD_2024,
    "exponential_mechanism",
    also=(("gaboardi2017", "exponential_mechanism"),),
    examples=(WORST, SINGLE, TIES, HUGE),
    pins=(LIMIT,),
)
def pure_dp_of_exponential_mechanism(pair: ManyAnswers, epsilon: Epsilon) -> Verdict:
    """Pr[o] proportional to e^(epsilon q_o / (2 Delta)) is epsilon-DP; the loss of a candidate far below, rising
    by Delta while all others fall by Delta, tends to epsilon. The factor 2 cannot be dropped.
    """
    return _is_pure(pair, ExponentialMechanismDistribution.log_report_probability, epsilon)


@statement(
    LEBENSOLD_2024,
    "exponential_mechanism",
    also=(("gaboardi2017", "exponential_mechanism"),),
    examples=(RISING,),
    pins=(RISING_LIMIT,),
)
def pure_dp_of_exponential_mechanism_for_monotone_scores(pair: ManyAnswers, epsilon: Epsilon) -> Verdict:
    """Where every neighbour moves all scores the same way, e^(epsilon q_o / Delta) is epsilon-DP already."""
    return _is_pure(raised(pair), ExponentialMechanismDistribution.log_report_probability, epsilon, monotone=True)


# --- permute-and-flip ---------------------------------------------------------------------------------------


@statement(LEBENSOLD_2024, "permute_and_flip", examples=(WORST, SINGLE, TIES, HUGE), pins=(LIMIT,))
def pure_dp_of_permute_and_flip(pair: Answers, epsilon: Epsilon) -> Verdict:
    """Reporting the first candidate accepted, in random order, with probability e^(epsilon (q_o - max q)/(2 Delta))
    is epsilon-DP.
    """
    return _is_pure(pair, PermuteAndFlipDistribution.log_report_probability, epsilon)


@statement(LEBENSOLD_2024, "permute_and_flip", examples=(RISING,), pins=(RISING_LIMIT,))
def pure_dp_of_permute_and_flip_for_monotone_scores(pair: Answers, epsilon: Epsilon) -> Verdict:
    """For monotone neighbours the acceptance probabilities e^(epsilon (q_o - max q)/Delta) are epsilon-DP already."""
    return _is_pure(raised(pair), PermuteAndFlipDistribution.log_report_probability, epsilon, monotone=True)


@statement(LEBENSOLD_2024, "permute_and_flip")
def permute_and_flip_distribution_is_mean_over_orders(
    pair: Annotated[PairAtRatio, FinitePairs("a pair of rational distributions, for their weights", 4)],
) -> Verdict:
    """p_o int_0^1 prod_{i != o} (1 - p_i u) du is the mean over all orders of the candidates of the probability
    that o is the first one accepted; exact, for rational acceptance probabilities (the weights over the largest).
    """
    acceptance = list(_acceptance(pair.left).values())
    distribution = first_accepted_exact(dict(enumerate(acceptance)))
    return conjunction(
        equal_exact(distribution[o], mean, f"probability of {o}")
        for o, mean in enumerate(_mean_over_orders(acceptance))
    )


def _acceptance(weights: FiniteDistribution) -> dict[int, Fraction]:
    largest = max(weights.weights.values())
    return {k: weight / largest for k, weight in enumerate(weights.weights.values())}


def _mean_over_orders(acceptance: list[Fraction]) -> list[Fraction]:
    means = [Fraction(0)] * len(acceptance)
    for order in itertools.permutations(range(len(acceptance))):
        reached = Fraction(1, math.factorial(len(acceptance)))
        for candidate in order:
            means[candidate] += reached * acceptance[candidate]
            reached *= 1 - acceptance[candidate]
    return means


TWO = NeighbouringAnswers((Block(ONE, Fraction(3, 4)), Block(Fraction(0), Fraction(0))), Fraction(0), ONE, ONE)
THREE = NeighbouringAnswers((TWO.blocks[0], Block(Fraction(0), Fraction(0), 2)), Fraction(0), ONE, ONE)


@statement(
    LEBENSOLD_2024,
    "permute_and_flip",
    "exponential_mechanism",
    pins=(
        Pin(
            {"pair": TWO, "epsilon": ONE},
            "two candidates: e^(-1/2)/2 and 1/(1 + e^(1/2))",
            smaller=lambda: ball(Fraction(-1, 2)).exp() / 2,
            larger=lambda: 1 / (1 + ball(Fraction(1, 2)).exp()),
        ),
        Pin(
            {"pair": THREE, "epsilon": ONE},
            "two equal losers of acceptance w = e^(-1/2): w - w^2/3 and 2 w/(1 + 2 w)",
            smaller=lambda: ball(Fraction(-1, 2)).exp() - ball(-1).exp() / 3,
            larger=lambda: 2 / (2 + ball(Fraction(1, 2)).exp()),
        ),
    ),
)
def permute_and_flip_errs_no_more_than_exponential(pair: Answers, epsilon: Epsilon) -> Verdict:
    """At equal epsilon the expected score of permute-and-flip is at least that of the exponential mechanism
    (McKenna and Sheldon 2020, Thm 2).
    """
    rate = selection_rate(epsilon, pair.sensitivity or pair.width)
    best = max(block.left for block in pair.blocks)
    if all(block.left == best for block in pair.blocks):
        return agree(
            lambda: _error(pair, PermuteAndFlipDistribution.log_report_probability, rate), lambda: arb(0), "errors"
        )
    return at_most(
        lambda: _error(pair, PermuteAndFlipDistribution.log_report_probability, rate),
        lambda: _error(pair, ExponentialMechanismDistribution.log_report_probability, rate),
        slack=ATTAINED,
    )


def _error(pair: NeighbouringAnswers, report: Report, rate: Fraction) -> arb:
    """Enclose how much the expected score falls short of the best one."""
    best = max(block.left for block in pair.blocks)
    return sum_balls(
        ball((best - own.left) * own.count) * report(own.left, _left_rivals(pair, own), rate).exp()
        for own in pair.blocks
    )


def _left_rivals(pair: NeighbouringAnswers, own: Block) -> Rivals:
    return tuple((block.left, block.count) for block in pair.others(own))


# --- Laplace noisy max --------------------------------------------------------------------------------------


@statement(LEBENSOLD_2024, "laplace_rnm", examples=(WORST, SINGLE, TIES, HUGE), pins=(LIMIT,))
def pure_dp_of_laplace_noisy_max(pair: Answers, epsilon: Epsilon) -> Verdict:
    """The index of the largest of the scores with Laplace noise of scale 2 Delta / epsilon is epsilon-DP, however
    many scores there are. (The paper does not say which scale its figure uses.)
    """
    return _is_pure(pair, LaplaceNoisyMaxDistribution.log_report_probability, epsilon)


@statement(LEBENSOLD_2024, "laplace_rnm", examples=(RISING,), pins=(RISING_LIMIT,))
def pure_dp_of_laplace_noisy_max_for_monotone_scores(pair: Answers, epsilon: Epsilon) -> Verdict:
    """For monotone neighbours Laplace noise of scale Delta / epsilon is epsilon-DP already."""
    return _is_pure(raised(pair), LaplaceNoisyMaxDistribution.log_report_probability, epsilon, monotone=True)


@statement(LEBENSOLD_2024, "laplace_rnm", "permute_and_flip", "exponential_mechanism")
def selection_distributions_sum_to_one(pair: Answers, epsilon: Epsilon) -> Verdict:
    """The probabilities of all candidates sum to 1 under each of the three distributions: agreement to 60 bits."""
    rate = selection_rate(epsilon, pair.sensitivity or pair.width)
    distributions = (ExponentialMechanismDistribution, PermuteAndFlipDistribution, LaplaceNoisyMaxDistribution)
    return conjunction(
        agree(partial(_total, pair, distribution.log_report_probability, rate), lambda: arb(1), distribution.__name__)
        for distribution in distributions
    )


def _total(pair: NeighbouringAnswers, report: Report, rate: Fraction) -> arb:
    return sum_balls(own.count * report(own.left, _left_rivals(pair, own), rate).exp() for own in pair.blocks)
