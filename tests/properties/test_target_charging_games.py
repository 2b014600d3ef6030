"""The optimal analyst against target charging: his exact delta, and every account beside it."""

import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.target_charging import METHODS
from dpassay.properties.games import target_charging as games
from dpassay.properties.games.target_charging import (
    adaptive_delta,
    adaptive_epsilon,
    compared_accounts,
    short_game_delta,
    target_charging_is_private,
)
from dpassay.spec.interactions.charged_calls import ChargingRule
from dpassay.spec.theorems.target_charging.main_theorem import misses_delta
from dpassay.spec.verdict import Outcome


@pytest.mark.parametrize(("hits", "epsilon", "total"), [(1, 0.1, 1.7305), (10, 0.1, 3.2863), (50, 0.1, 6.4282)])
def test_the_adversary_at_a_millionth(hits: int, epsilon: float, total: float) -> None:
    bracket = adaptive_delta(hits, epsilon, total)
    assert bracket.lower <= 1e-6 * (1 + 2e-3)
    assert bracket.upper >= 1e-6 * (1 - 2e-3)
    assert bracket.upper - bracket.lower < 1e-10


def test_long_short_games_approach_the_value_of_the_endless_one() -> None:
    endless = adaptive_delta(2, math.log(2), math.log(4))
    short = [float(short_game_delta(2, Fraction(2), Fraction(4), horizon)) for horizon in (4, 8, 14)]
    assert short == sorted(short)
    assert short[-1] <= endless.upper
    assert short[-1] > 0.99 * endless.lower


def test_adapting_helps_the_analyst() -> None:
    from dpassay.spec.ball import ball, float_upper

    misses = float_upper(misses_delta(2, Fraction(2), ball(4).log()))
    assert adaptive_delta(2, math.log(2), math.log(4)).lower >= misses * (1 - 1e-9)


@pytest.mark.parametrize(("hits", "calls"), [(1, 2), (1, 4), (2, 4), (3, 6)])
def test_target_charging_is_private_in_short_games(hits: int, calls: int) -> None:
    for budget in (Fraction(3), Fraction(9), Fraction(27)):
        verdict = target_charging_is_private(hits, Fraction(3), budget, 6, calls)
        assert verdict.outcome is Outcome.HOLDS, verdict.detail


def test_a_session_that_never_halts_loses_a_short_game(monkeypatch: pytest.MonkeyPatch) -> None:
    class NeverHalts(ChargingRule):
        def halts(self, counts: tuple[int, ...]) -> bool:  # noqa: ARG002  # that is the fault
            return False

    monkeypatch.setattr(games, "ChargingRule", NeverHalts)
    verdict = target_charging_is_private(1, Fraction(3), Fraction(9), 10, 4)
    assert verdict.outcome is Outcome.VIOLATED


def test_every_account_is_at_least_what_the_adversary_achieves() -> None:
    for hits, epsilon in ((1, 0.5), (10, 0.1), (20, 1.0)):
        rows = list(compared_accounts(hits, epsilon, 1e-6))
        assert [row["account"] for row in rows] == list(METHODS)
        tightness = [float(row["tightness"]) for row in rows]
        assert tightness == sorted(tightness)
        assert 1 <= tightness[0] <= 1.15


def test_the_bracket_of_epsilon_is_narrow() -> None:
    bracket = adaptive_epsilon(10, 0.1, 1e-6)
    assert bracket.lower <= bracket.upper <= bracket.lower * (1 + 2e-4)
    assert adaptive_delta(10, 0.1, bracket.upper).upper <= 1e-6
    assert adaptive_delta(10, 0.1, bracket.lower).lower > 1e-6


def test_errors_of_use() -> None:
    for hits in (0, 1.5):
        with pytest.raises(UsageError, match="hits"):
            adaptive_delta(hits, 0.1, 1.0)  # type: ignore[arg-type]
    for epsilon in (0.0, math.nan, 31.0, 800.0):
        with pytest.raises(UsageError, match="epsilon"):
            adaptive_delta(1, epsilon, 1.0)
        with pytest.raises(UsageError, match="epsilon"):
            adaptive_epsilon(1, epsilon, 1e-6)
    with pytest.raises(UsageError, match="epsilon"):
        adaptive_delta(1, 1e-6, 1.0)
    with pytest.raises(UsageError, match="total"):
        adaptive_delta(1, 0.1, -1.0)
