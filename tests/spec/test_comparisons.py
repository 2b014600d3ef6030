"""The comparisons that statements are made of are shown what they must not let pass."""

from fractions import Fraction

import pytest
from flint import arb

from dpassay.spec.ball import ball
from dpassay.spec.notions.base import tightness
from dpassay.spec.proof.comparisons import AGREEMENT_BITS, agree
from dpassay.spec.verdict import Outcome

UNIT = Fraction(1, 2**AGREEMENT_BITS)


@pytest.mark.parametrize("size", [Fraction(1, 10**9), Fraction(1), Fraction(10**9)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_numbers_agree_to_the_stated_bits_and_no_further_off(size: Fraction, sign: int) -> None:
    """The allowance is relative to the second number from 1 on, absolute below."""
    allowed = UNIT * max(size, Fraction(1))
    for share, outcome in ((Fraction(99, 100), Outcome.HOLDS), (Fraction(101, 100), Outcome.VIOLATED)):
        other = size + sign * share * allowed
        assert agree(lambda other=other: ball(other), lambda: ball(size), "x").outcome is outcome  # type: ignore[misc]


def test_a_disagreement_names_both_numbers() -> None:
    verdict = agree(lambda: arb(3), lambda: arb(2), "left and right")
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.detail == "left and right: 3.00000000000 against 2.00000000000"


def test_numbers_that_cannot_be_told_apart_are_undecided() -> None:
    edge = 1 + UNIT
    assert agree(lambda: arb(1).union(arb(2)), lambda: arb(1), "x").outcome is Outcome.UNDECIDED
    assert agree(lambda: ball(edge) * arb(3).sqrt() ** 2 / 3, lambda: arb(1), "x").outcome is Outcome.UNDECIDED
    assert agree(arb.nan, lambda: arb(1), "x").outcome is Outcome.UNDECIDED


def test_tightness_is_bound_over_truth_where_both_are_positive() -> None:
    assert tightness(arb(3), arb(2)) == 1.5
    for bound, truth in ((arb(0), arb(1)), (arb(1), arb(0)), (arb(1), arb(-1)), (arb(1), arb.pos_inf())):
        assert tightness(bound, truth) is None
