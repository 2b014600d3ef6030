"""A learner that combines coordinates: logistic regression on squashed coordinates and their differences.

Where each coordinate of a vector tells a little, no single one tells enough. For noise of Laplace's kind the log
ratio of the sides is a sum over coordinates of bounded, nearly sign-like terms; where a mechanism releases running
sums the terms belong to the differences of neighbouring coordinates.
"""

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.audit.logistic import CHUNK, StreamingLogistic
from dpassay.properties.audit.outcomes import OUTCOME, Outcomes

__all__ = ["CombiningLearner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

MOST_COORDINATES = 32
_WARM_UP = 256
_FAR = 8.0


class CombiningLearner:
    """Predicts the side of a vector of numbers, or of a number.

    Parameters
    ----------
    pooled : bool
        Whether all coordinates have the same weights (few to learn, for weak evidence spread over many coordinates)
        or each its own.
    precision : float
        Prior precision of a weight.
    """

    def __init__(self, *, pooled: bool, precision: float = 1.0) -> None:
        self.pooled, self.precision = pooled, precision
        self._width = 0
        self._waiting: list[tuple[Array, Sides]] = []
        self._centre, self._spread = np.empty(0), np.empty(0)
        self._logistic: StreamingLogistic | None = None

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Learn from the vectors of the batch that have the width of the first ones; a number is a vector of one."""
        if self._width == 0:
            self._width = self._first_width(outcomes)
        positions, rows = self._vectors(outcomes)
        if not positions.size:
            return
        terms = _columns(rows)
        finite = np.isfinite(terms).all(axis=1)
        terms, sides = terms[finite], is_left[positions][finite]
        if self._logistic is not None:
            self._learn(self._logistic, terms, sides)
            return
        self._waiting.append((terms, sides))
        if sum(len(waiting) for _, waiting in self._waiting) >= _WARM_UP:
            terms, sides = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
            self._waiting = []
            self._logistic = self._begin(terms)
            self._learn(self._logistic, terms, sides)

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict by the weights learnt so far; 0 for what is no such vector."""
        predictions = np.zeros(len(outcomes))
        if self._logistic is None:
            return predictions
        positions, rows = self._vectors(outcomes)
        for start in range(0, len(positions), CHUNK):
            chunk = slice(start, start + CHUNK)
            terms = _columns(rows[chunk])
            finite = np.isfinite(terms).all(axis=1)
            predictions[positions[chunk][finite]] = self._logistic.logits(self._squashed(terms[finite]))
        return predictions

    def _first_width(self, outcomes: Outcomes) -> int:
        least = 2 if self.pooled else 1
        width = next((w for w in outcomes.widths() if least <= w <= MOST_COORDINATES), 0)
        return width if width or self.pooled or outcomes.features.get(OUTCOME) is None else 1

    def _vectors(self, outcomes: Outcomes) -> tuple[NDArray[np.intp], Array]:
        numbers = outcomes.features.get(OUTCOME)
        if self._width != 1 or numbers is None:
            return outcomes.vectors(self._width)
        positions = np.flatnonzero(np.isfinite(numbers))
        return positions, numbers[positions, None]

    def _learn(self, logistic: StreamingLogistic, terms: Array, sides: Sides) -> None:
        logistic.learn(lambda part: self._squashed(terms[part]), sides)

    def _begin(self, terms: Array) -> StreamingLogistic:
        self._centre = np.median(terms, axis=0)
        spread = np.median(np.abs(terms - self._centre), axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        return StreamingLogistic(self._squashed(terms[:1]).shape[1], self.precision)

    def _squashed(self, terms: Array) -> Array:
        """Return bounded functions of the standardised terms: a soft sign, a hard one, and the distance."""
        with np.errstate(over="ignore"):
            z = np.clip((terms - self._centre) / self._spread, -1e6, 1e6)
        size = np.abs(z)
        functions = [z / (1 + size), np.clip(2 * z, -1, 1), size / (1 + size)]
        if self.pooled:  # sums over the coordinates, and over the differences
            cut = self._width
            parts = [f[:, part].sum(axis=1) for f in functions for part in (slice(cut), slice(cut, None))]
            return np.stack(parts, axis=1)
        if self._width == 1:  # the loss of a shifted Gaussian is linear; a distance needs a level to compare with
            functions += [np.clip(z, -_FAR, _FAR), np.ones_like(z)]
        return np.concatenate(functions, axis=1)


def _columns(rows: Array) -> Array:
    """Return the coordinates and then the differences of neighbouring ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([rows, np.diff(rows, axis=1)], axis=1)
