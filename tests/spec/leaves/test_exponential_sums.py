"""Sums of exponentials keep the bits that they promise, however much of them cancels."""

from fractions import Fraction

import pytest
from flint import arb, ctx

from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.exponential_sums import ExponentialSum


@pytest.mark.parametrize("cancelled", [0, 20, 30, 40, 50, 60, 100, 500])
def test_a_sum_that_cancels_keeps_the_bits_of_the_working_precision(cancelled: int) -> None:
    small = Fraction(1, 2**cancelled)
    found = ExponentialSum({small: Fraction(1), Fraction(0): Fraction(-1)}).enclose()
    assert found.rel_accuracy_bits() >= ctx.prec
    with precision(1000 + cancelled):
        assert found.overlaps(ball(small).expm1())


def test_zero_is_exact() -> None:
    assert ExponentialSum({}).enclose() == arb(0)
