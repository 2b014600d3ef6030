"""Labels from the votes of teachers; only disagreement of the teachers is charged.

Cohen and Lyu 2023, Section 2.7.1. Teachers are trained on disjoint parts of the private data, so that a record moves
one vote. A label is drawn by the exponential mechanism on the counts, inside the boundary wrapper, whose extra outcome
is the target: a query on which the teachers agree is rarely charged.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.impl.accounting.target_charging import ChargingAccount, largest_hits
from dpassay.impl.mechanisms.boundary_wrapper import BOUNDARY, BoundaryWrapper
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.target_charging import TargetCharging
from dpassay.impl.validation import require_count, require_vector

__all__ = ["TeacherVotes", "affordable_hits", "wrapped_vote"]

Array = NDArray[np.float64]


def wrapped_vote(labels: int, epsilon: float) -> BoundaryWrapper:
    """Return the wrapped exponential mechanism on the counts of `labels` labels: Pr proportional to exp(eps n/2)."""
    require_positive("epsilon", epsilon)
    return BoundaryWrapper(ExponentialMechanism(require_count("labels", labels, low=2), epsilon))


def affordable_hits(labels: int, epsilon: float, total: float, delta: float) -> int:
    """Return the number of boundary outcomes that a budget of (total, delta) allows; 0 if it allows none.

    Parameters
    ----------
    labels : int
        Number of labels.
    epsilon : float
        Privacy parameter of the exponential mechanism, nats.
    total : float
        Privacy parameter of the whole, nats.
    delta : float
        Delta of the whole, in (0, 1).
    """
    wrapper = wrapped_vote(labels, epsilon)
    return largest_hits(total, delta, wrapper.epsilon, wrapper.quality)


class TeacherVotes:
    """A session that labels queries until the votes have been uncertain `hits` times.

    Parameters
    ----------
    teachers, labels : int
        How many there are; at least 1 and 2.
    hits : int
        Number of boundary outcomes that end the session, at least 1.
    epsilon : float
        Privacy parameter of one vote before it is wrapped, in nats, positive.
    rng : numpy.random.Generator
        Source of the draws.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    def __init__(self, teachers: int, labels: int, hits: int, epsilon: float, rng: np.random.Generator) -> None:
        self.teachers = require_count("teachers", teachers)
        self.wrapper = wrapped_vote(labels, epsilon)
        self.labels = labels
        self.session = TargetCharging(hits, self.wrapper.epsilon, self.wrapper.quality)
        self._rng = rng

    @property
    def halted(self) -> bool:
        """True if the session has ended."""
        return self.session.halted

    def account(self, delta: float) -> ChargingAccount:
        """Return the guarantee of the session at a delta in (0, 1)."""
        return self.session.account(delta)

    def ask(self, counts: ArrayLike) -> int:
        """Return a label, or `BOUNDARY` (-1) if the votes are uncertain.

        Parameters
        ----------
        counts : array_like, shape (labels,)
            Number of votes of teachers for each label, in whole numbers that sum to the number of teachers.

        Raises
        ------
        UsageError
            If the counts are something else; nothing is drawn or charged.
        HaltedError
            If the session has halted.
        """
        votes = require_vector("counts", counts, self.labels, 0, self.teachers)
        if bool(np.any(votes != np.floor(votes))) or float(votes.sum()) != self.teachers:
            raise UsageError(f"counts must be whole numbers that sum to {self.teachers}, got {votes.tolist()!r}")

        def draw() -> Any:
            return int(self.wrapper.sample(votes, 1, self._rng)[0])

        return int(self.session.ask(draw, frozenset({BOUNDARY}), outcomes=range(BOUNDARY, self.labels)))
