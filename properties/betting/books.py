"""The books of a game: the ledgers of its kinds of bets, what is at stake, and the shares of the wealth."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.betting.bets import ERROR_PER_CALL, LEVELS, log_factors
from dpassay.properties.betting.wealth import Ledger
from dpassay.properties.learners.structural import KINDS

__all__ = ["COMMON_SHARE", "KEPT", "LOG_SHARES", "STRUCTURAL_SHARE", "Books", "ExPostLedger", "log_kept"]

Array = NDArray[np.float64]

STRUCTURAL_SHARE = 1 / 32
"""The share of the wealth that bets on each kind of structural events: it costs 3.5 nats, and the rest 0.1."""

COMMON_SHARE = 1 / 16
"""The share of the wealth that bets on what all pairs have in common: it costs 2.8 nats, and the rest 0.07."""


def _log_shares(common: bool) -> Array:
    """Return the logarithms of the shares of ordinary bets, of common ones if there are any, and of each kind."""
    shared = [COMMON_SHARE] * common
    structural = [STRUCTURAL_SHARE] * len(KINDS)
    return np.log([1 - math.fsum(shared + structural), *shared, *structural])


LOG_SHARES = {common: _log_shares(common) for common in (False, True)}

KEPT = 2.0**-7
"""The part of the wealth that a batch with as many calls as all up to it would keep from its bets; others keep as much
less as they are smaller. That costs 0.1 nats in 10^6 calls, and 6 to 7 nats when a call for many outcomes raises."""

_ROUNDED = 2.0**-46
"""Bounds the float error of the logarithm of what is kept, for each batch: the sum stays below 2^6."""


def log_kept(part: float) -> float:
    """Return the logarithm of a part of the wealth, in (0, 1), rounded down."""
    return math.log(part) - _ROUNDED


@dataclass
class ExPostLedger:
    """A `Ledger` whose calls are also told apart by the bound that the claim sets for their outcome."""

    counts: dict[tuple[float, int], tuple[int, int]] = field(default_factory=dict)

    def record(self, bounds: Array, levels: NDArray[np.int64], is_left: NDArray[np.bool_]) -> None:
        """Enter a batch; an infinite bound forbids nothing, so it is not entered."""
        for bound, level, left in zip(bounds.tolist(), levels.tolist(), is_left.tolist(), strict=True):
            if math.isfinite(bound):
                a, b = self.counts.get((bound, level), (0, 0))
                self.counts[bound, level] = (a + left, b + (not left))

    def log_wealth(self) -> float:
        """Return the logarithm of the wealth against the claim, rounded down."""
        if not self.counts:
            return 0.0
        bounds, levels = (np.array(part) for part in zip(*self.counts, strict=True))
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        on_left, on_right = log_factors(LEVELS[levels.astype(np.int64)], bounds)
        return float(on_left @ counts[:, 0] + on_right @ counts[:, 1] - ERROR_PER_CALL * counts.sum())


@dataclass(frozen=True)
class Books:
    """All that the wealth of a game depends on, replaced as a whole: an interruption never leaves half a batch."""

    ledger: Ledger = field(default_factory=Ledger)
    structural: tuple[Ledger, ...] = field(default_factory=lambda: tuple(Ledger() for _ in KINDS))
    common: Ledger = field(default_factory=Ledger)
    duels: Ledger = field(default_factory=Ledger)
    ex_post: ExPostLedger = field(default_factory=ExPostLedger)
    low_order: Ledger = field(default_factory=Ledger)
    low_order_ex_post: ExPostLedger = field(default_factory=ExPostLedger)
    log_stake: float = 0.0
    failed: bool = False

    def keeping(self, part: float) -> "Books":
        """Return the books with a part of the wealth, in (0, 1), rounded down."""
        return replace(self, log_stake=self.log_stake + log_kept(part))
