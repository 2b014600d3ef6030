"""Wrappers and other mechanisms with targets: their exact distributions and worst-pair theorems."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.broken.target_quality import ClaimsTest, HalfAsMuchNoise, UncappedDoubt, WiderCap
from dpassay.impl.mechanisms.between_thresholds import BetweenThresholds
from dpassay.impl.mechanisms.boundary_wrapper import BoundaryWrapper
from dpassay.impl.mechanisms.double_run import DoubleRun
from dpassay.impl.mechanisms.finite import FiniteMechanism, pure_epsilon
from dpassay.properties.pairing.registry import exact_distribution, register_distribution, register_worst_case
from dpassay.spec.ball import Real, ball
from dpassay.spec.distributions.between_thresholds import BetweenThresholdsDistribution
from dpassay.spec.distributions.boundary_wrapper import BOUNDARY, BoundaryWrappedDistribution, boundary_wrapped
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution
from dpassay.spec.distributions.double_run import DoubleRunDistribution
from dpassay.spec.theorems.target_charging.boundary_wrapper import wrapped_classifier_ratio

Array = NDArray[np.float64]


# --- distributions ---------------------------------------------------------------------------------------------------


def _finite_distribution(mechanism: FiniteMechanism, data: Array) -> FiniteDistribution:
    return FiniteDistribution.of(*(mechanism.one if data[0] else mechanism.zero))


def _between_distribution(mechanism: BetweenThresholds, data: Array, factor: int = 1) -> BetweenThresholdsDistribution:
    rate = factor * Fraction(mechanism.epsilon) / Fraction(mechanism.sensitivity)
    return BetweenThresholdsDistribution(float(data[0]), mechanism.low, mechanism.high, rate)


def _wrapped_distribution(mechanism: BoundaryWrapper, data: Array) -> DiscreteDistribution | None:
    base = exact_distribution(mechanism.base, data)
    if base is None:
        return None
    return boundary_wrapped(base) if isinstance(base, FiniteDistribution) else BoundaryWrappedDistribution(base)


def _double_distribution(mechanism: DoubleRun, data: Array) -> DoubleRunDistribution | None:
    base = exact_distribution(mechanism.base, data)
    return DoubleRunDistribution(base) if base is not None else None


register_distribution(FiniteMechanism, _finite_distribution)
register_distribution(BetweenThresholds, _between_distribution)
register_distribution(BoundaryWrapper, _wrapped_distribution)
register_distribution(DoubleRun, _double_distribution)


# --- worst cases --------------------------------------------------------------------------------------------


def _own_epsilon(mechanism: Any, claim: Claim) -> Real | None:
    """Each is epsilon-DP for the epsilon that it is built with."""
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, PureDP) else None


def _wrapped_epsilon(mechanism: BoundaryWrapper, claim: Claim) -> Real | None:
    """`pure_dp_of_boundary_wrapped_algorithm`, if the algorithm is as private as it says."""
    if not isinstance(claim, PureDP):
        return None
    return lambda: wrapped_classifier_ratio(ball(pure_epsilon(mechanism.base)).exp()).log()


def _double_epsilon(mechanism: DoubleRun, claim: Claim) -> Real | None:
    """Composition of two runs, if the algorithm is as private as it says."""
    return (lambda: ball(2 * pure_epsilon(mechanism.base))) if isinstance(claim, PureDP) else None


register_worst_case(BetweenThresholds, _own_epsilon)
register_worst_case(BoundaryWrapper, _wrapped_epsilon)
register_worst_case(DoubleRun, _double_epsilon)


# --- mutants whose distribution is known -----------------------------------------------------------------------------


def _wrapped_with(cap: Fraction) -> Callable[[BoundaryWrapper, Array], FiniteDistribution]:
    """Return the distribution with the boundary at min(cap, pi), of a finite mechanism."""

    def distribution(mechanism: BoundaryWrapper, data: Array) -> FiniteDistribution:
        base = _finite_distribution(mechanism.base, data)  # type: ignore[arg-type]  # the mutants wrap nothing else
        boundary = min(cap, 1 - max(base.weights.values()))
        return FiniteDistribution({**{o: p * (1 - boundary) for o, p in base.weights.items()}, BOUNDARY: boundary})

    return distribution


register_distribution(UncappedDoubt, _wrapped_with(Fraction(1, 3)))
register_distribution(WiderCap, _wrapped_with(Fraction(1, 2)))
register_distribution(ClaimsTest, _wrapped_distribution)
register_distribution(HalfAsMuchNoise, lambda mechanism, data: _between_distribution(mechanism, data, 2))
