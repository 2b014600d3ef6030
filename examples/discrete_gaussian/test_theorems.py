"""Tests of the example: every statement holds, and detects a fault that is planted for it."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
import theorems
from flint import arb
from integers import DiscreteGaussian

from dpassay.statements import Proof, Statement, assert_holds, assert_kills, ball, normal_cdf

STATEMENTS = [value for value in vars(theorems).values() if isinstance(value, Statement)]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda one: one.name)
def test_statement_holds(statement: Statement) -> None:
    assert_holds(statement)


class WithoutTheHalf(DiscreteGaussian):
    """Weights e^(-x^2 / variance): the factor 1/2 is lost."""

    def weight(self, x: int) -> arb:
        return super().weight(x) ** 2


class StrictTails(DiscreteGaussian):
    """Pr[X > x] in place of Pr[X >= x]."""

    def at_least(self, x: int) -> arb:
        return super().at_least(x + 1)


class LooseTails(DiscreteGaussian):
    """Pr[X >= x - 2] in place of Pr[X >= x]."""

    def at_least(self, x: int) -> arb:
        return super().at_least(x - 2)


class WithoutZero(DiscreteGaussian):
    """The normalising constant lacks the weight of 0."""

    def total(self) -> arb:
        return super().total() - 1


def without_factor_4(variance: Fraction) -> arb:
    rate = arb.pi() ** 2 * ball(variance)
    return ball(variance) * (1 - rate / rate.expm1())


def narrow_cdf(x: arb) -> arb:
    return normal_cdf(2 * x)


def half_the_divergence(variance: Fraction, shift: int, order: Fraction) -> arb:
    return ball(order * shift * shift / variance)


def improper(ratio: Fraction, outcomes: Iterable[int]) -> dict[int, Fraction]:
    return {x: ratio ** -abs(x) if x else Fraction(2) for x in outcomes}


def longer_coins(value: Any) -> arb:
    return ball(value * Fraction(101, 100))


FAULTS = [
    ("normaliser_by_poisson_summation", "DiscreteGaussian", WithoutTheHalf),
    ("normaliser_is_close_to_the_integral", "DiscreteGaussian", WithoutZero),
    ("variance_is_below_the_parameter", "variance_bound", without_factor_4),
    ("discrete_gaussian_is_subgaussian", "DiscreteGaussian", WithoutZero),
    ("tail_is_below_that_of_the_rounded_gaussian", "DiscreteGaussian", LooseTails),
    ("tail_is_below_that_of_the_rounded_gaussian", "normal_cdf", narrow_cdf),
    ("zcdp_of_discrete_gaussian", "renyi_divergence", half_the_divergence),
    ("zcdp_of_discrete_gaussian", "DiscreteGaussian", WithoutZero),
    ("approximate_dp_is_a_difference_of_tails", "DiscreteGaussian", StrictTails),
    ("pure_dp_of_discrete_laplace", "discrete_laplace", improper),
    ("rejection_keeps_one_of_few", "DiscreteGaussian", WithoutZero),
    ("odd_run_of_coins_has_exponential_probability", "ball", longer_coins),
]


@pytest.mark.parametrize(
    ("name", "replaced", "wrong"),
    [
        pytest.param(*fault, marks=pytest.mark.kills(fault[0]), id=f"{fault[0]}-{fault[1]}-{number}")
        for number, fault in enumerate(FAULTS)
    ],
)
def test_statement_detects_a_fault(name: str, replaced: str, wrong: Any) -> None:
    assert_kills(getattr(theorems, name), theorems, replaced, wrong)


@pytest.mark.kills("rejection_from_discrete_laplace_is_exact")
def test_the_proof_fails_with_another_exponent() -> None:
    def identity(left: Any, right: Any, name: str) -> Any:
        return theorems_identity(left + sp.Symbol("y", positive=True), right, name)

    theorems_identity = theorems.identity
    assert_kills(theorems.rejection_from_discrete_laplace_is_exact, theorems, "identity", identity)


def test_the_proof_counts_its_prose() -> None:
    steps = theorems.rejection_from_discrete_laplace_is_exact.proof()
    assert isinstance(steps, Proof)
    assert assert_holds(theorems.rejection_from_discrete_laplace_is_exact).prose_steps == 2
