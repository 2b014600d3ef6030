"""Statements of PROJECT: privacy and accuracy of randomised response on one bit.

Replace them by the statements of your paper. Verify with ``dpassay verify PROJECT.py`` and
``dpassay verify PROJECT.py --errata``; run the tests with ``pytest --dpassay-statements PROJECT.py``.
"""

from fractions import Fraction
from typing import Annotated

import sympy as sp

from dpassay.statements import (
    Erratum,
    Figures,
    Proof,
    Reals,
    Severity,
    Source,
    Verdict,
    all_of,
    at_most_exact,
    checked,
    equal_exact,
    identity,
    positive,
    proof,
    register_items,
    statement,
)

PAPER = Source(
    key="PROJECT",
    authors="The authors",
    title="The title",
    year=2026,
    venue="The venue",
    url="https://example.org",
)
register_items(
    PAPER,
    [
        ("Theorem 1", "privacy_of_randomised_response", "theorem"),
        ("Lemma 2", "unbiased_estimate", "lemma"),
    ],
)

# A quantifier: the values over which a statement speaks. Corners are tried first.
Truth = Annotated[
    Fraction, Reals("the probability of a true answer", Fraction(1, 2), Fraction(99, 100), (Fraction(3, 4),))
]


def response(bit: int, truth: Fraction) -> dict[int, Fraction]:
    """Return the distribution of the answer: the bit with probability `truth`, else the other one."""
    return {bit: truth, 1 - bit: 1 - truth}


def ratio_bound(truth: Fraction) -> Fraction:
    """Return e^epsilon of Theorem 1."""
    return truth / (1 - truth)


def largest_ratio(truth: Fraction) -> Fraction:
    """Return the largest likelihood ratio of the answers to 0 and to 1."""
    zero, one = response(0, truth), response(1, truth)
    return max(max(zero[answer] / one[answer], one[answer] / zero[answer]) for answer in (0, 1))


@statement(
    PAPER,
    "privacy_of_randomised_response",
    errata=(
        Erratum(
            kind="false",
            severity=Severity.ERROR,
            location="the abstract, second sentence",
            printed_text="epsilon = log(2 p); the denominator 2 (1 - p) is missing",
            answer="none known",
            witness={"truth": Fraction(3, 4)},
            printed=lambda truth: at_most_exact(largest_ratio(truth), 2 * truth, "likelihood ratio"),
            corrected=lambda truth: at_most_exact(largest_ratio(truth), ratio_bound(truth), "likelihood ratio"),
            figures=Figures(published=("3.00 > 1.50",), corrected=("3.00 <= 3.00",)),
        ),
    ),
)
def pure_dp_of_randomised_response(truth: Truth) -> Verdict:
    """An answer that is true with probability p >= 1/2 is log(p/(1 - p))-DP. Exact."""
    return at_most_exact(largest_ratio(Fraction(truth)), ratio_bound(Fraction(truth)), "likelihood ratio")


@statement(PAPER, "privacy_of_randomised_response")
def epsilon_of_randomised_response_is_attained(truth: Truth) -> Verdict:
    """No smaller epsilon holds: a true answer has the ratio p/(1 - p). Exact."""
    return equal_exact(largest_ratio(Fraction(truth)), Fraction(truth) / (1 - Fraction(truth)), "likelihood ratio")


@statement(PAPER, "unbiased_estimate")
def estimate_is_unbiased() -> Proof:
    """(answer - (1 - p))/(2 p - 1) has mean 1 for the bit 1 and mean 0 for the bit 0, for every p > 1/2."""
    margin = sp.Symbol("margin", positive=True)  # 2 p - 1
    p = (1 + margin) / 2
    value = {answer: (answer - (1 - p)) / (2 * p - 1) for answer in (0, 1)}
    return proof(
        checked("one", "p value(1) + (1 - p) value(0) = 1.", identity, p * value[1] + (1 - p) * value[0], 1),
        checked("zero", "(1 - p) value(1) + p value(0) = 0.", identity, (1 - p) * value[1] + p * value[0], 0),
        checked("defined", "The denominator is positive.", positive, 2 * p - 1),
        all_of("the estimate is unbiased", "one", "zero", "defined"),
    )
