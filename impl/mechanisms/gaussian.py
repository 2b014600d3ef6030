"""The Gaussian mechanism: a vector of answers with independent normal noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_at_least, require_positive
from dpassay.claims import ZCDP, Claim
from dpassay.impl.accounting.gaussian import gaussian_zcdp
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = ["GaussianMechanism", "gaussian_mechanism"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianMechanism:
    """The answers plus N(0, sigma^2) on each coordinate.

    Lebensold, Precup and Balle 2024, section 2; zCDP by Bun and Steinke 2016, Prop. 1.6.

    Parameters
    ----------
    size : int
        Number of coordinates, at least 1.
    sigma : float
        Standard deviation of the noise, positive.
    sensitivity : float
        Euclidean distance of the answers on neighbours, at least 0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_positive("sigma", self.sigma)
        require_at_least("sensitivity", self.sensitivity, 0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP with rho = sensitivity^2 / (2 sigma^2), rounded up."""
        return (ZCDP(float(gaussian_zcdp(self.sigma, self.sensitivity))),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at a Euclidean distance of at most the sensitivity."""
        return VectorNeighbours(size=self.size, l2=self.sensitivity)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` noisy vectors, one a row, on the answers `data`."""
        answers = require_vector("data", data, self.size)

        def draw(rows: int) -> Array:
            return answers + self.sigma * rng.standard_normal((rows, self.size))

        return in_chunks(draw, size, self.size)


gaussian_mechanism = catalogue(
    __name__,
    GaussianMechanism(size=2, sigma=1.0),
    items=(("lebensold2024", "gaussian_mechanism_rdp"),),
)
