"""Learners: from past calls, predict which side an outcome came from.

A learner sees whole batches of the past and is asked for the logits of the next one. It need not be right for the
test to be valid, only to be powerful; but what it predicts for an outcome must depend on that outcome and on the
past alone, never on the other outcomes of the batch. `Ensemble` mixes learners by their log-loss on
the past, so it loses little against the best of them. A new learner is a class with `observe` and `logits`.
"""

import math
from collections.abc import Hashable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit, logsumexp

from dpassay.properties.audit.combining import CombiningLearner
from dpassay.properties.audit.logistic import StreamingLogistic
from dpassay.properties.audit.outcomes import OUTCOME, Outcomes
from dpassay.properties.audit.side_tree import fit_side_tree, quantile_edges
from dpassay.properties.audit.two_sample import ScaleLearner

__all__ = ["AtomLearner", "Ensemble", "Learner", "ScalarLearner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

_MOST_ATOMS = 50_000
_MEMORY = 400_000
_HEAD_START = math.log(64)
"""Odds on the learners of scales, which need the fewest calls, against one for each other: ahead of them, there is no
time to find out which is right; the others lose these few nats once, of the many that they win."""


_TOGETHER = "all together"
"""Different features of one outcome may each tell something: a weighted sum of the logits of all learners."""

_MOST_TRUSTED = 16.0


class Learner(Protocol):
    """A probabilistic predictor of the side."""

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Learn from a batch that has been bet on."""
        ...

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict the logit of the probability of the left side for each outcome; 0 where nothing is known."""
        ...


class AtomLearner:
    """Counts how often each symbol came from each side; half a call of each is added to every symbol.

    It retires for good when a batch has nothing but different numbers.
    """

    def __init__(self) -> None:
        self.retired = False
        self.counts: dict[Hashable, tuple[int, int]] = {}

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Count the batch."""
        self.retired = self.retired or outcomes.is_continuous
        if self.retired or len(self.counts) > _MOST_ATOMS:
            return
        for symbol, left in zip(outcomes.atoms(), is_left.tolist(), strict=True):
            a, b = self.counts.get(symbol, (0, 0))
            self.counts[symbol] = (a + left, b + (not left))

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict log((left + 1/2) / (right + 1/2)) for the counts of each symbol."""
        if not self.counts or self.retired:
            return np.zeros(len(outcomes))
        known = {symbol: math.log((a + 0.5) / (b + 0.5)) for symbol, (a, b) in self.counts.items()}
        return np.array([known.get(symbol, 0.0) for symbol in outcomes.atoms()])


class ScalarLearner:
    """A context tree on the quantiles of one feature of the past outcomes."""

    def __init__(self, feature: str) -> None:
        self.feature = feature
        self._values: list[Array] = []
        self._sides: list[Sides] = []
        self._seen = 0
        self._edges: Array = np.empty(0)
        self._left = self._right = np.zeros(2, dtype=np.int64)
        self._leaf_logits: Array = np.zeros(1)

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Count the batch and fit the tree anew; once 400,000 calls were seen, the cells stay as they are."""
        past, sides = self._feature_of(outcomes), is_left
        if self._seen < _MEMORY:
            self._values.append(past)
            self._sides.append(sides)
            past, sides = np.concatenate(self._values), np.concatenate(self._sides)
            self._edges = quantile_edges(past)
            self._left = self._right = np.zeros(len(self._edges) + 2, dtype=np.int64)
        self._seen += len(outcomes)
        if self._seen >= _MEMORY:
            self._values, self._sides = [], []
        leaves = self._leaves_of(past)
        size = len(self._edges) + 2  # beyond the last edge, and NaN, which sorts last
        self._left = self._left + np.bincount(leaves[sides], minlength=size)
        self._right = self._right + np.bincount(leaves[~sides], minlength=size)
        self._leaf_logits = fit_side_tree(self._left, self._right)

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict by the leaf that the feature falls into."""
        if not self._seen:
            return np.zeros(len(outcomes))
        predictions: Array = self._leaf_logits[self._leaves_of(self._feature_of(outcomes))]
        return predictions

    def _leaves_of(self, values: Array) -> NDArray[np.intp]:
        leaves = np.searchsorted(self._edges, values)
        leaves[np.isnan(values)] = len(self._edges) + 1
        return leaves

    def _feature_of(self, outcomes: Outcomes) -> Array:
        values = outcomes.features.get(self.feature)
        return values if values is not None else np.full(len(outcomes), np.nan)


class Ensemble:
    """The mixture of learners, each weighted by its likelihood on the past; new features bring new learners.

    A learner more combines what the others say.

    Parameters
    ----------
    ignored : frozenset of str
        Features that bring none.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self._ignored = ignored
        self._answers: tuple[Outcomes | None, dict[str, Array]] = (None, {})
        self.learners: dict[str, Learner] = {
            "constant": _Constant(),
            "atoms": AtomLearner(),
            "coordinates": CombiningLearner(pooled=False),
            "faint coordinates": CombiningLearner(pooled=False, precision=1e4),
            "all coordinates alike": CombiningLearner(pooled=True),
            "all coordinates faintly alike": CombiningLearner(pooled=True, precision=1e4),
        }
        self.log_likelihoods: dict[str, float] = dict.fromkeys([*self.learners, _TOGETHER], 0.0)
        self._together = StreamingLogistic(0)

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Score every learner on the batch by the predictions it made before, then teach it."""
        for name in (*self.learners, _TOGETHER):
            signed = np.where(is_left, 1, -1) * self._asked(name, outcomes)
            self.log_likelihoods[name] += float(log_expit(signed).sum())
        opinions = self._opinions(outcomes)
        self._together.widen(opinions.shape[1])
        self._together.learn(lambda part: opinions[part], is_left)
        for feature in outcomes.features:
            if feature not in self.learners and feature not in self._ignored:
                self._welcome(feature, ScalarLearner(feature))
                if feature == OUTCOME:
                    self._welcome("gaussian scale", ScaleLearner("gaussian"), _HEAD_START)
                    self._welcome("laplace scale", ScaleLearner("laplace"), _HEAD_START)
        for learner in self.learners.values():
            learner.observe(outcomes, is_left)
        self._answers = (None, {})

    def _asked(self, name: str, outcomes: Outcomes) -> Array:
        """Return what a learner predicts; a batch is first bet on and then scored by the same predictions."""
        if self._answers[0] is not outcomes:
            self._answers = (outcomes, {})
        answers = self._answers[1]
        if name == _TOGETHER:
            return self._together.logits(self._opinions(outcomes))
        if name not in answers:
            answers[name] = self.learners[name].logits(outcomes)
        return answers[name]

    def _opinions(self, outcomes: Outcomes) -> Array:
        """Return what every learner predicts, shape (calls, learners), those that joined last to the right."""
        opinions = [self._asked(name, outcomes) for name in self.learners if name != "constant"]
        return np.clip(np.stack(opinions, axis=1), -_MOST_TRUSTED, _MOST_TRUSTED)

    def _welcome(self, name: str, learner: Learner, head_start: float = 0.0) -> None:
        """Let a learner join: it had predicted nothing so far."""
        self.learners[name] = learner
        self.log_likelihoods[name] = self.log_likelihoods["constant"] + head_start

    def logits(self, outcomes: Outcomes) -> Array:
        """Mix the predicted probabilities."""
        names = [*self.learners, _TOGETHER]
        scores = np.array([self.log_likelihoods[name] for name in names])
        shares = np.exp(scores - logsumexp(scores))
        mixed = np.zeros(len(outcomes))
        for name, share in zip(names, shares, strict=True):
            if share > 1e-12:
                mixed += share * expit(self._asked(name, outcomes))
        predictions: Array = logit(np.clip(mixed, 1e-12, 1 - 1e-12))
        return predictions


class _Constant:
    """The learner that knows nothing: it keeps the others from losing where there is nothing to learn."""

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Learn nothing."""

    def logits(self, outcomes: Outcomes) -> Array:
        """Predict neither side."""
        return np.zeros(len(outcomes))
