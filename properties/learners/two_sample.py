"""Learners for few calls, with one or two parameters: both sides follow one family and differ in scale, or in place.

The families are those of the noise that private mechanisms add, Gaussian and Laplace. Each side has the conjugate
prior of its scale, worth a few calls at the deviation of all calls together, and predicts by its predictive density
(Student's and Lomax'). A scale that depends on the data, as where the noise of a mean is calibrated with the true
number of records, shows itself after some thirty pairs of calls.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.log_domain import expit, log_gamma
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import OUTCOME

__all__ = ["Family", "RampLearner", "ScaleLearner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]
Family = Literal["gaussian", "laplace"]

PRIOR_CALLS = 1.5
"""The weight of the prior of each side, in calls: a heavier one learns later and loses less to chance."""

CORNERS = (0.1, 0.4, 0.7, 1.0, 1.5, 2.5, 16.0)
"""Distances from the centre, in median deviations, beyond which a ramp is level."""

_LEARNING = 4096
"""Calls that estimate the centre and the spread; later calls do not move them."""

_LEAST = 2
"""Calls before the first opinion."""

_MOST_LOGIT = 4.0
"""The largest absolute logit of a scale: a wrong certain opinion costs at most this."""

_STEPS = 3
"""Newton steps for each batch of the first calls: more come nearer to the mode and take more time."""

_MOVING = 1 << 14
"""Calls after which one Newton step for each batch suffices."""

_LARGEST = 20.0
"""The largest absolute weight of a ramp, nats: it keeps a separable sample from an infinite one."""

_TOGETHER = 1 << 14
"""Calls whose ramps are held at once: larger parts need more memory, smaller ones more time."""


class ScaleLearner:
    """Predicts the side of a number from how far it lies from the centre.

    Parameters
    ----------
    family : {"gaussian", "laplace"}
        The density of both sides.
    """

    def __init__(self, family: Family) -> None:
        self.family = family
        self.names = [f"{family} scale"]
        self._values, self._sides = np.empty(0), np.empty(0, dtype=np.bool_)
        self._centre, self._spread = 0.0, 0.0
        self._calls, self._deviation = np.zeros(2), np.zeros(2)  # of the right and of the left side

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Learn from the finite numbers of a batch."""
        del won
        if not self.names:
            return
        values, sides = _finite(outcomes, is_left)
        if self._calls.sum() < _LEARNING:
            self._values = np.concatenate([self._values, values])
            self._sides = np.concatenate([self._sides, sides])
            if self._values.size >= _LEAST:
                self._centre = float(np.median(self._values))
                self._spread = float(np.median(np.abs(self._values - self._centre)))
            values, sides = self._values, self._sides
            self._calls, self._deviation = np.zeros(2), np.zeros(2)
        deviation = self._deviations(values)
        for side in (0, 1):
            self._calls[side] += np.count_nonzero(sides == side)
            self._deviation[side] += float(deviation[sides == side].sum())

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict the difference of the logarithms of the two predictive densities, at most 4 either way."""
        return {name: self._logits(outcomes) for name in self.names}

    def retire(self, name: str) -> None:
        """Leave the learner out for good."""
        self.names.remove(name)

    def _logits(self, outcomes: Outcomes) -> Array:
        values = outcomes.features.get(OUTCOME)
        if values is None or self._calls.sum() < _LEAST or self._spread == 0:
            return np.zeros(len(outcomes))
        known = np.isfinite(values)
        own = self._deviations(np.where(known, values, self._centre))
        typical = (self._deviation.sum() + own) / (self._calls.sum() + 1)
        right, left = (self._log_density(own, side, typical) for side in (0, 1))
        return np.where(known, np.clip(left - right, -_MOST_LOGIT, _MOST_LOGIT), 0.0)

    def _deviations(self, values: Array) -> Array:
        """Return the sufficient statistic of the scale, in units of the spread; far outliers count as less."""
        with np.errstate(over="ignore"):
            distance = np.minimum(np.abs(values - self._centre) / (self._spread or 1.0), 1e6)
        return distance**2 if self.family == "gaussian" else distance

    def _log_density(self, own: Array, side: int, typical: Array) -> Array:
        # a Gaussian call is worth half a degree of freedom, a Laplace one a whole; constants cancel between sides
        worth = 0.5 if self.family == "gaussian" else 1.0
        shape = worth * (self._calls[side] + PRIOR_CALLS)
        rate = worth * (self._deviation[side] + PRIOR_CALLS * typical)
        density: Array = (
            log_gamma(shape + worth)
            - log_gamma(shape)
            - worth * np.log(rate)
            - (shape + worth) * np.log1p(worth * own / rate)
        )
        return density


class RampLearner:
    """Predicts the side of a number by level and slope of a ramp, with its corners at several distances."""

    def __init__(self) -> None:
        self._corners = {f"ramp to {corner:g}": corner for corner in CORNERS}
        self._values, self._sides = np.empty(0), np.empty(0, dtype=np.bool_)
        self._centre, self._spread = 0.0, 0.0
        self._lines = _Lines.flat(len(CORNERS))

    @property
    def names(self) -> list[str]:
        """One for each distance of the corners."""
        return list(self._corners)

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict; 0 for outcomes that are not finite numbers."""
        values = outcomes.features.get(OUTCOME)
        if values is None or self._spread == 0:
            return {name: np.zeros(len(outcomes)) for name in self._corners}
        known = np.isfinite(values)
        logits = self._lines.logits(self._ramps(np.where(known, values, self._centre)))
        return {name: np.where(known, line, 0.0) for name, line in zip(self._corners, logits, strict=True)}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Learn from a batch; all calls are looked at again while centre and spread still move."""
        del won
        values, sides = _finite(outcomes, is_left)
        if not values.size or not self._corners:
            return
        if self._lines.learnt < _LEARNING:
            values, sides = np.concatenate([self._values, values]), np.concatenate([self._sides, sides])
            self._values, self._sides = values, sides
            self._centre = float(np.median(values))
            self._spread = float(np.median(np.abs(values - self._centre)))
            self._lines = _Lines.flat(len(self._corners))
        for start in range(0, len(values), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            self._lines.learn(self._ramps(values[part]), sides[part])

    def retire(self, name: str) -> None:
        """Leave out a distance of the corners for good."""
        self._lines.drop(self.names.index(name))
        del self._corners[name]

    def _ramps(self, values: Array) -> Array:
        """Return the height of each ramp at each value, shape (ramps, values)."""
        with np.errstate(over="ignore"):
            places = np.clip((values - self._centre) / (self._spread or 1.0), -1e6, 1e6)
        corners = np.array(list(self._corners.values()))[:, None]
        heights: Array = np.clip(places, -corners, corners) / np.minimum(corners, 1.0)
        return heights


@dataclass
class _Lines:
    """Logistic regressions of the same calls on one number each, with standard normal priors of slope and level.

    As in :class:`~dpassay.properties.learners.logistic.StreamingLogistic`, a quadratic stands for the likelihood.
    """

    weights: Array
    information: Array
    pull: Array
    learnt: int = 0

    @classmethod
    def flat(cls, count: int) -> "_Lines":
        """Return regressions that have seen nothing."""
        return cls(np.zeros((count, 2)), np.zeros((count, 2, 2)), np.zeros((count, 2)))

    def logits(self, heights: Array) -> Array:
        """Predict, shape (regressions, calls)."""
        return self.weights[:, :1] * heights + self.weights[:, 1:]

    def learn(self, heights: Array, sides: Sides) -> None:
        """Add calls to the quadratics, taken about the modes after them."""
        information, pull = self.information, self.pull
        for _ in range(_STEPS if self.learnt < _MOVING else 1):
            chance = expit(self.logits(heights))
            spread, residual = chance * (1 - chance), sides - chance
            tilted = spread * heights
            cross = tilted.sum(axis=1)
            curvature = np.array([[(tilted * heights).sum(axis=1), cross], [cross, spread.sum(axis=1)]])
            curvature = curvature.transpose(2, 0, 1)
            gradient = np.stack([(residual * heights).sum(axis=1), residual.sum(axis=1)], axis=1)
            information = self.information + curvature
            pull = self.pull + gradient + (curvature @ self.weights[:, :, None])[:, :, 0]
            modes = np.linalg.solve(information + np.eye(2), pull[:, :, None])[:, :, 0]
            self.weights = np.clip(modes, -_LARGEST, _LARGEST)
        self.information, self.pull = information, pull
        self.learnt += len(sides)

    def drop(self, place: int) -> None:
        """Forget a regression."""
        self.weights, self.information, self.pull = (
            np.delete(part, place, axis=0) for part in (self.weights, self.information, self.pull)
        )


def _finite(outcomes: Outcomes, is_left: Sides) -> tuple[Array, Sides]:
    values = outcomes.features.get(OUTCOME)
    if values is None:
        return np.empty(0), np.empty(0, dtype=np.bool_)
    known = np.isfinite(values)
    return values[known], is_left[known]
