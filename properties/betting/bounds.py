"""The lower confidence bound on a quantity: the largest value that the wealth of a campaign refutes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.betting.bets import last_refuted
from dpassay.properties.betting.families import ClaimFamily

__all__ = ["OWN_SHARE", "lower_bound"]

Array = NDArray[np.float64]

OWN_SHARE = 1 / 16
"""The share of the wealth that bets against each stronger claim on its own: the bet on the claim loses 0.06 nats."""

_CLAIMS_AT_ONCE = 16
"""Claims whose wealth is computed in one pass if delta > 0: the search for a bound stops after the first such pass
that refutes none."""


def lower_bound(family: ClaimFamily, needed: float, claimed: float, own: Callable[[slice], Array]) -> float:
    """Return the lower confidence bound; where a claim takes long, those beyond the first that stands are left.

    Parameters
    ----------
    family : ClaimFamily
        The claims of a parameter.
    needed : float
        The logarithm of the wealth that refutes a claim.
    claimed : float
        The logarithm of the e-value against the claim at issue, which counts against every stronger one.
    own : callable
        The logarithm of the wealth against the claims of a slice of rows.
    """
    size, bound = len(family.grid), 0.0
    step = _CLAIMS_AT_ONCE if family.delta.any() else size
    starts = [0, *range(1, size, step)]  # the strongest claim alone: where it stands, no other matters
    for start, end in zip(starts, [*starts[1:], size], strict=True):
        rows = slice(start, end)
        wealth = own(rows)
        stronger = np.arange(rows.start, rows.stop) <= family.claimed
        shared = np.logaddexp(wealth + np.log(OWN_SHARE), claimed)
        refuted = np.where(stronger, shared, wealth) >= needed
        bound = last_refuted(family.grid[rows], refuted, start=bound)
        if not refuted.all():
            break
    return bound
