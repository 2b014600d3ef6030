"""A learner that combines coordinates by logistic regression: where each tells a little, no single one tells enough.

Several priors of the weights look at the same statistics: weights of their own for each coordinate, of three sizes,
or weights that all coordinates share but for little, for weak evidence spread over many of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.logistic import CHUNK, StreamingLogistic, weighted_sums
from dpassay.properties.learners.regressors import Regressors
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import OUTCOME

__all__ = ["MOST_COORDINATES", "CombiningLearner", "Rows"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

MOST_COORDINATES = 32
"""Coordinates that are weighed: the cost of a step grows with the cube of the number of weights."""

OWN = {"coordinates": 1.0, "faint coordinates": 30.0, "fainter coordinates": 1e3, "faintest coordinates": 3e4}
"""Prior precisions of independent weights: a high one learns faint signals in many coordinates with less noise, a low
one strong signals in few calls."""

ALIKE = {"coordinates alike": 10.0, "coordinates faintly alike": 1e3, "coordinates fainter alike": 1e5}
"""Prior precisions of the part that the weights of all coordinates share: it learns a signal that is spread over all
coordinates from fewer calls."""

SIGNS = {"signs": 3e4}
"""The prior precision of independent weights of the regressors that are like signs; the others have none."""

SIGNS_ALIKE = {"signs alike": 1e3, "signs fainter alike": 3e4}
"""The same for the part that these weights share: it learns the faintest signals that are spread over coordinates."""

_ABSENT = 1e12
"""The prior precision of a weight that is to be 0."""

_FAR_FAINTER = 1e5
"""The prior precision of the independent parts of shared weights, relative to that of the shared part."""

_WARM_UP = 256
"""Calls that fix centres, scales and indicated values: fewer start earlier, more choose better regressors."""

_HELD = 1 << 23
"""Values of regressors that are kept in memory between the opinion on a batch and the update: more take less time."""

_PLENTY = 1 << 16
"""Calls after which part of a batch may suffice for an update."""

_STRIDE = 4
"""Such an update takes every fourth call: it saves three quarters of the time."""

_SMALL_LOSS = 1 / 100
"""The largest expected loss of such an update, as a part of the wealth that the learner has won."""


class CombiningLearner:
    """Predicts the side of vectors of one width, or of numbers.

    Parameters
    ----------
    width : int
        Coordinates of the vectors; 0 for numbers that are no vectors.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.names: list[str] = []
        self._waiting: list[tuple[Array, Sides]] = []
        self.regressors: Regressors | None = None
        self._logistic = StreamingLogistic([np.eye(1)])
        self._cached: Rows | None = None
        self._seen = 0

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict under each prior; 0 for other outcomes."""
        result = {name: np.zeros(len(outcomes)) for name in self.names}
        if self.regressors is None or not result:
            return result
        looked_at = self.rows_of(outcomes)
        for start in range(0, len(looked_at.positions), CHUNK):
            chunk = slice(start, start + CHUNK)
            values = looked_at.values(self.regressors, chunk)
            for prior, name in enumerate(self.names):
                result[name][looked_at.positions[chunk]] = weighted_sums(values, self._logistic.weights[prior])
        return result

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Learn from a batch about the mode under the prior that has won the most."""
        if self.regressors is not None and not self.names:
            return
        looked_at = self.rows_of(outcomes)
        self._cached = None
        sides = is_left[looked_at.positions]
        if not sides.size:
            return
        if self.regressors is None:
            self._waiting.append((looked_at.rows, sides))
            if sum(len(waiting) for waiting, _ in self._waiting) < _WARM_UP:
                return
            rows, sides = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
            self._waiting, looked_at = [], Rows(outcomes, np.arange(len(rows)), rows)
            self._begin(rows)
        regressors = self.regressors
        assert regressors is not None
        self._seen += len(sides)
        leader = max(self.names, key=lambda name: won.get(name, 0.0))
        # an opinion learnt from a part of the calls loses nothing that matters where there is much to win
        prior, stride = self.names.index(leader), 1
        if self._seen > _PLENTY:
            loss = self._logistic.effective_weights(prior) * _STRIDE / 2
            stride = _STRIDE if loss < _SMALL_LOSS * won.get(leader, 0.0) else 1
        self._logistic.learn(lambda part: looked_at.values(regressors, part), sides, leader=prior, stride=stride)

    def retire(self, name: str) -> None:
        """Leave out a prior for good."""
        self._logistic.drop_prior(self.names.index(name))
        self.names.remove(name)

    def rows_of(self, outcomes: Outcomes) -> "Rows":
        """Return the vectors of a batch, which is first bet on and then learnt from."""
        if self._cached is None or self._cached.outcomes is not outcomes:
            self._cached = Rows(outcomes, *_vectors(outcomes, self.width))
        return self._cached

    def _begin(self, rows: Array) -> None:
        self.regressors = Regressors.fitted(rows)
        groups = np.array(self.regressors.groups())
        own = np.eye(len(groups))
        precisions = {name: precision * own for name, precision in OWN.items()}
        if len(set(groups.tolist())) < len(groups):
            together = (groups[:, None] == groups).astype(np.float64)
            for name, precision in ALIKE.items():
                precisions[name] = np.linalg.inv(together / precision + own / (_FAR_FAINTER * precision))
        precisions |= _of_signs(self.regressors.signs(), groups)
        self.names = [f"{name} of {self.width}" if self.width else name for name in precisions]
        self._logistic = StreamingLogistic(list(precisions.values()))


def _of_signs(is_sign: NDArray[np.bool_], groups: NDArray[np.intp]) -> dict[str, Array]:
    """Return the priors under which the regressors that are like signs have weights, and the others none."""
    if not is_sign.any() or is_sign.all():
        return {}
    absent = np.diag(np.where(is_sign, 0.0, _ABSENT))
    found = {name: absent + precision * np.diag(is_sign * 1.0) for name, precision in SIGNS.items()}
    own = groups[is_sign]
    if len(set(own.tolist())) < len(own):
        block = np.ix_(is_sign, is_sign)
        together = (own[:, None] == own).astype(np.float64)
        for name, precision in SIGNS_ALIKE.items():
            found[name] = absent.copy()
            found[name][block] = np.linalg.inv(together / precision + np.eye(len(own)) / (_FAR_FAINTER * precision))
    return found


@dataclass
class Rows:
    """The vectors of a batch, their positions, and as many values of the regressors as memory allows."""

    outcomes: Outcomes
    positions: NDArray[np.intp]
    rows: Array
    _parts: dict[tuple[int, int, int], NDArray[np.float32]] = field(default_factory=dict)
    _held: int = 0

    def values(self, regressors: Regressors, part: slice) -> NDArray[np.float32]:
        """Return the values of the regressors for a part of the vectors."""
        key = part.indices(len(self.rows))
        if key in self._parts:
            return self._parts[key]
        values = regressors.of(self.rows[part])
        if self._held + values.size <= _HELD:
            self._parts[key] = values
            self._held += values.size
        return values


def _vectors(outcomes: Outcomes, width: int) -> tuple[NDArray[np.intp], Array]:
    """Return the positions and the coordinates of the outcomes that are vectors of this number of finite numbers."""
    if width == 0:
        numbers = outcomes.features.get(OUTCOME, np.empty(0))
        positions = np.flatnonzero(np.isfinite(numbers))
        return positions, numbers[positions, None]
    positions, rows = outcomes.vectors(width)
    finite = np.isfinite(rows).all(axis=1)
    return (positions, rows) if finite.all() else (positions[finite], rows[finite])
