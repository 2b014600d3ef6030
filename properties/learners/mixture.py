"""Learners: from past calls, predict which side an outcome came from.

A learner sees whole batches of the past and is asked for the logits of the next one. It need not be right for the
test to be valid, only to be powerful; but what it predicts for an outcome must depend on that outcome and on the
past alone, never on the other outcomes of the batch. `Ensemble` mixes all opinions by their log-loss on the past, so
it loses little against the best of them, and lets those retire that are far behind. A new learner is a class with
`names`, `opinions`, `observe` and `retire`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.atoms import AtomLearner
from dpassay.properties.learners.combining import MOST_COORDINATES, CombiningLearner
from dpassay.properties.learners.logistic import StreamingLogistic
from dpassay.properties.learners.pairs import PairLearner
from dpassay.properties.learners.supports import SupportLearner
from dpassay.properties.learners.trees import TreeLearner
from dpassay.properties.learners.two_sample import RampLearner, ScaleLearner
from dpassay.properties.log_domain import expit, logsumexp
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import OUTCOME

__all__ = ["Ensemble", "Learner"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

_HEAD_START = math.log(64)
"""Log-odds of each learner of scales against each other learner. The learners of scales need the fewest calls; the
other learners lose these nats once."""

_RAMPS_JOIN = 128
"""Calls after which the ramps join: earlier they would take weight from the learners of scales while few calls are
known."""

_RAMPS_SHARE = 1 / 4
"""The weight of the ramps when they join: a larger one costs the other learners more."""

NOTHING = ""
"""The name of the constant expert (logit 0), which caps the loss of the mixture where outcomes carry no signal."""

_TOGETHER = "all together"
"""The name of the expert that weighs the logits of all learners: different features may carry different signals."""

_MOST_TRUSTED = 16.0
"""The largest absolute logit of a learner in the weighted sum: one wrong certain opinion costs at most this."""

_MOST_WIDTHS = 4
"""Widths of outcomes with learners of their own: more serve outcomes of varying length and cost time and odds."""

_FIRST_REVIEW = 2048
"""Calls before the first review of the learners; later reviews follow when the calls have doubled."""

_FAR_BEHIND = 20.0
"""A learner retires if it is this many nats behind the best and has lost ground since the last review: a smaller value
saves time and may retire a learner that would recover."""

_AFFORDABLE = 1 / 500
"""The largest loss of the weighted sum by a retirement, as a part of the gain of the sum."""


_NEGLIGIBLE = 1e-12
"""The share of an opinion below which it is left out of the mixture."""

_FARTHEST = 60.0
"""Opinions are scored up to this absolute logit: in float32 its exponential is finite."""


class Learner(Protocol):
    """A probabilistic predictor of the side, of one or several opinions."""

    @property
    def names(self) -> Sequence[str]:
        """The names of its opinions; later there may be more."""
        ...

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict the logit of the left side for each outcome, by name; 0 where nothing is known.

        An opinion that would be 0 for every outcome may be left out.
        """
        ...

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Learn from a batch that has been bet on; `won`: nats that each opinion won so far over knowing nothing."""
        ...

    def retire(self, name: str) -> None:
        """Leave out an opinion for good."""
        ...


@dataclass
class _Answers:
    """The opinions on a batch that are not all 0, by name."""

    outcomes: Outcomes
    names: list[str]
    opinions: list[Array]


def _score(opinion: Array, is_left: Sides) -> float:
    """Return the log-likelihood of the sides; in float32, which decides about weights of opinions only."""
    ahead = np.clip(np.where(is_left, opinion, -opinion), -_FARTHEST, _FARTHEST).astype(np.float32)
    return -float(np.sum(np.log(1 + np.exp(-ahead)), dtype=np.float64))


class Ensemble:
    """The mixture of opinions, each weighted by its likelihood on the past, and one more that combines all others.

    Parameters
    ----------
    ignored : frozenset of str
        Features that bring none.
    """

    def __init__(self, ignored: frozenset[str] = frozenset()) -> None:
        self.learners: list[Learner] = [
            AtomLearner(), TreeLearner(ignored), SupportLearner(ignored), PairLearner(ignored)
        ]  # fmt: skip
        self.scores: dict[str, float] = {NOTHING: 0.0, _TOGETHER: 0.0}
        """The log-likelihood of the past calls by each opinion."""
        self._stacked: list[str] = []
        self._together = StreamingLogistic([np.empty((0, 0))])
        self._widths: list[int] = []
        self._calls, self._review_at = 0, _FIRST_REVIEW
        self._reviewed = dict(self.scores)
        self._late: list[RampLearner] = []
        self._answers: _Answers | None = None
        self._welcome_opinions()

    def logits(self, outcomes: Outcomes) -> Array:
        """Mix the predicted probabilities."""
        answers = self._asked(outcomes)
        scores = np.array(list(self.scores.values()))
        shares = dict(zip(self.scores, np.exp(scores - logsumexp(scores)).tolist(), strict=True))
        heard = [(shares[name], row) for name, row in zip(answers.names, answers.opinions, strict=True)]
        mixed = np.full(len(outcomes), 0.5 * (1 - math.fsum(share for share, _ in heard)))
        for share, opinion in heard:
            if share > _NEGLIGIBLE:
                mixed += share * expit(opinion)
        mixed = np.clip(mixed, 1e-12, 1 - 1e-12)
        predictions: Array = np.log(mixed) - np.log1p(-mixed)
        return predictions

    def observe(self, outcomes: Outcomes, is_left: Sides) -> None:
        """Score every opinion on the batch by its prediction, then teach the learners."""
        answers = self._asked(outcomes)
        self._answers = None
        gains = {name: _score(row, is_left) for name, row in zip(answers.names, answers.opinions, strict=True)}
        silence = -len(outcomes) * math.log(2)
        for name in self.scores:
            self.scores[name] += gains.get(name, silence)
        if self._stacked and _TOGETHER in self.scores:
            columns, stacked = self._regressors(answers)
            self._together.learn(lambda part: stacked[part], is_left, columns=columns)
        self._calls += len(outcomes)
        self._hire(outcomes)
        won = {name: score - self.scores[NOTHING] for name, score in self.scores.items()}
        for learner in self.learners + self._late:
            learner.observe(outcomes, is_left, won)
        living = {NOTHING, _TOGETHER, *(name for learner in self.learners for name in learner.names)}
        for name in [name for name in self.scores if name not in living]:  # some retire by themselves
            self._forget(name)
        self._welcome_opinions()
        if self._calls >= self._review_at:
            self._review()

    def _asked(self, outcomes: Outcomes) -> "_Answers":
        """Return the opinions; a batch is first bet on and then scored by the same ones."""
        if self._answers is None or self._answers.outcomes is not outcomes:
            found = {
                name: opinion for learner in self.learners for name, opinion in learner.opinions(outcomes).items()
            }
            names = [name for name in self.scores if name in found]
            answers = _Answers(outcomes, names, [found[name] for name in names])
            if names and _TOGETHER in self.scores:
                columns, stacked = self._regressors(answers)
                answers.names.append(_TOGETHER)
                answers.opinions.append(self._together.logits(stacked, columns))
            self._answers = answers
        return self._answers

    @property
    def combining(self) -> CombiningLearner | None:
        """The first learner with regressors, if there is one yet."""
        found = (learner for learner in self.learners if isinstance(learner, CombiningLearner))
        return next((learner for learner in found if learner.regressors is not None), None)

    def _regressors(self, answers: "_Answers") -> tuple[NDArray[np.intp], Array]:
        """Return the opinions that the weighted sum is made of: their columns there, and their values."""
        places = {name: place for place, name in enumerate(self._stacked)}
        stacked = [
            (places[name], row) for name, row in zip(answers.names, answers.opinions, strict=True) if name in places
        ]
        columns = np.array([place for place, _ in stacked], dtype=np.intp)
        values = np.empty((len(stacked), len(answers.outcomes)))
        for row, (_, opinion) in zip(values, stacked, strict=True):
            np.clip(opinion, -_MOST_TRUSTED, _MOST_TRUSTED, out=row)
        return columns, values.T

    def _hire(self, outcomes: Outcomes) -> None:
        """Add learners for kinds of outcomes that are new."""
        widths = [width for width in outcomes.widths() if 1 <= width <= MOST_COORDINATES]
        if OUTCOME in outcomes.features:
            widths.insert(0, 0)
        for width in widths:
            if width not in self._widths and len(self._widths) < _MOST_WIDTHS:
                self._widths.append(width)
                self.learners.append(CombiningLearner(width))
                if width == 0:
                    self.learners += [ScaleLearner("gaussian"), ScaleLearner("laplace")]
                    self._late.append(RampLearner())

    def _welcome_opinions(self) -> None:
        """Let new opinions in as if they had predicted nothing so far, but for a head start."""
        if self._late and self._calls >= _RAMPS_JOIN:
            share = math.log(_RAMPS_SHARE) + float(logsumexp(list(self.scores.values())))
            for ramps in self._late:
                self.scores |= {name: share - math.log(len(ramps.names)) for name in ramps.names}
            self.learners += self._late
            self._late = []
        for learner in self.learners:
            head_start = _HEAD_START if isinstance(learner, ScaleLearner) else 0.0
            for name in learner.names:
                self.scores.setdefault(name, self.scores[NOTHING] + head_start)
        self._stacked += [name for name in self.scores if name not in {NOTHING, _TOGETHER, *self._stacked}]
        self._together.widen(len(self._stacked))

    def _forget(self, name: str) -> None:
        self._together.drop(self._stacked.index(name))
        self._stacked.remove(name)
        del self.scores[name]

    def _review(self) -> None:
        """Retire the learners that are far behind and fall further behind, if the weighted sum can do without them."""
        best, best_then = (max(scores.values()) for scores in (self.scores, self._reviewed))
        lagging = [
            name
            for name, score in self.scores.items()
            if name != NOTHING and best - score > max(_FAR_BEHIND, best_then - self._reviewed.get(name, best_then))
        ]
        if _TOGETHER in lagging:
            del self.scores[_TOGETHER]
        allowed = 1.0 + _AFFORDABLE * max(0.0, best - self.scores[NOTHING])
        for name in sorted((name for name in lagging if name != _TOGETHER), key=self.scores.__getitem__):
            place = self._stacked.index(name)
            cost = self._together.cost_without(place) if _TOGETHER in self.scores else 0.0
            if cost > allowed:
                continue
            allowed -= cost
            self._forget(name)
            next(learner for learner in self.learners if name in learner.names).retire(name)
        self._reviewed, self._review_at = dict(self.scores), 2 * self._calls
