"""What "not refuted" excludes: how strong a leak an ideal bettor would have needed, with as many calls on one pair.

The wealth against a claim grows by a mean of `rate` nats a call if the bettor knows both laws; the claim is refuted
once it has paid for the level and for the weights of all mixtures. As a measure of what a rate means, the Laplace
mechanism on its worst pair has the losses (Dwork, McSherry, Nissim, Smith 2006)

    L = E with probability 1/2,  L = -E with probability e^-E / 2,  density e^((L - E)/2) / 4 between,

where E is its epsilon: against the pure claim epsilon its rate is the mean divergence of the posterior of the side
from itself clipped to the claim.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import BoundedRange, Claim
from dpassay.properties.audit.betting import CAP_FRACTIONS, LEVELS, Direction, log_factors
from dpassay.properties.audit.hypotheses import families_of

__all__ = ["Exclusion", "exclusion", "laplace_growth", "laplace_range_growth"]

Array = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_DIRECTIONS: tuple[Direction, ...] = ("both", "left over right", "right over left")
_SHARES = 0.125  # nats: the bet's own part of the mixture over claims, and the reserve for calls that raise
_REACH = 64.0  # nats above the claim; beyond that no outcome tells more
_LARGEST = 64.0  # a claim of which even the best outcome refutes nothing in fewer than e^64 calls
_PRECISION = 2.0**-14


@dataclass(frozen=True)
class Exclusion:
    """What a hunt that did not refute its claim would have refuted on average, had it known where to look.

    Parameters
    ----------
    rate : float
        Evidence that an ideal bettor needs, in nats a call on one pair.
    laplace_epsilon : float or None
        The smallest epsilon of a Laplace mechanism that gives as much on its worst pair; infinity if none does.
        None for ex-post claims.
    """

    rate: float
    laplace_epsilon: float | None


def exclusion(claim: Claim, *, calls: int, alpha: float, log_weight: float = 0.0) -> Exclusion:
    """Return what so many calls exclude.

    Parameters
    ----------
    claim : Claim
        The claim that was not refuted.
    calls : int
        At least 1.
    alpha : float
        Level of the test.
    log_weight : float
        Logarithm of the weight of the pair in the mixture over all pairs, at most 0.
    """
    needed = -math.log(alpha) - log_weight + _SHARES
    point = next(
        ((family.epsilon[k], family.delta[k]) for family in families_of(claim) if (k := family.claimed) >= 0), None
    )
    if point is None:
        return Exclusion(needed / calls, None)
    if isinstance(claim, BoundedRange):  # one of two halves bets on pairs of calls
        needed += math.log(2)
        return Exclusion(
            needed / calls, _smallest(lambda e: laplace_range_growth(e, claim.epsilon), claim.epsilon, needed / calls)
        )
    epsilon, delta = point
    parts = len(_DIRECTIONS) * len(CAP_FRACTIONS) if delta.any() else 1
    needed += math.log(len(epsilon) * parts)

    def growth(true_epsilon: float) -> float:
        return max(laplace_growth(true_epsilon, *at) for at in zip(epsilon.tolist(), delta.tolist(), strict=True))

    return Exclusion(needed / calls, _smallest(growth, float(epsilon.max()), needed / calls))


def laplace_growth(true_epsilon: float, epsilon: float, delta: float = 0.0) -> float:
    """Return the mean evidence of a call, in nats, against (epsilon, delta)-DP on the worst pair of Laplace noise.

    Sides are drawn with probability 1/2; for delta > 0 it is that of the best of the bets that
    :func:`dpassay.properties.audit.betting.log_wealth` mixes.

    Examples
    --------
    >>> round(math.log(1 / 0.05) / laplace_growth(1.0, 0.5))
    153
    """
    losses, left = _laplace_losses(true_epsilon, epsilon)
    right = left * np.exp(-losses)

    def mean(direction: Direction, fraction: float) -> float:
        on_left, on_right = log_factors(_predicted(losses), epsilon, delta, direction=direction, cap_fraction=fraction)
        return float(left @ on_left + right @ on_right) / 2

    if delta == 0:
        return max(0.0, mean("both", 1.0))
    return max(0.0, *(mean(direction, fraction) for direction in _DIRECTIONS for fraction in CAP_FRACTIONS))


def laplace_range_growth(true_epsilon: float, epsilon: float) -> float:
    """Return the mean evidence of a call against bounded range epsilon, from pairs of a left and a right call."""
    losses, left = _laplace_losses(true_epsilon, epsilon / 2, widest=4.0)
    right = left * np.exp(-losses)
    on_left, _ = log_factors(_predicted(losses[:, None] - losses[None, :]), epsilon)
    return max(0.0, float(left @ on_left @ right)) / 2


def _predicted(losses: Array) -> Array:
    """Return the posterior logits, no further out than bets go: nobody stakes everything."""
    return np.clip(losses, LEVELS[0], LEVELS[-1])


def _laplace_losses(true_epsilon: float, kink: float, widest: float = 1.0) -> tuple[Array, Array]:
    """Return the losses and their probabilities on the left, with Gauss-Legendre nodes between the atoms."""
    inner = min(kink, true_epsilon)
    corners = [-true_epsilon, -inner, inner, true_epsilon]
    nodes, masses = [np.array([-true_epsilon, true_epsilon])], [np.array([math.exp(-true_epsilon) / 2, 0.5])]
    for low, high in pairwise(corners):
        edges = np.linspace(low, high, math.ceil((high - low) / widest) + 1)
        for start, end in pairwise(edges):
            losses = (start + end) / 2 + (end - start) / 2 * _NODES
            nodes.append(losses)
            masses.append((end - start) / 2 * _WEIGHTS * np.exp((losses - true_epsilon) / 2) / 4)
    return np.concatenate(nodes), np.concatenate(masses)


def _smallest(growth: Callable[[float], float], claimed: float, rate: float) -> float:
    """Return the smallest epsilon, rounded up, whose growth reaches a rate; growth increases with epsilon."""
    if not claimed < _LARGEST:
        return math.inf
    low, high = 0.0, claimed + 1 / _REACH
    while growth(high) < rate:
        if high >= claimed + _REACH:
            return math.inf
        low, high = high, claimed + 4 * (high - claimed)
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if growth(middle) >= rate else (middle, high)
    return high
