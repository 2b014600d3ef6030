"""Releasing as many counts as possible at a relative accuracy: noise reduction and the doubling method.

A run selects the largest count that is not yet released (Gumbel noise, charged epsilon^2/8), then releases it by
Brownian noise reduction or by doubling until the stopping rule is content, and so on until the budget of zCDP is
spent; a count that the budget does not suffice for is discarded. Budgets are precisions, 2 rho: a stop at precision
u = 1/t costs u, all runs go in step. Not stated in the paper, assumed here: released counts leave the selection.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.mechanisms.doubling import RelativeError
from dpassay.impl.mechanisms.gumbel_selection import peeling_order

__all__ = ["METHODS", "Protocol", "Released", "release"]

Array = NDArray[np.float64]
GRID = 1000
AT_ONCE = 64


@dataclass(frozen=True)
class Protocol:
    """Budgets and parameters of a run.

    Parameters
    ----------
    budget : float
        Precision, 2 rho.
    smallest : float
        Precision of the first release of every count.
    accuracy : float
        Relative, in (0, 1).
    selection_epsilon : float
        Of the Gumbel noise; a selection costs epsilon^2/4 of precision.
    """

    budget: float
    smallest: float
    accuracy: float
    selection_epsilon: float

    @property
    def selection_cost(self) -> float:
        """The precision that a selection costs: twice epsilon^2/8."""
        return self.selection_epsilon**2 / 4


@dataclass(frozen=True)
class Released:
    """Results of the runs: the number of counts, and the fraction of accurate ones (1 if there were none)."""

    counts: NDArray[np.int64]
    precision: Array


def release(method: str, counts: Array, protocol: Protocol, runs: int, rng: np.random.Generator) -> Released:
    """Run the protocol `runs` times on the counts, by one of `METHODS`.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    counts : ndarray
        The true counts.
    protocol : Protocol
        Budgets and parameters.
    runs : int
        Number of runs.
    rng : numpy.random.Generator
        Source of randomness.
    """
    refine = METHODS[method]
    order = peeling_order(counts, protocol.selection_epsilon, runs, rng)
    left = np.full(runs, protocol.budget)
    released, accurate = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    running = np.arange(runs)
    for place in range(len(counts)):
        left[running] -= protocol.selection_cost
        running = running[left[running] >= protocol.smallest]
        if not running.size:
            break
        true = np.asarray(counts, dtype=np.float64)[order[running, place]]
        spent, values, content = refine(true, left[running], protocol, rng)
        left[running] -= spent
        done = running[content]
        released[done] += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.abs(np.abs(values[content] / true[content]) - 1)
        accurate[done] += error < protocol.accuracy
        running = done  # a run that discards has spent its budget
    share = np.where(released > 0, accurate / np.maximum(released, 1), 1.0)
    return Released(released, share)


Refined = tuple[Array, Array, NDArray[np.bool_]]
"""For each run: the precision spent, the last value, whether the rule is content with it."""


def _by_noise_reduction(true: Array, budgets: Array, protocol: Protocol, rng: np.random.Generator) -> Refined:
    """Refine along a grid of equally spaced precisions up to the budget; only the last stop is paid.

    The motion in information time grows by independent increments: drawn a block of the grid at a time, for the
    runs that are not content yet.
    """
    rule = RelativeError(protocol.accuracy)
    width = (budgets - protocol.smallest) / (GRID - 1)
    spent, values, content = budgets.copy(), np.zeros(len(true)), np.zeros(len(true), dtype=np.bool_)
    motion, going = np.zeros(len(true)), np.arange(len(true))
    for begin in range(0, GRID, AT_ONCE):
        steps = np.arange(begin, min(begin + AT_ONCE, GRID))
        precisions = protocol.smallest + width[going, None] * steps
        before = np.concatenate([precisions[:, :1] - width[going, None], precisions[:, :-1]], axis=1)
        before = np.where(steps == 0, 0.0, before)
        noise = np.sqrt(np.maximum(precisions - before, 0.0)) * rng.standard_normal(precisions.shape)
        walk = motion[going, None] + np.cumsum(noise, axis=1)
        seen = true[going, None] + walk / precisions
        good = rule.content(1 / np.sqrt(precisions), seen)
        first = np.where(good.any(axis=1), good.argmax(axis=1), precisions.shape[1] - 1)
        rows = np.arange(len(going))
        values[going], motion[going] = seen[rows, first], walk[:, -1]
        stopped = good.any(axis=1)
        spent[going[stopped]] = precisions[rows, first][stopped]
        content[going[stopped]] = True
        going = going[~stopped]
        if not going.size:
            break
    return spent, values, content


def _by_doubling(true: Array, budgets: Array, protocol: Protocol, rng: np.random.Generator) -> Refined:
    """Release with fresh noise at doubled precisions while the sum stays within the budget."""
    rule = RelativeError(protocol.accuracy)
    spent, values, content = np.zeros(len(true)), np.zeros(len(true)), np.zeros(len(true), dtype=np.bool_)
    precision, going = protocol.smallest, np.arange(len(true))
    while True:
        going = going[spent[going] + precision <= budgets[going]]
        if not going.size:
            return spent, values, content
        spent[going] += precision
        seen = true[going] + rng.standard_normal(len(going)) / np.sqrt(precision)
        good = rule.content(np.full(len(going), 1 / np.sqrt(precision)), seen)
        values[going[good]], content[going[good]] = seen[good], True
        going, precision = going[~good], 2 * precision


METHODS: dict[str, Callable[[Array, Array, Protocol, np.random.Generator], Refined]] = {
    "noise reduction": _by_noise_reduction,
    "doubling": _by_doubling,
}
