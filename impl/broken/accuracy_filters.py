"""Broken filters of accuracy-first privacy, run on streams that expose the fault; selection with a false claim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters import (
    ConcentratedOffer,
    ExPostFilter,
    ExPostOffer,
    NoiseReductionOffer,
    PrivacyFilter,
    UnifiedFilter,
    ZCDPFilter,
)
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.filtered_stars import FilteredStars, Star
from dpassay.impl.mechanisms.gumbel_selection import GumbelSelection
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "charges_only_the_last_step",
    "forgets_the_deltas",
    "gumbel_in_both_directions",
    "half_of_the_scale",
    "looks_back_only",
    "looks_back_only_at_rho",
    "needs_an_equality_to_stop",
    "refusal_restores_the_budget",
]

_SEEN = ("privacy_of_claim",)

Concentrated = ConcentratedOffer | NoiseReductionOffer


class _LooksBackOnly(ExPostFilter):
    def would_exceed(self, offer: ExPostOffer) -> bool:
        return super().would_exceed(ExPostOffer(0.0, offer.delta))


class _NeedsAnEquality(ExPostFilter):
    def would_exceed(self, offer: ExPostOffer) -> bool:  # noqa: ARG002  # that is the fault
        return float(self._spent) == self.epsilon


class _RefusalRestores(ExPostFilter):
    def would_exceed(self, offer: ExPostOffer) -> bool:
        refused = super().would_exceed(offer)
        if refused:
            self._spent = Fraction(0)
        return refused


class _LooksBackOnlyAtRho(ZCDPFilter):
    def would_exceed(self, offer: Concentrated) -> bool:  # noqa: ARG002  # that is the fault
        return super().would_exceed(ConcentratedOffer(0.0))


class _ChargesOnlyTheLastStep(ZCDPFilter):
    def would_exceed(self, offer: Concentrated) -> bool:
        self._spent = Fraction(0)  # the release that comes replaces the one before
        return super().would_exceed(offer)


class _ForgetsDeltas(UnifiedFilter):
    def spend(self, offer: Concentrated, loss: float = 0.0) -> None:
        super().spend(offer, loss)
        self._delta_sum = Fraction(0)


def _ex_post_response(epsilon: float) -> Star:
    truth = 1 / (1 + math.exp(-epsilon))
    return Star(truth, epsilon, ExPostOffer(epsilon))


def _concentrated_response(epsilon: float) -> Star:
    truth = 1 / (1 + math.exp(-epsilon))
    return Star(truth, epsilon, ConcentratedOffer.of_approximate_dp(epsilon))


@dataclass(frozen=True)
class _PersistentStars(FilteredStars):
    """Offers every star twice if it is refused the first time, and goes on with the next."""

    def released(self, symbols: Sequence[int]) -> tuple[int, ...]:
        privacy_filter = self.make_filter()
        out: list[int] = []
        for star, symbol in zip(self.stream, symbols, strict=True):
            if not (privacy_filter.would_exceed(star.offer) and privacy_filter.would_exceed(star.offer)):
                privacy_filter.spend(star.offer, star.loss_of(symbol))
                out.append(symbol)
        return tuple(out)


def _ex_post(make: type[ExPostFilter]) -> FilteredStars:
    return FilteredStars((_ex_post_response(0.7),) * 6, lambda: make(1.5), ApproximateDP(1.5, 0.0))


def _zcdp(make: type[ZCDPFilter], epsilons: tuple[float, ...]) -> FilteredStars:
    def fresh() -> PrivacyFilter:
        return make(epsilon=2.0, delta_slack=0.05)

    return FilteredStars(tuple(map(_concentrated_response, epsilons)), fresh, ApproximateDP(2.0, 0.05))


looks_back_only = catalogue(
    __name__,
    _ex_post(_LooksBackOnly),
    mutation=Mutation("the guard looks at past charges only, as in the published precondition of Lemma 5.2", _SEEN),
)

needs_an_equality_to_stop = catalogue(
    __name__,
    _ex_post(_NeedsAnEquality),
    mutation=Mutation("stops when the float64 sum equals epsilon, as Lemma 5.2 is printed: it never does", _SEEN),
)

refusal_restores_the_budget = catalogue(
    __name__,
    _PersistentStars((_ex_post_response(0.7),) * 6, lambda: _RefusalRestores(1.5), ApproximateDP(1.5, 0.0)),
    mutation=Mutation("a refusal restores the budget, so that asking twice is enough", _SEEN),
)

looks_back_only_at_rho = catalogue(
    __name__,
    _zcdp(_LooksBackOnlyAtRho, (6.0,)),
    mutation=Mutation("the sums leave out the mechanism about to run, so that the first one always runs", _SEEN),
)

charges_only_the_last_step = catalogue(
    __name__,
    _zcdp(_ChargesOnlyTheLastStep, (0.7,) * 6),
    mutation=Mutation("of releases with fresh noise only the last is charged, as noise reduction may do", _SEEN),
)

forgets_the_deltas = catalogue(
    __name__,
    FilteredStars(
        (Star(0.02, math.inf, ConcentratedOffer(0.0, 0.02)),) * 20,
        lambda: _ForgetsDeltas(0.1, 0.03),
        ApproximateDP(2.0, 0.031),
    ),
    mutation=Mutation("the deltas of earlier rounds are forgotten, each round has the whole budget", _SEEN),
)


@dataclass(frozen=True)
class BothDirections(GumbelSelection):
    """Claims epsilon^2/8 for counts that may move in both directions."""

    @property
    def neighbours(self) -> VectorNeighbours:
        """Counts that move by at most 1, in any direction."""
        return VectorNeighbours(size=self.size, linf=1)


@dataclass(frozen=True)
class HalfOfTheScale(GumbelSelection):
    """Noise of scale 1/(2 epsilon)."""

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw with half of the noise."""
        return GumbelSelection(self.size, 2 * self.epsilon).sample(data, size, rng)


gumbel_in_both_directions = catalogue(
    __name__,
    BothDirections(size=3, epsilon=1.0),
    mutation=Mutation("epsilon^2/8 and range epsilon are claimed of neighbours that are not monotone", _SEEN),
)

half_of_the_scale = catalogue(
    __name__,
    HalfOfTheScale(size=3, epsilon=1.0),
    mutation=Mutation("Gumbel noise of scale 1/(2 epsilon), charged as that of scale 1/epsilon", _SEEN),
)
