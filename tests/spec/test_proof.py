from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.symbolic import identity, nonnegative, positive
from dpassay.spec.verdict import Evidence, Outcome, Scope

x = sp.Symbol("x", real=True)
r = sp.Symbol("r", positive=True)


def test_an_identity_is_proved_by_reduction_to_zero() -> None:
    verdict = identity((x + 1) ** 2, x**2 + 2 * x + 1, "square")
    assert (verdict.outcome, verdict.evidence, verdict.scope) == (Outcome.HOLDS, Evidence.SYMBOLIC, Scope.ALL)


def test_a_difference_that_is_a_number_refutes() -> None:
    assert identity(sp.exp(x) * sp.exp(-x), 2, "wrong").outcome is Outcome.VIOLATED


def test_what_is_not_reached_is_undecided() -> None:
    f = sp.Function("f")
    assert identity(f(x), f(x + 1), "periodic").outcome is Outcome.UNDECIDED
    assert positive(sp.sin(x), "sine").outcome is Outcome.UNDECIDED


def test_floats_prove_nothing() -> None:
    tiny = sp.Rational(1, 10**20)
    assert identity(1.0 + tiny + x, 1 + x, "absorbed").outcome is Outcome.UNDECIDED
    assert identity(1 + x, 1.0 + tiny + x, "absorbed on the right").outcome is Outcome.UNDECIDED
    assert positive(r * 0.5, "half").outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.sqrt(sp.Symbol("z") ** 2), sp.Symbol("z")),
        (sp.log(sp.exp(sp.Symbol("z"))), sp.Symbol("z")),
        (sp.log(x**2), 2 * sp.log(x)),
        (sp.atan(x) + sp.atan(1 / x), sp.pi / 2),
        (sp.asin(sp.sin(x)), x),
    ],
)
def test_branch_cuts_are_not_crossed(left: sp.Expr, right: sp.Expr) -> None:
    assert identity(left, right, "true on one branch only").outcome is not Outcome.HOLDS


def test_signs_follow_from_assumptions() -> None:
    assert positive(r + 1, "sum").outcome is Outcome.HOLDS
    assert nonnegative(x**2, "square").outcome is Outcome.HOLDS
    assert positive(-r, "minus").outcome is Outcome.VIOLATED


def margin(x: arb, y: arb) -> arb:
    return 1 + x * x + y * y - 2 * x * y  # 1 + (x - y)^2


def test_a_side_of_a_box_may_be_a_point() -> None:
    verdict = prove_on_box(margin, {"x": (0, 0), "y": (-3, 3)})
    assert (verdict.outcome, verdict.scope) == (Outcome.HOLDS, Scope.BOX)
    refuted = prove_on_box(lambda x, y: y - x, {"x": (0, 0), "y": (-3, 3)})
    assert refuted.outcome is Outcome.VIOLATED


def test_a_box_is_proved_leaf_by_leaf() -> None:
    shares: list[float] = []
    verdict = prove_on_box(margin, {"x": (-3, 3), "y": (-3, 3)}, progress=shares.append)
    assert (verdict.outcome, verdict.scope) == (Outcome.HOLDS, Scope.BOX)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_violation_is_found_with_its_witness() -> None:
    verdict = prove_on_box(lambda x: x * x - Fraction(1, 16).numerator / arb(16), {"x": (-1, 1)})
    assert verdict.outcome is Outcome.VIOLATED
    assert abs(verdict.witness["x"]) <= Fraction(1, 4)


def test_a_spent_budget_is_undecided_with_the_volume_left() -> None:
    touching = prove_on_box(lambda x: (x - arb(2).sqrt()) * (x - arb(2).sqrt()), {"x": (1, 2)}, leaves=50)
    assert touching.outcome is Outcome.UNDECIDED
    assert "of the box is open" in touching.detail


@pytest.mark.parametrize("shift", [Fraction(1, 1000), Fraction(1, 10)])
def test_a_margin_is_never_overstated(shift: Fraction) -> None:
    verdict = prove_on_box(lambda x: x * x + arb(shift.numerator) / shift.denominator, {"x": (-1, 1)})
    assert verdict.outcome is Outcome.HOLDS
    assert float(verdict.detail.rpartition(" ")[2]) <= shift
