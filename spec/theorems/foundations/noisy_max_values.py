"""Noisy max with exponential and Gumbel noise, and the cost of releasing the largest noisy answer itself.

The index of the largest answer is as private under exponential or Gumbel noise of scale 2 Delta/epsilon as under
Laplace noise: the former is permute-and-flip, the latter the exponential mechanism. The largest *value* is not: it
bounds all noisy answers at once. (Rows NoisyMax1 to NoisyMax4 of the common benchmark of privacy testers.)
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, at_most, ball, exact, less_than, max_balls
from dpassay.spec.distributions.laplace import Side
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.distributions.noisy_max_values import ExponentialNoisyMaxDistribution, NoisyMaxValueDistribution
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution
from dpassay.spec.distributions.selection import Rivals, block_losses, selection_rate
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, positive
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["corner_of_selection", "selection_corner_loss"]

Report = Callable[[Fraction, Rivals, Fraction], arb]

Answers = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of answers", 40, 4)]
FewAnswers = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of up to twelve answers", 12, 4)]
Epsilon = Annotated[
    Exact, Reals("a privacy parameter", Fraction(1, 1000), 100, (1, Fraction(1, 1000)), logarithmic=True)
]

ONE = Fraction(1)
TIES = NeighbouringAnswers((Block(ONE, Fraction(0), 3), Block(Fraction(0), ONE)), Fraction(0), ONE, ONE)
FAR_APART = NeighbouringAnswers(
    (Block(Fraction(29), Fraction(30), 5), Block(ONE, Fraction(0))), Fraction(0), Fraction(30), ONE
)


# --- the index ----------------------------------------------------------------------------------------------


@statement(
    DPASSAY,
    "exponential_noisy_max",
    examples=({"pair": TIES, "epsilon": ONE}, {"pair": FAR_APART, "epsilon": ONE}),
    pins=(Pin({"pair": FAR_APART, "epsilon": Fraction(10)}, "attained up to e^-140", both=lambda: 10),),
)
def pure_dp_of_exponential_noisy_max(pair: Answers, epsilon: Epsilon) -> Verdict:
    """The index of the largest of the answers with exponential noise of scale 2 Delta/epsilon is epsilon-DP."""
    rate = selection_rate(epsilon, pair.sensitivity or pair.width)
    report = ExponentialNoisyMaxDistribution.log_report_probability

    def largest() -> arb:
        both = [
            loss for order in (pair, pair.swapped) for loss in block_losses(order, lambda q, r: report(q, r, rate))
        ]
        return max_balls(both)

    return at_most(largest, lambda: ball(exact("epsilon", epsilon)), slack=ATTAINED)


@statement(DPASSAY, "exponential_noisy_max", examples=({"pair": TIES, "epsilon": ONE},), cases=25)
def exponential_noisy_max_is_permute_and_flip(pair: Answers, epsilon: Epsilon) -> Verdict:
    """int f(z - q_o) prod_i F(z - q_i) dz with exponential f and F is the probability that permute-and-flip reports o
    (agreement of the logarithms to 60 bits; Ding, Kifer, Steinke and others 2021).
    """
    rate = selection_rate(epsilon, pair.sensitivity or pair.width)

    def log_of(report: Report, own: Block) -> arb:
        return report(own.left, tuple((block.left, block.count) for block in pair.others(own)), rate)

    return conjunction(
        agree(
            lambda b=block: log_of(ExponentialNoisyMaxDistribution.log_report_probability, b),  # type: ignore[misc]  # bound here
            lambda b=block: log_of(PermuteAndFlipDistribution.log_report_probability, b),  # type: ignore[misc]
            "log-probabilities",
        )
        for block in pair.blocks
    )


@statement(DPASSAY, "gumbel_noisy_max")
def gumbel_noisy_max_is_the_exponential_mechanism() -> Proof:
    """With Gumbel noise of scale 1/r the index o is reported with probability e^(r q_o)/(e^(r q_o) + W), W the sum of
    e^(r q_i) over its rivals: int f(z - q_o) prod_i F(z - q_i) dz has the antiderivative
    e^(r q_o)/(e^(r q_o) + W) exp(-(e^(r q_o) + W) e^(-r z)), which rises from 0 to that.
    """
    z, own = sp.symbols("z q_o", real=True)
    rate, rivals = sp.symbols("r W", positive=True)
    clock = sp.exp(-rate * z)
    own_cdf = sp.exp(-clock * sp.exp(rate * own))
    density = rate * clock * sp.exp(rate * own) * own_cdf
    others = sp.exp(-clock * rivals)  # the product of the rivals' distribution functions
    share = sp.exp(rate * own) / (sp.exp(rate * own) + rivals)
    antiderivative = share * sp.exp(-clock * (sp.exp(rate * own) + rivals))
    total, s = sp.exp(rate * own) + rivals, sp.Symbol("s", positive=True)
    return proof(
        suppose(
            "noise", "The noise has the distribution function F(z) = exp(-e^(-r z)), independently for each index."
        ),
        checked("density", "f(z - q_o) is the derivative of F(z - q_o).", identity, sp.diff(own_cdf, z), density),
        prose(
            "rivals",
            "The product of the F(z - q_i) over the rivals is exp(-e^(-r z) W): the exponents add up.",
            given=["noise"],
        ),
        prose(
            "integral",
            "Given the value z of the noisy score of o, it is the largest with the probability of the product, so "
            "that "
            "o is reported with probability int f(z - q_o) prod_i F(z - q_i) dz.",
            given=["noise", "density", "rivals"],
        ),
        checked(
            "antiderivative",
            "share exp(-(e^(r q_o) + W) e^(-r z)) is an antiderivative of the integrand.",
            identity,
            sp.diff(antiderivative, z),
            density * others,
        ),
        checked(
            "clock",
            "With s = e^(-r z) it is share e^(-s total), total = e^(r q_o) + W.",
            identity,
            antiderivative.subs(clock, s),
            share * sp.exp(-s * total),
        ),
        checked(
            "upper end",
            "At s = 0, which is z = oo, it is the share.",
            identity,
            (share * sp.exp(-s * total)).subs(s, 0),
            share,
            given=["clock"],
        ),
        checked("exponential decay", "e^-s tends to 0 as s grows.", identity, sp.limit(sp.exp(-s), s, sp.oo), 0),
        checked("total", "total is positive.", positive, total),
        prose(
            "share",
            "As z falls s grows, and the antiderivative tends to 0; by the fundamental theorem of calculus the "
            "integral, and the probability, is the share.",
            given=["integral", "antiderivative", "clock", "upper end", "exponential decay", "total"],
        ),
    )


def corner_of_selection(low: Fraction, high: Fraction, sensitivity: Fraction, size: int) -> NeighbouringAnswers:
    """Return the worst pair of a range: all rivals rise to its top, while the last block falls to its bottom.

    Parameters
    ----------
    low, high : Fraction
        Ends of the range of answers.
    sensitivity : Fraction
        Largest change of an answer.
    size : int
        Number of answers, at least 1.
    """
    step = min(sensitivity, high - low)
    rivals = (Block(high - step, high, size - 1),) if size > 1 else ()
    return NeighbouringAnswers((*rivals, Block(low + step, low)), low, high, sensitivity)


def selection_corner_loss(corner: NeighbouringAnswers, rate: Fraction, report: Report) -> arb:
    """Enclose the loss of the answer that falls, the last block of a corner; exactly 0 if it has no rivals."""
    if corner.size == 1:
        return arb(0)
    return block_losses(corner, lambda own, rivals: report(own, rivals, rate))[-1]


@statement(
    DPASSAY,
    "noisy_max_corner",
    examples=({"pair": FAR_APART, "epsilon": Fraction(1, 10)},),
    cases=25,
    pins=(Pin({"pair": FAR_APART, "epsilon": Fraction(10)}, "the corner of a wide range", both=lambda: [10, 10]),),
)
def noisy_max_loss_is_largest_at_the_corner(pair: FewAnswers, epsilon: Epsilon) -> Verdict:
    """For answers in [a, b] the index of noisy max loses most where all rivals rise from b - Delta to b while the
    reported answer falls from a + Delta to a, for Laplace and for exponential noise: exact figures on bounded ranges.

    The introduction of the module on corners proves it for log-concave noise, the reported answer in the place of the
    threshold.
    """
    rate = selection_rate(epsilon, pair.sensitivity or pair.width)
    corner = corner_of_selection(pair.low, pair.high, pair.sensitivity, pair.size)

    def verdict(report: Report) -> Verdict:
        def largest() -> arb:
            if pair.size == 1:
                return arb(0)  # two equal balls would not cancel
            orders = (block_losses(order, lambda q, r: report(q, r, rate)) for order in (pair, pair.swapped))
            return max_balls(loss for losses in orders for loss in losses)

        return at_most(largest, lambda: selection_corner_loss(corner, rate, report), slack=ATTAINED)

    distributions = (LaplaceNoisyMaxDistribution, ExponentialNoisyMaxDistribution)
    return conjunction(verdict(distribution.log_report_probability) for distribution in distributions)


# --- the value ----------------------------------------------------------------------------------------------


def _value_distributions(
    pair: NeighbouringAnswers, scale: Fraction, noise: str
) -> tuple[NoisyMaxValueDistribution, NoisyMaxValueDistribution]:
    left = tuple(block.left for block in pair.blocks for _ in range(block.count))
    right = tuple(block.right for block in pair.blocks for _ in range(block.count))
    if noise == "exponential":
        return NoisyMaxValueDistribution(left, scale, "exponential"), NoisyMaxValueDistribution(
            right, scale, "exponential"
        )
    return NoisyMaxValueDistribution(left, scale), NoisyMaxValueDistribution(right, scale)


@statement(
    DPASSAY,
    "noisy_max_value",
    examples=({"pair": TIES, "epsilon": ONE, "low": 0, "width": 1},),
    cases=25,
    pins=(
        Pin(
            {
                "pair": NeighbouringAnswers((Block(Fraction(5), Fraction(6), 3),), Fraction(0), Fraction(8), ONE),
                "epsilon": ONE,
                "low": 0,
                "width": 4,
            },
            "an interval below all of three answers",
            both=lambda: Fraction(3, 2),
        ),
    ),
)
def released_maximum_costs_every_answer(
    pair: FewAnswers,
    epsilon: Epsilon,
    low: Annotated[Exact, Reals("the lower end of an interval", -50, 50, (0,))],
    width: Annotated[Exact, Reals("its width", Fraction(1, 100), 50, (1,))],
) -> Verdict:
    """The largest of d answers with noise Lap(2 Delta/epsilon) loses at most d epsilon/2 on any interval, and exactly
    that on every half-line below all answers, if they all move the same way by Delta: NoisyMax3 of the benchmark.
    """
    budget, step = exact("epsilon", epsilon), pair.sensitivity or pair.width
    left, right = _value_distributions(pair, 2 * step / budget, "laplace")
    begin = exact("low", low)
    side: Side = (begin, begin + exact("width", width))
    bound = pair.size * budget / 2
    rising = replace(pair, blocks=(Block(pair.low, pair.low + step, pair.size),))
    lower, upper = _value_distributions(rising, 2 * step / budget, "laplace")
    below: Side = (None, pair.low - abs(begin))
    return conjunction([
        at_most(lambda: abs(left.log_interval(side) - right.log_interval(side)), lambda: ball(bound), slack=ATTAINED),
        agree(lambda: lower.log_interval(below) - upper.log_interval(below), lambda: ball(bound), "losses"),
    ])  # fmt: skip


@statement(
    DPASSAY,
    "noisy_max_value",
    cases=25,
    pins=(
        Pin(
            {"size": 2, "epsilon": 2, "step": 1},
            "two exponential variables below 1",
            larger=lambda: 2 * (1 - (-arb(1)).exp()).log(),
        ),
    ),
)
def released_maximum_of_exponential_noise_tells_the_largest_answer(
    size: Annotated[int, Integers("a number of answers", 1, 1000, (1, 5), logarithmic=True)],
    epsilon: Epsilon,
    step: Annotated[Exact, Reals("a move of the largest answer", Fraction(1, 1000), 1, (1,), logarithmic=True)],
) -> Verdict:
    """The largest of d answers with exponential noise is never below the largest answer, so that the loss is infinite:
    if the largest answer falls from one value to another, the outcomes between are possible on one side only.
    NoisyMax4.
    """
    move, scale = exact("step", step), 2 / exact("epsilon", epsilon)
    left = NoisyMaxValueDistribution((Fraction(0),) * size, scale, "exponential")
    right = NoisyMaxValueDistribution((*(Fraction(0),) * (size - 1), move), scale, "exponential")
    between: Side = (Fraction(0), move)
    return conjunction([
        less_than(arb.neg_inf, lambda: left.log_interval(between)),
        equal_exact(str(right.log_cdf(move)), str(arb.neg_inf()), "log-probability that it is at most the larger one"),
    ])  # fmt: skip
