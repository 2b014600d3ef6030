"""Composition of independent mechanisms: certified float64 lower bounds through sums of integer scores.

Every mechanism's outcome is cut into finitely many cells with a whole score each; the outcome of the whole is seen
through the sum of the scores. That is post-processing: the hockey-stick divergence of the sum is a lower bound on that
of the mechanisms, however the cells and scores were chosen. Scores near the privacy loss make it a good one. A sum
that grows long is halved and clipped, which is post-processing again, so that thousands of mechanisms cost a few
convolutions of bounded length.

All numbers added and multiplied are non-negative, so that rounding is bounded by a known factor; what enters is
rounded outward. Convolutions are sums of products, never Fourier transforms: a probability of 1e-200 keeps its digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, float_lower, float_upper

__all__ = ["Cell", "ScoreDistributions", "cells_of_cuts", "composed_scores", "pooled_scores"]

Array = NDArray[np.float64]

LONGEST = 1024
"""Scores that are kept apart."""

STEPS_PER_DEVIATION = 8.0
"""The least number of scores in a standard deviation of the loss of one mechanism, before anything is halved."""

_ROUNDOFF, _SMALLEST = 2.0**-53, 2.0**-1074


@dataclass(frozen=True)
class Cell:
    """A set of outcomes with enclosures of its probabilities under both inputs, and an approximate privacy loss.

    The float64 `loss`, which may be off by a constant, decides where the cell goes and never the validity.
    """

    left: arb
    right: arb
    loss: float


def cells_of_cuts(left: Sequence[arb], right: Sequence[arb]) -> list[Cell]:
    """Make cells from the probabilities of the same sets under both inputs."""
    return [Cell(p, q, _loss(p, q)) for p, q in zip(left, right, strict=True)]


def _loss(left: arb, right: arb) -> float:
    p, q = float(left.mid()), float(right.mid())
    if p <= 0 or q <= 0:
        return -math.inf if p <= 0 else math.inf
    return math.log(p) - math.log(q)


@dataclass(frozen=True)
class ScoreDistributions:
    """The probabilities of the scores ``first``, ``first + 1``, ... under both inputs.

    The true probability on the left is at least ``left * (1 - relative) - absolute``, and on the right at most
    ``right * (1 + relative) + absolute``, score by score.
    """

    first: int
    left: Array
    right: Array
    relative: float
    absolute: float

    def delta_lower(self, epsilon: Exact | arb) -> float:
        """Return a certified lower bound on the hockey-stick divergence at epsilon, left over right; at least 0."""
        level = ball(epsilon)
        growth = min(max(float(level.mid()), -700.0), 700.0)
        chosen = self.left > math.exp(growth) * self.right
        if not chosen.any():
            return 0.0
        p, q = self._mass(chosen)
        return max(0.0, float_lower(p - level.exp() * q))

    def epsilon_lower(self, delta: Exact) -> float:
        """Return a certified lower bound on the epsilon at which the divergence falls to delta; at least 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.nan_to_num(np.log(self.left) - np.log(self.right), nan=-np.inf))
            p, q = np.cumsum(self.left[order]), np.cumsum(self.right[order])
            gains = np.where(p > float(delta), np.log(p - float(delta)) - np.log(q), -np.inf)
        best = int(np.argmax(gains))
        if not gains[best] > -math.inf:
            return 0.0
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[: best + 1]] = True
        mass, other = self._mass(chosen)
        excess = mass - ball(delta)
        return max(0.0, float_lower((excess / other).log())) if excess > 0 else 0.0

    def _mass(self, chosen: NDArray[np.bool_]) -> tuple[arb, arb]:
        """Bound the probability of some scores from below on the left and from above on the right."""
        slack, count = arb(self.relative) + arb(2) ** -50, int(chosen.sum())
        lost = arb(self.absolute) * count
        left, right = arb(math.fsum(self.left[chosen])), arb(math.fsum(self.right[chosen]))
        return left * (1 - slack) - lost, right * (1 + slack) + lost

    @property
    def deviation(self) -> float:
        """The approximate standard deviation of the score on the left."""
        scores = np.arange(len(self.left), dtype=np.float64)
        total = float(self.left.sum())
        if total <= 0:
            return 0.0
        mean = float(self.left @ scores) / total
        return math.sqrt(max(0.0, float(self.left @ (scores - mean) ** 2) / total))


def pooled_scores(cells: Sequence[Cell], unit: float | None = None) -> ScoreDistributions:
    """Assign to every cell the score nearest to its loss in units, clipped to a maximum.

    Parameters
    ----------
    cells : sequence of Cell
        Disjoint; what they do not cover is left out of every event.
    unit : float, optional
        Loss of one score, in nats; by default a part of the standard deviation of the loss on the left.

    Raises
    ------
    UsageError
        If there are no cells.
    """
    if not cells:
        raise UsageError("cells must hold at least one, got none")
    losses = np.array([cell.loss for cell in cells])
    weights = np.array([max(0.0, float(cell.left.mid())) for cell in cells])
    seen, weights = losses[np.isfinite(losses)], weights[np.isfinite(losses)]
    total = max(float(weights.sum()), 1e-300)
    mean = float(weights @ seen) / total
    spread = math.sqrt(float(weights @ (seen - mean) ** 2) / total)
    step = unit if unit is not None else spread / STEPS_PER_DEVIATION
    middle = np.rint(mean / step) if step > 0 else 0.0
    half = LONGEST // 2 - 1
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        relative = np.nan_to_num(np.rint(losses / step) - middle, nan=0.0, posinf=half, neginf=-half)
    scores = np.clip(relative, -half, half).astype(np.int64)
    first, last = int(scores.min()), int(scores.max())
    left, right = [arb(0)] * (last - first + 1), [arb(0)] * (last - first + 1)
    for cell, score in zip(cells, scores.tolist(), strict=True):
        left[score - first] = left[score - first] + cell.left
        right[score - first] = right[score - first] + cell.right
    return ScoreDistributions(
        first,
        np.array([max(0.0, float_lower(p)) for p in left]),
        np.array([max(0.0, float_upper(q)) for q in right]),
        0.0,
        0.0,
    )


def composed_scores(parts: Sequence[tuple[ScoreDistributions, int]]) -> ScoreDistributions:
    """Return the distributions of the sum of scores of independent mechanisms with given repetitions.

    The scores of different parts must have the same unit to be of use; whatever they are, the bounds are valid.

    Raises
    ------
    UsageError
        If there is nothing to compose or a count is not positive.
    """
    if not parts or any(count < 1 for _, count in parts):
        raise UsageError(f"parts must be repeated at least once each, got {[count for _, count in parts]!r}")
    repeated = [_repeated(distributions, count) for distributions, count in parts]
    finest = max(halvings for _, halvings in repeated)
    return reduce(
        lambda one, other: _shortened(_convolved(one, other))[0],
        (_halved(distributions, finest - halvings) for distributions, halvings in repeated),
    )


def _repeated(distributions: ScoreDistributions, count: int) -> tuple[ScoreDistributions, int]:
    """Return the distributions of the sum of `count` scores, by squaring, and how many times they were halved."""
    total, halvings = distributions, 0
    for bit in bin(count)[3:]:
        total, more = _shortened(_convolved(total, total))
        halvings += more
        if bit == "1":
            total, more = _shortened(_convolved(total, _halved(distributions, halvings)))
            halvings += more
    return total, halvings


def _convolved(one: ScoreDistributions, other: ScoreDistributions) -> ScoreDistributions:
    terms = min(len(one.left), len(other.left)) + 2
    relative = (one.relative + other.relative + terms * _ROUNDOFF) * (1 + 2.0**-10)
    return ScoreDistributions(
        one.first + other.first,
        np.convolve(one.left, other.left),
        np.convolve(one.right, other.right),
        relative + one.relative * other.relative,
        2 * (one.absolute + other.absolute + terms * _SMALLEST),
    )


def _shortened(distributions: ScoreDistributions) -> tuple[ScoreDistributions, int]:
    """Halve while the deviation has room for it, and clip scores that are still too long."""
    halvings = 0
    while len(distributions.left) > LONGEST and distributions.deviation > 2 * STEPS_PER_DEVIATION:
        distributions, halvings = _halved(distributions, 1), halvings + 1
    if len(distributions.left) <= LONGEST:
        return distributions, halvings
    scores = np.arange(len(distributions.left))
    centre = round(float(distributions.left @ scores) / max(float(distributions.left.sum()), 1e-300))
    begin = min(max(centre - LONGEST // 2, 0), len(distributions.left) - LONGEST)
    groups = np.clip(scores - begin, 0, LONGEST - 1)
    return _merged(distributions, groups, distributions.first + begin), halvings


def _halved(distributions: ScoreDistributions, times: int) -> ScoreDistributions:
    if times == 0:
        return distributions
    scores = np.arange(distributions.first, distributions.first + len(distributions.left))
    coarse = (scores + (1 << times >> 1)) >> times
    return _merged(distributions, coarse - coarse[0], int(coarse[0]))


def _merged(distributions: ScoreDistributions, groups: NDArray[np.intp], first: int) -> ScoreDistributions:
    """Add up the probabilities of groups of scores."""
    largest = int(np.bincount(groups).max())
    return ScoreDistributions(
        first,
        np.bincount(groups, weights=distributions.left).astype(np.float64),
        np.bincount(groups, weights=distributions.right).astype(np.float64),
        distributions.relative + (largest + 1) * _ROUNDOFF * (1 + distributions.relative),
        distributions.absolute * largest,
    )
