"""Report-noisy-max with exponential noise: another sampler of permute-and-flip."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.noisy_max import ScaledNoisyMax

__all__ = ["ExponentialNoisyMax", "exponential_noisy_max"]


@dataclass(frozen=True)
class ExponentialNoisyMax(ScaledNoisyMax):
    """Noisy max with exponential noise; its parameters are those of `ScaledNoisyMax`.

    NoisyMax2 of the common benchmark (Ding, Wang, Wang, Zhang and Kifer 2018); Ding and others 2021 show that it is
    permute-and-flip.
    """

    def noise(self, rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw exponential noise."""
        return rng.exponential(scale=self.scale, size=(rows, self.size))


exponential_noisy_max = catalogue(
    __name__,
    ExponentialNoisyMax(size=5, epsilon=0.1, low=-10.0, high=10.0),
    items=(("lebensold2024", "permute_and_flip"),),
)
"""NoisyMax2 of the common benchmark."""
