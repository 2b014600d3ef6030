"""Private selection: the k best of any number of private candidates, in one shot or by a sweep.

Cohen and Lyu 2023, Alg 3, Alg 9 and Section 2.4.1. A candidate is an epsilon-DP call that returns a value with a
score. The sweep publishes the same, and pays exactly k hits at 2 epsilon: hence the price of the one shot. Equal
scores go by the order of the candidates, never by the data.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import ApproximateDP, Claim
from dpassay.impl.accounting.target_charging import one_shot_top_k_account
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.conditional_release import WITHHELD, ConditionalReleases, Interval
from dpassay.impl.mechanisms.finite import log_ratio_upper
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.mechanisms.target_charging import TargetCharging
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "LaplaceTopK",
    "ResponseTopK",
    "Selected",
    "SweptTopK",
    "above_threshold_selection",
    "laplace_top_k",
    "one_shot_top_k",
    "response_top_k",
    "sweep_session",
    "swept_top_k",
    "top_k_by_sweep",
    "top_one_by_sweep",
]

Array = NDArray[np.float64]
Candidate = Callable[[], tuple[Any, float]]


@dataclass(frozen=True)
class Selected:
    """A candidate that was selected: its number, its value and its score."""

    candidate: int
    value: Any
    score: float


def one_shot_top_k(candidates: Sequence[Candidate], k: int) -> list[Selected]:
    """Run every candidate once and return the k with the largest scores, in decreasing order.

    Raises
    ------
    UsageError
        If k is not between 1 and the number of candidates, or a score is not a number.
    """
    _require_k(k, len(candidates))
    results = [_checked(candidate()) for candidate in candidates]
    order = sorted(range(len(results)), key=lambda i: (-results[i][1], i))
    return [Selected(i, *results[i]) for i in order[:k]]


def sweep_session(k: int, epsilon: float) -> TargetCharging:
    """Return the session that a sweep for k of epsilon-DP candidates needs: k hits at 2 epsilon."""
    require_positive("epsilon", epsilon)
    return TargetCharging(require_count("k", k), 2 * epsilon, float(not_prior_quality(2 * epsilon)))


def top_k_by_sweep(
    candidates: Sequence[Candidate],
    levels: Iterable[float],
    session: TargetCharging,
    epsilon: float,
    *,
    stop: Callable[[list[Selected], float], bool] = lambda found, level: False,  # noqa: ARG005
) -> list[Selected]:
    """Lower a threshold through `levels` and publish candidates as it passes their scores, until the session halts.

    Parameters
    ----------
    candidates : sequence of callable
        Each is run once, at the first level.
    levels : iterable of float
        Thresholds; they are taken in decreasing order.
    session : TargetCharging
        As `sweep_session` makes it.
    epsilon : float
        Privacy parameter of a candidate.
    stop : callable, optional
        ``stop(found, level)``, asked before each level: whether to end, from what has been revealed so far.

    Returns
    -------
    list of Selected
        In the order in which they were published.

    Raises
    ------
    HaltedError, UsageError
        As `ConditionalReleases`.
    """
    releases, found, previous = ConditionalReleases(session, epsilon), list[Selected](), math.inf
    identifiers: dict[int, int] = {}
    for level in sorted(set(levels), reverse=True):
        if stop(list(found), level):
            break
        added = Interval(level, previous)
        for number, candidate in enumerate(candidates):
            if session.halted:
                return found
            if number not in identifiers:
                released = releases.release(lambda run=candidate: _checked(run()), added)  # type: ignore[misc]
                identifiers[number], outcome = released.identifier, released.outcome
            else:
                outcome = releases.revise(identifiers[number], added)
            if outcome is not WITHHELD:
                found.append(Selected(number, *outcome))
        previous = level
    return found


def top_one_by_sweep(candidates: Sequence[Candidate], levels: Iterable[float]) -> Selected | None:
    """Return the first candidate at or above the highest level that has one (Alg 9); None below all levels."""
    results = [_checked(candidate()) for candidate in candidates]
    for level in sorted(set(levels), reverse=True):
        for number, (value, score) in enumerate(results):
            if score >= level:
                return Selected(number, value, score)
    return None


def above_threshold_selection(
    candidates: Sequence[Candidate], threshold: float, session: TargetCharging, epsilon: float
) -> list[Selected]:
    """Publish candidates with a score of at least the threshold until the session halts; each hit costs epsilon.

    Parameters
    ----------
    candidates : sequence of callable
        The private candidates.
    threshold : float
        Least score that is published.
    session : TargetCharging
        Session that charges the hits.
    epsilon : float
        Privacy parameter of a candidate, nats.
    """
    releases, found = ConditionalReleases(session, epsilon), list[Selected]()
    for number, candidate in enumerate(candidates):
        if session.halted:
            break
        outcome = releases.release(lambda run=candidate: _checked(run()), Interval(threshold, math.inf)).outcome  # type: ignore[misc]
        if outcome is not WITHHELD:
            found.append(Selected(number, *outcome))
    return found


def _checked(result: tuple[Any, float]) -> tuple[Any, float]:
    value, score = result
    if math.isnan(score):
        raise UsageError("score must be a number, got nan")
    return value, float(score)


def _require_k(k: int, size: int) -> None:
    if require_count("k", k) > size:
        raise UsageError(f"k must be at most {size}, the number of candidates, got {k!r}")


# --- mechanisms of the catalogue ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ResponseTopK:
    """The k best of `size` tests; each test answers about its own bit, and its score is the answer.

    The outcome is the tuple of (candidate, score) of those selected, in order.

    Parameters
    ----------
    size, k : int
        Number of candidates, and how many are released.
    truth : float
        Probability of a true answer, in (1/2, 1).
    delta : float
        At which the guarantee is claimed, in (0, 1).
    """

    size: int
    k: int
    truth: float
    delta: float

    def __post_init__(self) -> None:
        require_count("size", self.size)
        _require_k(self.k, self.size)
        if not 0.5 < self.truth < 1:
            raise UsageError(f"truth must lie in (1/2, 1), got {self.truth!r}")

    @property
    def epsilon(self) -> float:
        """Privacy parameter of a candidate, rounded up."""
        return log_ratio_upper(Fraction(self.truth) / (1 - Fraction(self.truth)))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Approximate DP for any number of candidates, or their composition if that is less."""
        account = one_shot_top_k_account(self.k, self.epsilon, self.delta)
        return (ApproximateDP(min(account.epsilon, self.size * self.epsilon), self.delta),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Bits of which any number may differ."""
        return VectorNeighbours(size=self.size, linf=1, low=0, high=1, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` selections on the bits `data`."""
        bits = require_vector("data", data, self.size, 0, 1)

        def draw(rows: int) -> NDArray[Any]:
            scores = np.where(rng.random((rows, self.size)) < self.truth, bits, 1 - bits)
            order = np.argsort(-scores, axis=1, kind="stable")[:, : self.k]
            return np.concatenate([order, np.take_along_axis(scores, order, axis=1)], axis=1)

        drawn = in_chunks(draw, size, self.size).astype(np.int64).tolist()
        return [tuple(zip(row[: self.k], row[self.k :], strict=True)) for row in drawn]


@dataclass(frozen=True)
class SweptTopK(ResponseTopK):
    """The selection of `ResponseTopK` by a sweep: releases at level 1, revisions at level 0, until k hits."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` selections on the bits `data`, one after the other."""
        bits = require_vector("data", data, self.size, 0, 1)
        return [self._sweep(bits, rng) for _ in range(require_count("size", size, low=0))]

    def _sweep(self, bits: Array, rng: np.random.Generator) -> tuple[tuple[int, int], ...]:
        scores = np.where(rng.random(self.size) < self.truth, bits, 1 - bits)
        candidates = [lambda score=score: (None, float(score)) for score in scores]
        found = top_k_by_sweep(candidates, (0, 1), sweep_session(self.k, self.epsilon), self.epsilon)
        return tuple((chosen.candidate, int(chosen.score)) for chosen in found)


@dataclass(frozen=True)
class LaplaceTopK:
    """The k largest of `size` answers with Laplace noise, noisy scores included (Rem I.5).

    The outcome is a row: k numbers of answers, then their noisy values, in decreasing order.

    Parameters
    ----------
    size, k : int
        Number of answers, and how many are released.
    epsilon : float
        Privacy parameter of one noisy answer, in nats, positive; the scale is sensitivity/epsilon.
    delta : float
        At which the guarantee is claimed, in (0, 1).
    sensitivity : float
        Largest change of each answer between neighbours, positive.
    """

    size: int
    k: int
    epsilon: float
    delta: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        _require_k(self.k, self.size)
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Approximate DP for any number of answers, or their composition if that is less."""
        account = one_shot_top_k_account(self.k, self.epsilon, self.delta)
        return (ApproximateDP(min(account.epsilon, self.size * self.epsilon), self.delta),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Answers each moved by at most the sensitivity."""
        return VectorNeighbours(size=self.size, linf=self.sensitivity)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` selections on the answers `data`."""
        answers = require_vector("data", data, self.size)
        scale = self.sensitivity / self.epsilon

        def draw(rows: int) -> NDArray[Any]:
            noisy = answers + rng.laplace(scale=scale, size=(rows, self.size))
            order = np.argsort(-noisy, axis=1, kind="stable")[:, : self.k]
            return np.concatenate([order, np.take_along_axis(noisy, order, axis=1)], axis=1)

        return in_chunks(draw, size, self.size)


response_top_k = catalogue(
    __name__,
    ResponseTopK(size=10, k=2, truth=0.53125, delta=0.01),
    items=(
        ("cohen2023", "one_shot_top_k"),
        ("cohen2023", "top1_sweep_simulation"),
        ("cohen2023", "above_threshold_selection"),
    ),
)

swept_top_k = catalogue(
    __name__,
    SweptTopK(size=6, k=2, truth=0.625, delta=0.01),
    items=(("cohen2023", "sweep_selection"), ("cohen2023", "conditional_release_with_revisions")),
)

laplace_top_k = catalogue(
    __name__,
    LaplaceTopK(size=3, k=1, epsilon=0.5, delta=1e-3),
    items=(("cohen2023", "laplace_top_k"),),
)
