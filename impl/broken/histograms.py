"""Broken histograms and top-k lists: wrong norm, wrong scale, a phase that is not charged."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ZCDP, Claim, PureDP
from dpassay.impl.accounting.histograms import gaussian_histogram_zcdp
from dpassay.impl.accounting.setwise import bounded_range_mean_loss
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.count_mle import CountMLE
from dpassay.impl.mechanisms.gumbel_top_k import GumbelTopK
from dpassay.impl.mechanisms.histograms import GaussianHistogram, LaplaceHistogram
from dpassay.impl.mechanisms.two_phase_top_k import TwoPhaseTopK

__all__ = [
    "HalfTheScale",
    "charges_l2_for_l1",
    "charges_linf_for_l2",
    "charges_the_labels_only",
    "fits_to_the_true_order",
    "forgets_linf_in_count_mle",
    "halves_the_gumbel_scale",
    "takes_the_multiplier_for_a_deviation",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_at_known_events",)


class _SquareRootOfL0(LaplaceHistogram):
    @property
    def claims(self) -> tuple[Claim, ...]:
        return (PureDP(self.l0**0.5 * self.epsilon),)


class _LargestMove(GaussianHistogram):
    @property
    def claims(self) -> tuple[Claim, ...]:
        return (ZCDP(float(gaussian_histogram_zcdp(self.sigma, 1))),)


class _Multiplier(GaussianHistogram):
    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        return self.sigma * rng.standard_normal((rows, self.size))


class _MultiplierMLE(CountMLE):
    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        return self.sigma * rng.standard_normal((rows, self.size))


class _TrueOrderMLE(CountMLE):
    def order_of(self, counts: Array) -> NDArray[np.int64]:
        return np.argsort(-counts, kind="stable")

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of labels and fits; the labels come in the order of the true counts."""
        labels = np.broadcast_to(self.order_of(np.asarray(data)), (size, self.size))
        return np.concatenate([labels, super().sample(data, size, rng)], axis=1)


class HalfTheScale(GumbelTopK):
    """Gumbel noise of scale linf/(2 epsilon)."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` ranked lists with half the noise."""
        return GumbelTopK(self.size, self.k, 2 * self.epsilon, self.linf).sample(data, size, rng)


class _LabelsOnly(TwoPhaseTopK):
    @property
    def claims(self) -> tuple[Claim, ...]:
        return (ZCDP(self.k * float(bounded_range_mean_loss(self.epsilon))),)


charges_l2_for_l1 = catalogue(
    __name__,
    _SquareRootOfL0(size=4, l0=4, linf=1.0, epsilon=0.5),
    mutation=Mutation("Laplace noise is charged with the l2 sensitivity, epsilon sqrt(l0)", _SEEN),
)

charges_linf_for_l2 = catalogue(
    __name__,
    _LargestMove(size=9, l0=9, linf=1.0, sigma=2.0),
    mutation=Mutation("Gaussian noise is charged with the l_infinity sensitivity", _SEEN),
)

takes_the_multiplier_for_a_deviation = catalogue(
    __name__,
    _Multiplier(size=3, l0=2, linf=5.0, sigma=2.0),
    mutation=Mutation("the standard deviation is sigma, not linf sigma", _SEEN),
)

forgets_linf_in_count_mle = catalogue(
    __name__,
    _MultiplierMLE(size=2, sigma=2.0, linf=5.0),
    mutation=Mutation("the standard deviation is sigma, not linf sigma, before the fit", _SEEN),
)

fits_to_the_true_order = catalogue(
    __name__,
    _TrueOrderMLE(size=2, sigma=4.0),
    mutation=Mutation("the order that is fitted to, and released, is that of the true counts", _SEEN),
)

halves_the_gumbel_scale = catalogue(
    __name__,
    HalfTheScale(size=4, k=2, epsilon=0.5),
    mutation=Mutation("Gumbel noise has half of the scale that the range asks for", ("privacy_of_claim",)),
)

charges_the_labels_only = catalogue(
    __name__,
    _LabelsOnly(size=2, k=1, epsilon=0.1, sigma=1.0),
    mutation=Mutation("the counts of the second phase are released without being charged", _SEEN),
)
