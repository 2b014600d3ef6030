"""Emptiness of polyhedra: only what a combination of rows proves in fractions."""

from fractions import Fraction
from typing import Any

import pytest

from dpassay.properties.tracing.feasibility import Feasibility, feasibility, is_contradiction
from dpassay.properties.tracing.forms import Form, Row
from dpassay.properties.tracing.polyhedron import Polyhedron
from dpassay.spec.leaves.model import NoiseKind


def rows(*texts: Any) -> Any:
    """Make strict rows from (constant, coefficients)."""
    return [
        Row(Form(Fraction(c), {k: Fraction(v) for k, v in enumerate(coefficients) if v}), is_strict=True)
        for c, *coefficients in texts
    ]


CYCLE = rows((0, 1, -1, 0), (0, 0, 1, -1), (0, -1, 0, 1))


def test_a_cycle_of_strict_inequalities_is_empty() -> None:
    assert feasibility(CYCLE)[0] is Feasibility.EMPTY


def test_the_same_cycle_of_weak_inequalities_is_not() -> None:
    assert feasibility([row._replace(is_strict=False) for row in CYCLE])[0] is Feasibility.DOUBTFUL


def test_a_point_inside_is_found() -> None:
    answer, point = feasibility(rows((0, 1, -1), (1, -1, 0)))
    assert answer is Feasibility.INTERIOR
    assert point[1] < point[0] < 1


@pytest.mark.parametrize("weights", [(1, 1, 0), (1, 1, 2), (-1, -1, -1), (0, 0, 0)])
def test_wrong_combinations_prove_nothing(weights: Any) -> None:
    assert not is_contradiction(CYCLE, [Fraction(weight) for weight in weights])
    assert is_contradiction(CYCLE, [Fraction(1)] * 3)


def test_supports_of_noises_count() -> None:
    polyhedron = Polyhedron({0: NoiseKind.EXPONENTIAL, 1: NoiseKind.UNIFORM, 2: NoiseKind.LAPLACE})
    assert polyhedron.is_empty_with(rows((0, -1)))
    assert polyhedron.is_empty_with(rows((-1, -1, 1)))
    assert polyhedron.is_empty_with(rows((-1, 0, 1)))
    assert not polyhedron.is_empty_with(rows((-1, 0, 0, 1)))
    assert not polyhedron.is_empty_with(rows((-5, 1)))
