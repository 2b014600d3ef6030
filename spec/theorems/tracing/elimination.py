"""Probabilities of leaves: the elimination of noises, against closed forms that are derived without it."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, ball, precision
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.probability import exact_probability, leaf_probability
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.tracing.programs import random_answers, random_program
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = [
    "difference_of_two_laplace_noises_by_elimination",
    "largest_of_gumbel_noises_is_softmax",
    "leaves_of_a_decision_tree_sum_to_one",
    "order_of_gumbel_noises_is_plackett_luce",
    "sum_of_uniform_noises_by_substitution",
    "ties_of_discrete_draws_are_decided_by_the_relation",
]

KINDS = (NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.UNIFORM)
Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Scale = Annotated[Fraction, Choices("scale of a noise", tuple(Fraction(n, 3) for n in (1, 2, 3, 5, 12)))]
Distance = Annotated[Fraction, Choices("difference asked for", tuple(Fraction(n, 2) for n in (-9, -1, 0, 1, 6, 40)))]
Count = Annotated[int, Integers("number of noises", 2, 5)]
Few = Annotated[int, Integers("number of noises", 2, 4)]
Sides = Annotated[int, Integers("sides of a die", 2, 8)]
Lead = Annotated[int, Integers("lead of one die over the other", 0, 2)]
Numerator = Annotated[int, Integers("k, for a bound of k/4", 0, 20)]


def _total(model: LeafModel) -> ExponentialSum:
    return sum((exact_probability(leaf) for leaf in model.leaves), start=ExponentialSum({}))


@statement(DPASSAY, "partition of unity", cases=6, examples=({"program": 0}, {"program": 7}))
def leaves_of_a_decision_tree_sum_to_one(program: Program) -> Verdict:
    """The probabilities of the leaves of a decision tree about Laplace, exponential and uniform noise are sums of
    rational multiples of exponentials of rationals, which add up to 1 identically.
    """
    model = at_data(random_program(program, 3, KINDS), random_answers(program, 3))
    return equal_exact(_total(model), ExponentialSum.lift(Fraction(1), Fraction(0)), "sum of the leaves")


def _difference_tail(first: Fraction, second: Fraction, x: Fraction) -> ExponentialSum:
    """Return Pr[s Z - t W >= x], x >= 0: (s^2 e^(-x/s) - t^2 e^(-x/t)) / (2 (s^2 - t^2)), the limit for s = t."""
    if first == second:
        return ExponentialSum.lift((2 + x / first) / 4, -x / first)
    weight = 1 / (2 * (first**2 - second**2))
    return ExponentialSum.lift(weight * first**2, -x / first) - ExponentialSum.lift(weight * second**2, -x / second)


@statement(
    DPASSAY,
    "elimination of Laplace noise",
    examples=({"first": Fraction(1), "second": Fraction(4), "distance": Fraction(3)},),
)
def difference_of_two_laplace_noises_by_elimination(first: Scale, second: Scale, distance: Distance) -> Verdict:
    """Eliminating one of two Laplace noises of scales s and t gives Pr[s Z - t W >= x] =
    (s^2 e^(-x/s) - t^2 e^(-x/t)) / (2 (s^2 - t^2)) for x >= 0, by partial fractions of their characteristic functions.
    """
    z, w = (Noise(NoiseKind.LAPLACE, i) for i in range(2))
    leaf = Leaf((Constraint(Affine(-distance, {z: first, w: -second})),), Fraction(1), "beyond")
    tail = _difference_tail(first, second, abs(distance))
    one = ExponentialSum.lift(Fraction(1), Fraction(0))
    return equal_exact(exact_probability(leaf), tail if distance >= 0 else one - tail, "probability of the leaf")


def _below(weights: Sequence[int], bound: Fraction) -> Fraction:
    """Return Pr[sum a_i U_i <= x] = sum_S (-1)^|S| (x - sum_S a_i)_+^n / (n! prod a_i), S the sets of indices."""
    total = Fraction(0)
    for chosen in itertools.product((0, 1), repeat=len(weights)):
        corner = sum(a for a, one in zip(weights, chosen, strict=True) if one)
        total += (-1) ** sum(chosen) * max(bound - corner, Fraction(0)) ** len(weights)
    return total / (math.factorial(len(weights)) * math.prod(weights))


@statement(DPASSAY, "triangular substitution", cases=12, examples=({"count": 3, "quarters": 8},))
def sum_of_uniform_noises_by_substitution(count: Few, quarters: Numerator) -> Verdict:
    """Partial sums as variables give the distribution function of a weighted sum of uniform noises, a volume."""
    weights = range(1, count + 1)
    noises = {Noise(NoiseKind.UNIFORM, i): Fraction(-a) for i, a in enumerate(weights)}
    leaf = Leaf((Constraint(Affine(Fraction(quarters, 4), noises)),), Fraction(1), "below")
    expected = ExponentialSum.lift(_below(weights, Fraction(quarters, 4)), Fraction(0))
    return equal_exact(exact_probability(leaf), expected, "probability of the leaf")


@statement(DPASSAY, "ties of discrete draws", cases=20, examples=({"sides": 6, "lead": 0},))
def ties_of_discrete_draws_are_decided_by_the_relation(sides: Sides, lead: Lead) -> Verdict:
    """Two dice: i - j >= k and i - j > k differ by the probability of a tie. For k >= 0 the first has probability
    (n - k)(n - k + 1)/(2 n^2) and the second (n - k)(n - k - 1)/(2 n^2).
    """
    counts = []
    for relation in Relation:
        leaves = [
            Leaf((Constraint(Affine(Fraction(i - j - lead)), relation),), Fraction(1, sides**2), (i, j))
            for i in range(sides) for j in range(sides)
        ]  # fmt: skip
        counts.append(_total(LeafModel(tuple(leaves))).rational)
    rest = sides - lead
    expected = [Fraction(rest * (rest + 1), 2 * sides**2), Fraction(rest * (rest - 1), 2 * sides**2)]
    return equal_exact(counts, expected, "probabilities with >= and with >")


@statement(DPASSAY, "race of Gumbel noise", cases=12, examples=({"count": 3, "program": 5},))
def order_of_gumbel_noises_is_plackett_luce(count: Count, program: Program) -> Verdict:
    """Scores a_i plus Gumbel noise are in the order 1, ..., n with probability prod_i e^a_i / sum_(j >= i) e^a_j."""
    answers = random_answers(program, count)
    rivals = [(i, i + 1) for i in range(count - 1)]

    def luce(weights: list[arb]) -> arb:
        total = arb(1)
        for i, weight in enumerate(weights):
            total = total * weight / sum(weights[i:], start=arb(0))
        return total

    return _race(answers, rivals, luce)


@statement(DPASSAY, "largest of Gumbel noises", cases=12, examples=({"count": 3, "program": 5},))
def largest_of_gumbel_noises_is_softmax(count: Count, program: Program) -> Verdict:
    """The first of n scores a_i plus Gumbel noise is the largest with probability e^a_1 / sum_j e^a_j."""
    rivals = [(0, j) for j in range(1, count)]
    return _race(random_answers(program, count), rivals, lambda weights: weights[0] / sum(weights, start=arb(0)))


def _race(
    answers: Sequence[Fraction], rivals: Sequence[tuple[int, int]], formula: Callable[[list[arb]], arb]
) -> Verdict:
    """Compare the probability that the first of each pair wins with a formula of e^a_1, e^a_2, ..."""
    noises = [Noise(NoiseKind.GUMBEL, i) for i in range(len(answers))]
    leads = [Affine(answers[i] - answers[j], {noises[i]: Fraction(1), noises[j]: Fraction(-1)}) for i, j in rivals]
    with precision(128):
        expected = formula([ball(answer).exp() for answer in answers])
        found = leaf_probability(Leaf(tuple(map(Constraint, leads)), Fraction(1), "won"))
        close = abs(found / expected - 1) <= ball(ATTAINED)
    detail = f"{found.str(12)} against {expected.str(12)}"
    return (Holds if close else Violated)(evidence=Evidence.ENCLOSED, slack=ATTAINED, detail=detail)
