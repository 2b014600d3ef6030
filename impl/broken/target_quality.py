"""Broken wrappers and targets: faults in the boundary probability, in the noise, or in the charge."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.accounting.target_quality import wrapped_test_epsilon
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.between_thresholds import BetweenThresholds
from dpassay.impl.mechanisms.boundary_wrapper import BoundaryWrapper
from dpassay.impl.mechanisms.double_run import DoubleRun
from dpassay.impl.mechanisms.finite import FiniteMechanism, pure_epsilon

__all__ = [
    "ClaimsTest",
    "HalfAsMuchNoise",
    "UncappedDoubt",
    "WiderCap",
    "boundary_at_the_doubt_itself",
    "boundary_up_to_one_half",
    "charges_a_classifier_as_a_test",
    "charges_one_run_for_two",
    "publishes_the_score_of_what_it_hides",
    "takes_half_of_the_laplace_scale",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)

# A rare outcome rises by 1.1 while the other non-dominant one, and with it the doubt, falls by 1.1; the doubt is at
# the turning point of the wrapper, 1/2, or of the one that forgets the quotient, 1/3.
_RISING_RARITY = FiniteMechanism((110_000, 109_989, 11), (109_089, 90_900, 11))
_RISING_FROM_A_THIRD = FiniteMechanism((200_000, 99_990, 10), (209_089, 90_900, 11))


class UncappedDoubt(BoundaryWrapper):
    """The boundary with probability min(1/3, pi)."""

    def boundary_probability(self, data: Array) -> float:
        """Return the wrong probability."""
        return min(1 / 3, self.doubt(data))


class WiderCap(BoundaryWrapper):
    """The boundary with probability min(1/2, pi)."""

    def boundary_probability(self, data: Array) -> float:
        """Return the wrong probability."""
        return min(1 / 2, self.doubt(data))


class ClaimsTest(BoundaryWrapper):
    """The correct sampler with the epsilon of a wrapped test for three outcomes, as the paper extends its proof."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong epsilon."""
        return (PureDP(float(wrapped_test_epsilon(pure_epsilon(self.base)))),)


class _OneRunCharged(DoubleRun):
    @property
    def claims(self) -> tuple[Claim, ...]:
        """The epsilon of one run."""
        return (PureDP(pure_epsilon(self.base)),)


class HalfAsMuchNoise(BetweenThresholds):
    """Noise of half the right scale."""

    @property
    def scale(self) -> float:
        """The wrong scale of the noise."""
        return self.sensitivity / (2 * self.epsilon)


@dataclass(frozen=True)
class _PublishesScore(BetweenThresholds):
    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of the outcome and the noiseless score."""
        outcomes = super().sample(data, size, rng)
        return np.stack([outcomes, np.full(size, float(np.asarray(data)[0]))], axis=1)


boundary_at_the_doubt_itself = catalogue(
    __name__,
    UncappedDoubt(_RISING_FROM_A_THIRD),
    mutation=Mutation("the boundary has probability min(1/3, pi) in place of min(1/3, pi/(1 + pi))", _SEEN),
)

boundary_up_to_one_half = catalogue(
    __name__,
    WiderCap(_RISING_RARITY),
    mutation=Mutation("the boundary has probability min(1/2, pi)", _SEEN),
)

charges_a_classifier_as_a_test = catalogue(
    __name__,
    ClaimsTest(_RISING_RARITY),
    mutation=Mutation("a wrapped algorithm with three outcomes is charged the epsilon of a wrapped test", _SEEN),
)

charges_one_run_for_two = catalogue(
    __name__,
    _OneRunCharged(FiniteMechanism((3, 1), (1, 3))),
    mutation=Mutation("two runs are charged as one", _SEEN),
)

takes_half_of_the_laplace_scale = catalogue(
    __name__,
    HalfAsMuchNoise(epsilon=0.5, low=-1.0, high=1.0),
    mutation=Mutation("the Laplace scale is sensitivity/(2 epsilon)", _SEEN),
)

publishes_the_score_of_what_it_hides = catalogue(
    __name__,
    _PublishesScore(epsilon=0.5, low=-1.0, high=1.0),
    mutation=Mutation("the noiseless score is published beside the outcome", _SEEN),
)
