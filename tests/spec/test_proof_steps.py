from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_type_hints

import pytest
import sympy as sp

from dpassay.arguments import UsageError
from dpassay.spec.proof.rules import (
    at_least_by,
    largest_at,
    nonnegative_from_zero,
    parametrises,
    positive_integral,
    same_sign,
)
from dpassay.spec.proof.steps import Hypothesis, Proof, Step, all_of, checked, computed, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, nonnegative, positive
from dpassay.spec.statement import all_statements
from dpassay.spec.verdict import Evidence, Outcome, Scope, Undecided, Verdict

x, y = sp.Symbol("x", positive=True), sp.Symbol("y", real=True)

SQUARE = checked("square", "(x + 1)^2 = x^2 + 2 x + 1.", identity, (x + 1) ** 2, x**2 + 2 * x + 1)
WRONG = checked("wrong", "x = x + 1.", identity, x, x + 1)
OPEN = checked("open", "sin(y) > 0.", positive, sp.sin(y))
IDEA = prose("idea", "It is seen at once.", given=["square"])

CLOSED = {one.name: one for one in all_statements() if not one.quantifiers}
PROOFS = [name for name, one in CLOSED.items() if get_type_hints(one.claim)["return"] is Proof]


def test_a_proof_holds_if_its_steps_do_and_counts_the_prose() -> None:
    verdict = proof(SQUARE, IDEA, all_of("both", "square", "idea")).decide()
    assert (verdict.outcome, verdict.evidence, verdict.scope) == (Outcome.HOLDS, Evidence.SYMBOLIC, Scope.ALL)
    assert verdict.prose_steps == 1


@pytest.mark.parametrize("scope", [None, Scope.ALL])
def test_a_check_that_returns_no_verdict_is_named(scope: Scope | None) -> None:
    nothing: Any = lambda: None
    with pytest.raises(UsageError, match="check of the step 'nothing' must return a verdict, got None"):
        proof(computed("nothing", "Nothing.", nothing, scope=scope)).decide()


def test_prose_steps_of_a_lemma_are_counted() -> None:
    lemma = proof(SQUARE, IDEA)
    assert proof(computed("lemma", "As above.", lemma.decide)).decide().prose_steps == 1


@pytest.mark.parametrize(("step", "outcome"), [(WRONG, Outcome.VIOLATED), (OPEN, Outcome.UNDECIDED)])
def test_a_proof_is_as_good_as_its_worst_step(step: Step, outcome: Outcome) -> None:
    verdict = proof(SQUARE, step, all_of("both", "square", step.name)).decide()
    assert verdict.outcome is outcome
    assert verdict.detail.startswith(step.name)


def test_a_conjunction_says_what_it_joins() -> None:
    assert all_of("both", "square", "idea").sentence == "All of: square; idea."


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((SQUARE, SQUARE, all_of("both", "square")), "two parts of a proof are called 'square'"),
        ((IDEA, SQUARE), "'square', which is shown only later"),
        (
            (
                checked("a", "-", nonnegative, x, given=["b"]),
                checked("b", "-", nonnegative, x, given=["a"]),
            ),
            "'b', which is shown only later",
        ),
        ((SQUARE, checked("b", "-", nonnegative, x, given=["a"])), "'a', which is shown nowhere"),
        ((SQUARE, checked("b", "-", nonnegative, x)), "no step uses 'square'"),
        ((suppose("h", "-"), SQUARE), "no step uses 'h'"),
        ((prose("idea", "-"),), "at least one checked step"),
        ((), "at least one checked step"),
    ],
)
def test_what_is_no_proof_is_refused(parts: tuple[Hypothesis | Step, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        proof(*parts)


def test_only_parts_can_be_taken_away() -> None:
    with pytest.raises(ValueError, match="has no part 'other'"):
        proof(SQUARE).without("other")


def test_a_withdrawn_step_takes_what_rests_on_it_with_it() -> None:
    made = proof(SQUARE, checked("apart", "-", nonnegative, x), IDEA, all_of("both", "apart", "idea"))
    assert made.without("square").missing() == ("square", "idea", "both")
    assert made.without("apart").missing() == ("apart", "both")


def test_the_scope_of_a_computed_step_can_be_set() -> None:
    point = lambda: replace(positive(sp.Integer(1), "-"), scope=Scope.POINTS)
    assert proof(computed("point", "1 > 0.", point)).decide().scope is Scope.POINTS
    assert proof(computed("fact", "1 > 0.", point, scope=Scope.ALL)).decide().scope is Scope.ALL


# --- rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        (lambda: at_least_by(x**2 + 1, 2 * x, (x - 1) ** 2, "square"), Outcome.HOLDS),
        (lambda: at_least_by(x**2, 2 * x, (x - 1) ** 2, "one too many"), Outcome.VIOLATED),
        (lambda: at_least_by(x, 2 * x, -x, "sign"), Outcome.VIOLATED),
        (lambda: same_sign(x * y, y, x, "positive factor"), Outcome.HOLDS),
        (lambda: same_sign(-x * y, y, -x, "negative factor"), Outcome.VIOLATED),
        (lambda: same_sign(y**3, y, y**2, "factor that may vanish"), Outcome.UNDECIDED),
        (lambda: largest_at(sp.log(x) - x, x, 1, x**-2, "peak"), Outcome.HOLDS),
        (lambda: largest_at(sp.log(x) - x, x, 2, x**-2, "elsewhere"), Outcome.VIOLATED),
        (lambda: largest_at(x - sp.log(x), x, 1, -(x**-2), "valley"), Outcome.VIOLATED),
        (lambda: nonnegative_from_zero(sp.exp(x) - 1, x, sp.exp(x), "exponential"), Outcome.HOLDS),
        (lambda: nonnegative_from_zero(sp.exp(x) - 2, x, sp.exp(x), "below at 0"), Outcome.VIOLATED),
        (lambda: nonnegative_from_zero(1 - sp.exp(x), x, -sp.exp(x), "falls"), Outcome.VIOLATED),
        (lambda: parametrises((1 + x, 1 / (1 + y)), (x, y), lambda a, b: (a - 1, 1 / b - 1), "whole"), Outcome.HOLDS),
        (
            lambda: parametrises((1 + x, 2 / (1 + y)), (x, y), lambda a, b: (a - 1, 1 / b - 1), "other values"),
            Outcome.UNDECIDED,
        ),
        (lambda: parametrises((1 + x,), (x,), lambda a: (a,), "another edge"), Outcome.VIOLATED),
        (lambda: positive_integral(1, sp.exp(-x), x, "exponential"), Outcome.HOLDS),
        (lambda: positive_integral(2, sp.exp(-x), x, "another value"), Outcome.VIOLATED),
        (lambda: positive_integral(-1, -sp.exp(-x), x, "negative"), Outcome.VIOLATED),
    ],
)
def test_rules_check_their_premises(verdict: Callable[[], Verdict], outcome: Outcome) -> None:
    assert verdict().outcome is outcome


# --- the registered proofs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROOFS)
def test_no_part_of_a_proof_can_be_deleted(name: str) -> None:
    made = CLOSED[name].proof()
    assert made is not None
    for part in made.parts:
        verdict = made.without(part.name).decide()
        assert isinstance(verdict, Undecided), f"{name} without {part.name!r}"
        assert part.name in verdict.detail
        assert part.sentence.endswith("."), part


def test_what_reaches_everything_is_a_proof() -> None:
    plain = [one for name, one in CLOSED.items() if name not in PROOFS]
    assert [one.name for one in plain if one().scope is Scope.ALL] == []
    assert len(PROOFS) >= 60
