import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.arguments import UsageError
from dpassay.impl.accounting.filters import (
    BudgetExceeded,
    FullyAdaptiveFilter,
    Offer,
    OfferedMechanism,
    SelfReportingFilter,
    run_filtered,
)


def admitted(privacy_filter: SelfReportingFilter | FullyAdaptiveFilter, offer: Offer, loss: float, most: int) -> int:
    for count in range(most):
        try:
            privacy_filter.spend(offer, loss)
        except BudgetExceeded:
            return count
    return most


# --- self-reporting -----------------------------------------------------------------------------------------


def test_it_looks_ahead_and_halts_on_equality() -> None:
    assert admitted(SelfReportingFilter(1.0, 0.0), Offer(0.25), 0.25, 99) == 3
    assert admitted(SelfReportingFilter(1.0 + 2**-52, 0.0), Offer(0.25), 0.25, 99) == 4


def test_sums_are_exact() -> None:
    assert admitted(SelfReportingFilter(1.0, 0.0), Offer(0.1), 0.1, 99) == 9  # ten float 0.1 sum to more than 1
    assert 10 * Fraction(0.1) > 1


def test_what_an_outcome_reports_is_charged_not_what_it_promised() -> None:
    assert admitted(SelfReportingFilter(1.0, 0.0), Offer(0.5), 0.01, 99) == 50


def test_an_infinite_loss_ends_it() -> None:
    privacy_filter = SelfReportingFilter(1.0, 0.5)
    privacy_filter.spend(Offer(0.0, 0.1), math.inf)
    assert privacy_filter.would_exceed(Offer(0.0))
    assert privacy_filter.remaining.epsilon == -math.inf


@pytest.mark.parametrize(("delta", "rounds"), [(1e-5, 10), (1e-3, 100), (0.3, 4)])
def test_delta_accumulates_as_the_counterexample_does(delta: float, rounds: int) -> None:
    privacy_filter = SelfReportingFilter(1.0, 1.0)
    assert admitted(privacy_filter, Offer(0.0, delta), 0.0, rounds) == rounds
    assert privacy_filter.delta_spent == pytest.approx(1 - (1 - delta) ** rounds, rel=1e-9)
    assert privacy_filter.delta_spent >= 1 - (1 - delta) ** rounds - 1e-15


@given(deltas=st.lists(st.floats(1e-12, 1e-3), min_size=1, max_size=5))
def test_what_is_spent_is_rounded_up_and_what_remains_down(deltas: list[float]) -> None:
    privacy_filter = SelfReportingFilter(1.0, 0.1)
    for delta in deltas:
        privacy_filter.spend(Offer(0.0, delta), 0.1)
    survival = math.prod((1 - Fraction(delta) for delta in deltas), start=Fraction(1))
    assert Fraction(privacy_filter.delta_spent) >= 1 - survival
    assert Fraction(privacy_filter.remaining.delta) <= Fraction(0.1) - (1 - survival)
    assert Fraction(privacy_filter.remaining.epsilon) <= 1 - len(deltas) * Fraction(0.1)


def test_a_round_whose_delta_does_not_fit_is_refused() -> None:
    assert admitted(SelfReportingFilter(1.0, 0.05), Offer(0.0, 0.01), 0.0, 99) == 5  # 1 - 0.99^5 is 0.049
    assert admitted(SelfReportingFilter(1.0, 1e-5), Offer(0.0, 1e-5), 0.0, 99) == 1
    assert admitted(SelfReportingFilter(1.0, 1e-12), Offer(0.0, 1e-12 / 7), 0.0, 99) == 7


def test_a_certain_failure_needs_the_whole_delta() -> None:
    privacy_filter = SelfReportingFilter(1.0, 1.0)
    privacy_filter.spend(Offer(0.0, 1.0), 0.0)
    assert privacy_filter.delta_spent == 1
    assert SelfReportingFilter(1.0, 0.999).would_exceed(Offer(0.0, 1.0))


def test_a_refusal_spends_nothing_and_says_what_is_left() -> None:
    privacy_filter = SelfReportingFilter(1.0, 0.5)
    privacy_filter.spend(Offer(0.5, 0.25), 0.5)
    before = privacy_filter.remaining
    with pytest.raises(BudgetExceeded) as refusal:
        privacy_filter.spend(Offer(0.75, 0.0), 0.0)
    assert refusal.value.remaining == before == privacy_filter.remaining
    assert before.epsilon == 0.5
    assert before.delta == pytest.approx(0.25)
    assert not privacy_filter.would_exceed(Offer(0.25, 0.25))


def test_the_first_round_may_be_refused() -> None:
    assert SelfReportingFilter(1.0, 0.0).would_exceed(Offer(1.0))


# --- fully adaptive -----------------------------------------------------------------------------------------


def test_the_known_number_of_rounds() -> None:
    assert admitted(FullyAdaptiveFilter(1.0, 1e-5), Offer(1e-3), 0.0, 50_000) == 41639


@pytest.mark.parametrize(("each", "epsilon", "slack", "rounds"), [(0.01, 0.2, 0.01, 42), (0.1, 1.0, 1e-5, 4)])
def test_other_known_numbers_of_rounds(each: float, epsilon: float, slack: float, rounds: int) -> None:
    assert admitted(FullyAdaptiveFilter(epsilon, slack), Offer(each), 0.0, 999) == rounds


def test_the_first_mechanism_may_be_too_dear() -> None:
    privacy_filter = FullyAdaptiveFilter(1.0, 0.1)
    assert privacy_filter.would_exceed(Offer(10.0))
    with pytest.raises(BudgetExceeded):
        privacy_filter.spend(Offer(10.0))
    assert not privacy_filter.would_exceed(Offer(0.1))


def test_deltas_sum_exactly() -> None:
    assert admitted(FullyAdaptiveFilter(1.0, 1e-5, 0.5), Offer(0.0, 0.125), 0.0, 99) == 4
    assert FullyAdaptiveFilter(1.0, 1e-5).would_exceed(Offer(0.0, 1e-300))


def test_what_remains_just_fits() -> None:
    privacy_filter = FullyAdaptiveFilter(1.0, 1e-5, 0.5)
    privacy_filter.spend(Offer(0.1, 0.25))
    left = privacy_filter.remaining
    assert not privacy_filter.would_exceed(Offer(left.epsilon, left.delta))
    assert privacy_filter.would_exceed(Offer(left.epsilon * (1 + 1e-9), 0.0))


# --- the driver ---------------------------------------------------------------------------------------------


def test_nothing_is_run_that_is_not_admitted() -> None:
    runs: list[int] = []

    def run(number: int) -> int:
        runs.append(number)
        return number

    def choose(outcomes: Sequence[int]) -> OfferedMechanism:
        number = len(outcomes)
        return OfferedMechanism(Offer(0.4), lambda: run(number), lambda _: 0.4)

    assert run_filtered(SelfReportingFilter(1.0, 0.0), choose) == [0, 1] == runs


def test_later_rounds_may_depend_on_earlier_outcomes() -> None:
    def choose(outcomes: Sequence[int]) -> OfferedMechanism | None:
        seen = tuple(outcomes)
        return None if sum(seen) > 5 else OfferedMechanism(Offer(0.0), lambda: 2 * len(seen), lambda _: 0.0)

    assert run_filtered(SelfReportingFilter(1.0, 0.0), choose) == [0, 2, 4]
    assert run_filtered(SelfReportingFilter(1.0, 0.0), choose, limit=2) == [0, 2]


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="epsilon must be"):
        SelfReportingFilter(0.0, 0.1)
    with pytest.raises(UsageError, match="delta must lie"):
        SelfReportingFilter(1.0, math.nan)
    with pytest.raises(UsageError, match="delta_slack must lie"):
        FullyAdaptiveFilter(1.0, 0.0)
    with pytest.raises(UsageError, match="epsilon must be"):
        Offer(math.inf)
    for loss in (-1.0, math.nan):
        with pytest.raises(UsageError, match="loss must be at least 0"):
            SelfReportingFilter(1.0, 0.1).spend(Offer(0.1), loss)
