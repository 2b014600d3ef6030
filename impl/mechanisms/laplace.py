"""The Laplace mechanism: a vector of answers with independent Laplace noise, scaled to an l1 sensitivity."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_at_least, require_positive
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_interval, require_noise, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["LaplaceMechanism", "laplace_mechanism", "laplace_of_benchmark", "noisy_histogram"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LaplaceMechanism:
    """The answers plus Laplace noise of scale sensitivity / epsilon on each coordinate.

    Dwork, McSherry, Nissim and Smith 2006; Gaboardi 2017, S5.

    Parameters
    ----------
    size : int
        Number of answers, at least 1.
    epsilon : float
        Target of pure DP in nats, positive.
    sensitivity : float
        l1 distance of the answers on neighbours, at least 0; with 0 the answers are released as they are.
    low, high : float
        Range of every answer, infinite by default.
    l0 : int, optional
        Number of answers that a neighbour may change.
    integer : bool
        Whether the answers are integers.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    epsilon: float
    sensitivity: float = 1.0
    low: float = -np.inf
    high: float = np.inf
    l0: int | None = None
    integer: bool = False

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("epsilon", self.epsilon)
        require_at_least("sensitivity", self.sensitivity, 0)
        require_interval(self.low, self.high)
        if self.sensitivity > 0:
            require_noise(scale=self.scale)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.sensitivity / self.epsilon

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at an l1 distance of at most the sensitivity."""
        return VectorNeighbours(
            self.size, l0=self.l0, l1=self.sensitivity, low=self.low, high=self.high, integer=self.integer
        )

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` noisy vectors, one a row (numbers, if there is one answer), on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        def draw(rows: int) -> Array:
            shape = rows if self.size == 1 else (rows, self.size)
            return answers + self.scale * rng.laplace(size=shape)

        return in_chunks(draw, size, self.size)


_ITEM = (("gaboardi2017", "split_budget_laplace_accuracy"),)

laplace_mechanism = catalogue(__name__, LaplaceMechanism(size=3, epsilon=1.0), items=_ITEM)

laplace_of_benchmark = catalogue(__name__, LaplaceMechanism(1, 0.1, low=-10.0, high=10.0), items=_ITEM)

noisy_histogram = catalogue(__name__, LaplaceMechanism(5, 0.1, low=-10.0, high=10.0, l0=1, integer=True), items=_ITEM)
"""Counts of which a neighbour changes one, by 1: NoisyHist1 of the common benchmark."""
