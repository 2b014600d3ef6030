"""Families of claims that the game bets against: mixtures of (epsilon, delta) statements of growing weakness.

A claim is refuted through the (epsilon, delta) statements that it implies, so evidence against any mixture of them is
evidence against it. Which statements a notion implies is said in :mod:`dpassay.properties.notions`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.log_domain import logsumexp

__all__ = ["CURVE_DELTAS", "ClaimFamily", "curve_family", "delta_family", "epsilon_family", "growing", "shifted"]

Array = NDArray[np.float64]
Curve = Callable[[float, float], float]
"""Takes a parameter and a delta; returns the epsilon that follows, rounded up."""

CURVE_DELTAS = (0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-5)
"""The points of an implied curve that are bet against, in equal parts."""

_SMALLEST = 5e-324
"""The smallest positive parameter of a grid."""

_LARGEST = 1.7e308
"""The largest parameter of a grid."""

_MOST_POINTS = 1200
"""Points of a grid at most: a claim far from the usual range has a coarser grid, which bounds the time."""

_ROUNDING = 2.0**-40
"""A bound on the float error of a sum, relative to its terms."""


@dataclass(frozen=True)
class ClaimFamily:
    """Claims of growing weakness, each as an equal mixture of (epsilon, delta) hypotheses.

    Parameters
    ----------
    parameter : {"epsilon", "delta", "rho", "renyi_epsilon"}
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

    def rows(self, rows: slice | NDArray[np.intp]) -> "ClaimFamily":
        """Return some of the claims."""
        return ClaimFamily(self.parameter, self.grid[rows], self.epsilon[rows], self.delta[rows], -1)

    def mix(self, log_wealths: Array) -> Array:
        """Mix the wealth against the points of each claim."""
        if self.epsilon.shape[1] == 1:
            return log_wealths
        mixed: Array = logsumexp(log_wealths.reshape(self.epsilon.shape), axis=1) - math.log(self.epsilon.shape[1])
        return mixed


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


def epsilon_family(claimed: float | None, delta: float) -> ClaimFamily:
    """Return (epsilon, delta)-DP for growing epsilon; `claimed` is None if the claim is not a member."""
    grid, index = _grid(claimed, 2.0**-10, 20.0, 1.02)
    column = grid[:, None]
    return ClaimFamily("epsilon", grid, column, np.full_like(column, delta), index)


def delta_family(epsilon: float, claimed: float) -> ClaimFamily:
    """Return (epsilon, delta)-DP for growing delta."""
    grid, index = _grid(claimed, 1e-8, 1.0, 1.15)
    column = np.minimum(grid, 1.0)[:, None]
    return ClaimFamily("delta", column[:, 0], np.full_like(column, epsilon), column, index)


def curve_family(parameter: str, claimed: float, curve: Curve) -> ClaimFamily:
    """Return the points of the curves of a growing parameter, at `CURVE_DELTAS`; an infinite one claims nothing."""
    grid, index = growing(claimed)
    values = grid.tolist()
    points = [[curve(value, d) if value < math.inf else math.inf for d in CURVE_DELTAS] for value in values]
    epsilon = np.array(points)
    return ClaimFamily(parameter, grid, epsilon, np.broadcast_to(CURVE_DELTAS, epsilon.shape), index)


def growing(claimed: float) -> tuple[Array, int]:
    """Return a grid for the parameter of a curve, and the index of the claimed value in it."""
    return _grid(claimed, claimed / 16 if claimed else 2.0**-12, max(20.0, min(16 * claimed, _LARGEST)), 1.1)


def shifted(family: ClaimFamily, xi: float, delta: float) -> ClaimFamily:
    """Return the family with every epsilon moved by xi, for events of probability at least 1 - delta."""
    with np.errstate(over="ignore"):  # an infinite epsilon claims nothing
        epsilon = np.maximum(family.epsilon + xi + _ROUNDING * (family.epsilon + abs(xi)), 0.0)
    spread = np.minimum(delta + (1 - delta) * family.delta * (1 + _ROUNDING), 1.0)
    return ClaimFamily(family.parameter, family.grid, epsilon, spread, family.claimed)
