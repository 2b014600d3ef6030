"""Certified values for Gaussian mechanisms on Poisson samples."""

import math
from functools import lru_cache

from dpassay.properties.assay.enclosures import Truth, Truths, least_argument
from dpassay.properties.assay.noise_reference_values import gaussian_delta
from dpassay.spec.ball import Real, precision
from dpassay.spec.distributions.composed_scores import ScoreDistributions, composed_scores, pooled_scores
from dpassay.spec.distributions.subsampled_gaussian import (
    subsampled_gaussian_cells,
    subsampled_gaussian_hockey_stick,
    subsampled_gaussian_renyi_divergence,
)

__all__ = ["SAMPLING_TRUTHS"]

LARGEST_FRACTIONAL_ORDER = 64
"""Order from which the bound for a fractional order is that of the integer below."""

_COARSE_STEPS = 20
"""Bisections for an epsilon whose delta takes long to enclose."""


@lru_cache(maxsize=32)
def _subsampled_scores(sigma: float, rate: float, count: int) -> tuple[ScoreDistributions, ...]:
    """Return score laws with fine and with coarse scores: the coarse ones see farther into the tail."""
    with precision(96):
        cells = subsampled_gaussian_cells(sigma, rate)
        fine = pooled_scores(cells)
        spread = max(abs(cell.loss) for cell in cells if math.isfinite(cell.loss))
        coarse = pooled_scores(cells, unit=max(spread, 1e-300) / 400)
        return tuple(composed_scores([(laws, count)]) for laws in (fine, coarse))


def subsampled_delta(sigma: float, rate: float, count: int, epsilon: float) -> Truth:
    """Enclose the delta of `count` Gaussian mechanisms on Poisson samples, one record added or removed.

    Exactly for one step and for a rate of 0 or 1, else from below, by events on the sum of rounded losses.

    Parameters
    ----------
    sigma : float
        Noise scale at sensitivity 1.
    rate : float
        Sampling rate, in [0, 1].
    count : int
        Number of steps.
    epsilon : float
        Privacy parameter, nats.
    """
    if count == 0 or rate == 0:
        return Truth(0.0, 0.0)
    if rate == 1:
        return gaussian_delta(sigma, epsilon, count)
    if count == 1:
        ways = [Truth.of(_one_step(sigma, rate, epsilon, removed=removed)) for removed in (True, False)]
        uppers = [way.upper for way in ways]
        known = [upper for upper in uppers if upper is not None]
        return Truth(max(way.lower or 0.0 for way in ways), max(known) if len(known) == 2 else None)
    return Truth(max(laws.delta_lower(epsilon) for laws in _subsampled_scores(sigma, rate, count)), None)


def _one_step(sigma: float, rate: float, epsilon: float, *, removed: bool) -> Real:
    return lambda: subsampled_gaussian_hockey_stick(sigma, rate, epsilon, removed=removed)


def subsampled_epsilon(sigma: float, rate: float, count: int, delta: float) -> Truth:
    """Enclose the epsilon at which :func:`subsampled_delta` is delta.

    Parameters
    ----------
    sigma : float
        Noise scale at sensitivity 1.
    rate : float
        Sampling rate, in [0, 1].
    count : int
        Number of steps.
    delta : float
        Target delta.
    """
    if count > 1 and 0 < rate < 1 and delta > 0:
        return Truth(max(laws.epsilon_lower(delta) for laws in _subsampled_scores(sigma, rate, count)), None)
    return least_argument(lambda epsilon: subsampled_delta(sigma, rate, count, epsilon), delta, largest=1e300)


def subsampled_sigma(rate: float, count: int, epsilon: float, delta: float) -> Truth:
    """Enclose the least sufficient noise scale, to about six digits from below.

    Parameters
    ----------
    rate : float
        Sampling rate, in [0, 1].
    count : int
        Number of steps.
    epsilon : float
        Privacy parameter, nats.
    delta : float
        Target delta.
    """

    def curve(sigma: float) -> Truth:
        return subsampled_delta(sigma, rate, count, epsilon) if sigma else Truth(float(rate > 0), 1.0)

    return least_argument(curve, delta, start=2.0**-4, steps=_COARSE_STEPS)


def subsampled_renyi(sigma: float, rate: float, order: float) -> Truth:
    """Enclose the Renyi divergence of one step, with the record over without it: a lower bound on both ways."""
    # the divergence does not decrease with the order, and integrals over high powers take seconds
    known = order if order <= LARGEST_FRACTIONAL_ORDER else math.floor(order)
    return Truth(Truth.of(lambda: subsampled_gaussian_renyi_divergence(sigma, rate, known)).lower, None)


SAMPLING_TRUTHS: Truths = {
    "subsampled_gaussian_delta": subsampled_delta,
    "subsampled_gaussian_epsilon": subsampled_epsilon,
    "subsampled_gaussian_sigma": subsampled_sigma,
    "subsampled_gaussian_renyi": subsampled_renyi,
}
"""Certified values by question."""
