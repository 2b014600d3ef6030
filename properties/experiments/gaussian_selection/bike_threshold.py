"""Detection of busy days: AboveThreshold restarted after every halt, and the cost of a whole pass.

A pass through the 731 days is a sequence of rounds: a round halts after t days or, the last one, ends with all of its
k remaining days below. Each is charged by every account of `threshold_accounts`. In the tables, `spent` is the sum of
the charges, the paper's figure; `budget` is what the filter had to be given for all the rounds to run. Neither is a
guarantee for a pass that was simply run to its end, because they depend on what came out: the guarantee is that of a
budget fixed beforehand, whose price in F1 the second table tells.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_all_below_loss
from dpassay.impl.accounting.filters import Offer
from dpassay.impl.accounting.utility import f1_score
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.properties.experiments.gaussian_selection.above_threshold_ante import ANTE_BOUNDS
from dpassay.properties.experiments.gaussian_selection.bike_data import registered_rides
from dpassay.properties.experiments.gaussian_selection.restarted_threshold import Rounds, pass_through
from dpassay.properties.experiments.gaussian_selection.threshold_accounts import (
    ACCOUNTS,
    MOST_ROUNDS,
    Account,
    admitted_rounds,
    filter_budgets,
)
from dpassay.properties.experiments.output import mean_and_error

__all__ = [
    "BUDGET_COLUMNS",
    "SIGMAS",
    "SPENT_COLUMNS",
    "Passes",
    "budget_rows",
    "paint_threshold",
    "passes_at",
    "spent_rows",
]

Array = NDArray[np.float64]
Row = dict[str, Any]

THRESHOLD = 0.575
SIGMAS = (0.09, 0.1, 0.11, 0.12, 0.13, 0.14, 0.15)
NOISE_RATIO = math.sqrt(3)  # sigma_query over sigma_threshold: the least that Thm 7 admits
LOW, HIGH = 0.0, 1.0
BUDGETS = (0.25, 0.5, 1.0, 2.0)
SHOWN_BUDGET = 1.0

SPENT_COLUMNS = (
    "sigma_threshold", "method", "bound", "protocol", "round_delta", "delta", "epsilon_max", "budget", "budget_error",
    "spent", "spent_error", "f1", "f1_error", "rounds", "trials",
)  # fmt: skip
BUDGET_COLUMNS = (
    "sigma_threshold", "method", "bound", "protocol", "delta", "budget", "rounds", "f1", "f1_error", "trials"
)  # fmt: skip


@dataclass(frozen=True)
class Passes:
    """Passes through the series at one noise level, with the costs of their rounds.

    Parameters
    ----------
    mechanism : GaussianAboveThreshold
        On the whole series.
    truth : array of bool
        Which days are above the threshold.
    rounds : tuple of Rounds
        One for each pass.
    """

    mechanism: GaussianAboveThreshold
    truth: NDArray[np.bool_]
    rounds: tuple[Rounds, ...]

    @cached_property
    def all_below_losses(self) -> Array:
        """Ex-post loss of k days that all stay below, for k = 1, 2, ..."""
        m = self.mechanism
        noise = (m.threshold, m.sigma_threshold, m.sigma_query, m.low, m.high, m.sensitivity)
        return gaussian_above_threshold_all_below_loss(np.arange(1, m.size + 1), *noise)

    def offer(self, account: Account) -> Offer:
        """Return the a-priori guarantee of a round."""
        m = self.mechanism
        if account.bound == "pure":
            return Offer(float(max(m.losses.max(), self.all_below_losses.max())))
        bound = ANTE_BOUNDS[account.bound]
        noise = (m.threshold, m.sigma_threshold, m.sigma_query)
        return Offer(bound(account.round_delta, *noise, low=m.low, sensitivity=m.sensitivity), account.round_delta)

    def losses(self, rounds: Rounds) -> Array:
        """Return the ex-post losses of the rounds of a pass, in order."""
        last = self.all_below_losses[[rounds.left_over - 1]] if rounds.left_over else np.empty(0)
        return np.concatenate([self.mechanism.losses[rounds.halting_times], last])

    def f1(self, rounds: Rounds, admitted: int | None = None) -> float:
        """Return the F1 score of a pass, or of its first rounds."""
        return f1_score(rounds.alarms(len(self.truth), admitted), self.truth)


def passes_at(sigma_threshold: float, trials: int, rng: np.random.Generator) -> Passes:
    """Run through the series `trials` times."""
    rides = registered_rides()
    mechanism = GaussianAboveThreshold(
        len(rides.answers), THRESHOLD, sigma_threshold, NOISE_RATIO * sigma_threshold, LOW, HIGH, rides.sensitivity
    )
    rounds = tuple(pass_through(mechanism, rides.answers, rng) for _ in range(trials))
    return Passes(mechanism, rides.answers >= THRESHOLD, rounds)


def spent_rows(passes: Passes) -> Iterator[Row]:
    """Yield the costs and the findings of complete passes for every account: means and standard errors."""
    spent = [float(passes.losses(rounds).sum()) for rounds in passes.rounds]
    f1, f1_error = mean_and_error([passes.f1(rounds) for rounds in passes.rounds])
    for account in ACCOUNTS:
        offer = passes.offer(account)
        if account.method == "filter":
            budgets = filter_budgets(account, offer, [rounds.count for rounds in passes.rounds])
            budget, budget_error = spent_mean, spent_error = mean_and_error(budgets)
        else:
            budget, budget_error = mean_and_error([_self_reported_budget(passes, r, offer) for r in passes.rounds])
            spent_mean, spent_error = mean_and_error(spent)
        yield {
            **_account_columns(passes, account),
            "round_delta": account.round_delta,
            "epsilon_max": offer.epsilon,
            "budget": budget,
            "budget_error": budget_error,
            "spent": spent_mean,
            "spent_error": spent_error,
            "f1": f1,
            "f1_error": f1_error,
            "rounds": float(np.mean([rounds.count for rounds in passes.rounds])),
            "trials": len(passes.rounds),
        }


def _account_columns(passes: Passes, account: Account) -> Row:
    return {
        "sigma_threshold": passes.mechanism.sigma_threshold,
        "method": account.method,
        "bound": account.bound,
        "protocol": account.protocol,
        "delta": account.delta,
    }


def _self_reported_budget(passes: Passes, rounds: Rounds, offer: Offer) -> float:
    """Return the budget above which the self-reporting filter lets every round run."""
    before_last = float(passes.losses(rounds)[:-1].sum())  # the charges only grow
    return before_last + offer.epsilon


def budget_rows(passes: Passes) -> Iterator[Row]:
    """Yield the length and the F1 score of passes that the filter stops, for every fair account and budget."""
    for account in ACCOUNTS:
        if account.protocol != "fair":
            continue
        offer = passes.offer(account)
        for budget in BUDGETS:
            admitted = _admitted(passes, account, offer, budget)
            scores = [passes.f1(rounds, count) for rounds, count in zip(passes.rounds, admitted, strict=True)]
            f1, f1_error = mean_and_error(scores)
            yield {
                **_account_columns(passes, account),
                "budget": budget,
                "rounds": float(np.mean(admitted)),
                "f1": f1,
                "f1_error": f1_error,
                "trials": len(passes.rounds),
            }


def _admitted(passes: Passes, account: Account, offer: Offer, budget: float) -> list[int]:
    """Return how many rounds of each pass the filter admits."""
    if account.method == "filter":  # it does not look at what came out
        most = admitted_rounds(account, offer, budget, [offer.epsilon] * MOST_ROUNDS)
        return [min(most, rounds.count) for rounds in passes.rounds]
    return [admitted_rounds(account, offer, budget, passes.losses(rounds).tolist()) for rounds in passes.rounds]


def paint_threshold(spent: list[Row], budgets: list[Row], costs: Any, scores: Any) -> None:
    """Draw F1 against the budget of complete passes, and F1 against the noise at one budget fixed beforehand.

    Parameters
    ----------
    spent : list of dict
        Rows of `spent_rows`.
    budgets : list of dict
        Rows of `budget_rows`.
    costs, scores : matplotlib axes
        Axes of the two panels.
    """
    at_budget = [row for row in budgets if row["budget"] == SHOWN_BUDGET]
    for axes, rows, x in ((costs, spent, "budget"), (scores, at_budget, "sigma_threshold")):
        for account in ACCOUNTS:
            points = [row for row in rows if _account_of(row) == (account.method, account.bound, account.protocol)]
            if points:
                line = "-" if account.method == "self-reported" else "--"
                xs, f1, error = ([row[key] for row in points] for key in (x, "f1", "f1_error"))
                label = f"{account.method}, {account.bound.replace('_', ' ')}, {account.protocol}"
                color = {"halting_moment": "C0", "direct": "C1", "pure": "C2"}[account.bound]
                color = "C7" if account.protocol == "printed" else color
                axes.errorbar(xs, f1, error, linestyle=line, color=color, marker=".", capsize=2, label=label)
    costs.set(xlabel="epsilon needed for the whole pass", ylabel="F1")
    costs.legend(fontsize="x-small")
    scores.set(xlabel="sigma of the threshold", ylabel="F1", title=f"stopped at epsilon = {SHOWN_BUDGET:g}")


def _account_of(row: Row) -> tuple[str, str, str]:
    return row["method"], row["bound"], row["protocol"]
