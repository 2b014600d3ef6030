"""Broken truncated Gaussian counts: faults in the noise, the half-width, the threshold or the order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.truncation import truncation_half_width
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.mechanisms.truncated_gaussian import truncated_normal
from dpassay.impl.mechanisms.truncated_gaussian_histogram import TruncatedGaussianCounts
from dpassay.impl.validation import require_vector

__all__ = [
    "clips_the_noise",
    "cuts_at_a_limit_below_the_number_of_labels",
    "forgets_l0_in_the_half_width",
    "forgets_linf_in_the_half_width",
    "lowers_the_threshold",
    "releases_labels_in_the_order_of_true_counts",
    "takes_the_multiplier_for_a_deviation",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_at_known_events",)


class _Clipped(TruncatedGaussianCounts):
    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        plain = self.linf * self.sigma * rng.standard_normal((rows, self.size))
        return np.clip(plain, -self.half_width, self.half_width)


class _NoL0(TruncatedGaussianCounts):
    @property
    def half_width(self) -> float:
        return float(truncation_half_width(self.delta, self.sigma, self.linf))


class _NoLinf(TruncatedGaussianCounts):
    @property
    def half_width(self) -> float:
        return float(truncation_half_width(self.delta, self.sigma, 1.0, self.l0))


class _LowThreshold(TruncatedGaussianCounts):
    @property
    def threshold(self) -> float:
        return self.half_width - self.linf / 2


class _Multiplier(TruncatedGaussianCounts):
    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        return self.sigma * truncated_normal(self.half_width / self.sigma, (rows, self.size), rng)


class _TrueOrder(TruncatedGaussianCounts):
    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of labels, from the largest true count to the smallest; -1 where none is released."""
        counts = require_vector("data", data, self.size, 0.0)
        order = np.argsort(-counts, kind="stable")

        def draw(rows: int) -> NDArray[Any]:
            passed = self.passes(counts + self.noise(rows, rng)) & (counts > 0)
            return np.where(passed[:, order], order, -1)

        return in_chunks(draw, size, self.size)


class _TightLimit(TruncatedGaussianCounts):
    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows in which only the label with the largest true count may appear."""
        counts = require_vector("data", data, self.size, 0.0)
        kept = np.argsort(-counts, kind="stable")[:1]
        return super().sample(np.where(np.isin(np.arange(self.size), kept), counts, 0.0), size, rng)


clips_the_noise = catalogue(
    __name__,
    _Clipped(size=1, sigma=10.0, delta=0.05),
    mutation=Mutation("the noise is clipped, not truncated: atoms at both ends tell the count", _SEEN),
)

forgets_l0_in_the_half_width = catalogue(
    __name__,
    _NoL0(size=10, sigma=5.0, delta=0.02, l0=10),
    mutation=Mutation("T is computed for one moved count, not for l0 of them", _SEEN),
)

forgets_linf_in_the_half_width = catalogue(
    __name__,
    _NoLinf(size=1, sigma=4.0, delta=0.01, linf=5.0),
    mutation=Mutation("T is computed for counts that move by 1, while they move by 5", _SEEN),
)

lowers_the_threshold = catalogue(
    __name__,
    _LowThreshold(size=1, sigma=2.0, delta=0.01),
    mutation=Mutation("the threshold is T - linf/2, below that of eq (10)", _SEEN),
)

takes_the_multiplier_for_a_deviation = catalogue(
    __name__,
    _Multiplier(size=1, sigma=4.0, delta=0.01, linf=5.0),
    mutation=Mutation("the standard deviation is sigma, not linf sigma", _SEEN),
)

releases_labels_in_the_order_of_true_counts = catalogue(
    __name__,
    _TrueOrder(size=2, sigma=1.0, delta=0.05),
    mutation=Mutation("the labels come in the order of their true counts", _SEEN),
)

cuts_at_a_limit_below_the_number_of_labels = catalogue(
    __name__,
    _TightLimit(size=2, sigma=1.0, delta=0.05),
    mutation=Mutation("only the label with the largest true count is considered", _SEEN),
)
