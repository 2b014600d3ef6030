"""What the game bets against: the (epsilon, delta) statements that a claim implies.

A claim is refuted through the hypotheses it implies, so evidence against any mixture of them is evidence against
it. Which implication is used for which notion:

- pure and approximate DP: the claim itself;
- probabilistic DP: approximate DP with the same parameters (weaker);
- bounded range: pure DP with the same epsilon (weaker; the game on pairs of calls, which is exact, is mixed in by
  :mod:`dpassay.properties.audit.campaign`);
- RDP and zCDP: points of the curve epsilon(delta) that follows from the Renyi divergences, on which the bound is a
  bound through that implication;
- approximate zCDP: the same points, at epsilon + xi and delta + (1 - delta) delta'; concentrated DP: those of the
  zCDP with xi = mu - tau^2/2 and rho = tau^2/2;
- ex-post: the claim itself, outcome by outcome (no family here).
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    UsageError,
    require_positive,
)

__all__ = ["Family", "epsilon_delta_of", "ex_post_bound", "families_of", "renyi_curve", "zcdp_curve"]

Array = NDArray[np.float64]

CURVE_DELTAS = (0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-5)
"""The points of an implied curve that are bet against, in equal parts."""

_SMALLEST, _LARGEST, _MOST_POINTS = 5e-324, 1.7e308, 1200
_ORDERS = 1 + np.geomspace(1e-3, 1e4, 400)
_ROUNDING = 2.0**-40  # relative to the terms, which float64 evaluates to far better than this


@dataclass(frozen=True)
class Family:
    """Claims of growing weakness, each as an equal mixture of (epsilon, delta) hypotheses.

    Parameters
    ----------
    parameter : {"epsilon", "delta", "rho", "renyi epsilon"}
        What grows.
    grid : ndarray, shape (n,)
        Its values, increasing.
    epsilon, delta : ndarray, shape (n, points)
        The hypotheses.
    claimed : int
        Index of the claim itself, -1 if it is not a member.
    """

    parameter: str
    grid: Array
    epsilon: Array
    delta: Array
    claimed: int

    def mix(self, log_wealths: Array) -> Array:
        """Mix the wealth against the points of each claim."""
        if self.epsilon.shape[1] == 1:
            return log_wealths
        mixed: Array = logsumexp(log_wealths.reshape(self.epsilon.shape), axis=1) - math.log(self.epsilon.shape[1])
        return mixed


def epsilon_delta_of(claim: Claim) -> tuple[float, float] | None:
    """Return the (epsilon, delta) that the claim states or implies directly; None for RDP, zCDP and ex-post."""
    match claim:
        case PureDP(epsilon) | BoundedRange(epsilon):
            return epsilon, 0.0
        case ApproximateDP(epsilon, delta) | ProbabilisticDP(epsilon, delta):
            return epsilon, delta
        case _:
            return None


def ex_post_bound(claim: ExPost, outcome: Hashable) -> float:
    """Return the bound that an ex-post claim sets for an outcome.

    Raises
    ------
    UsageError
        If the claim cannot tell: it raises (also on the symbol of a call that raised) or returns NaN.
    """
    try:
        bound = float(claim.epsilon_of(outcome))
    except Exception as error:
        raise UsageError(f"epsilon_of must bound every outcome, but on {outcome!r} it raises {error!r}") from error
    if math.isnan(bound):
        raise UsageError(f"epsilon_of must return a number or infinity for every outcome, got NaN for {outcome!r}")
    return bound


def renyi_curve(alpha: float, epsilon: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that follows from RDP(alpha, epsilon), rounded up.

    From ``(1 - e^(e - z))_+ <= max_u (1 - u) u^(alpha - 1) e^((alpha - 1) (z - e))`` under the mean over the
    privacy loss z: ``delta = e^((alpha - 1) (epsilon - e)) (1 - 1/alpha)^alpha / (alpha - 1)``.
    """
    require_positive("delta", delta)
    return float(_curve_points(np.array([alpha]), np.array([epsilon]), delta)[0])


def zcdp_curve(rho: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that follows from rho-zCDP, rounded up: the best order's."""
    require_positive("delta", delta)
    # any order gives a valid implication, so a grid of orders loses tightness only
    with np.errstate(over="ignore"):  # an infinite point claims nothing
        return float(_curve_points(_ORDERS, _ORDERS * rho, delta).min())


def _curve_points(alpha: Array, epsilon: Array, delta: float) -> Array:
    terms = np.array(
        [epsilon, alpha * np.log1p(-1 / alpha), -np.log(alpha - 1), np.full_like(alpha, -math.log(delta))]
    )
    terms[1:] /= alpha - 1
    rounding = _ROUNDING * np.abs(terms).sum(axis=0)
    points: Array = np.maximum(0.0, terms.sum(axis=0) + rounding)
    return points


def families_of(claim: Claim) -> list[Family]:
    """Return the families whose lower confidence bounds are reported for a claim."""
    point = epsilon_delta_of(claim)
    match claim:
        case RenyiDP(alpha, epsilon):
            return [_epsilons(None, 0.0), _curve("renyi epsilon", epsilon, lambda e, d: renyi_curve(alpha, e, d))]
        case ZCDP(rho):
            return [_epsilons(None, 0.0), _curve("rho", rho, zcdp_curve)]
        case ApproximateZCDP(rho, delta, xi):
            return [_epsilons(None, delta), _shifted_curve(rho, delta, xi)]
        case ConcentratedDP(mu, tau):
            rho = tau**2 / 2
            return [_epsilons(None, 0.0), _shifted_curve(rho, 0.0, mu - rho)]
        case ExPost():
            return [_epsilons(None, 0.0)]
    assert point is not None
    return [_epsilons(*point), _deltas(*point)]


def _grid(claimed: float | None, low: float, high: float, ratio: float) -> tuple[Array, int]:
    """Return a geometric grid through `claimed` (0 becomes its first point) and the index of `claimed`."""
    if not claimed:
        values: Array = np.geomspace(low, high, math.ceil(math.log(high / low) / math.log(ratio)))
        return (values, -1) if claimed is None else (np.concatenate([[0.0], values]), 0)
    down = math.log(claimed) - math.log(max(min(low, claimed / 16), _SMALLEST))
    up = max(math.log(high) - math.log(claimed), math.log(ratio))
    step = max(math.log(ratio), (down + up) / _MOST_POINTS)  # a claim far from the usual range has a coarser grid
    below, above = max(0, math.ceil(down / step)), max(1, math.ceil(up / step))
    with np.errstate(over="ignore"):
        through: Array = claimed * np.exp(step * np.arange(-below, above + 1, dtype=np.float64))
    return through, below


def _epsilons(claimed: float | None, delta: float) -> Family:
    grid, index = _grid(claimed, 2.0**-10, 20.0, 1.02)
    column = grid[:, None]
    return Family("epsilon", grid, column, np.full_like(column, delta), index)


def _deltas(epsilon: float, claimed: float) -> Family:
    grid, index = _grid(claimed, 1e-8, 1.0, 1.15)
    column = np.minimum(grid, 1.0)[:, None]
    return Family("delta", column[:, 0], np.full_like(column, epsilon), column, index)


def _curve(parameter: str, claimed: float, curve: Callable[[float, float], float]) -> Family:
    grid, index = _grid(claimed, claimed / 16 if claimed else 2.0**-12, max(20.0, min(16 * claimed, _LARGEST)), 1.1)
    epsilon = np.array([[curve(value, delta) for delta in CURVE_DELTAS] for value in grid])
    return Family(parameter, grid, epsilon, np.broadcast_to(CURVE_DELTAS, epsilon.shape), index)


def _shifted_curve(rho: float, delta: float, xi: float) -> Family:
    """Return the family of growing rho; xi moves every epsilon, and what is left out of the events adds to delta."""
    plain = _curve("rho", rho, zcdp_curve)
    shifted = np.maximum(plain.epsilon + xi + _ROUNDING * (plain.epsilon + abs(xi)), 0.0)
    spread = np.minimum(delta + (1 - delta) * plain.delta * (1 + _ROUNDING), 1.0)
    return Family(plain.parameter, plain.grid, shifted, spread, plain.claimed)
