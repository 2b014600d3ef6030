"""Every bound is fixed in both directions: it has pins, and they see each side of its inequalities move by 2 %.

A statement is a bound if it decides inequalities; `EXEMPT` names those that cannot have pins, each with its reason.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.proof.pins import Known, Pin
from dpassay.spec.proof.recording import Comparison, recorded
from dpassay.spec.statement import Statement, all_statements
from dpassay.spec.verdict import Outcome, Verdict

FACTORS = (Fraction(98, 100), Fraction(102, 100))
EXEMPT = {
    "gaussian_overtakes_laplace_at_the_crossover": "brackets each crossover by whole numbers on either side",
    "three_to_four_times_as_many_bounded_range_mechanisms": "brackets each number by its neighbours",
    "windowed_quadrature_agrees_with_enclosure": "bounds the rounding error of a quadrature, which has no closed form",
}

STATEMENTS = [each for each in all_statements() if each.quantifiers and each.where.startswith("dpassay.spec.")]
WITH_PINS = [each for each in STATEMENTS if each.pins]


@pytest.mark.parametrize("each", [each for each in STATEMENTS if not each.pins], ids=lambda each: each.name)
def test_a_statement_without_pins_bounds_nothing(each: Statement) -> None:
    with recorded() as comparisons:
        verify_statement(replace(each, cases=3))
    inequalities = [one for one in comparisons if not one.equality]
    assert bool(inequalities) is (each.name in EXEMPT), "a bound needs pins"


def test_exemptions_are_statements_without_pins() -> None:
    assert EXEMPT.keys() <= {each.name for each in STATEMENTS if not each.pins}


@pytest.mark.parametrize("each", WITH_PINS, ids=lambda each: each.name)
def test_pins_hold_and_see_two_per_cent_either_way(each: Statement) -> None:
    measured: list[tuple[Pin, Known, Verdict, list[Comparison]]] = [(pin, {}, *pin.measure(each)) for pin in each.pins]
    for pin, known, verdict, sides in measured:
        judged = pin.judge(verdict, sides, known)
        assert judged.outcome is Outcome.HOLDS, judged.detail
    for index in range(max(len(sides) for _, _, _, sides in measured)):
        for factor in FACTORS:
            scaled = (
                (pin, known, verdict, _scaled(sides, index, factor))
                for pin, known, verdict, sides in measured
                if sides[index:]
            )
            seen = (pin.judge(verdict, sides, known) for pin, known, verdict, sides in scaled)
            assert any(verdict.outcome is Outcome.VIOLATED for verdict in seen), f"inequality {index + 1}, {factor}"


def _scaled(sides: list[Comparison], index: int, factor: Fraction) -> list[Comparison]:
    larger = sides[index].larger
    scaled = replace(sides[index], larger=lambda: _moved(larger(), factor))
    return [*sides[:index], scaled, *sides[index + 1 :]]


def _moved(side: arb, factor: Fraction) -> arb:
    return ball(factor - 1) if side == 0 else ball(factor) * side
