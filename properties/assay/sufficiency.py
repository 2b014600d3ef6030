"""The calls with which a sampled test of a claim is not weak."""

import math
from functools import lru_cache

from dpassay.claims import Claim
from dpassay.properties.betting.power import power_of

__all__ = ["LEAST_CALLS", "MOST_SAMPLED_PAIRS", "sufficient_calls"]

LEAST_CALLS = 500
"""Calls with which a hunt counts, if the case allows as many."""

MOST_SAMPLED_PAIRS = 48
"""Maximum number of pairs that share the calls of a sampled law."""

_MARGIN = 1.05  # factor on the calls that are just enough
_LEAST_LOG_WEIGHT = -6.0  # log weight of a pair among some dozens


@lru_cache
def sufficient_calls(claim: Claim, alpha: float, *, pairs: int) -> int | None:
    """Return the calls with which a hunt on some pairs is not weak, with a margin; None if no number is enough.

    Parameters
    ----------
    claim : Claim
        The claim.
    alpha : float
        Level of the hunt.
    pairs : int
        Number of pairs that share the calls.
    """
    power = power_of(claim, calls=LEAST_CALLS, alpha=alpha, log_weight=_LEAST_LOG_WEIGHT, pairs=pairs)
    return None if power.calls_needed is None else math.ceil(_MARGIN * power.calls_needed)
