from fractions import Fraction

import pytest

from dpassay.spec.domains.hadamard import NoisyAnswers
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.foundations import reconstruction
from dpassay.spec.verdict import Outcome


def test_the_attack_attains_4_e_squared() -> None:
    verdict = find_statement("hadamard_attack_errs_on_at_most_4_e_squared_bits")(case=reconstruction.ALL_WRONG)
    assert (verdict.outcome, verdict.tightness) == (Outcome.HOLDS, 1.0)


def test_the_error_of_the_total_spoils_the_first_bit_alone() -> None:
    error = Fraction(4, 7)  # of which the first bit gets 2 E/16 - E, the others 2 E/16
    case = NoisyAnswers((1, *[0] * 15), (error, *[Fraction(0)] * 31))
    sums = [reconstruction._subset_sum(case.bits, row, 1) + e for row, e in enumerate(case.errors[:16])]
    values = reconstruction.decoded([2 * s - sums[0] for s in sums])
    assert reconstruction._wrong(case.bits[:1], values[:1]) == 1
    assert reconstruction._wrong(case.bits[1:], values[1:]) == 0


@pytest.mark.parametrize(("least", "tail"), [(0, 1), (1, Fraction(7, 8)), (3, Fraction(1, 8)), (4, 0)])
def test_binomial_tails(least: int, tail: Fraction) -> None:
    assert reconstruction.binomial_tail(3, Fraction(1, 2), least) == tail


def test_two_responses_recover_as_the_binomial_says() -> None:
    table = reconstruction.TWO_BITS
    assert reconstruction.largest_bit_ratio(table) == 3
    assert [reconstruction.best_recovery_tail(table, k) for k in (1, 2)] == [Fraction(15, 16), Fraction(9, 16)]
