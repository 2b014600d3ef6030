from fractions import Fraction
from typing import Any

import pytest

from dpassay.spec.domains.hadamard import HadamardAnswers, NoisyAnswers, hadamard_sign, hadamard_transform
from dpassay.spec.domains.tables import RationalTables

ONE, TWO, NIL = Fraction(1), Fraction(2), Fraction(0)
DOMAIN = RationalTables("tables", (1, 2), 2, ONE, TWO)


@pytest.mark.parametrize("table", [((ONE,),), ((ONE, TWO), (TWO, TWO))])
def test_members(table: Any) -> None:
    assert DOMAIN.contains(table)


@pytest.mark.parametrize(
    "table", [[(ONE,)], (), ((ONE,),) * 3, ((),), ((ONE,), (ONE, TWO)), ((ONE,) * 3,), ((1.0,),), ((Fraction(3),),)]
)
def test_others(table: Any) -> None:
    assert not DOMAIN.contains(table)


@pytest.mark.parametrize(
    "case",
    [
        (0, 1),
        NoisyAnswers((0, 1, 1), (NIL,) * 6),
        NoisyAnswers((0, 1), (NIL,) * 2),
        NoisyAnswers((0, 2), (NIL,) * 4),
        NoisyAnswers((0,) * 8, (NIL,) * 16),
    ],
)
def test_what_is_no_case_of_an_attack(case: Any) -> None:
    assert not HadamardAnswers("answers", 2).contains(case)
    assert HadamardAnswers("answers", 2).contains(NoisyAnswers((0, 1), (NIL,) * 4))


def test_the_transform_is_the_matrix() -> None:
    values = [Fraction(k * k) for k in range(8)]
    assert hadamard_transform(values) == [sum(hadamard_sign(i, j) * values[j] for j in range(8)) for i in range(8)]
