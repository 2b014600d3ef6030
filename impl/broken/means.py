"""Means with noise scaled by the true number of records, which the noise reveals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ApproximateDP, Claim, PureDP
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.noisy_mean import records_of
from dpassay.neighbours import RecordNeighbours

__all__ = [
    "GaussianMeanOfTrueSize",
    "LaplaceMeanOfTrueSize",
    "gaussian_mean_of_true_size",
    "laplace_mean_of_true_size",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)


@dataclass(frozen=True)
class LaplaceMeanOfTrueSize:
    """The mean of n records plus Laplace noise of scale 2/(n epsilon): NonDPLaplace1 of the common benchmark.

    Without records the mean is 0 and n counts as 1.
    """

    epsilon: float

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong claim."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> RecordNeighbours:
        """One record more or less, from one or two on."""
        return RecordNeighbours(0.0, 1.0, 1, 3, "add-remove")

    def centre(self, data: Array) -> float:
        """Return the mean."""
        return float(np.mean(data)) if len(data) else 0.0

    def scale(self, data: Array) -> float:
        """Return the scale of the noise, or its standard deviation."""
        return 2 / (max(len(data), 1) * self.epsilon)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` noisy means."""
        records = records_of(data, 0.0, 1.0)
        return np.asarray(self.centre(records) + rng.laplace(scale=self.scale(records), size=size))


@dataclass(frozen=True)
class GaussianMeanOfTrueSize(LaplaceMeanOfTrueSize):
    """The mean of n records plus normal noise of deviation 2/(n epsilon): NonDPGaussian1 of the common benchmark."""

    delta: float = 1e-5

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong claim."""
        return (ApproximateDP(self.epsilon, self.delta),)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` noisy means."""
        records = records_of(data, 0.0, 1.0)
        return np.asarray(self.centre(records) + rng.normal(scale=self.scale(records), size=size))


laplace_mean_of_true_size = catalogue(
    __name__,
    LaplaceMeanOfTrueSize(0.1),
    mutation=Mutation("the scale of the noise tells the number of records", _SEEN),
)
gaussian_mean_of_true_size = catalogue(
    __name__,
    GaussianMeanOfTrueSize(0.1),
    mutation=Mutation("the standard deviation of the noise tells the number of records", _SEEN),
)
