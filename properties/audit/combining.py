"""A learner that combines coordinates: logistic regression on squashed coordinates and their differences.

Where each coordinate of a vector tells a little, no single one tells enough. For noise of Laplace's kind the log
ratio of the sides is a sum over coordinates of bounded, nearly sign-like terms; where a mechanism releases running
sums the terms belong to the differences of neighbouring coordinates. The weights are learnt as a stream: a Gaussian
posterior (mode and curvature of the logarithm of the likelihood) that becomes the prior of the next batch, so that
all calls count and none is kept.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.properties.audit.outcomes import OUTCOME, Outcomes

__all__ = ["CombiningLearner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

MOST_COORDINATES = 32
_WARM_UP = 256
_CHUNK = 1 << 14
_FAR = 8.0
_NEWTON_STEPS, _LEARNING = 3, 1 << 14


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
        self._width, self._learnt = 0, 0
        self._waiting: list[tuple[Array, Sides]] = []
        self._centre, self._spread = np.empty(0), np.empty(0)
        self._weights, self._curvature = np.empty(0), np.empty((0, 0))

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
        if self._weights.size:
            self._learn(terms, sides)
            return
        self._waiting.append((terms, sides))
        if sum(len(waiting) for _, waiting in self._waiting) >= _WARM_UP:
            terms, sides = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
            self._waiting = []
            self._begin(terms)
            self._learn(terms, sides)

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict by the weights learnt so far; 0 for what is no such vector."""
        predictions = np.zeros(len(outcomes))
        if not self._weights.size:
            return predictions
        positions, rows = self._vectors(outcomes)
        for start in range(0, len(positions), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            terms = _columns(rows[chunk])
            finite = np.isfinite(terms).all(axis=1)
            predictions[positions[chunk][finite]] = self._products(terms[finite])
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

    def _begin(self, terms: Array) -> None:
        self._centre = np.median(terms, axis=0)
        spread = np.median(np.abs(terms - self._centre), axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        size = self._squashed(terms[:1]).shape[1]
        self._weights, self._curvature = np.zeros(size), self.precision * np.eye(size)

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

    def _products(self, terms: Array) -> Array:
        # one coordinate after the other: a matrix product may round a row by the rows about it
        total = np.zeros(len(terms))
        for column, weight in zip(self._squashed(terms).T, self._weights, strict=True):
            total += weight * column
        return total

    def _learn(self, terms: Array, sides: Sides) -> None:
        prior, curvature = self._weights, self._curvature
        weights, posterior = prior, curvature
        # many calls move the mode by little: one step from the last mode is then enough
        for _ in range(_NEWTON_STEPS if self._learnt < _LEARNING else 1):
            gradient, posterior = -curvature @ (weights - prior), curvature.copy()
            for start in range(0, len(terms), _CHUNK):
                functions = self._squashed(terms[start : start + _CHUNK])
                chance = expit(functions @ weights)
                gradient = gradient + functions.T @ (sides[start : start + _CHUNK] - chance)
                posterior += (functions * (chance * (1 - chance))[:, None]).T @ functions
            weights = weights + np.linalg.solve(posterior, gradient)
        if np.isfinite(weights).all():
            self._weights, self._curvature = np.clip(weights, -20.0, 20.0), posterior
            self._learnt += len(terms)


def _columns(rows: Array) -> Array:
    """Return the coordinates and then the differences of neighbouring ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([rows, np.diff(rows, axis=1)], axis=1)
