"""Noise about a location: enclosures of interval probabilities for the noise families of libraries.

``laplace`` and ``gaussian`` have densities on the line; ``discrete laplace`` and ``discrete gaussian`` live on the
integers, with probabilities proportional to e^(-|x - location| / scale) and e^(-(x - location)^2 / (2 scale^2)).
``bounded laplace`` is Laplace noise on the condition that the sum lies in [low, high]; ``clamped laplace`` moves what
lies outside to the nearer end.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact, normal_cdf, precision
from dpassay.spec.distributions.discrete_gaussian import LARGEST_SIGMA, DiscreteGaussian
from dpassay.spec.distributions.laplace import log_laplace_interval

__all__ = ["FAMILIES", "NoiseDistribution", "NoisePair", "normal_interval"]

FAMILIES = ("laplace", "gaussian", "discrete laplace", "discrete gaussian", "bounded laplace", "clamped laplace")
_TABLE_BITS = 192


@dataclass(frozen=True)
class NoiseDistribution:
    """A location with noise.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    location, scale : exact number
        The scale is positive; it is the standard deviation for the continuous Gaussian.
    low, high : exact number, optional
        The ends of bounded and clamped distributions, low < high, and of no others.

    Raises
    ------
    UsageError
        If the family is unknown, a parameter is not a finite number, or the scale is not positive; for the discrete
        Gaussian also if the location is no integer or the scale exceeds 1000.
    """

    family: str
    location: Exact
    scale: Exact
    low: Exact | None = None
    high: Exact | None = None

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise UsageError(f"family must be one of {', '.join(FAMILIES)}, got {self.family!r}")
        location, scale = exact("location", self.location), exact("scale", self.scale)
        if scale <= 0:
            raise UsageError(f"scale must be positive, got {self.scale!r}")
        if not self.has_ends == (self.low is not None) == (self.high is not None):
            raise UsageError(
                f"low and high belong to bounded and clamped distributions, got {self.low!r} and {self.high!r}"
            )
        if self.low is not None and self.high is not None and not exact("low", self.low) < exact("high", self.high):
            raise UsageError(f"low must be below high, got {self.low!r} and {self.high!r}")
        if self.family == "discrete gaussian" and (location.denominator != 1 or scale > LARGEST_SIGMA):
            raise UsageError(
                f"a discrete Gaussian needs an integer location and a scale of at most {LARGEST_SIGMA}, got"
                f" {self.location!r} and {self.scale!r}"
            )

    @property
    def is_discrete(self) -> bool:
        """True if all outcomes are integers."""
        return self.family.startswith("discrete")

    @property
    def has_ends(self) -> bool:
        """True if all outcomes lie in [low, high]."""
        return self.family in {"bounded laplace", "clamped laplace"}

    def interval(self, low: Exact | None, high: Exact | None) -> arb:
        """Enclose Pr[low < X <= high]; None is no bound. Accurate relative to itself in both tails."""
        if self.has_ends:
            return self._inside_ends(low, high)
        location, scale = exact("location", self.location), exact("scale", self.scale)
        a = None if low is None else exact("low", low) - location
        b = None if high is None else exact("high", high) - location
        if a is not None and b is not None and b <= a:
            return arb(0)
        if self.family == "laplace":
            return log_laplace_interval(a if a is None else a / scale, b if b is None else b / scale).exp()
        if self.family == "gaussian":
            return normal_interval(a if a is None else a / scale, b if b is None else b / scale)
        first = None if low is None else math.floor(exact("low", low)) + 1
        last = None if high is None else math.floor(exact("high", high))
        return self._integers(first, last)

    def _inside_ends(self, low: Exact | None, high: Exact | None) -> arb:
        assert self.low is not None
        assert self.high is not None
        first, last = exact("low", self.low), exact("high", self.high)
        free = NoiseDistribution("laplace", self.location, self.scale)
        a, b = None if low is None else exact("low", low), None if high is None else exact("high", high)
        if (b is not None and b < first) or (a is not None and a >= last):
            return arb(0)
        if self.family == "clamped laplace":  # what lies outside counts for the ends
            below = None if a is None or a < first else a
            above = None if b is None or b >= last else b
            return free.interval(below, above)
        below = first if a is None else max(a, first)
        above = last if b is None else min(b, last)
        return free.interval(below, above) / free.interval(first, last)

    def _integers(self, first: int | None, last: int | None) -> arb:
        """Enclose Pr[first <= X <= last]."""
        if first is not None and last is not None and last < first:
            return arb(0)
        if last is None:
            return arb(1) if first is None else self._at_least(first)
        if first is None:
            return self._at_most(last)
        location = exact("location", self.location)
        if first > location:
            return self._at_least(first) - self._at_least(last + 1)
        if last < location:
            return self._at_most(last) - self._at_most(first - 1)
        return 1 - self._at_most(first - 1) - self._at_least(last + 1)

    def _at_most(self, last: int) -> arb:
        return NoiseDistribution(self.family, -exact("location", self.location), self.scale)._at_least(-last)  # noqa: SLF001  # its own kind

    def _at_least(self, first: int) -> arb:
        location, scale = exact("location", self.location), exact("scale", self.scale)
        if self.family == "discrete gaussian":
            return _gaussian_table(scale).at_least(first - int(location))
        if first <= location:
            return 1 - self._at_most(first - 1)
        # geometric sums on either side of the location; `gap` leads from it to the next integer above
        gap = math.ceil(location) - location
        both = ball(-gap / scale).exp() + ball(-(1 - gap) / scale).exp()
        return ball(-(first - location) / scale).exp() / both


NoisePair = tuple[NoiseDistribution, NoiseDistribution]
"""The distributions of one coordinate on two neighbouring inputs."""


@lru_cache(maxsize=16)
def _gaussian_table(scale: Fraction) -> DiscreteGaussian:
    with precision(_TABLE_BITS):
        return DiscreteGaussian(scale)


def normal_interval(low: Fraction | None, high: Fraction | None) -> arb:
    """Enclose Pr[low < Z <= high] for standard normal Z; None is no bound."""
    if low is None:
        return arb(1) if high is None else normal_cdf(ball(high))
    if high is None:
        return normal_cdf(-ball(low))
    # the smaller of the two tails, so that an interval far out keeps its relative accuracy
    if low > 0:
        return normal_cdf(-ball(low)) - normal_cdf(-ball(high))
    return normal_cdf(ball(high)) - normal_cdf(ball(low))
