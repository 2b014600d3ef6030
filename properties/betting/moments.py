"""The bet on a Renyi moment: it refutes claims that no point of their (epsilon, delta) curve can refute.

The claim E_Q[(dP/dQ)^alpha] <= C = e^((alpha - 1) epsilon) implies, by the inequalities of Hoelder and Young, for
every h from outcomes to [0, 1] and every t > 0, with beta = alpha / (alpha - 1),

    E_P[h] - c2 E_Q[h^beta] <= c1,      c1 = t^alpha C / alpha,   c2 = t^-beta / beta,

since E_P[h] <= C^(1/alpha) E_Q[h^beta]^(1/beta) and x y <= x^alpha / alpha + y^beta / beta with x = t C^(1/alpha). It
is linear in the expectations: with the left side drawn from P with probability w, the factor

    1 + s (h 1[left] / (2 w) - c2 h^beta 1[right] / (2 (1 - w)) - c1 / 2),      s (c2 / (2 (1 - w)) + c1 / 2) <= 1,

is never negative and has mean at most 1, whatever the distributions are. h = min(1, e^((alpha - 1) (l - cap))) of a
predicted loss l, which was fixed before the side is drawn, as caps, stakes and t are by a list: their equal mixture
over both orders of the pair is an e-process, and a function of the `Ledger`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.properties.betting.bets import ERROR_PER_CALL, LEVELS, WEIGHTS
from dpassay.properties.betting.wealth import Ledger
from dpassay.properties.log_domain import logsumexp

__all__ = ["CAPS", "STAKES", "log_moment_wealth", "moment_factors"]

Array = NDArray[np.float64]

CAPS = (1.0, 2.0, 3.0, 5.0)
"""Losses, nats, from which on h is 1: a larger cap bets on rarer outcomes."""

STAKES = (1 / 2, 1 / 8, 1 / 32)
"""Stakes as fractions of the largest s: smaller ones lose less while the evidence is thin."""

_RATIO = 1.1
"""t in units of its best value if the moment is the claimed one; a larger moment has a larger best t."""


def moment_factors(
    losses: Array, alpha: float, epsilon: float, *, cap: ArrayLike, stake: ArrayLike, weight: ArrayLike = 0.5
) -> tuple[Array, Array]:
    """Return the logarithms of the factors on a call of the first input and on one of the second.

    Parameters
    ----------
    losses : ndarray
        Predictions of log dP/dQ, nats; any function of the outcome.
    alpha, epsilon : float
        The claim: order above 1, and bound on the divergence of P from Q, nats, at least 0.
    cap : array_like
        Loss from which on h is 1, nats.
    stake : array_like
        Fraction of the largest s, in (0, 1).
    weight : array_like
        Probability w of the first input; all three broadcast against the losses.
    """
    beta = alpha / (alpha - 1)
    cap, stake, weight = (np.asarray(part, dtype=np.float64) for part in (cap, stake, weight))
    log_t = math.log(_RATIO) - cap / beta
    first = np.exp(alpha * log_t + (alpha - 1) * epsilon) / alpha / 2
    second = np.exp(-beta * log_t) / beta / (2 * (1 - weight))
    largest = (1 - 2.0**-40) / (first + second)
    log_h = (alpha - 1) * np.minimum(losses - cap, 0.0)
    with np.errstate(under="ignore"):
        gain, loss = np.exp(log_h) / (2 * weight), second * np.exp(beta * log_h)
    return (
        np.log1p(stake * largest * (gain - first)),
        np.log1p(-stake * largest * (loss + first)),
    )


def log_moment_wealth(ledger: Ledger, alpha: float, epsilon: float) -> float:
    """Return the logarithm of the wealth against RDP(alpha, epsilon), both orders of the pair, rounded down.

    0 where the constants of the bet exceed float64.
    """
    if (alpha - 1) * epsilon > _LARGEST_EXPONENT or alpha / (alpha - 1) * max(CAPS) > _LARGEST_EXPONENT:
        return 0.0
    right, left = ledger.sides.astype(np.float64)
    weights, losses = np.array(WEIGHTS)[ledger.rows], LEVELS[ledger.levels]
    caps, stakes = np.array(CAPS)[:, None], np.array(STAKES)[:, None, None]
    wealth = []
    for first, second, ahead, own in ((left, right, losses, weights), (right, left, -losses, 1 - weights)):
        on_first, on_second = moment_factors(ahead, alpha, epsilon, cap=caps, stake=stakes, weight=own)
        wealth.append(on_first @ first + on_second @ second)
    count = len(wealth) * len(CAPS) * len(STAKES)
    return float(logsumexp(np.array(wealth))) - math.log(count) - ERROR_PER_CALL * (ledger.calls + 1)


_LARGEST_EXPONENT = 300.0
"""Beyond this exponent a moment is no float64, and no bet on it is made."""
