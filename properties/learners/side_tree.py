"""A Bayesian tree over ordered cells, which tells how likely the left side is in each.

Context-tree weighting (Willems, Shtarkov and Tjalkens 1995) over a binary tree whose leaves are cells of equal
past mass: every node either predicts by its own counts or splits, each with prior probability 1/2. A node's chance of
the left side has a mixture of symmetric Beta priors, from one that knows nothing (Krichevsky and Trofimov's) to one
that expects next to no difference: where the sides hardly differ, the first alone would lose half a logarithm of the
calls for each leaf, all that there is to win. The mixture adapts to the resolution that the data support, cell by
cell, and never does worse in log-loss than the best pruned tree by more than the length of its description.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.properties.log_domain import log_gamma

__all__ = ["evidence_and_chance", "fit_side_tree", "quantile_edges"]

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

STRENGTHS = (0.5, 8.0, 128.0, 2048.0)
"""Calls of each side that the priors of a chance are worth, the first by Krichevsky and Trofimov."""

_CELLS = 256
"""The largest number of cells between quantiles: more resolve narrower sets and take more time."""

_CALLS_PER_CELL = 4
"""The fewest calls in a cell: with fewer its estimated chances are mostly noise."""

_ATOM_SHARE = 1 / 64
"""A value with at least this share of the calls gets a cell of its own."""

_SAMPLE = 1 << 14
"""The largest number of values that are sorted for the quantiles: more place the edges more exactly."""


def quantile_edges(values: Array, is_left: NDArray[np.bool_] | None = None) -> Array:
    """Return increasing upper edges of cells (the last cell is unbounded), finer in the tails.

    Cells hold equal shares of the past in the middle and geometrically fewer calls towards both ends. Values that
    hold at least 1/64 of the past by themselves, and all values if there are few, get cells of their own; so does
    what lies beyond the outermost values of one of the sides.
    """
    usable = ~np.isnan(values)
    known = values[usable]
    if known.size == 0:
        return np.empty(0)
    sample = np.sort(known[:: max(1, known.size // _SAMPLE)])
    new = np.concatenate([[True], sample[1:] != sample[:-1]])
    starts = np.flatnonzero(new)
    if starts.size <= _CELLS // 2:
        atoms = sample[starts]
    else:
        repeats = np.diff(np.append(starts, sample.size))
        atoms = sample[starts[repeats >= max(4.0, _ATOM_SHARE * sample.size)]]
    cells = min(_CELLS, max(2, known.size // _CALLS_PER_CELL))
    inner = sample[(np.arange(1, cells) / cells * sample.size).astype(np.int64)]
    parts = [inner, _tails(known, cells), atoms, _ends_of_sides(known, None if is_left is None else is_left[usable])]
    with np.errstate(over="ignore", under="ignore"):  # next to the largest and the smallest numbers
        parts.append(np.nextafter(atoms, -np.inf))
    edges: Array = np.unique(np.concatenate(parts))
    return edges


def _tails(known: Array, cells: int) -> Array:
    """Return quantiles of the lowest and of the highest calls, down to four calls."""
    depth = known.size // cells
    if depth <= _CALLS_PER_CELL:
        return np.empty(0)
    ranks = np.geomspace(_CALLS_PER_CELL, depth, 12).astype(np.int64)
    ordered = np.partition(known, [depth, known.size - 1 - depth])
    lowest, highest = np.sort(ordered[: depth + 1]), np.sort(ordered[-depth - 1 :])
    return np.concatenate([lowest[ranks], highest[-1 - ranks]])


def _ends_of_sides(known: Array, is_left: NDArray[np.bool_] | None) -> Array:
    """Return edges just outside the smallest and the largest value of either side.

    They are found in the earlier half of the past, so that the later half counts fairly beyond them.
    """
    earlier = known[: known.size // 2]
    is_left = None if is_left is None else is_left[: earlier.size]
    sides = [] if is_left is None else [side for side in (earlier[is_left], earlier[~is_left]) if side.size]
    if len(sides) < 2:  # both sides
        return np.empty(0)
    with np.errstate(over="ignore", under="ignore"):
        return np.array([end for side in sides for end in (np.nextafter(side.min(), -np.inf), side.max())])


def evidence_and_chance(left: ArrayLike, right: ArrayLike, strength: float) -> tuple[Array, Array]:
    """Return the log-likelihood of counts under a symmetric Beta prior, and the posterior mean of the left side.

    Parameters
    ----------
    left, right : array_like of int
        Counts.
    strength : float
        Both parameters of the prior.
    """
    a, b = np.asarray(left, dtype=np.float64) + strength, np.asarray(right, dtype=np.float64) + strength
    constant = math.lgamma(2 * strength) - 2 * math.lgamma(strength)
    return _log_gamma(a, strength) + _log_gamma(b, strength) - _log_gamma(a + b, strength) + constant, a / (a + b)


def _log_gamma(x: Array, least: float) -> Array:
    """Return the logarithm of Gamma; Stirling's series, where it is good to 1e-6, in a fraction of the time."""
    if least < STRENGTHS[1]:
        exact: Array = log_gamma(x)
        return exact
    series: Array = (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + 1 / (12 * x)
    return series


def fit_side_tree(left: Counts, right: Counts) -> Array:
    """Return the posterior logit of the left side in each cell.

    Parameters
    ----------
    left, right : ndarray of int, shape (..., cells)
        Calls of each side in each cell, in the order of the cells; one tree for each leading index.

    Examples
    --------
    >>> bool(fit_side_tree(np.array([50, 0]), np.array([0, 50]))[0] > 4)
    True
    """
    cells = left.shape[-1]
    depth = max(0, (cells - 1).bit_length())
    a, b = np.zeros((2, *left.shape[:-1], 1 << depth), dtype=np.int64)
    a[..., :cells], b[..., :cells] = left, right
    levels = [(a, b)]
    for _ in range(depth):
        a, b = levels[-1]
        levels.append((a[..., 0::2] + a[..., 1::2], b[..., 0::2] + b[..., 1::2]))
    # all nodes at once: the levels one after the other, the leaves first
    evidence, chance = _mixed(*(np.concatenate(part, axis=-1) for part in zip(*levels, strict=True)))
    ends = np.cumsum([level[0].shape[-1] for level in levels])
    parts = [
        (evidence[..., end - (size := level[0].shape[-1]) : end], chance[..., end - size : end])
        for end, level in zip(ends.tolist(), levels, strict=True)
    ]
    weighted, splits = parts[0][0], []
    for own, _ in parts[1:]:
        children = weighted[..., 0::2] + weighted[..., 1::2]
        top = np.maximum(own, children)
        total = np.exp(own - top) + (split := np.exp(children - top))
        splits.append(split / total)  # posterior probability that the node splits
        weighted = top + np.log(total / 2)
    prediction, reached = np.zeros((*left.shape[:-1], 1)), np.ones((*left.shape[:-1], 1))
    for (_, mean), split in zip(reversed(parts[1:]), reversed(splits), strict=True):
        prediction = np.repeat(prediction + reached * (1 - split) * mean, 2, axis=-1)
        reached = np.repeat(reached * split, 2, axis=-1)
    prediction = np.clip((prediction + reached * parts[0][1])[..., :cells], 1e-12, 1 - 1e-12)
    logits: Array = np.log(prediction) - np.log1p(-prediction)
    return logits


def _mixed(left: Counts, right: Counts) -> tuple[Array, Array]:
    """Return evidence and chance under equal shares of all priors; a node without calls is everyone's alike."""
    evidence, chance = np.zeros(left.shape), np.full(left.shape, 0.5)
    occupied = left + right > 0
    parts = [evidence_and_chance(left[occupied], right[occupied], strength) for strength in STRENGTHS]
    logs, means = (np.array(part) for part in zip(*parts, strict=True))
    top = logs.max(axis=0)
    shares = np.exp(logs - top)
    total = shares.sum(axis=0)
    evidence[occupied], chance[occupied] = top + np.log(total / len(STRENGTHS)), (shares * means).sum(axis=0) / total
    return evidence, chance
