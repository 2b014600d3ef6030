"""Divergences of pairs of independent noise, coordinate by coordinate.

Where a closed form is known the figure is that of the two distributions; else it is a lower bound through finitely
many cells. Only the coordinates that differ are given, at least one.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from dpassay.spec.ball import ball, exact, max_balls, sum_balls
from dpassay.spec.distributions.composed_scores import Cell, cells_of_cuts, composed_scores, pooled_scores
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.laplace_pair import laplace_hockey_stick, laplace_renyi_divergence
from dpassay.spec.distributions.noise import NoiseDistribution, NoisePair

__all__ = [
    "common_shift_of_noise",
    "hockey_stick_of_noise",
    "largest_loss_of_noise",
    "loss_range_of_noise",
    "renyi_divergence_of_noise",
]

_PIECES = 96
"""Cells of a continuous distribution between its quantiles: more bring the lower bound nearer to the loss."""

_REACH = 40
"""Noise scales about the location whose integers are cells of their own."""

_MOST_INTEGERS = 1500
"""Integers that are cells of their own at most: it bounds the time."""

_LEVELS = 400
"""Levels to which the losses of a coordinate are rounded down in a composition: more bring the lower bound nearer."""


def largest_loss_of_noise(moved: Sequence[NoisePair]) -> arb:
    """Return the largest privacy loss of independent noise, or a lower bound on it."""
    return sum_balls(_largest_loss(a, b) for a, b in moved)


def loss_range_of_noise(moved: Sequence[NoisePair]) -> arb:
    """Return the range of the privacy losses of independent noise, or a lower bound on it."""
    return sum_balls(_largest_loss(a, b) + _largest_loss(b, a) for a, b in moved)


def renyi_divergence_of_noise(moved: Sequence[NoisePair], order: float) -> arb:
    """Return the Renyi divergence of an order above 1 of independent noise, or a lower bound on it."""
    return sum_balls(_renyi(a, b, order) for a, b in moved)


def _distance(left: NoiseDistribution, right: NoiseDistribution) -> Fraction | None:
    """Return the distance in noise scales, None where the scales differ."""
    scale = exact("scale", left.scale)
    if left.family != right.family or scale != exact("scale", right.scale):
        return None
    return abs(exact("location", left.location) - exact("location", right.location)) / scale


def _between_integers(left: NoiseDistribution, right: NoiseDistribution) -> bool:
    return all(exact("location", distribution.location).denominator == 1 for distribution in (left, right))


def _largest_loss(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    distance = _distance(left, right)
    if distance == 0:
        return arb(0)
    if left.family == right.family and left.family.endswith("gaussian"):
        return _loss_of_gaussians(left, right)
    if distance is not None and (left.family == "laplace" or (left.is_discrete and _between_integers(left, right))):
        return ball(distance)
    if left.family == right.family == "laplace":
        return _loss_of_laplaces(left, right)
    if left.has_ends and left.family == right.family and (left.low, left.high) == (right.low, right.high):
        return _loss_between_ends(left, right)
    return _largest_of_cells(left, right)


def _loss_of_gaussians(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    """Return the largest loss of different Gaussians; it is finite where the left one is the narrower one."""
    a, b = exact("scale", left.scale), exact("scale", right.scale)
    if a >= b:
        return arb.pos_inf()
    if left.is_discrete:
        return _largest_of_cells(left, right)
    gap = exact("location", left.location) - exact("location", right.location)
    return ball(b / a).log() + ball(gap * gap / (2 * (b * b - a * a)))


def _loss_of_laplaces(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    a, b = exact("scale", left.scale), exact("scale", right.scale)
    if a > b:
        return arb.pos_inf()
    gap = abs(exact("location", left.location) - exact("location", right.location))
    return ball(b / a).log() + ball(gap / b)


def _loss_between_ends(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    """Return the largest loss of bounded or clamped Laplace noise.

    The logarithm of the ratio of the densities is linear between the ends and the locations, so that one of these has
    the largest; the ends of clamped noise are atoms.
    """
    assert left.low is not None
    assert left.high is not None
    low, high = exact("low", left.low), exact("high", left.high)
    places = [exact("location", one.location) for one in (left, right)]
    scales = [exact("scale", one.scale) for one in (left, right)]
    points = [low, high, *(place for place in places if low < place < high)]
    largest = (
        max_balls(ball(abs(x - places[1]) / scales[1]) - ball(abs(x - places[0]) / scales[0]) for x in points)
        + ball(scales[1] / scales[0]).log()
    )
    free = [NoiseDistribution("laplace", *parameters) for parameters in zip(places, scales, strict=True)]
    if left.family == "bounded laplace":
        inside = [one.interval(low, high) for one in free]
        return largest + (inside[1] / inside[0]).log()
    ends = ((None, low), (high, None))
    return max_balls([largest, *((free[0].interval(*end) / free[1].interval(*end)).log() for end in ends)])


def _largest_of_cells(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    return max_balls(_log_ratio(cell) for cell in _common_cells(left, right))


def _log_ratio(cell: Cell) -> arb:
    if not cell.left > 0:
        return arb.neg_inf()
    return (cell.left / cell.right).log() if cell.right > 0 else arb.neg_inf()


def common_shift_of_noise(moved: Sequence[NoisePair], *, on_lattice: bool = False) -> arb | None:
    """Return the Euclidean distance in noise scales where all coordinates are Gaussian with unchanged scales.

    Parameters
    ----------
    moved : sequence of NoisePair
        The coordinates that differ.
    on_lattice : bool
        Whether discrete Gaussians count. The supremum over all orders a of their Renyi divergence over a is that of
        continuous ones: at an order a it is at most a d^2 / 2 at a distance d in scales, with equality at integers a
        (Canonne, Kamath and Steinke 2020, Proposition 5).
    """
    distances = [_distance(a, b) for a, b in moved]
    families = {"gaussian", "discrete gaussian"} if on_lattice else {"gaussian"}
    if any(a.family not in families for a, _ in moved) or any(d is None for d in distances):
        return None
    return ball(sum((d * d for d in distances if d is not None), Fraction(0))).sqrt()


def hockey_stick_of_noise(moved: Sequence[NoisePair], epsilon: float) -> arb:
    """Return the hockey-stick divergence at epsilon of independent noise, or a lower bound on it."""
    shift = common_shift_of_noise(moved)
    if shift is not None:
        return gaussian_hockey_stick(shift, epsilon)
    (first, second), *others = moved
    distance = _distance(first, second)
    if first.family == "laplace" and distance is not None and not others:
        return laplace_hockey_stick(distance, epsilon)
    cells = [_common_cells(a, b) for a, b in moved]
    reach = sum(max((abs(c.loss) for c in some if math.isfinite(c.loss)), default=0.0) for some in cells)
    unit = max(reach, 1e-300) / _LEVELS
    scores = composed_scores([(pooled_scores(some, unit), 1) for some in cells])
    return arb(scores.delta_lower(epsilon))


def _renyi(left: NoiseDistribution, right: NoiseDistribution, order: float) -> arb:
    distance = _distance(left, right)
    if distance is not None and left.family == "laplace":
        return laplace_renyi_divergence(distance, order)
    if distance is not None and left.family == "gaussian":
        return ball(order) * ball(distance * distance) / 2
    alpha, moments = ball(order), arb(0)
    for cell in _common_cells(left, right):
        if cell.left > 0 and cell.right > 0:
            moments = moments + (alpha * cell.left.log() + (1 - alpha) * cell.right.log()).exp()
    # the cells that were left out would only add to it
    return moments.log() / (alpha - 1) if moments > 0 else arb(0)


def _common_cells(left: NoiseDistribution, right: NoiseDistribution) -> tuple[Cell, ...]:
    """Return common cells of two distributions; all orders of a divergence need the same ones."""
    return _cells_at(left, right, ctx.prec)


@lru_cache(maxsize=64)
def _cells_at(left: NoiseDistribution, right: NoiseDistribution, _bits: int) -> tuple[Cell, ...]:
    """Cut the line finely where either distribution has mass, and make cells of it."""
    cuts = sorted({*_cuts(left), *_cuts(right)})
    edges: list[Fraction | None] = [None, *cuts, None]
    first, second = [], []
    for low, high in itertools.pairwise(edges):
        first.append(left.interval(low, high))
        second.append(right.interval(low, high))
    return tuple(cells_of_cuts(first, second))


def _cuts(distribution: NoiseDistribution) -> list[Fraction]:
    location, scale = exact("location", distribution.location), exact("scale", distribution.scale)
    if distribution.is_discrete:
        middle, reach = math.floor(location), min(_MOST_INTEGERS // 2, math.ceil(_REACH * scale))
        return [Fraction(k) for k in range(middle - reach, middle + reach + 1)]
    from scipy import stats  # takes a second to import

    family = stats.norm if distribution.family == "gaussian" else stats.laplace
    quantiles = family.ppf(np.arange(1, _PIECES) / _PIECES)
    far = family.isf(np.logspace(-3, -40, 24))
    cuts = [location + scale * Fraction(float(z)) for z in (*quantiles, *far, *-far)]
    if distribution.low is None or distribution.high is None:
        return cuts
    low, high = exact("low", distribution.low), exact("high", distribution.high)
    ends = [low + (high - low) * Fraction(part) for part in (0, 2.0**-40, 0.5, 1 - 2.0**-40, 1)]
    return [*ends, *(cut for cut in cuts if low < cut < high)]
