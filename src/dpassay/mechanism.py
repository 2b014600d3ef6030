"""The interface of mechanisms: samplers with their claims and the neighbour relation of their inputs."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.neighbours import NeighbourRelation

__all__ = ["ClaimedMechanism", "SamplerLostError"]


class SamplerLostError(Exception):
    """Raised by a sampler whose process crashed or did not answer: nothing was observed, and nothing may be bet on it.

    A call that raises anything else is itself an outcome.

    Attributes
    ----------
    is_late : bool
        Whether the end of the time alone caused it: the process was not given the time that a request may take.
    """

    is_late: bool = False


@runtime_checkable
class ClaimedMechanism(Protocol):
    """A sampler, with its claims and the neighbour relation of its inputs."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the mechanism."""
        ...

    @property
    def neighbours(self) -> NeighbourRelation:
        """The pairs of inputs for which it asserts it."""
        ...

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Sequence[Any] | NDArray[Any]:
        """Draw `size` independent outcomes on `data`, as a sequence or an array with that many rows."""
        ...
