"""Two runs of an algorithm: a target without a probability oracle."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, PureDP
from dpassay.impl.accounting.target_quality import double_run_quality
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.finite import FiniteMechanism, pure_epsilon
from dpassay.impl.validation import require_count
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import NeighbourRelation

__all__ = ["DoubleRun", "double_run"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DoubleRun:
    """Two independent outcomes of an algorithm; the target is their disagreement. Cohen and Lyu 2023, App. F.

    Parameters
    ----------
    base : ClaimedMechanism
        The algorithm; its first claim is pure DP, its outcomes are numbers, one a row.

    Raises
    ------
    UsageError
        If the first claim of the algorithm is another one; on sampling, if its outcomes are not single numbers.
    """

    base: ClaimedMechanism

    def __post_init__(self) -> None:
        pure_epsilon(self.base)

    @property
    def quality(self) -> float:
        """The quality of disagreement as a target, when a call is charged at twice epsilon; rounded down."""
        return float(double_run_quality(pure_epsilon(self.base)))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP at twice the epsilon of one run."""
        return (PureDP(2 * pure_epsilon(self.base)),)

    @property
    def neighbours(self) -> NeighbourRelation:
        """Those of the algorithm."""
        return self.base.neighbours

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` pairs of outcomes, one pair a row."""
        require_count("size", size, low=0)
        outcomes = np.asarray(self.base.sample(data, 2 * size, rng))
        if outcomes.ndim != 1:
            raise UsageError(f"base must return one number for each call, got rows of shape {outcomes.shape[1:]}")
        return outcomes.reshape(size, 2)


double_run = catalogue(
    __name__,
    DoubleRun(FiniteMechanism((3, 1), (1, 3))),
    items=(("cohen2023", "double_run_target"),),
)
