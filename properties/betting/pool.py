"""The pool: one wealth that bets on every call of every pair.

A mixture over pairs keeps the evidence of each pair apart, and pays for each. The claim holds for all pairs, so that a
bet on the calls of whichever pair is played is fair as well: the product of its factors over all calls of all pairs is
an e-process. It needs predictions that are good on most pairs, such as those of what pairs have in common, and then
evidence that is spread over pairs adds up.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.betting.books import KEPT, log_kept
from dpassay.properties.betting.wealth import Ledger, joined, log_wealth

__all__ = ["POOL_SHARE", "Pool"]

Array = NDArray[np.float64]

POOL_SHARE = 1 / 8
"""The share of the wealth that the pool begins with: it costs 2.1 nats, and the pairs by themselves 0.13."""


class Pool:
    """The stake of the bets of all pairs on what they have in common; each game keeps its own bets."""

    def __init__(self) -> None:
        self._log_stake = 0.0

    def stake(self, calls: int, total: int, *, lost: bool) -> None:
        """Keep a small part from the bets on a batch; where the batch is lost, it is all that is left.

        Parameters
        ----------
        calls, total : int
            The calls of the batch, and all up to it.
        lost : bool
            Whether a call for many outcomes raised.
        """
        kept = KEPT * calls / total
        self._log_stake += log_kept(kept if lost else 1 - kept)

    def log_wealth(
        self, epsilon: Array, delta: Array, ledgers: Sequence[Ledger], aside: Sequence[Ledger] = ()
    ) -> Array:
        """Return the logarithm of the wealth against each claim, rounded down.

        Parameters
        ----------
        epsilon, delta : ndarray
            The claims.
        ledgers : sequence of Ledger
            The bets of each pair on what all have in common.
        aside : sequence of Ledger
            Those of pairs that turned out to be no evidence: what they won does not count, what they lost does.
        """
        wealth = log_wealth(joined([Ledger(), *ledgers]), epsilon, delta)
        for ledger in aside:
            wealth = wealth + np.minimum(log_wealth(ledger, epsilon, delta), 0.0)
        return np.asarray(wealth + self._log_stake - 2.0**-44)
