"""Mutants of the bet on a Renyi moment: each is a way to cheat that its statement must refute."""

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

import pytest

from dpassay.properties.verify import verify_statement
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.auditing import moment_bets
from dpassay.spec.verdict import Outcome

moment_bet, constants, largest_stake = moment_bets.moment_bet, moment_bets.constants, moment_bets.largest_moment_stake


def constants_without_the_order(claimed: Fraction, alpha: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    first, second = constants(claimed, alpha, scale)
    return first * (alpha - 1) / alpha, second


def constants_of_exchanged_orders(claimed: Fraction, alpha: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    """Divide by beta where alpha is due, and the other way round."""
    first, second = constants(claimed, alpha, scale)
    return first * (alpha - 1), second / (alpha - 1)


def constants_that_forget_the_right_side(claimed: Fraction, alpha: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    return constants(claimed, alpha, scale)[0], Fraction(0)


def shares_above_one(belief: PairAtRatio) -> Callable[[Hashable], Fraction]:
    return lambda x: belief.left.probability(x) / belief.right.probability(x)


def stake_of_fair_sides(first: Fraction, second: Fraction, weight: Fraction) -> Fraction:
    return largest_stake(first, second, Fraction(1, 2))


def stake_that_ignores_the_fee(first: Fraction, second: Fraction, weight: Fraction) -> Fraction:
    return largest_stake(Fraction(0), second, weight)


def without_the_fee(
    share: Fraction, alpha: int, first: Fraction, second: Fraction, weight: Fraction, stake: Fraction
) -> Any:
    return moment_bet(share, alpha, Fraction(0), second, weight, stake)


def payout_of_fair_sides(
    share: Fraction, alpha: int, first: Fraction, second: Fraction, weight: Fraction, stake: Fraction
) -> Any:
    return moment_bet(share, alpha, first, second, Fraction(1, 2), stake)


def case(statement: str, name: str, wrong: Callable[..., Any]) -> Any:
    mark = pytest.mark.kills(statement)
    return pytest.param(statement, name, wrong, marks=mark, id=f"{statement}-{wrong.__name__}")


@pytest.mark.parametrize(
    ("statement", "name", "wrong"),
    [
        case("renyi_moment_bounds_two_expectations", "constants", constants_without_the_order),
        case("renyi_moment_bounds_two_expectations", "constants", constants_of_exchanged_orders),
        case("renyi_moment_bounds_two_expectations", "constants", constants_that_forget_the_right_side),
        case("fair_bet_on_a_renyi_moment", "constants", constants_of_exchanged_orders),
        case("fair_bet_on_a_renyi_moment", "bounded_share", shares_above_one),
        case("fair_bet_on_a_renyi_moment", "largest_moment_stake", stake_of_fair_sides),
        case("fair_bet_on_a_renyi_moment", "largest_moment_stake", stake_that_ignores_the_fee),
        case("fair_bet_on_a_renyi_moment", "moment_bet", without_the_fee),
        case("fair_bet_on_a_renyi_moment", "moment_bet", payout_of_fair_sides),
    ],
)
def test_cheating_is_refuted(
    monkeypatch: pytest.MonkeyPatch, statement: str, name: str, wrong: Callable[..., Any]
) -> None:
    monkeypatch.setattr(moment_bets, name, wrong)
    assert verify_statement(find_statement(statement)).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("statement", ["renyi_moment_bounds_two_expectations", "fair_bet_on_a_renyi_moment"])
def test_the_statements_hold(statement: str) -> None:
    assert verify_statement(find_statement(statement)).outcome is Outcome.HOLDS
