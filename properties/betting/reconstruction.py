"""Reconstruction as an audit: bits that are recovered too often refute a claim of pure privacy.

Uniform bits are drawn, the mechanism runs on them once, an attack guesses them from the outcome, and the guesses are
compared. If the mechanism is epsilon-DP when one bit changes, each guess is right with conditional probability at most
c = e^epsilon/(1 + e^epsilon), given the outcome and the bits before it: the statement
`bits_are_right_with_conditional_chance_at_most_c`. So a bet that multiplies the wealth by q/c for a right guess and
by (1 - q)/(1 - c) for a wrong one, q > c, has expectation at most 1, and so has the mean over several q. By Ville's
inequality wealth of 1/alpha at any time refutes the claim at level alpha. The bound speaks of pure privacy only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least, require_probability
from dpassay.claims import PureDP
from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.log_domain import logsumexp

__all__ = ["Recovery", "audit_reconstruction"]

Attack = Callable[[Any], NDArray[np.int64]]
"""From an outcome to the bits that it is thought to come from."""

LOG_ODDS = np.linspace(2.0**-6, 24.0, 192)
"""The guesses q of the bets, by their log-odds: the same for every claim, so that larger ones are refuted last."""


@dataclass(frozen=True)
class Recovery:
    """The number of guessed bits, and of correct guesses."""

    right: int = 0
    total: int = 0

    def after(self, right: int, total: int) -> "Recovery":
        """Return the counts after one more outcome."""
        return replace(self, right=self.right + right, total=self.total + total)

    def log_evidence(self, epsilon: float) -> float:
        """Return the logarithm of the wealth against pure DP with `epsilon`; it may be compared at any time.

        Bets whose q does not exceed c are not placed: their wealth stays 1.
        """
        bets = LOG_ODDS[require_at_least("epsilon", epsilon, 0) < LOG_ODDS]
        wrong = self.total - self.right
        # log(q/c) and log((1 - q)/(1 - c)), by the logistic function's logarithm
        gains = self.right * (np.logaddexp(0, -epsilon) - np.logaddexp(0, -bets))
        gains -= wrong * (np.logaddexp(0, bets) - np.logaddexp(0, epsilon))
        idle = math.log(len(LOG_ODDS) - len(bets)) if len(bets) < len(LOG_ODDS) else -math.inf
        return float(np.logaddexp(logsumexp(gains) if len(bets) else -math.inf, idle) - math.log(len(LOG_ODDS)))

    def epsilon_lower(self, alpha: float) -> float:
        """Return a lower bound on epsilon at confidence 1 - alpha, at any time: all smaller ones are refuted."""
        _require_level(alpha)
        lower = 0.0
        for epsilon in LOG_ODDS.tolist():
            if self.log_evidence(epsilon) < -math.log(alpha):
                break
            lower = epsilon
        return lower


def _require_level(alpha: float) -> None:
    if not require_probability("alpha", alpha):
        raise UsageError("alpha must be positive, because no finite evidence refutes a claim at level 0")


def audit_reconstruction(
    mechanism: ClaimedMechanism,
    attack: Attack,
    bits: int,
    *,
    rng: np.random.Generator,
    outcomes: int = 1,
    alpha: float = 1e-9,
) -> tuple[Recovery, bool]:
    """Recover fresh random bits from outcomes of a mechanism, and hold the rate against its claim.

    Parameters
    ----------
    mechanism : ClaimedMechanism
        Takes vectors of `bits` bits; its first claim is pure DP for neighbours that differ in one bit.
    attack : callable
        Guesses the bits from an outcome.
    bits : int
        Number of bits.
    rng : Generator
        Draws the bits, and is handed to the mechanism.
    outcomes : int
        After how many outcomes to stop; it stops earlier when the claim is refuted.
    alpha : float
        Probability of refuting a claim that is true.

    Returns
    -------
    (Recovery, bool)
        The counts, and whether the claim is refuted.

    Raises
    ------
    UsageError
        If the first claim is not pure DP, a guess is not a vector of `bits` bits, or alpha is not in (0, 1].
    """
    _require_level(alpha)
    claim = mechanism.claims[0]
    if not isinstance(claim, PureDP):
        raise UsageError(f"mechanism must claim pure DP: a recovery rate does not bound {claim!r}")
    recovery = Recovery()
    for _ in range(outcomes):
        secret = rng.integers(0, 2, bits)
        guess = np.asarray(attack(mechanism.sample(secret.astype(np.float64), 1, rng)[0]))
        if guess.shape != (bits,):
            raise UsageError(f"attack must return {bits} bits, got an array of shape {guess.shape}")
        recovery = recovery.after(int(np.sum(guess == secret)), bits)
        if recovery.log_evidence(claim.epsilon) >= -math.log(alpha):
            return recovery, True
    return recovery, False
