"""Generalised randomised response: a bit answered by a bit, the extremal mechanism of bounded range; compositions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.impl.accounting.adaptive_composition import AdaptiveComposition, bounded_range_mechanism
from dpassay.impl.accounting.mixed_composition import MixedBatch
from dpassay.impl.catalogue import catalogue
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "GeneralizedRandomizedResponse",
    "ResponseSequence",
    "generalized_randomized_response",
    "response_batch",
    "response_sequence",
]

Array = NDArray[np.float64]
Answers = tuple[int, ...]
Choice = Callable[[Answers], tuple[float, float]]
"""From the answers so far to (epsilon, t) of the next response."""

_NEIGHBOURS = VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)


def answer_probability(epsilon: float, top: float, bit: int) -> float:
    """Return the probability of the answer 1.

    (e^(t-epsilon) - e^-epsilon)/(1 - e^-epsilon) to input 0, and (1 - e^-t)/(1 - e^-epsilon) to input 1.
    """
    share = math.expm1(-top) / math.expm1(-epsilon)
    return share if bit else share * math.exp(top - epsilon)


def require_response(epsilon: float, top: float) -> None:
    """Raise `UsageError` unless epsilon is finite and positive and 0 <= t <= epsilon."""
    require_positive("epsilon", epsilon)
    if not 0 <= top <= epsilon:
        raise UsageError(f"top must lie in [0, epsilon], got top={top!r}, epsilon={epsilon!r}")


def the_bit(data: Array) -> int:
    """Return the secret bit; raise `UsageError` if the data are anything else."""
    [bit] = require_vector("data", data, 1, 0, 1)
    if bit not in {0, 1}:
        raise UsageError(f"data must be [0] or [1], got {data!r}")
    return int(bit)


@dataclass(frozen=True)
class GeneralizedRandomizedResponse:
    """RR_{epsilon,t}: answers a bit with losses t and t - epsilon; classical response is RR_{2 epsilon, epsilon}.

    Cesar and Rogers 2020, Def 2.4.

    Parameters
    ----------
    epsilon : float
        Range of the losses, positive.
    top : float
        The larger loss t, in [0, epsilon]; at either end the answer is constant.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    epsilon: float
    top: float

    def __post_init__(self) -> None:
        require_response(self.epsilon, self.top)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Bounded range, and pure DP with the larger of the two losses."""
        return (BoundedRange(self.epsilon), PureDP(max(self.top, self.epsilon - self.top)))

    @property
    def neighbours(self) -> VectorNeighbours:
        """A bit and the other one."""
        return _NEIGHBOURS

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` answers to the bit `data`."""
        require_count("size", size, low=0)
        return (rng.random(size) < answer_probability(self.epsilon, self.top, the_bit(data))).astype(np.int64)


@dataclass(frozen=True)
class ResponseSequence:
    """The answers of responses to one bit, each chosen by the earlier answers: the worst analyst, as a mechanism.

    Parameters
    ----------
    length : int
        Number of responses, at least 1.
    choose : callable
        Which response follows after some answers; a constant for a batch.
    claim : callable
        Returns the claim that the composition makes; it is computed when somebody asks for it first.

    Raises
    ------
    UsageError
        If a parameter, or a response that is chosen, is out of its domain.
    """

    length: int
    choose: Choice
    claim: Callable[[], Claim]

    def __post_init__(self) -> None:
        require_count("length", self.length)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The guarantee of the composition."""
        return (self.claim(),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """A bit and the other one."""
        return _NEIGHBOURS

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> list[Answers]:
        """Draw `size` tuples of answers to the bit `data`."""
        bit = the_bit(data)
        answers = np.zeros((require_count("size", size, low=0), self.length), dtype=np.int64)
        for place in range(self.length):
            histories, which = np.unique(answers[:, :place], axis=0, return_inverse=True)
            chances = [self._chance(tuple(int(x) for x in history), bit) for history in histories]
            answers[:, place] = rng.random(size) < np.array(chances)[np.ravel(which)] if size else 0
        return [tuple(row) for row in answers.tolist()]

    def _chance(self, history: Answers, bit: int) -> float:
        epsilon, top = self.choose(history)
        require_response(epsilon, top)
        return answer_probability(epsilon, top, bit)


def best_second(epsilon: float, level: float, first: float) -> Choice:
    """Return the optimal analyst of two bounded-range mechanisms whose first has t = `first`.

    What is left of the global epsilon after a loss is a, and the best t is then (a + epsilon)/2, clipped.
    """

    def choose(history: Answers) -> tuple[float, float]:
        if not history:
            return epsilon, first
        left = level - first + epsilon * history[0]
        return epsilon, min(max((left + epsilon) / 2, 0.0), epsilon)

    return choose


_EPSILON, _LEVEL = 1.0, 0.2

generalized_randomized_response = catalogue(
    __name__,
    GeneralizedRandomizedResponse(epsilon=1.0, top=0.3),
    items=(("cesar2020", "generalized_rr"),),
)

response_batch = catalogue(
    __name__,
    ResponseSequence(
        length=6,
        choose=lambda history: (1.0, 0.6) if len(history) < 4 else (2.0, 1.0),
        claim=lambda: MixedBatch(pure=2, bounded_range=4, mechanism_epsilon=1.0).claim(2.0),
    ),
    items=(("cesar2020", "optimal_mixed_batch"),),
)

response_sequence = catalogue(
    __name__,
    ResponseSequence(
        length=2,
        choose=best_second(_EPSILON, _LEVEL, first=0.5),
        claim=lambda: AdaptiveComposition([bounded_range_mechanism(_EPSILON)] * 2).claim(_LEVEL),
    ),
    items=(("cesar2020", "adaptive_delta_recursion"), ("cesar2020", "class_composition_notation")),
)
