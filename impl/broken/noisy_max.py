"""Broken report-noisy-max: faults in the sampler or in the claimed epsilon."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.noisy_max import GaussianNoisyMax, LaplaceNoisyMax
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector

__all__ = [
    "HalfScale",
    "VarianceForSigma",
    "WrongClaim",
    "claims_a_gap_narrowed_once",
    "claims_one_rival_too_many",
    "claims_the_standard_analysis",
    "halves_the_laplace_scale",
    "releases_the_noisy_value",
    "shares_the_noise",
    "takes_the_variance_for_sigma",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)
_PARAMETERS: dict[str, Any] = {"size": 5, "sigma": 0.5, "low": 0.0, "high": 1.0, "sensitivity": 0.2}


class _SharedNoise(GaussianNoisyMax):
    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        return self.sigma * rng.standard_normal((rows, 1))


class VarianceForSigma(GaussianNoisyMax):
    """Noise of standard deviation sigma^2."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw noise of the wrong scale."""
        return self.sigma**2 * rng.standard_normal((rows, self.size))


class _ReleasesValue(GaussianNoisyMax):
    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of index and noisy answer of the winner."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        def draw(rows: int) -> NDArray[Any]:
            noisy = answers + self.noise(rows, rng)
            return np.stack([noisy.argmax(axis=1), noisy.max(axis=1)], axis=1)

        return in_chunks(draw, size, self.size)


class HalfScale(LaplaceNoisyMax):
    """Noise of a quarter of the right scale."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` winners with noise of scale sensitivity / (2 epsilon)."""
        return LaplaceNoisyMax(self.size, 4 * self.epsilon, self.sensitivity).sample(data, size, rng)


@dataclass(frozen=True)
class WrongClaim(GaussianNoisyMax):
    """The correct sampler with the epsilon of other parameters: size, sigma, width and sensitivity."""

    claimed_for: tuple[int, float, float, float] = (0, 0.0, 0.0, 0.0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong epsilon, computed when somebody asks for it."""
        return (PureDP(float(gaussian_noisy_max_epsilon(*self.claimed_for))),)


shares_the_noise = catalogue(
    __name__,
    _SharedNoise(**_PARAMETERS),
    mutation=Mutation("one noise is added to all answers, so that the largest always wins", _SEEN),
)

takes_the_variance_for_sigma = catalogue(
    __name__,
    VarianceForSigma(**_PARAMETERS),
    mutation=Mutation("the noise has standard deviation sigma^2", _SEEN),
)

releases_the_noisy_value = catalogue(
    __name__,
    _ReleasesValue(size=2, sigma=2.0, low=0.0, high=1.0, sensitivity=1.0),
    mutation=Mutation("the noisy answer of the winner is released too, which is not purely private", _SEEN),
)

halves_the_laplace_scale = catalogue(
    __name__,
    HalfScale(size=5, epsilon=1.0),
    mutation=Mutation("the Laplace scale is sensitivity/(2 epsilon), the factor 2 on the wrong side", _SEEN),
)

claims_a_gap_narrowed_once = catalogue(
    __name__,
    WrongClaim(**_PARAMETERS, claimed_for=(5, 0.5, 1.0, 0.1)),
    mutation=Mutation("the gap is narrowed by the sensitivity once, not twice (sensitivity halved)", _SEEN),
)

claims_the_standard_analysis = catalogue(
    __name__,
    WrongClaim(**_PARAMETERS, claimed_for=(2, 0.5, 0.2, 0.2)),
    mutation=Mutation("the width is taken to be the sensitivity, and the rivals to be one", _SEEN),
)

claims_one_rival_too_many = catalogue(
    __name__,
    WrongClaim(**_PARAMETERS, claimed_for=(6, 0.5, 1.0, 0.2)),
    mutation=Mutation("the exponent is d in place of d - 1: private, but not the exact loss", ("tightness_of_claim",)),
)
