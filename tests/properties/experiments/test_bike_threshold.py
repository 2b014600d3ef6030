import numpy as np
import pytest

from dpassay.impl.accounting.filters import Offer
from dpassay.properties.experiments.gaussian_selection.bike_threshold import (
    BUDGET_COLUMNS,
    SPENT_COLUMNS,
    Passes,
    budget_rows,
    passes_at,
    spent_rows,
)
from dpassay.properties.experiments.gaussian_selection.threshold_accounts import (
    ACCOUNTS,
    Account,
    admitted_rounds,
    filter_budgets,
)

DELTA = 1 / 6946


@pytest.fixture(scope="module")
def passes() -> Passes:
    return passes_at(0.09, 6, np.random.default_rng(8))


def test_every_day_belongs_to_one_round_and_every_round_is_charged(passes: Passes) -> None:
    for rounds in passes.rounds:
        assert rounds.halting_times.sum() + rounds.left_over == 731
        losses = passes.losses(rounds)
        assert len(losses) == rounds.count
        assert np.all(losses > 0)


def test_losses_of_rounds() -> None:
    passes = passes_at(0.09, 1, np.random.default_rng(0))
    expected = {1: 0.00277, 2: 0.00643, 5: 0.0122, 20: 0.01983, 100: 0.02554}
    for time, loss in expected.items():
        assert passes.mechanism.losses[time] == pytest.approx(loss, abs=6e-6)
    assert passes.all_below_losses[-1] == passes.mechanism.losses[0]  # all 731 days below


def test_fair_accounts_spend_one_over_n_at_most() -> None:
    for account in ACCOUNTS:
        if account.protocol == "fair":
            assert account.delta <= DELTA * (1 + 1e-12)
        else:  # what the paper's protocol comes to over 731 rounds
            assert account.delta > 600 * DELTA


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda a: f"{a.method}-{a.bound}-{a.protocol}")
def test_a_pass_fits_into_its_budget_and_into_no_smaller_one(passes: Passes, account: Account) -> None:
    offer, rounds = passes.offer(account), passes.rounds[0]
    losses = passes.losses(rounds).tolist()
    if account.method == "filter":
        [budget] = filter_budgets(account, offer, [rounds.count])
    else:
        budget = float(np.sum(losses[:-1])) + offer.epsilon
    assert admitted_rounds(account, offer, budget * (1 + 1e-9), losses) == rounds.count
    assert admitted_rounds(account, offer, budget * (1 - 1e-9), losses) < rounds.count


def test_the_delta_of_a_filter_lasts_for_every_day() -> None:
    for account in ACCOUNTS:
        assert admitted_rounds(account, Offer(1e-9, account.round_delta), 10.0, [0.0] * 731) == 731


def test_what_passes_cost(passes: Passes) -> None:
    rows = list(spent_rows(passes))
    assert all(set(row) == set(SPENT_COLUMNS) for row in rows)
    assert len(rows) == len(ACCOUNTS)
    budget = {(row["method"], row["bound"], row["protocol"]): row["budget"] for row in rows}
    reported = budget["self-reported", "pure", "fair"]  # with delta = 0, no dearer than with delta = 1/N
    assert reported == pytest.approx(budget["self-reported", "halting_moment", "fair"], rel=0.01)
    assert reported < 0.9 * budget["filter", "direct", "fair"]
    assert budget["filter", "direct", "fair"] < 0.9 * budget["filter", "halting_moment", "fair"]
    for row in rows:
        assert row["spent"] <= row["budget"]
        assert 0.7 < row["f1"] < 0.8


def test_a_larger_budget_finds_more(passes: Passes) -> None:
    rows = list(budget_rows(passes))
    assert all(set(row) == set(BUDGET_COLUMNS) for row in rows)
    whole = np.mean([passes.f1(rounds) for rounds in passes.rounds])
    for account in {(row["method"], row["bound"]) for row in rows}:
        scores = [row["f1"] for row in rows if (row["method"], row["bound"]) == account]
        assert scores == sorted(scores)
        assert scores[-1] <= whole
    at_one = {(row["method"], row["bound"]): row["f1"] for row in rows if row["budget"] == 1.0}
    assert at_one["self-reported", "pure"] > 1.5 * at_one["filter", "direct"]
