"""Mutants of the bet on the probability of a failure: each is a way to cheat that its statement must refute."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from dpassay.properties.verify import verify_statement
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.auditing import failure_bets
from dpassay.spec.verdict import Outcome

factors, wealth = failure_bets.failure_factors, failure_bets.failure_wealth


def every_alternative_is_bet_on(alternative: Fraction, allowed: Fraction) -> bool:
    return True


def a_success_costs_nothing(alternative: Fraction, allowed: Fraction) -> tuple[Fraction, Fraction]:
    return alternative / allowed, Fraction(1)


def a_failure_pays_by_the_odds_of_s(alternative: Fraction, allowed: Fraction) -> tuple[Fraction, Fraction]:
    on_failure, on_success = factors(alternative, allowed)
    return on_failure / (1 - allowed), on_success


def a_failure_pays_too_little(alternative: Fraction, allowed: Fraction) -> tuple[Fraction, Fraction]:
    return Fraction(1), factors(alternative, allowed)[1]


def a_debt_on_a_success(alternative: Fraction, allowed: Fraction) -> tuple[Fraction, Fraction]:
    """The mean is 1, and the wealth may be negative."""
    on_failure, on_success = factors(alternative, allowed)
    return on_failure + 5 * (1 - allowed) / allowed, on_success - 5


def mean_over_what_is_bet_on(
    failures: int, successes: int, allowed: Fraction, alternatives: Sequence[Fraction]
) -> Fraction:
    above = [alternative for alternative in alternatives if alternative > allowed]
    return wealth(failures, successes, allowed, above) if above else Fraction(0)


def case(statement: str, name: str, wrong: Callable[..., Any]) -> Any:
    mark = pytest.mark.kills(statement)
    return pytest.param(statement, name, wrong, marks=mark, id=f"{statement}-{wrong.__name__}")


FAIR, SMALLER = "fair_bet_on_the_probability_of_a_failure", "failures_that_refute_a_probability_refute_smaller_ones"


@pytest.mark.parametrize(
    ("statement", "name", "wrong"),
    [
        case(FAIR, "failure_factors", a_success_costs_nothing),
        case(FAIR, "failure_factors", a_failure_pays_by_the_odds_of_s),
        case(FAIR, "failure_factors", a_failure_pays_too_little),
        case(FAIR, "failure_factors", a_debt_on_a_success),
        case(SMALLER, "is_bet_on", every_alternative_is_bet_on),
        case(SMALLER, "failure_wealth", mean_over_what_is_bet_on),
    ],
)
def test_cheating_is_refuted(
    monkeypatch: pytest.MonkeyPatch, statement: str, name: str, wrong: Callable[..., Any]
) -> None:
    monkeypatch.setattr(failure_bets, name, wrong)
    assert verify_statement(find_statement(statement)).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("statement", [FAIR, SMALLER])
def test_the_statements_hold(statement: str) -> None:
    assert verify_statement(find_statement(statement)).outcome is Outcome.HOLDS
