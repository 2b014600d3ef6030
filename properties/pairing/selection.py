"""Selection mechanisms: their exact distributions and worst-pair theorems."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.claims import BoundedRange, Claim, ExPost, PureDP
from dpassay.impl.broken.above_threshold import RedrawnThresholdNoise, VariancesForSigmas, WrongBound
from dpassay.impl.broken.noisy_max import HalfScale, VarianceForSigma, WrongClaim
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.impl.mechanisms.exponential import ExponentialMechanism, PermuteAndFlip
from dpassay.impl.mechanisms.noisy_max import GaussianNoisyMax, LaplaceNoisyMax
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.pairing.corners import bounded_selection_loss
from dpassay.properties.pairing.registry import register_distribution, register_worst_case, register_worst_pairs
from dpassay.spec.ball import Real, ball
from dpassay.spec.distributions.above_threshold import (
    ALL_BELOW,
    GaussianAboveThresholdDistribution,
    IndependentComparisonsDistribution,
)
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.distributions.noisy_max import GaussianNoisyMaxDistribution
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution
from dpassay.spec.distributions.selection import SelectionDistribution
from dpassay.spec.domains.streams import ThresholdSetting
from dpassay.spec.theorems.gaussian_selection.above_threshold_expost import all_below_epsilon, halting_epsilon
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon

Array = NDArray[np.float64]
LONGEST_STREAM = 64
"""Streams up to this length are certified outcome by outcome: two races each."""


# --- noisy max ----------------------------------------------------------------------------------------------


def _noisy_max_distribution(mechanism: GaussianNoisyMax, data: Array) -> GaussianNoisyMaxDistribution:
    return GaussianNoisyMaxDistribution(tuple(data.tolist()), mechanism.sigma)


def _noisy_max_worst_case(mechanism: GaussianNoisyMax, claim: Claim) -> Real | None:
    """Thm 8 = Thm 12 of Lebensold, Precup and Balle (2024), corrected: attained, hence exact."""
    if not isinstance(claim, PureDP):
        return None
    width = Fraction(mechanism.high) - Fraction(mechanism.low)
    return lambda: noisy_max_epsilon(mechanism.size, mechanism.sigma, width, mechanism.sensitivity)


def _one_against_all(mechanism: GaussianNoisyMax, relation: NeighbourRelation) -> list[Pair]:
    """Return the pair on which Theorem 8's bound is attained: the least score falls, all others rise to the top."""
    del relation  # pairs outside it are left out
    step = mechanism.sensitivity
    low, high = mechanism.low, mechanism.high
    left, right = np.full(mechanism.size, high - step), np.full(mechanism.size, high)
    left[0], right[0] = low + step, low
    return [(left, right)]


register_worst_pairs(GaussianNoisyMax, _one_against_all)
register_distribution(GaussianNoisyMax, _noisy_max_distribution)
register_worst_case(GaussianNoisyMax, _noisy_max_worst_case)


# --- AboveThreshold -----------------------------------------------------------------------------------------


def _above_threshold_distribution(
    mechanism: GaussianAboveThreshold, data: Array
) -> GaussianAboveThresholdDistribution:
    return GaussianAboveThresholdDistribution(
        tuple(data.tolist()), mechanism.threshold, mechanism.sigma_threshold, mechanism.sigma_query
    )


def _above_threshold_worst_case(mechanism: GaussianAboveThreshold, claim: Claim) -> Real | None:
    """Thm 17 corrected, and the all-below outcome: the largest excess of a loss over its ex-post bound."""
    if not isinstance(claim, ExPost) or mechanism.size > LONGEST_STREAM:
        return None
    setting = ThresholdSetting(
        low=Fraction(mechanism.low),
        high=Fraction(mechanism.high),
        sensitivity=Fraction(mechanism.sensitivity),
        threshold=Fraction(mechanism.threshold),
        sigma_threshold=Fraction(mechanism.sigma_threshold),
        sigma_query=Fraction(mechanism.sigma_query),
    )

    def largest_excess() -> arb:
        excess = all_below_epsilon(setting, mechanism.size) - ball(claim.epsilon_of(ALL_BELOW))
        for time in range(1, mechanism.size + 1):
            excess = excess.max(halting_epsilon(setting, time) - ball(claim.epsilon_of(time)))
        return excess

    return largest_excess


register_distribution(GaussianAboveThreshold, _above_threshold_distribution)
register_worst_case(GaussianAboveThreshold, _above_threshold_worst_case)


# --- selection by scores ------------------------------------------------------------------------------------


def _selection_distribution(
    distribution: type[SelectionDistribution],
) -> Callable[[Any, Array], SelectionDistribution]:
    return lambda mechanism, data: distribution(tuple(data.tolist()), mechanism.epsilon, mechanism.sensitivity)


def _epsilon_of_the_theorem(mechanism: Any, claim: Claim) -> Real | None:
    """Each is epsilon-DP for the epsilon that it is built with; the exponential mechanism has that range, too.

    Answers of noisy max in a bounded range lose less, and how much is known.
    """
    if isinstance(mechanism, LaplaceNoisyMax) and math.isfinite(mechanism.high - mechanism.low):
        bounded = bounded_selection_loss(mechanism, mechanism.epsilon, LaplaceNoisyMaxDistribution)
        return bounded if isinstance(claim, PureDP) else None
    covered = (PureDP, BoundedRange) if isinstance(mechanism, ExponentialMechanism) else PureDP
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, covered) else None


for mechanism_type, distribution_type in (
    (ExponentialMechanism, ExponentialMechanismDistribution),
    (PermuteAndFlip, PermuteAndFlipDistribution),
    (LaplaceNoisyMax, LaplaceNoisyMaxDistribution),
):
    register_distribution(mechanism_type, _selection_distribution(distribution_type))
    register_worst_case(mechanism_type, _epsilon_of_the_theorem)


# --- mutants whose distribution is known -----------------------------------------------------------------------------

register_distribution(WrongClaim, _noisy_max_distribution)
register_distribution(WrongBound, _above_threshold_distribution)


def _noisy_max_distribution_of_squared_sigma(mechanism: VarianceForSigma, data: Array) -> GaussianNoisyMaxDistribution:
    return GaussianNoisyMaxDistribution(tuple(data.tolist()), Fraction(mechanism.sigma) ** 2)


def _above_threshold_distribution_of_squared_sigmas(
    mechanism: VariancesForSigmas, data: Array
) -> GaussianAboveThresholdDistribution:
    squares = (Fraction(sigma) ** 2 for sigma in (mechanism.sigma_threshold, mechanism.sigma_query))
    return GaussianAboveThresholdDistribution(tuple(data.tolist()), mechanism.threshold, *squares)


def _independent_comparisons_distribution(
    mechanism: RedrawnThresholdNoise, data: Array
) -> IndependentComparisonsDistribution:
    return IndependentComparisonsDistribution(
        tuple(data.tolist()), mechanism.threshold, mechanism.sigma_threshold, mechanism.sigma_query
    )


def _distribution_of_a_quarter_of_the_scale(mechanism: HalfScale, data: Array) -> LaplaceNoisyMaxDistribution:
    return LaplaceNoisyMaxDistribution(tuple(data.tolist()), 4 * Fraction(mechanism.epsilon), mechanism.sensitivity)


register_distribution(VarianceForSigma, _noisy_max_distribution_of_squared_sigma)
register_distribution(VariancesForSigmas, _above_threshold_distribution_of_squared_sigmas)
register_distribution(RedrawnThresholdNoise, _independent_comparisons_distribution)
register_distribution(HalfScale, _distribution_of_a_quarter_of_the_scale)
