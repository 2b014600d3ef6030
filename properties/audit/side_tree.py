"""A Bayesian tree over ordered cells, which tells how likely the left side is in each.

Context-tree weighting (Willems, Shtarkov and Tjalkens 1995) over a binary tree whose leaves are cells of equal
past mass: every node either predicts by its own counts (Krichevsky and Trofimov's estimator) or splits, each with
prior probability 1/2. The mixture adapts to the resolution that the data support, cell by cell, and never does
worse in log-loss than the best pruned tree by more than the length of its description.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit

__all__ = ["fit_side_tree", "quantile_edges"]

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

_CELLS = 256
_ATOM_SHARE = 1 / 64


def quantile_edges(values: Array) -> Array:
    """Return increasing upper edges of cells (the last cell is unbounded), finer in the tails.

    Cells hold equal shares of the past in the middle and geometrically fewer calls towards both ends. Values that
    hold at least 1/64 of the past by themselves, and all values if there are few, get cells of their own.
    """
    known = np.sort(values[~np.isnan(values)])
    if known.size == 0:
        return np.empty(0)
    new = np.concatenate([[True], known[1:] != known[:-1]])
    starts = np.flatnonzero(new)
    if starts.size <= _CELLS // 2:
        atoms = known[starts]
    else:
        repeats = np.diff(np.append(starts, known.size))
        atoms = known[starts[repeats >= max(4.0, _ATOM_SHARE * known.size)]]
    cells = min(_CELLS, max(2, known.size // 4))
    tails = np.geomspace(4 / known.size, 1 / cells, 12) if known.size > 4 * cells else np.empty(0)
    ranks = np.concatenate([np.arange(1, cells) / cells, tails, 1 - tails])
    quantiles = known[np.minimum((ranks * known.size).astype(np.int64), known.size - 1)]
    with np.errstate(over="ignore", under="ignore"):  # next to the largest and the smallest numbers
        below = np.nextafter(atoms, -np.inf)
    edges: Array = np.unique(np.concatenate([quantiles, atoms, below]))
    return edges


def fit_side_tree(left: Counts, right: Counts) -> Array:
    """Return the posterior logit of the left side in each cell.

    Parameters
    ----------
    left, right : ndarray of int, shape (cells,)
        Calls of each side in each cell, in the order of the cells.

    Examples
    --------
    >>> bool(fit_side_tree(np.array([50, 0]), np.array([0, 50]))[0] > 4)
    True
    """
    size = 1 << max(0, (len(left) - 1).bit_length())
    a, b = (np.pad(counts, (0, size - len(counts))).astype(np.float64) for counts in (left, right))
    levels = [(a, b)]
    while len(levels[-1][0]) > 1:
        a, b = levels[-1]
        levels.append((a[0::2] + a[1::2], b[0::2] + b[1::2]))
    weighted = _log_estimate(*levels[0])
    splits: list[Array] = []
    for a, b in levels[1:]:
        own, children = _log_estimate(a, b), weighted[0::2] + weighted[1::2]
        splits.append(expit(children - own))  # posterior probability that the node splits
        weighted = np.logaddexp(own, children) - np.log(2)
    reached, prediction = np.ones(1), np.zeros(1)
    for (a, b), split in zip(reversed(levels[1:]), reversed(splits), strict=True):
        prediction = np.repeat(prediction + reached * (1 - split) * _estimate(a, b), 2)
        reached = np.repeat(reached * split, 2)
    prediction = prediction + reached * _estimate(*levels[0])
    logits: Array = logit(np.clip(prediction, 1e-12, 1 - 1e-12))[: len(left)]
    return logits


def _estimate(a: Array, b: Array) -> Array:
    result: Array = (a + 0.5) / (a + b + 1)
    return result


def _log_estimate(a: Array, b: Array) -> Array:
    """Return the logarithm of Krichevsky and Trofimov's probability of a sequence with these counts."""
    result: Array = gammaln(a + 0.5) + gammaln(b + 0.5) - gammaln(a + b + 1) - np.log(np.pi)
    return result
