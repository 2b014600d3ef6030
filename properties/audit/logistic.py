"""Logistic regression on a stream: a Gaussian posterior of the weights that becomes the prior of the next batch.

The mode and the curvature of the logarithm of the likelihood stand for all that was seen; no call is kept.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["StreamingLogistic"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]
Functions = Callable[[slice], Array]
"""The values of the regressors for a part of a batch, shape (calls, weights)."""

CHUNK = 1 << 14
_STEPS, _LEARNING = 3, 1 << 14
_ENOUGH, _STRIDE = 1 << 18, 4
"""After so many calls a quarter of the others is learnt from: then the weights are known well, and time counts."""

_LARGEST = 20.0


class StreamingLogistic:
    """Predicts the side from regressors.

    Parameters
    ----------
    size : int
        Number of regressors.
    precision : float
        Prior precision of each weight about 0.
    """

    def __init__(self, size: int, precision: float = 1.0) -> None:
        self.precision = precision
        self.weights = np.zeros(size)
        self._curvature = precision * np.eye(size)
        self._learnt = 0

    def widen(self, size: int) -> None:
        """Make room for more regressors, of which nothing is known yet."""
        new = size - len(self.weights)
        if new > 0:
            curvature = self.precision * np.eye(size)
            curvature[: size - new, : size - new] = self._curvature
            self.weights, self._curvature = np.concatenate([self.weights, np.zeros(new)]), curvature

    def logits(self, functions: Array) -> Array:
        """Predict; regressor after regressor, since a matrix product may round a row by the rows about it."""
        total = np.zeros(len(functions))
        for column, weight in zip(functions.T, self.weights, strict=False):
            total += weight * column
        return total

    def learn(self, functions: Functions, sides: Sides) -> None:
        """Take Newton steps to the mode of the posterior after a batch."""
        prior, curvature = self.weights, self._curvature
        weights, posterior = prior, curvature
        # many calls move the mode by little: one step from the last mode is then enough
        stride = 1 if self._learnt < _ENOUGH else _STRIDE
        for _ in range(_STEPS if self._learnt < _LEARNING else 1):
            gradient, posterior = -curvature @ (weights - prior), curvature.copy()
            for start in range(0, len(sides), CHUNK * stride):
                part = slice(start, start + CHUNK * stride, stride)
                values = functions(part)
                chance = expit(values @ weights)
                gradient = gradient + values.T @ (sides[part] - chance)
                posterior += (values * (chance * (1 - chance))[:, None]).T @ values
            weights = weights + np.linalg.solve(posterior, gradient)
        if np.isfinite(weights).all():
            self.weights, self._curvature = np.clip(weights, -_LARGEST, _LARGEST), posterior
            self._learnt += len(sides)
