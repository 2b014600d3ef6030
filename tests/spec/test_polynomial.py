"""Signs of rational functions by their coefficients."""

import pytest
import sympy as sp

from dpassay.spec.proof.polynomial import nonnegative_on_orthant, positive_on_orthant
from dpassay.spec.verdict import Evidence, Outcome, Scope

X, Y = sp.symbols("x y", nonnegative=True)


@pytest.mark.parametrize("expression", [X**2 + 3 * X * Y, (1 + X) / (2 + Y), 1 / (-1 - X) + 2, sp.Integer(0)])
def test_no_negative_coefficient_is_a_proof(expression: sp.Expr) -> None:
    verdict = nonnegative_on_orthant(expression, (X, Y), "step")
    assert verdict.outcome is Outcome.HOLDS
    assert (verdict.evidence, verdict.scope) == (Evidence.SYMBOLIC, Scope.ALL)


def test_a_negative_value_is_a_witness() -> None:
    verdict = nonnegative_on_orthant(X - Y - sp.Rational(1, 1000), (X, Y), "step")
    assert verdict.outcome is Outcome.VIOLATED
    assert set(verdict.witness) == {"x", "y"}


@pytest.mark.parametrize("expression", [(X - Y) ** 2, 1 / (1 + X - Y) + 5 / (3 + X)])
def test_other_signs_are_left_open(expression: sp.Expr) -> None:
    assert nonnegative_on_orthant(expression, (X, Y), "step").outcome is Outcome.UNDECIDED


def test_a_positive_function_is_not_the_zero_function() -> None:
    assert positive_on_orthant(X * Y / (1 + X), (X, Y), "step").outcome is Outcome.HOLDS
    assert positive_on_orthant((X + Y) ** 2 - X**2 - 2 * X * Y - Y**2, (X, Y), "step").outcome is Outcome.VIOLATED
    assert positive_on_orthant(X - Y, (X, Y), "step").outcome is Outcome.UNDECIDED
