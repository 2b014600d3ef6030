"""Composition of independent mechanisms: certified upper bounds on the hockey-stick divergence.

The divergence of one pair is a convex, decreasing function of t = e^epsilon, from 1 at t = 0. Chords between points of
a grid, and a constant beyond the last one, lie above it. They are the divergence of a pair with finitely many losses,
those of the grid and infinity, which therefore dominates the pair; so do compositions (Doroshenko, Ghazi, Kamath,
Kumar and Manurangsi 2022, "Connect the Dots"). With slopes s_i between t_i and t_(i + 1) the loss log t_i has the
probabilities q_i = s_i - s_(i - 1) on the right and p_i = t_i q_i on the left.

Slopes are computed in balls. Convolutions are sums of products of non-negative float64 numbers, so that rounding is
bounded by a known factor.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact, float_upper, sum_balls

__all__ = ["LossCurve", "composed_delta_upper"]

Array = NDArray[np.float64]

_STEPS = 1000
"""Points of the grid between 0 and the largest loss of the composition: more bring the bound nearer to the truth."""

_ROUNDOFF, _SMALLEST = 2.0**-53, 2.0**-1074


@dataclass(frozen=True)
class LossCurve:
    """The hockey-stick divergence of a pair of distributions at every epsilon.

    Parameters
    ----------
    delta : callable
        Encloses the divergence at an epsilon, which may be negative.
    reach : float
        Where the grid ends; any positive number is valid, the largest loss is best.
    """

    delta: Callable[[Fraction], arb]
    reach: float


def composed_delta_upper(curves: Sequence[LossCurve], epsilon: Exact) -> float:
    """Return a certified upper bound on the divergence at epsilon of independent pairs.

    Raises
    ------
    UsageError
        If there are no curves, or a reach is not a positive finite number.
    """
    if not curves or not all(0 < curve.reach < math.inf for curve in curves):
        raise UsageError(f"curves must have positive finite reaches, got {[curve.reach for curve in curves]!r}")
    unit = Fraction(math.fsum(curve.reach for curve in curves) / _STEPS)
    left, first, relative, absolute = np.ones(1), 0, 0.0, 0.0
    infinite = []
    for curve in curves:
        half = math.ceil(curve.reach / unit)
        masses, beyond = _dominating(curve, unit, half)
        infinite.append(beyond)
        terms = min(len(left), len(masses)) + 2
        left, first = np.convolve(left, masses), first - half
        relative = (relative + terms * _ROUNDOFF) * (1 + 2.0**-10)
        absolute = 2 * (absolute + terms * _SMALLEST)
    total = sum_balls(infinite) + _excess(left, first, unit, epsilon) * (1 + arb(relative))
    return min(1.0, float_upper(total + len(left) * arb(absolute)))


def _dominating(curve: LossCurve, unit: Fraction, half: int) -> tuple[Array, arb]:
    """Return upper bounds on the probabilities p of the losses -half, ..., half in units, and of an infinite loss."""
    places = range(-half, half + 1)
    levels = [ball(unit * k).exp() for k in places]
    deltas = [curve.delta(unit * k) for k in places]
    slopes = [(deltas[0] - 1) / levels[0]]
    slopes += [(deltas[k + 1] - deltas[k]) / (levels[k + 1] - levels[k]) for k in range(2 * half)]
    slopes.append(arb(0))
    masses = [level * (slopes[k + 1] - slopes[k]) for k, level in enumerate(levels)]
    return np.array([max(0.0, float_upper(mass)) for mass in masses]), deltas[-1]


def _excess(left: Array, first: int, unit: Fraction, epsilon: Exact) -> arb:
    """Enclose the sum of p (1 - e^(epsilon - loss)) over the losses above epsilon."""
    level = exact("epsilon", epsilon)
    start = max(0, math.floor(level / unit) + 1 - first)
    return sum_balls(
        arb(float(left[k])) * -(ball(level - unit * (first + k)).expm1()) for k in range(start, len(left))
    )
