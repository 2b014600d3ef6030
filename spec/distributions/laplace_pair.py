"""Laplace noise about two centres: divergences in closed form, and cells for composition.

With the distance d of the centres in noise scales the loss is d on one side of both, -d on the other, and falls
linearly between them.
"""

from fractions import Fraction
from itertools import pairwise

from flint import arb

from dpassay.spec.ball import Exact, ball, exact
from dpassay.spec.distributions.composed_scores import Cell, cells_of_cuts
from dpassay.spec.distributions.laplace import log_laplace_interval

__all__ = ["laplace_cells", "laplace_hockey_stick", "laplace_renyi_divergence"]


def laplace_hockey_stick(distance: Exact, epsilon: Exact) -> arb:
    """Enclose the hockey-stick divergence at epsilon >= 0: 1 - e^((epsilon - d)/2), and 0 from epsilon = d on."""
    gap = exact("epsilon", epsilon) - exact("distance", distance)
    return -(ball(gap / 2).expm1()) if gap < 0 else arb(0)


def laplace_renyi_divergence(distance: Exact, order: Exact) -> arb:
    """Enclose the Renyi divergence of order alpha > 1 (Mironov 2017, Prop. 6).

    log(alpha/(2 alpha - 1) e^((alpha - 1) d) + (alpha - 1)/(2 alpha - 1) e^(-alpha d)) / (alpha - 1); the larger term
    is taken out, so that nothing overflows.
    """
    d, alpha = ball(exact("distance", distance)), ball(exact("order", order))
    wide = 2 * alpha - 1
    rest = (alpha - 1) / alpha * (-wide * d).exp()
    return ((alpha - 1) * d + (alpha / wide).log() + rest.log1p()) / (alpha - 1)


def laplace_cells(distance: Exact, pieces: int = 64) -> list[Cell]:
    """Cut the real line at the two centres and evenly between them; the left distribution is centred at 0."""
    d = exact("distance", distance)
    cuts: list[Fraction | None] = [None, *(d * k / pieces for k in range(pieces + 1)), None]
    left, right = [], []
    for low, high in pairwise(cuts):
        left.append(log_laplace_interval(low, high).exp())
        right.append(log_laplace_interval(None if low is None else low - d, None if high is None else high - d).exp())
    return cells_of_cuts(left, right)
