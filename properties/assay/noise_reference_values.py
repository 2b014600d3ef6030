"""Certified values for Gaussian and Laplace noise, continuous and discrete."""

from fractions import Fraction
from functools import lru_cache

from dpassay.arguments import UsageError
from dpassay.properties.assay.composition_reference_values import responses_delta
from dpassay.properties.assay.enclosures import WORKING_BITS, Truth, Truths, least_argument
from dpassay.spec.ball import Real, ball, exact, float_lower, float_upper, precision
from dpassay.spec.distributions.composed_scores import ScoreDistributions, composed_scores, pooled_scores
from dpassay.spec.distributions.discrete_gaussian import (
    LARGEST_SIGMA,
    DiscreteGaussian,
    discrete_gaussian_cells,
    discrete_gaussian_hockey_stick,
)
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick, gaussian_renyi_divergence
from dpassay.spec.distributions.laplace_pair import (
    laplace_cells,
    laplace_hockey_stick,
    laplace_renyi_divergence,
)

__all__ = ["NOISE_TRUTHS", "gaussian_delta"]

_ALL = Truth(1.0, 1.0)  # the delta without noise


# --- the Gaussian mechanism ---------------------------------------------------------------------------------


def _shift(sigma: float, count: int) -> Real:
    return lambda: ball(count).sqrt() / ball(exact("sigma", sigma))


def gaussian_delta(sigma: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of `count` Gaussian mechanisms."""
    if count == 0:
        return Truth(0.0, 0.0)
    return Truth.of(lambda: gaussian_hockey_stick(_shift(sigma, count)(), epsilon))


def gaussian_epsilon(sigma: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    return least_argument(lambda epsilon: gaussian_delta(sigma, epsilon, count), delta, largest=1e300)


def gaussian_sigma(epsilon: float, delta: float) -> Truth:
    """Enclose the least noise scale of one Gaussian mechanism that suffices."""
    return least_argument(lambda sigma: gaussian_delta(sigma, epsilon, 1) if sigma else _ALL, delta, largest=1e300)


def gaussian_renyi(sigma: float, order: float) -> Truth:
    """Enclose order / (2 sigma^2)."""
    return Truth.of(lambda: gaussian_renyi_divergence(1 / exact("sigma", sigma), exact("order", order)))


# --- Laplace noise, continuous and discrete -----------------------------------------------------------------


def laplace_scale(epsilon: float) -> Truth:
    """Enclose 1 / epsilon."""
    return Truth.of(lambda: 1 / ball(exact("epsilon", epsilon)))


@lru_cache(maxsize=64)
def _laplace_scores(distance: Fraction, count: int) -> ScoreDistributions:
    with precision(WORKING_BITS):
        return composed_scores([(pooled_scores(laplace_cells(distance)), count)])


def laplace_delta(scale: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of Laplace mechanisms; from below where there are several of them."""
    distance = 1 / exact("scale", scale)
    if count == 0 or exact("epsilon", epsilon) >= count * distance:
        return Truth(0.0, 0.0)
    if count == 1:
        return Truth.of(lambda: laplace_hockey_stick(distance, epsilon))
    return Truth(_laplace_scores(distance, count).delta_lower(epsilon), None)


def laplace_epsilon(scale: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    if count > 1 and delta > 0:
        return Truth(_laplace_scores(1 / exact("scale", scale), count).epsilon_lower(delta), None)
    return least_argument(lambda epsilon: laplace_delta(scale, epsilon, count), delta, largest=1e300)


def laplace_renyi(scale: float, order: float) -> Truth:
    """Enclose the Renyi divergence of one Laplace mechanism."""
    return Truth.of(lambda: laplace_renyi_divergence(1 / exact("scale", scale), order))


def discrete_laplace_epsilon(scale: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon of discrete Laplace noise on counts: its loss is that of randomised response."""
    unit = 1 / exact("scale", scale)
    return least_argument(lambda epsilon: responses_delta(unit, epsilon, count), delta)


# --- the discrete Gaussian ----------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _discrete_gaussian(sigma: float) -> DiscreteGaussian:
    if not 0 < sigma <= LARGEST_SIGMA:
        raise UsageError(f"sigma must be positive, at most {LARGEST_SIGMA}, got {sigma!r}")
    with precision(WORKING_BITS):
        return DiscreteGaussian(sigma)


@lru_cache(maxsize=32)
def _discrete_gaussian_scores(sigma: float, count: int) -> ScoreDistributions:
    with precision(WORKING_BITS):
        cells = discrete_gaussian_cells(_discrete_gaussian(sigma))
        return composed_scores([(pooled_scores(cells, unit=1 / (sigma * sigma)), count)])


def discrete_gaussian_delta(sigma: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of discrete Gaussian noise on counts; from below where there are several of them."""
    if count == 0:
        return Truth(0.0, 0.0)
    if count > 1:
        return Truth(_discrete_gaussian_scores(sigma, count).delta_lower(epsilon), None)
    with precision(WORKING_BITS):
        value = discrete_gaussian_hockey_stick(_discrete_gaussian(sigma), epsilon)
        return Truth(max(0.0, float_lower(value)), float_upper(value))


def discrete_gaussian_epsilon(sigma: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    if count > 1 and delta > 0:
        return Truth(_discrete_gaussian_scores(sigma, count).epsilon_lower(delta), None)
    return least_argument(lambda epsilon: discrete_gaussian_delta(sigma, epsilon, count), delta)


NOISE_TRUTHS: Truths = {
    "gaussian_delta": gaussian_delta,
    "gaussian_epsilon": gaussian_epsilon,
    "gaussian_sigma": gaussian_sigma,
    "gaussian_renyi": gaussian_renyi,
    "laplace_scale": laplace_scale,
    "laplace_delta": laplace_delta,
    "laplace_epsilon": laplace_epsilon,
    "laplace_renyi": laplace_renyi,
    "discrete_laplace_epsilon": discrete_laplace_epsilon,
    "discrete_gaussian_delta": discrete_gaussian_delta,
    "discrete_gaussian_epsilon": discrete_gaussian_epsilon,
}
"""Certified values by question."""
