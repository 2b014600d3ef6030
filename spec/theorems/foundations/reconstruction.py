"""Reconstruction: answers that are too accurate reveal the data; a privacy claim limits the accuracy.

Chapter after Gaboardi (2017), S4 and S11 (Dinur and Nissim 2003; Dwork and Yekhanin 2008). The attack asks the rows
of a Hadamard matrix, which is its own inverse up to a factor: errors of at most E leave at most 4 E^2 bits wrong.
The slide states the result for n queries, which is the later paper's.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.lazy import sympy as sp
from dpassay.spec.distributions.randomised_response import responses
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.hadamard import HadamardAnswers, NoisyAnswers, hadamard_sign, hadamard_transform
from dpassay.spec.domains.tables import RationalTables, Table
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, nonnegative
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["best_recovery_tail", "binomial_tail", "decoded", "largest_bit_ratio"]

ITEM = "noise_below_sqrt_n_is_blatantly_non_private"
FOURIER = "fourier_reconstruction"
HALF = Fraction(1, 2)

Answers = Annotated[NoisyAnswers, HadamardAnswers("bits, and errors of answers about them")]
ALL_WRONG = NoisyAnswers((0, 0, 0, 1), tuple(map(Fraction, (1, 1, 1, -1))) * 2)  # E = 1: all 4 = 4 E^2 bits wrong
SMALL_ERRORS = NoisyAnswers((0, 1), tuple(map(Fraction, ("3/4", "-1/2", "1/4", "0"))))  # E = 3/4
WRONG_TOTAL = NoisyAnswers((0, 1), tuple(map(Fraction, (1, 0, 0, 0))))


# --- the attack ---------------------------------------------------------------------------------------------


def decoded(answers: Sequence[Fraction]) -> list[Fraction]:
    """Return H^T a / n, from which each bit is read by rounding at 1/2."""
    return [value / len(answers) for value in hadamard_transform(answers)]


def _wrong(bits: Sequence[int], values: Sequence[Fraction]) -> int:
    """Count the bits that are wrong however ties are rounded against the attack."""
    return sum(abs(value - bit) >= HALF for bit, value in zip(bits, values, strict=True))


def _exact_answers(bits: Sequence[int]) -> list[Fraction]:
    return hadamard_transform([Fraction(bit) for bit in bits])


def _subset_sum(bits: Sequence[int], row: int, sign: int) -> Fraction:
    return Fraction(sum(bit for column, bit in enumerate(bits) if hadamard_sign(row, column) == sign))


@statement(
    GABOARDI_2017,
    ITEM,
    FOURIER,
    examples=({"case": ALL_WRONG},),
    pins=(
        Pin({"case": ALL_WRONG}, "all four bits are wrong", both=lambda: 4),
        Pin({"case": SMALL_ERRORS}, "4 (3/4)^2", larger=lambda: Fraction(9, 4)),
    ),
)
def hadamard_attack_errs_on_at_most_4_e_squared_bits(case: Answers) -> Verdict:
    """n queries with coefficients +-1, each answered with an error of at most E: rounding H^T a / n leaves at most
    4 E^2 of the n bits wrong. So E <= sqrt(n)/4 gives three quarters of them, and E < 1/2 all of them.
    """
    errors = case.errors[: case.size]
    answers = [a + e for a, e in zip(_exact_answers(case.bits), errors, strict=True)]
    bound = 4 * max(abs(e) for e in errors) ** 2
    return at_most_exact(Fraction(_wrong(case.bits, decoded(answers))), bound, "number of wrong bits")


@statement(
    GABOARDI_2017,
    ITEM,
    FOURIER,
    examples=({"case": ALL_WRONG},),
    pins=(
        Pin({"case": SMALL_ERRORS}, "16 (3/4)^2", larger=lambda: 9),
        Pin({"case": WRONG_TOTAL}, "the total counts for every bit, and both are wrong", smaller=lambda: 2),
    ),
)
def hadamard_attack_by_differences_errs_on_at_most_16_e_squared_bits(case: Answers) -> Verdict:
    """2 n - 1 subset sums, each with an error of at most E, whose differences are the +-1 queries: at most 16 E^2
    bits are wrong.
    """
    n, bound = case.size, 16 * max(abs(e) for e in case.errors) ** 2
    answers = [_subset_sum(case.bits, 0, 1) + case.errors[0]]
    for row in range(1, n):
        positive = _subset_sum(case.bits, row, 1) + case.errors[row]
        negative = _subset_sum(case.bits, row, -1) + case.errors[n + row]
        answers.append(positive - negative)
    return at_most_exact(Fraction(_wrong(case.bits, decoded(answers))), bound, "number of wrong bits")


@statement(
    GABOARDI_2017,
    ITEM,
    FOURIER,
    examples=({"case": ALL_WRONG},),
    pins=(
        Pin({"case": ALL_WRONG}, "16 and 17; three bits are wrong", smaller=lambda: [3, 3], larger=lambda: [16, 17]),
        Pin({"case": SMALL_ERRORS}, "16 (3/4)^2 and one more", larger=lambda: [9, 10]),
    ),
)
def hadamard_attack_with_a_noisy_total_errs_on_one_more_bit(case: Answers) -> Verdict:
    """n subset sums, the total among them: 2 s_j - total has an error of up to 3 E, but the error of the total
    reaches the first bit alone, so that at most 16 E^2 of the others are wrong, and 16 E^2 + 1 in all (not 36 E^2).
    """
    errors = case.errors[: case.size]
    sums = [_subset_sum(case.bits, row, 1) + e for row, e in enumerate(errors)]
    values = decoded([2 * s - sums[0] for s in sums])
    bound = 16 * max(abs(e) for e in errors) ** 2
    return conjunction([
        at_most_exact(Fraction(_wrong(case.bits[1:], values[1:])), bound, "number of wrong bits after the first"),
        at_most_exact(Fraction(_wrong(case.bits, values)), bound + 1, "number of wrong bits"),
    ])  # fmt: skip


@statement(GABOARDI_2017, ITEM, FOURIER)
def hadamard_attack_by_proof() -> Proof:
    """||H^T e||^2 = n ||e||^2 <= n^2 E^2 for every order n = 2^k, and a wrong bit takes a share 1/4 of
    ||H^T e / n||^2 <= E^2. Reaches every n = 2^k, E and data.

    Induction: for the halves u = H^T e_1 and v = H^T e_2 of half the order, the transform is (u + v, u - v), whose
    squares sum to 2 u^2 + 2 v^2 in each coordinate, and 2 (n/2) ||e||^2 = n ||e||^2.
    """
    u, v = sp.symbols("u v", real=True)
    n, first, second = sp.symbols("n e1 e2", positive=True)
    wrong, rest, bound = sp.symbols("w s E", nonnegative=True)
    halves = n / 2 * first + n / 2 * second
    return proof(
        suppose("order", "H_1 = (1) and H_n has the blocks H, H above H, -H with H of order n/2, for n = 2^k."),
        suppose("errors", "The answers are H x + e for bits x, with |e_i| <= E for every i."),
        suppose("rounding", "Each bit is read from the vector H^T a/n by rounding at 1/2."),
        checked(
            "halves",
            "(u + v)^2 + (u - v)^2 = 2 (u^2 + v^2): one coordinate of H^T e, with u = H^T e_1 and v = H^T e_2.",
            identity,
            (u + v) ** 2 + (u - v) ** 2,
            2 * (u**2 + v**2),
            given=["order"],
        ),
        checked(
            "growth",
            "If the halves have squared norms (n/2) |e_1|^2 and (n/2) |e_2|^2, twice their sum is n (|e_1|^2 + "
            "|e_2|^2).",
            identity,
            2 * halves,
            n * (first + second),
        ),
        prose(
            "isometry",
            "|H^T e|^2 = n |e|^2 for every n = 2^k and every vector e, by induction from H_1 = (1), summing over the "
            "coordinates of the halves.",
            given=["order", "halves", "growth"],
        ),
        prose("inverse", "H^T H = n I, by polarisation; so that H^T a/n = x + H^T e/n.", given=["isometry", "errors"]),
        checked(
            "average",
            "|H^T e/n|^2 <= n (n E^2)/n^2 = E^2.",
            identity,
            n * (n * bound**2) / n**2,
            bound**2,
            given=["isometry", "errors"],
        ),
        checked(
            "shares",
            "If w coordinates contribute 1/4 and more to a squared norm w/4 + s with s >= 0, then w is at most 4 "
            "times it.",
            nonnegative,
            4 * (wrong / 4 + rest) - wrong,
        ),
        prose(
            "wrong bits",
            "A bit is wrong only where |(H^T e/n)_i| >= 1/2, so that at most 4 E^2 bits are wrong.",
            given=["inverse", "rounding", "average", "shares"],
        ),
    )


@statement(GABOARDI_2017, FOURIER)
def hadamard_rows_are_orthogonal(exponent: Annotated[int, Integers("an exponent", 0, 6, tuple(range(7)))]) -> Verdict:
    """H H^T = n I for n = 2^k; exact, entry by entry, and the fast transform is the matrix."""
    n = 2**exponent
    rows = [[hadamard_sign(i, j) for j in range(n)] for i in range(n)]
    gram = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    units = [hadamard_transform([Fraction(i == j) for j in range(n)]) for i in range(n)]
    return conjunction([
        equal_exact(gram, [[n * (i == j) for j in range(n)] for i in range(n)], "H H^T"),
        equal_exact(units, [[Fraction(x) for x in row] for row in rows], "the fast transform"),
    ])  # fmt: skip


# --- what privacy leaves to be recovered --------------------------------------------------------------------

Mechanisms = Annotated[
    Table, RationalTables("weights of a mechanism on one to three bits", (2, 4, 8), 4, Fraction(1, 20), Fraction(20))
]


ONE_BIT: Table = ((Fraction(3), Fraction(1)), (Fraction(1), Fraction(3)))
TWO_BITS: Table = tuple(tuple(x * y for x in a for y in b) for a in ONE_BIT for b in ONE_BIT)  # two responses


def _distributions(table: Table) -> dict[tuple[int, ...], list[Fraction]]:
    """Read the rows, normalised, as the distributions of the outcome on each bit string."""
    inputs = itertools.product((0, 1), repeat=len(table).bit_length() - 1)
    return {bits: [x / sum(row) for x in row] for bits, row in zip(inputs, table, strict=True)}


def largest_bit_ratio(table: Table) -> Fraction:
    """Return e^epsilon of the mechanism whose distributions are the rows, neighbours differing in one bit."""
    distributions, largest = _distributions(table), Fraction(1)
    for bits, distribution in distributions.items():
        for k in range(len(bits)):
            other = distributions[(*bits[:k], 1 - bits[k], *bits[k + 1 :])]
            largest = max(largest, *(p / q for p, q in zip(distribution, other, strict=True)))
    return largest


def binomial_tail(trials: int, chance: Fraction, least: int) -> Fraction:
    """Return the probability of at least `least` successes."""
    total = Fraction(0)
    for k in range(least, trials + 1):
        total += Fraction(math.comb(trials, k)) * chance**k * (1 - chance) ** (trials - k)
    return total


def best_recovery_tail(table: Table, least: int) -> Fraction:
    """Return the largest chance, over all ways to guess from the outcome, of at least `least` right bits.

    The bits are independent and uniform.
    """
    distributions = _distributions(table)
    size = len(next(iter(distributions)))
    total = Fraction(0)
    for outcome in range(len(table[0])):
        total += max(
            sum(
                (
                    distribution[outcome]
                    for bits, distribution in distributions.items()
                    if _agreements(bits, guess) >= least
                ),
                Fraction(0),
            )
            for guess in distributions
        )
    return total / Fraction(2) ** size


def _agreements(bits: tuple[int, ...], guess: tuple[int, ...]) -> int:
    return sum(a == b for a, b in zip(bits, guess, strict=True))


@statement(
    GABOARDI_2017,
    ITEM,
    examples=({"table": ONE_BIT}, {"table": TWO_BITS}),
    pins=(
        Pin(
            {"table": TWO_BITS},
            "two responses, each right with probability 3/4",
            both=lambda: [Fraction(15, 16), Fraction(9, 16)],
        ),
    ),
)
def bits_recovered_from_pure_dp_are_at_most_binomial(table: Mechanisms) -> Verdict:
    """From one outcome of a mechanism that is epsilon-DP when one of n independent uniform bits changes, the number
    of bits that anybody recovers is stochastically at most Binomial(n, c), c = e^epsilon/(1 + e^epsilon).

    Exact, for the best guess at every threshold. A higher rate of recovery refutes a claim of pure privacy.
    """
    ratio = largest_bit_ratio(table)
    size, chance = len(table).bit_length() - 1, ratio / (1 + ratio)
    return conjunction(
        at_most_exact(best_recovery_tail(table, least), binomial_tail(size, chance, least), f"at least {least} bits")
        for least in range(1, size + 1)
    )


@statement(
    GABOARDI_2017,
    ITEM,
    examples=({"table": ONE_BIT}, {"table": TWO_BITS}),
    pins=(
        Pin(
            {"table": TWO_BITS},
            "two responses: the first bit has the odds 3/4 to 1/4, the second ones times 3/4 or 1/4",
            both=lambda: [Fraction(n, 16) for n in (12, 9, 3, 12, 9, 3, 12, 3, 9, 12, 3, 9)],
        ),
    ),
)
def bits_are_right_with_conditional_chance_at_most_c(table: Mechanisms) -> Verdict:
    """Given the outcome and the earlier bits, the odds of each bit lie between e^-epsilon and e^epsilon: revealed one
    by one, the bits are right with conditional probability at most c, and betting on that is valid at any time.
    """
    ratio, distributions = largest_bit_ratio(table), _distributions(table)
    size = len(table).bit_length() - 1
    verdicts = []
    for outcome, known in itertools.product(range(len(table[0])), range(size)):
        for prefix in itertools.product((0, 1), repeat=known):
            masses = [
                sum(
                    (
                        distribution[outcome]
                        for bits, distribution in distributions.items()
                        if bits[: known + 1] == (*prefix, bit)
                    ),
                    Fraction(0),
                )
                for bit in (0, 1)
            ]
            verdicts.append(at_most_exact(max(masses), ratio * min(masses), "odds of a bit").without_tightness())
    return conjunction(verdicts)


@statement(GABOARDI_2017, ITEM)
def randomised_response_attains_binomial_recovery(
    size: Annotated[int, Integers("a number of bits", 1, 6, (1, 3))],
    ratio: Annotated[Fraction, Reals("e^epsilon", 1, 100, (1, 3), logarithmic=True)],
) -> Verdict:
    """n randomised responses are epsilon-DP in each bit, and the bits as told are right in Binomial(n, c) places."""
    truth = Fraction(ratio) / (1 + Fraction(ratio))
    distribution = responses((0,) * size, truth)
    right = [
        sum((w for told, w in distribution.weights.items() if _zeros(told) >= k), Fraction(0)) for k in range(size + 1)
    ]
    other = responses((1,) + (0,) * (size - 1), truth)
    largest = max(distribution.weights[told] / other.weights[told] for told in distribution.weights)
    return conjunction([
        equal_exact(right, [binomial_tail(size, truth, k) for k in range(size + 1)], "tails of the recovery"),
        equal_exact(largest, Fraction(ratio), "e^epsilon"),
    ])  # fmt: skip


def _zeros(told: object) -> int:
    return told.count(0) if isinstance(told, tuple) else 0
