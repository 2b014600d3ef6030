"""A learner of supports: values so low, or so high, that only one of the sides has shown any.

Where one input makes outcomes possible that the other excludes, they lie beyond all outcomes of the other side. Trees
find that, too, but have to split down to a cell in the tail first, which takes several times as many outcomes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.log_domain import log_expit
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import OUTCOME

__all__ = ["SupportLearner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

FEATURES = (OUTCOME, "outcome[0]", "max(outcome)", "min(outcome)", "sum(outcome)")
_NAME = "beyond the other side"
_KEPT = 256
"""The smallest values of each side that are kept: more detect supports whose ends are rarely reached."""

_PRIOR = 1 / 8
"""The prior probability that values beyond those of the other side belong to one side only; otherwise both sides are
equally likely."""

_MOST_LOST = 500.0
"""Nats of former losses that count at most: their exponential is a float64."""


@dataclass
class _End:
    """The least values of each side, in order; of a feature, or of its negative for the other end."""

    least: dict[bool, Array] = field(default_factory=lambda: {False: np.empty(0), True: np.empty(0)})
    won: float = 0.0
    """The nats that its predictions won over knowing nothing, in all batches."""

    def score(self, values: Array, is_left: Sides) -> None:
        """Note how the prediction did on a batch that was bet on."""
        bound, logit = self.frontier()
        if logit:
            left = is_left[values < bound]
            self.won += float(left.size * math.log(2) + log_expit(np.where(left, logit, -logit)).sum())

    def add(self, values: Array, is_left: Sides) -> None:
        for side in (False, True):
            new = values[is_left == side]
            if self.least[side].size == _KEPT:  # then nearly all are larger than those that are kept
                new = new[new < self.least[side][-1]]
            if new.size > _KEPT:
                new = np.partition(new, _KEPT)[:_KEPT]
            self.least[side] = np.sort(np.concatenate([self.least[side], new]))[:_KEPT]

    def frontier(self) -> tuple[float, float]:
        """Return below which value only one side was seen, and the logit of the left side there.

        Extreme values move outwards as calls come in, and chance gives the outermost ones to one side again and again.
        What such predictions lost before counts against the next one: on a null pair each batch would lose anew.
        """
        right, left = self.least[False], self.least[True]
        if not (left.size and right.size) or left[0] == right[0]:
            return -np.inf, 0.0
        is_left = bool(left[0] < right[0])
        alone, bound = (left, right[0]) if is_left else (right, left[0])
        count = int(np.searchsorted(alone, bound))
        odds = _PRIOR / (1 - _PRIOR) * 2.0 ** min(count, 64) * math.exp(max(min(self.won, 0.0), -_MOST_LOST))
        one_sided = odds / (1 + odds)
        other = one_sided * 0.5 / (count + 1) + (1 - one_sided) * 0.5
        logit = float(np.log1p(-other) - np.log(other))
        return float(bound), logit if is_left else -logit


class SupportLearner:
    """Predicts the side of an outcome that lies beyond all past outcomes of one side.

    Parameters
    ----------
    ignored : frozenset of str
        Features that are not looked at.
    features : sequence of str
        Features that are looked at otherwise.
    """

    def __init__(self, ignored: frozenset[str] = frozenset(), *, features: Sequence[str] = FEATURES) -> None:
        self.names = [_NAME]
        self._features = [name for name in features if name not in ignored]
        self._ends: dict[tuple[str, int], _End] = {}
        self._frontiers: dict[tuple[str, int], tuple[float, float]] = {}

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict by the feature with the largest logit; 0 for values that both sides have shown."""
        if not self.names:
            return {}
        logits = np.zeros(len(outcomes))
        for (name, sign), (bound, logit) in self._frontiers.items():
            values = outcomes.features.get(name)
            if values is not None and abs(logit) > 0:
                beyond = (sign * values < bound) & (np.abs(logits) < abs(logit))
                logits[beyond] = logit
        return {_NAME: logits}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Learn from a batch; NaN lies nowhere."""
        del won
        if not self.names:
            return
        for name in self._features:
            values = outcomes.features.get(name)
            if values is None:
                continue
            known = ~np.isnan(values)
            for sign in (1, -1):
                end = self._ends.setdefault((name, sign), _End())
                end.score(sign * values[known], is_left[known])
                end.add(sign * values[known], is_left[known])
                self._frontiers[name, sign] = end.frontier()

    def retire(self, name: str) -> None:
        """Leave the learner out for good."""
        self.names.remove(name)
