"""A learner with a tree on each feature of the outcomes; all trees are fitted together."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.side_tree import fit_side_tree, quantile_edges
from dpassay.properties.outcomes.batch import Outcomes

__all__ = ["TreeLearner"]

Array = NDArray[np.float64]
Cells = NDArray[np.intp]
Sides = NDArray[np.bool_]

_IN_ORDER = "outcome[0], then outcome[1]"
_MEMORY = 1 << 18
"""Calls that are kept for new cells; afterwards the cells stay as they are, and memory stops growing."""

_MOST_FEATURES = 256
"""Features that are looked at: structured outcomes with random names have an unlimited number of them."""

_RECUT = 2.0
"""Cells are cut again when the number of calls has grown by this factor: more often costs time."""

_PLENTY = 1 << 16
"""Calls after which the cells of a silent tree stay as they are, and part of a batch suffices for its counts."""

_STRIDE = 4
"""Such a tree counts every fourth call: it saves most of the time of features that tell nothing, and finds a faint
signal in them later."""

_SILENT = 1.0
"""A tree is silent while its predictions promise fewer nats than this on as many calls as it has counted."""

_REFIT = 1.2
"""Chances are estimated again when the number of calls has grown by this factor: more often costs time."""


@dataclass
class _Tree:
    """The cells of a feature, the calls of each side in them, and the predictions."""

    edges: Array = field(default_factory=lambda: np.empty(0))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))
    logits: Array = field(default_factory=lambda: np.zeros(2))
    is_silent: bool = True

    def predict(self, logits: Array) -> None:
        """Take new predictions; the gain of a small logit is an eighth of its square."""
        self.logits = logits
        self.is_silent = float(self.counts.sum(axis=0) @ logits**2) / 8 < _SILENT

    def cells_of(self, values: Array) -> Cells:
        """Return the cell of each value; NaN has a cell of its own behind the last."""
        cells = np.searchsorted(self.edges, values)
        cells[np.isnan(values)] = len(self.edges) + 1
        return cells

    def add(self, cells: Cells, is_left: Sides) -> None:
        """Count calls."""
        size = len(self.edges) + 2
        both = np.bincount(cells + size * is_left, minlength=2 * size).reshape(2, size)
        self.counts = self.counts + both

    def cut(self, values: Array, is_left: Sides) -> None:
        """Cut new cells, and count all calls again."""
        self.edges = quantile_edges(values, is_left)
        self.counts = np.zeros((2, len(self.edges) + 2), dtype=np.int64)
        self.add(self.cells_of(values), is_left)


class TreeLearner:
    """Predicts the side by context trees on quantiles of single features.

    A feature that has been the same for all outcomes so far, or equal to another one, has no tree. After 262,144
    calls the cells stay as they are, and no further trees are planted.

    Parameters
    ----------
    ignored : frozenset of str
        Features that are not looked at.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self._left_out = set(ignored)
        self._trees: dict[str, _Tree] = {}
        self._settled: set[str] = set()
        self._twins: dict[str, str] = {}
        self._past: dict[str, list[Array]] = {}
        self._sides: list[Sides] = []
        self._calls = self._cut_at = self._fitted_at = 0
        self._cached: tuple[Outcomes | None, dict[str, Cells]] = (None, {})

    @property
    def names(self) -> list[str]:
        """The features that have trees."""
        return list(self._trees)

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict by the cell that each feature falls into; features that tell nothing so far have no opinion."""
        cells = self._cells_of(outcomes)
        return {name: tree.logits[cells[name]] for name, tree in self._trees.items() if not tree.is_silent}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Count the batch; cut cells and estimate chances anew when the calls have grown enough."""
        del won
        cells = self._cells_of(outcomes)
        self._cached = (None, {})
        stride = _STRIDE if self._calls > _PLENTY else 1
        for name, tree in self._trees.items():
            if tree.is_silent:
                tree.add(tree.cells_of(_feature(outcomes, name)[::stride]), is_left[::stride])
            else:
                tree.add(cells[name], is_left)
        if stride > 1:
            self._settle()
        if self._calls <= _MEMORY:
            self._remember(outcomes, is_left)
        self._calls += len(outcomes)
        due = self._calls >= _RECUT * self._cut_at and bool(self._sides)
        if due:
            sides = np.concatenate(self._sides)
            for name, tree in self._trees.items():
                if name not in self._settled:
                    tree.cut(np.concatenate(self._past[name]), sides)
            self._cut_at = self._calls
        if self._calls > _MEMORY:
            self._past, self._sides = {}, []
        if due or self._calls >= _REFIT * self._fitted_at:
            self._fit()

    def retire(self, name: str) -> None:
        """Leave out a feature and its twins for good."""
        self._trees.pop(name)
        self._forget({name})

    def _settle(self) -> None:
        """Keep the cells of silent trees as they are from now on."""
        silent = {name for name, tree in self._trees.items() if tree.is_silent} - self._settled
        self._settled |= silent
        self._forget(silent)

    def _forget(self, names: set[str]) -> None:
        """Look no more at the past of features, nor at features that equal them."""
        gone = names | {twin for twin, other in self._twins.items() if other in names}
        self._left_out |= gone
        self._past = {feature: parts for feature, parts in self._past.items() if feature not in gone}

    def _cells_of(self, outcomes: Outcomes) -> dict[str, Cells]:
        if self._cached[0] is not outcomes:
            speaking = [name for name, tree in self._trees.items() if not tree.is_silent]
            found = {name: self._trees[name].cells_of(_feature(outcomes, name)) for name in speaking}
            self._cached = (outcomes, found)
        return self._cached[1]

    def _remember(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Keep the features of a batch; plant trees on those that turn out to differ from all others."""
        self._sides.append(is_left)
        for name in (*outcomes.common_features(), _IN_ORDER):
            if len(self._past) < _MOST_FEATURES and name not in self._past and name not in self._left_out:
                self._past[name] = [np.full(self._calls, np.nan)] if self._calls else []
        for name, parts in self._past.items():
            parts.append(_feature(outcomes, name))
        for name in [name for name in self._past if name not in self._trees]:
            if self._tells_more(name):
                self._twins.pop(name, None)
                self._trees[name] = _Tree()
                self._trees[name].cut(np.concatenate(self._past[name]), np.concatenate(self._sides))
                self._fitted_at = 0

    def _tells_more(self, name: str) -> bool:
        """Return whether a feature has varied, and not always together with another one.

        It was looked at after every batch: while the last one shows nothing new, neither do all.
        """
        parts, twin = self._past[name], self._twins.get(name)
        if twin is not None:
            if _same(parts[-1], self._past[twin][-1]):
                return False
        elif _same(parts[-1], np.broadcast_to(parts[0][0], parts[-1].shape)):
            return False
        for other in self._trees.keys() & self._past.keys():
            if all(_same(*both) for both in zip(reversed(parts), reversed(self._past[other]), strict=True)):
                self._twins[name] = other
                return False
        return True

    def _fit(self) -> None:
        if not self._trees:
            return
        counts = np.zeros((2, len(self._trees), max(tree.counts.shape[1] for tree in self._trees.values())), np.int64)
        for k, tree in enumerate(self._trees.values()):
            counts[:, k, : tree.counts.shape[1]] = tree.counts
        for tree, logits in zip(self._trees.values(), fit_side_tree(counts[1], counts[0]), strict=True):
            tree.predict(logits[: tree.counts.shape[1]])
        self._fitted_at = self._calls


def _same(one: Array, other: Array) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def _feature(outcomes: Outcomes, name: str) -> Array:
    values = _in_order(outcomes.features) if name == _IN_ORDER else outcomes.features.get(name)
    return values if values is not None else np.full(len(outcomes), np.nan)


def _in_order(features: Mapping[str, Array]) -> Array | None:
    """Return a number that orders outcomes by their first coordinate, if it is whole, and then by the second.

    A place and the number that was released there tell more together than each of them.
    """
    first, second = features.get("outcome[0]"), features.get("outcome[1]")
    if first is None or second is None:
        return None
    with np.errstate(invalid="ignore"):
        return np.where(np.floor(first) == first, first + second / (2.5 * (1 + np.abs(second))), np.nan)
