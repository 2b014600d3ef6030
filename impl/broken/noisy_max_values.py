"""Broken noisy max: it releases the largest noisy answer, halves the noise, or adds noise only to ties."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.exponential_noisy_max import ExponentialNoisyMax
from dpassay.impl.mechanisms.noisy_max import LaplaceNoisyMax
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector

__all__ = ["ExponentialValue", "HalfExponentialScale", "LaplaceValue", "NoiseOnTiesOnly"]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)
_BENCHMARK: dict[str, Any] = {"size": 5, "epsilon": 0.1, "low": -10.0, "high": 10.0}


@dataclass(frozen=True)
class LaplaceValue(LaplaceNoisyMax):
    """Releases the largest noisy answer, noise Lap(2 sensitivity/epsilon). NoisyMax3 of the common benchmark."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` largest noisy answers, wrongly."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        def draw(rows: int) -> Array:
            noisy: Array = (answers + rng.laplace(scale=self.scale, size=(rows, self.size))).max(axis=1)
            return noisy

        return in_chunks(draw, size, self.size)


@dataclass(frozen=True)
class ExponentialValue(ExponentialNoisyMax):
    """Releases the largest noisy answer, noise Exp(2 sensitivity/epsilon). NoisyMax4 of the common benchmark."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` largest noisy answers, wrongly."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return in_chunks(
            lambda rows: self.noisy_answers(answers, rows, rng).max(axis=1) + answers.max(), size, self.size
        )


@dataclass(frozen=True)
class HalfExponentialScale(ExponentialNoisyMax):
    """Noise Exp(sensitivity/epsilon): enough only where all answers move the same way."""

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.sensitivity / self.epsilon


@dataclass(frozen=True)
class NoiseOnTiesOnly(LaplaceNoisyMax):
    """The index of the largest answer, uniform among ties: random only if there are ties."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` winners, wrongly."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return rng.choice(np.flatnonzero(answers == answers.max()), size)


laplace_value = catalogue(
    __name__,
    LaplaceValue(**_BENCHMARK),
    mutation=Mutation("NoisyMax3: the largest noisy answer is released, which bounds all others", _SEEN),
)

exponential_value = catalogue(
    __name__,
    ExponentialValue(**_BENCHMARK),
    mutation=Mutation("NoisyMax4: the largest noisy answer is released, which no answer exceeds", _SEEN),
)

half_exponential_scale = catalogue(
    __name__,
    HalfExponentialScale(size=5, epsilon=1.0, low=-10.0, high=10.0),
    mutation=Mutation("the factor 2 is dropped for answers that move both ways", _SEEN),
)

noise_on_ties_only = catalogue(
    __name__,
    NoiseOnTiesOnly(size=5, epsilon=1.0, low=-10.0, high=10.0),
    mutation=Mutation("ties are broken at random, everything else is not: the support reveals the data", _SEEN),
)
