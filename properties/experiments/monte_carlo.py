"""Monte Carlo estimates of the privacy of Gaussian noisy max, and their error.

Both estimate epsilon = log E[Phi(z - (c - 2 Delta)/sigma)^(d-1)] - log E[Phi(z - c/sigma)^(d-1)] (Lebensold, Precup
and Balle 2024, Thm 8 with its logarithm). The integrand lives several standard deviations from where z does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpassay.lazy import special

__all__ = ["ESTIMATORS", "NoisyMaxPoint", "importance_estimate", "naive_estimate"]


@dataclass(frozen=True)
class NoisyMaxPoint:
    """The parameters of Gaussian noisy max: d = `size` queries, range of width c, Delta = `sensitivity` <= c."""

    size: int
    sigma: float
    width: float
    sensitivity: float

    @property
    def leads(self) -> tuple[float, float]:
        """The shifts of z in the numerator and in the denominator."""
        return (2 * self.sensitivity - self.width) / self.sigma, -self.width / self.sigma


def naive_estimate(point: NoisyMaxPoint, samples: int, rng: np.random.Generator) -> float:
    """Estimate epsilon as the log-ratio of two independent averages over `samples` standard normal draws each."""

    def log_average(lead: float) -> float:
        return float(special.logsumexp((point.size - 1) * special.log_ndtr(rng.standard_normal(samples) + lead)))

    numerator, denominator = point.leads
    return log_average(numerator) - log_average(denominator)


def importance_estimate(point: NoisyMaxPoint, samples: int, rng: np.random.Generator) -> float:
    """Estimate epsilon from `samples` draws centred where the integrand peaks, the same draws in both averages."""
    numerator, denominator = point.leads
    centre = _peak(point.size, denominator)
    z = centre + rng.standard_normal(samples)
    log_weight = -centre * z  # normal density over the shifted one, up to a factor that the ratio loses

    def log_average(lead: float) -> float:
        return float(special.logsumexp(log_weight + (point.size - 1) * special.log_ndtr(z + lead)))

    return log_average(numerator) - log_average(denominator)


ESTIMATORS: dict[str, Callable[[NoisyMaxPoint, int, np.random.Generator], float]] = {
    "naive": naive_estimate,
    "importance": importance_estimate,
}


def _peak(size: int, lead: float) -> float:
    """Find where exp(-z^2/2) Phi(z + lead)^(size-1) peaks, to a hundredth: any centre will do."""
    grid = np.arange(0, 10 - lead, 0.01)
    return float(grid[np.argmax(-(grid**2) / 2 + (size - 1) * special.log_ndtr(grid + lead))])
