"""Learners for few calls, with one or two parameters: both sides follow one family and differ in scale, or in place.

The families are those of the noise that private mechanisms add, Gaussian and Laplace. Each side has the conjugate
prior of its scale, worth a few calls at the deviation of all calls together, and predicts by its predictive density
(Student's and Lomax'). A scale that depends on the data, as where the noise of a mean is calibrated with the true
number of records, shows itself after some thirty pairs of calls.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dpassay.properties.audit.logistic import StreamingLogistic
from dpassay.properties.audit.outcomes import OUTCOME, Outcomes

__all__ = ["Family", "RampLearner", "ScaleLearner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]
Family = Literal["gaussian", "laplace"]

PRIOR_CALLS = 1.5
"""What the prior of each side is worth, in calls."""

CORNERS = (0.1, 0.4, 0.7, 1.0, 1.5, 2.5, 16.0)
"""Distances from the centre, in median deviations, beyond which a ramp is level."""

_LEARNING = 4096  # from here on the centre stays
_LEAST, _MOST_LOGIT = 2, 4.0


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
        """Learn from a batch; what is not a finite number is left out."""
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
            gammaln(shape + worth)
            - gammaln(shape)
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
        self._learnt = 0
        self._fits = {name: StreamingLogistic([np.eye(2)]) for name in self._corners}

    @property
    def names(self) -> list[str]:
        """One for each distance of the corners."""
        return list(self._corners)

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict; 0 for what is not a finite number."""
        values = outcomes.features.get(OUTCOME)
        if values is None or self._spread == 0:
            return {name: np.zeros(len(outcomes)) for name in self._corners}
        known = np.isfinite(values)
        places = self._places(np.where(known, values, self._centre))
        return {
            name: np.where(known, self._fits[name].logits(_ramp(places, corner)), 0.0)
            for name, corner in self._corners.items()
        }

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Learn from a batch; all calls are looked at again while centre and spread still move."""
        del won
        values, sides = _finite(outcomes, is_left)
        if not values.size or not self._corners:
            return
        if self._learnt < _LEARNING:
            values, sides = np.concatenate([self._values, values]), np.concatenate([self._sides, sides])
            self._values, self._sides = values, sides
            self._centre = float(np.median(values))
            self._spread = float(np.median(np.abs(values - self._centre)))
            self._fits = {name: StreamingLogistic([np.eye(2)]) for name in self._corners}
            self._learnt = 0
        self._learnt += len(values)
        places = self._places(values)
        for name, corner in self._corners.items():
            self._fits[name].learn(_ramp(places, corner).__getitem__, sides)

    def retire(self, name: str) -> None:
        """Leave out a distance of the corners for good."""
        del self._corners[name]

    def _places(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.clip((values - self._centre) / (self._spread or 1.0), -1e6, 1e6)


def _ramp(places: Array, corner: float) -> Array:
    return np.stack([np.clip(places, -corner, corner) / min(corner, 1.0), np.ones_like(places)], axis=1)


def _finite(outcomes: Outcomes, is_left: Sides) -> tuple[Array, Sides]:
    values = outcomes.features.get(OUTCOME)
    if values is None:
        return np.empty(0), np.empty(0, dtype=np.bool_)
    known = np.isfinite(values)
    return values[known], is_left[known]
