"""Logistic regression on a stream: a quadratic stands for the log-likelihood of the past.

No call is kept. The likelihood and the prior are kept apart, so that the same pass over a batch serves any number of
Gaussian priors: which of them is right shows itself later, in what they predict.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.log_domain import expit

__all__ = ["CHUNK", "StreamingLogistic", "weighted_sums"]

Array = NDArray[np.float64]
Values = NDArray[np.float32] | NDArray[np.float64]
Sides = NDArray[np.bool_]
Columns = slice | NDArray[np.intp]
Functions = Callable[[slice], Values]
"""The values of the regressors for a part of a batch, shape (calls, weights)."""

ALL = slice(None)
"""All regressors."""

CHUNK = 1 << 13
"""Calls whose regressors are held at once: larger chunks need more memory, smaller ones more time."""

_STEPS = 3
"""Newton steps for each batch of the first calls: more come nearer to the mode and take more time."""

_LEARNING = 1 << 14
"""Calls after which one Newton step for each batch suffices."""

_NEGLIGIBLE = 2.0**-24
"""Weights below this are 0, which takes no time: far smaller than the steps between levels of predictions."""

_LARGEST = 20.0
"""The largest absolute weight, nats: it keeps a separable sample from an infinite one."""


class StreamingLogistic:
    """Predicts the side from regressors, under several priors of their weights.

    Parameters
    ----------
    precisions : sequence of ndarray, shape (weights, weights)
        The prior precision of the weights about 0, for each prior.
    """

    def __init__(self, precisions: Sequence[Array]) -> None:
        self._precisions = list(precisions)
        size = len(precisions[0])
        self.weights: Array = np.zeros((len(precisions), size))
        self._information, self._pull = np.zeros((size, size)), np.zeros(size)
        self._learnt = 0

    def widen(self, size: int, precision: float = 1.0) -> None:
        """Make room for more regressors, of which nothing is known yet."""
        new = size - len(self._pull)
        if new > 0:
            self._information = np.pad(self._information, (0, new))
            self._pull = np.pad(self._pull, (0, new))
            self.weights = np.pad(self.weights, ((0, 0), (0, new)))
            self._precisions = [np.pad(prior, (0, new)) for prior in self._precisions]
            for prior in self._precisions:
                prior[size - new :, size - new :] = precision * np.eye(new)

    def cost_without(self, column: int, prior: int = 0) -> float:
        """Return the loss of the past, in nats, without a regressor, with the best weights of the others."""
        posterior = self._information + self._precisions[prior]
        return float(self.weights[prior, column] ** 2 / (2 * np.linalg.inv(posterior)[column, column]))

    def effective_weights(self, prior: int = 0) -> float:
        """Return how many weights the calls so far have determined, rather than the prior."""
        return float(np.trace(np.linalg.solve(self._information + self._precisions[prior], self._information)))

    def drop(self, column: int) -> None:
        """Forget a regressor; the others move to their mode without it."""
        self._information = _without(self._information, column)
        self._pull = np.delete(self._pull, column)
        self._precisions = [_without(precision, column) for precision in self._precisions]
        self.weights = np.delete(self.weights, column, axis=1)
        self._solve()

    def drop_prior(self, prior: int) -> None:
        """Forget a prior."""
        del self._precisions[prior]
        self.weights = np.delete(self.weights, prior, axis=0)

    def logits(self, values: Values, columns: Columns = ALL) -> Array:
        """Predict; regressor after regressor, since a matrix product may round a row by the rows about it."""
        return weighted_sums(values, self.weights[0, columns])

    def learn(
        self, functions: Functions, sides: Sides, *, leader: int = 0, stride: int = 1, columns: Columns = ALL
    ) -> None:
        """Add a batch to the quadratic, taken about the mode of one of the priors after the batch.

        Parameters
        ----------
        functions : callable
            The values of the regressors for a part of the batch.
        sides : ndarray of bool, shape (calls,)
            True for the left side.
        leader : int
            The prior that is trusted most.
        stride : int
            One of `stride` calls is learnt from.
        columns : ndarray of int, optional
            The regressors whose values are given; the others are 0.
        """
        information, pull = self._information, self._pull
        weights = self.weights[leader]
        chosen = np.arange(len(self._pull))[columns]
        block = np.ix_(chosen, chosen)
        # many calls move the mode by little: one step from the last mode is then enough
        for _ in range(_STEPS if self._learnt < _LEARNING else 1):
            information, pull = self._information.copy(), self._pull.copy()
            for start in range(0, len(sides), CHUNK * stride):
                part = slice(start, start + CHUNK * stride, stride)
                values = functions(part)
                chance = expit(weighted_sums(values, weights[chosen]))
                spread = values * np.sqrt(chance * (1 - chance))[:, None].astype(values.dtype)
                curvature = np.asarray(
                    spread.T @ spread, dtype=np.float64
                )  # a product with itself takes half the time
                information[block] += curvature
                residuals = np.asarray(values.T @ (sides[part] - chance).astype(values.dtype), dtype=np.float64)
                pull[chosen] += residuals + curvature @ weights[chosen]
            step = np.linalg.solve(information + self._precisions[leader], pull)
            weights = np.clip(step, -_LARGEST, _LARGEST)
        if np.isfinite(information).all() and np.isfinite(pull).all():
            self._information, self._pull = information, pull
            self._solve()
            self._learnt += len(sides)

    def _solve(self) -> None:
        modes = [np.linalg.solve(self._information + precision, self._pull) for precision in self._precisions]
        weights = np.clip(np.array(modes), -_LARGEST, _LARGEST)
        self.weights = np.where(np.abs(weights) < _NEGLIGIBLE, 0.0, weights)


def weighted_sums(values: Values, weights: Array) -> Array:
    """Return the weighted sum of each row, added up in the same order for every number of rows.

    In the precision of the values: float32 takes a quarter of the time, and errs by far less than levels differ.
    """
    total, term = np.zeros(len(values), values.dtype), np.empty(len(values), values.dtype)
    for column, weight in zip(values.T, weights.tolist(), strict=True):
        if weight:
            np.multiply(column, weight, out=term)
            total += term
    return total.astype(np.float64)


def _without(matrix: Array, column: int) -> Array:
    return np.delete(np.delete(matrix, column, axis=0), column, axis=1)
