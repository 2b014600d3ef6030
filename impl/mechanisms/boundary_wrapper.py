"""The boundary wrapper: an extra outcome for uncertain answers of an algorithm, as a target to charge."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, PureDP
from dpassay.impl.accounting.target_quality import (
    LARGEST_EXCESS,
    boundary_quality,
    wrapped_classifier_epsilon,
    wrapped_test_epsilon,
)
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.finite import ProbabilityOracle, pure_epsilon
from dpassay.impl.validation import require_count
from dpassay.neighbours import NeighbourRelation

__all__ = ["BOUNDARY", "BoundaryWrapper", "boundary_wrapper"]

Array = NDArray[np.float64]

BOUNDARY = -1
"""The outcome that the wrapper adds."""


@dataclass(frozen=True)
class BoundaryWrapper:
    """Report the boundary with probability min(1/3, pi/(1 + pi)), and an outcome of the algorithm otherwise.

    pi is one minus the probability of its likeliest outcome. Cohen and Lyu 2023, Alg 4.

    Parameters
    ----------
    base : ProbabilityOracle
        The algorithm; its first claim is pure DP, and the probabilities that it tells are exact (with estimated
        ones nothing is claimed).
    binary : bool
        Whether it has two outcomes, and the wrapper is charged at the smaller epsilon of a test.

    Raises
    ------
    UsageError
        If the first claim of the algorithm is another one; on sampling, if `binary` is not true of it, or what it
        tells of its probabilities does not sum to 1.
    """

    base: ProbabilityOracle
    binary: bool = False

    def __post_init__(self) -> None:
        pure_epsilon(self.base)

    @property
    def epsilon(self) -> float:
        """The privacy parameter t of the wrapper, in nats, rounded up."""
        bound = wrapped_test_epsilon if self.binary else wrapped_classifier_epsilon
        return float(bound(pure_epsilon(self.base)))

    @property
    def quality(self) -> float:
        """The quality of the boundary as a target, when a call is charged at `epsilon`; rounded down."""
        return float(boundary_quality(pure_epsilon(self.base), self.epsilon))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> NeighbourRelation:
        """Those of the algorithm."""
        return self.base.neighbours

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` outcomes, those of the algorithm or -1 for the boundary."""
        require_count("size", size, low=0)
        chance = self.boundary_probability(data)  # first: nothing is drawn for a false oracle
        at_boundary = rng.random(size) < chance
        return np.where(at_boundary, BOUNDARY, np.asarray(self.base.sample(data, size, rng)))

    def boundary_probability(self, data: Array) -> float:
        """Return the probability of the boundary, to a few units in the last place."""
        doubt = self.doubt(data)
        return min(1 / 3, doubt / (1 + doubt))

    def doubt(self, data: Array) -> float:
        """Return pi, the probability of all outcomes but the likeliest, as a sum: accurate where it is tiny."""
        logs = self.base.log_probabilities(data)
        if self.binary and logs.size != 2:
            raise UsageError(f"binary must be false for an algorithm with {logs.size} outcomes")
        if not abs(float(np.exp(logs).sum()) - 1) <= LARGEST_EXCESS:
            raise UsageError("base must tell the logarithms of probabilities that sum to 1; it told something else")
        return float(np.exp(np.delete(logs, logs.argmax())).sum())


boundary_wrapper = catalogue(
    __name__,
    BoundaryWrapper(ExponentialMechanism(size=3, epsilon=0.5)),
    items=(("cohen2023", "boundary_wrapper"),),
)
