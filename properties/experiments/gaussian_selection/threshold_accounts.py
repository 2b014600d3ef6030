"""Accounts of the rounds of a restarted AboveThreshold: the charge, its bound and its delta.

Two methods account for the same rounds:

- *self-reported*: a round is charged its ex-post loss (Lebensold, Precup and Balle 2024, Thm 17 corrected, and the
  all-below loss of the last round, which the paper does not charge); before a round the filter looks ahead by its
  epsilon_max (Alg 2).
- *filter*: a round is charged epsilon_max whatever came out, composed by the fully adaptive filter (Thm 20).

Where epsilon_max holds up to a probability delta_t, these add up over the rounds in both (the paper's Thm 11 overlooks
that). A fair account spends delta = 1/N in all: delta/731 a round if self-reported, 731 being the largest number of
rounds, and delta/2 on the composition and delta/1462 a round in the filter. The protocol *printed* takes 1/N for each
round and for the composition, whatever that adds up to. A stream of 731 days also has a pure epsilon_max, its largest
ex-post loss, which needs no delta.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.filters import FullyAdaptiveFilter, Offer, SelfReportingFilter
from dpassay.impl.accounting.search import smallest_accepted
from dpassay.properties.experiments.gaussian_selection.bike_data import REGISTERED_BOUND

__all__ = ["ACCOUNTS", "MOST_ROUNDS", "Account", "admitted_rounds", "filter_budgets"]

Array = NDArray[np.float64]

DELTA = 1 / REGISTERED_BOUND
MOST_ROUNDS = 731  # every round takes at least a day


@dataclass(frozen=True)
class Account:
    """A way to charge the rounds.

    Parameters
    ----------
    method : {"self-reported", "filter"}
        Whether outcomes or promises are charged.
    bound : str
        Where epsilon_max comes from: a name in `ANTE_BOUNDS`, or "pure".
    protocol : {"fair", "printed"}
        How delta is spread.
    round_delta : float
        delta_t of a round, 0 for the pure bound.
    slack : float
        delta' of the fully adaptive filter, 0 if self-reported.
    """

    method: str
    bound: str
    protocol: str
    round_delta: float
    slack: float = 0.0

    @property
    def delta(self) -> float:
        """The total delta of all rounds that may run."""
        if self.method == "filter":
            return min(1.0, self.slack + MOST_ROUNDS * self.round_delta)
        return -math.expm1(MOST_ROUNDS * math.log1p(-self.round_delta))

    def filter(self, budget: float) -> SelfReportingFilter | FullyAdaptiveFilter:
        """Return a fresh filter with that budget of epsilon, and with delta for `MOST_ROUNDS` rounds."""
        allowance = min(1.0, MOST_ROUNDS * self.round_delta * (1 + 2.0**-40))  # the sum of the rounded delta_t fits
        if self.method == "filter":
            return FullyAdaptiveFilter(budget, self.slack, allowance)
        return SelfReportingFilter(budget, allowance)


ACCOUNTS = (
    Account("self-reported", "halting_moment", "printed", DELTA),
    Account("self-reported", "halting_moment", "fair", DELTA / MOST_ROUNDS),
    Account("self-reported", "direct", "fair", DELTA / MOST_ROUNDS),
    Account("self-reported", "pure", "fair", 0.0),
    Account("filter", "halting_moment", "printed", DELTA, DELTA),
    Account("filter", "halting_moment", "fair", DELTA / (2 * MOST_ROUNDS), DELTA / 2),
    Account("filter", "direct", "fair", DELTA / (2 * MOST_ROUNDS), DELTA / 2),
    Account("filter", "pure", "fair", 0.0, DELTA),
)


def filter_budgets(account: Account, offer: Offer, counts: list[int]) -> list[float]:
    """Return the least budget with which the fully adaptive filter admits that many equal rounds.

    It composes the squares of the epsilons: `count` rounds cost what one of sqrt(count) times the epsilon does.
    """

    def admits(budgets: Array) -> NDArray[np.bool_]:
        costs = [Offer(math.sqrt(count) * offer.epsilon) for count in counts]
        tried = zip(budgets.tolist(), costs, strict=True)
        return np.array([not account.filter(budget).would_exceed(cost) for budget, cost in tried])

    low = np.full(len(counts), offer.epsilon / 2)
    high = np.full(len(counts), 2 * MOST_ROUNDS * offer.epsilon * math.log(2 / account.slack))
    return [float(budget) for budget in smallest_accepted(admits, low, high, geometric=True)]


def admitted_rounds(account: Account, offer: Offer, budget: float, losses: list[float]) -> int:
    """Return the number of rounds that a filter admits, given their ex-post losses in order.

    Parameters
    ----------
    account : Account
        The account.
    offer : Offer
        A-priori guarantee of each round.
    budget : float
        Budget of epsilon, nats.
    losses : list of float
        Ex-post losses of the rounds, nats.
    """
    privacy_filter = account.filter(budget)
    for count, loss in enumerate(losses):
        if privacy_filter.would_exceed(offer):
            return count
        privacy_filter.spend(offer, loss)
    return len(losses)
