"""A learner of pairs of features: where two tell the side together and neither does alone.

The parity of two flags, a number released only beside a certain word, noise that two columns share: trees look at one
feature each, and sums of coordinates see no product. Each feature becomes one bit, whether it is there or whether it
lies above its median; each pair of bits has four cells with counts of both sides.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.side_tree import STRENGTHS, evidence_and_chance
from dpassay.properties.log_domain import logit
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.numeric_features import coordinate_names

__all__ = ["PairLearner"]

Array = NDArray[np.float64]
Bits = NDArray[np.float32]
Sides = NDArray[np.bool_]

_MOST_BITS = 32
"""Features that are paired: the number of pairs grows with the square."""

_LONGEST_VECTOR = 64
"""Coordinates of vectors of which features are chosen."""

_WARM_UP = 512
"""Calls that choose the features and their medians."""

_REFIT = 1.3
"""Chances are estimated again when the number of calls has grown by this factor."""

_HEARD = 8
"""Pairs that are asked: those that explain the past best."""

_SILENT = 1.0
"""Nats that the pairs must have won over knowing nothing before they have an opinion."""

_PLENTY, _STRIDE = 1 << 16, 4
"""After this many calls every fourth call is counted while the pairs are silent: it saves most of the time."""

_STRENGTH = STRENGTHS[1]
"""Both parameters of the Beta prior of the chance in a cell."""

_FEW = 1 / 256
"""A bit that is rarer than this among the first calls, on either value, pairs with nothing."""


class PairLearner:
    """Predicts the side by the cells of pairs of bits, each pair weighted by its likelihood on the past.

    It retires for good if fewer than two features vary among the first calls.

    Parameters
    ----------
    ignored : frozenset of str
        Features that are not looked at.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self.names = ["pairs of features"]
        self._ignored = ignored
        self._waiting: list[tuple[Outcomes, Sides]] = []
        self._features: list[str] = []
        self._medians: Array = np.empty(0)
        self._both = np.zeros((2, 0, 0), dtype=np.int64)  # of the right and of the left side
        self._calls = np.zeros(2, dtype=np.int64)
        self._fitted_at = 0
        self._pairs: list[tuple[int, int]] = []
        self._shares: Array = np.empty(0)
        self._chances: Array = np.empty((0, 4))
        self._cached: tuple[Outcomes | None, Bits] = (None, np.empty((0, 0), dtype=np.float32))

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Mix the chances of the cells of the best pairs; none while they have won nothing."""
        if not self._pairs or not self.names:
            return {}
        bits = self._bits_of(outcomes)
        self._cached = (outcomes, bits)
        mixed = np.full(len(outcomes), 0.5 * (1 - float(self._shares.sum())))
        for (one, other), share, chances in zip(self._pairs, self._shares, self._chances, strict=True):
            mixed += share * chances[(2 * bits[:, one] + bits[:, other]).astype(np.intp)]
        return {self.names[0]: np.asarray(logit(mixed))}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Count the batch in the cells of all pairs."""
        del won
        if not self.names:
            return
        if not self._features:
            self._waiting.append((outcomes, is_left))
            if sum(len(sides) for _, sides in self._waiting) < _WARM_UP:
                return
            self._begin()
        else:
            bits = self._cached[1] if self._cached[0] is outcomes else None
            stride = _STRIDE if not self._pairs and self._calls.sum() > _PLENTY else 1
            if bits is None:
                taken = outcomes if stride == 1 else outcomes.taken(np.arange(0, len(outcomes), stride))
                bits = self._bits_of(taken)
            self._count(bits, is_left[::stride])
        self._cached = (None, self._cached[1][:0])
        if self.names and self._calls.sum() >= _REFIT * self._fitted_at:
            self._fit()

    def retire(self, name: str) -> None:
        """Leave the learner out for good."""
        self.names.remove(name)
        self._waiting, self._both = [], self._both[:, :0, :0]

    def _begin(self) -> None:
        """Choose the features and their medians by the first calls."""
        joined = Outcomes.joined([outcomes for outcomes, _ in self._waiting])
        names = _features_of(joined, self._ignored)
        kept, medians, seen = list[str](), list[float](), set[bytes]()
        for name in names:
            values = _values(joined, name)
            median = _cut(values)
            bit = _bit(values, median)
            rarer = min(np.count_nonzero(bit), np.count_nonzero(~bit))
            key = (bit if bit[0] else ~bit).tobytes()
            if rarer >= _FEW * bit.size and key not in seen and len(kept) < _MOST_BITS:
                seen.add(key)
                kept.append(name)
                medians.append(median)
        waiting, self._waiting = self._waiting, []
        if len(kept) < 2:
            self.retire(self.names[0])
            return
        self._features, self._medians = kept, np.array(medians)
        self._both = np.zeros((2, len(kept), len(kept)), dtype=np.int64)
        for outcomes, sides in waiting:
            self._count(self._bits_of(outcomes), sides)

    def _bits_of(self, outcomes: Outcomes) -> Bits:
        bits = [
            _bit(_values(outcomes, name), median) for name, median in zip(self._features, self._medians, strict=True)
        ]
        return np.array(bits, dtype=np.float32).T

    def _count(self, bits: Bits, is_left: Sides) -> None:
        for row, side in enumerate((~is_left, is_left)):
            own = bits[side]
            self._both[row] += np.rint(own.T @ own).astype(np.int64)
            self._calls[row] += len(own)

    def _fit(self) -> None:
        """Estimate the chances of all cells, and choose the pairs that explain the past best."""
        one, other = np.triu_indices(len(self._features), 1)
        alone = np.diagonal(self._both, axis1=1, axis2=2)
        both, first, second = self._both[:, one, other], alone[:, one], alone[:, other]
        rest = self._calls[:, None] - first - second + both
        right, left = np.stack([rest, second - both, first - both, both], axis=2)
        logs, chances = evidence_and_chance(left, right, _STRENGTH)
        evidence = logs.sum(axis=1) + math.log(2) * int(self._calls.sum()) - math.log(len(one))
        self._fitted_at = int(self._calls.sum())
        best = np.argsort(-evidence, kind="stable")[:_HEARD]
        if evidence[best[0]] < _SILENT:
            self._pairs = []
            return
        # knowing nothing has as much prior weight as all pairs together
        scaled = np.exp(evidence[best] - max(float(evidence[best[0]]), 0.0))
        self._shares = scaled / (scaled.sum() + math.exp(-max(float(evidence[best[0]]), 0.0)))
        self._pairs = [(int(one[k]), int(other[k])) for k in best]
        self._chances = chances[best]


def _cut(values: Array) -> float:
    """Return the number above which a bit is set; NaN if the bit tells whether there is a number."""
    known = values[~np.isnan(values)]
    if known.size < values.size * (1 - _FEW):
        return math.nan
    median = float(np.median(known))
    # with the largest value as its median nothing would lie above
    return median if (known > median).any() else math.nextafter(median, -math.inf)


def _bit(values: Array, cut: float) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(values) if math.isnan(cut) else values > cut)


def _features_of(outcomes: Outcomes, ignored: frozenset[str]) -> list[str]:
    """Return the names of the features that come into question: coordinates of vectors, and all of other outcomes."""
    if outcomes.rows.dtype == object:
        return [name for name in outcomes.common_features() if name not in ignored]
    if outcomes.rows.ndim < 2:
        return []
    names = coordinate_names(outcomes.shape or outcomes.rows.shape[1:], _LONGEST_VECTOR)
    return [name for name in names if name not in ignored]


def _values(outcomes: Outcomes, name: str) -> Array:
    values = outcomes.feature(name)
    return np.full(len(outcomes), np.nan) if values is None else values
