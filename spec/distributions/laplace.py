"""Laplace noise: logarithms of the probabilities of intervals and boxes, without cancellation in the tails."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact, sum_balls

__all__ = [
    "LaplaceDistribution",
    "Side",
    "log_laplace_cdf",
    "log_laplace_interval",
    "log_laplace_max_cdf",
    "log_laplace_sf",
]

Side = tuple[Exact | None, Exact | None]
"""An interval (low, high]; None where there is no bound."""


def log_laplace_sf(x: Fraction) -> arb:
    """Enclose log Pr[Z > x] for unit Laplace noise Z, accurate relative to itself in both tails.

    Examples
    --------
    >>> float(log_laplace_sf(Fraction(0)).exp())
    0.5
    """
    if x >= 0:
        return ball(-x) - arb(2).log()
    return (-ball(x).exp() / 2).log1p()


def log_laplace_cdf(x: Fraction) -> arb:
    """Enclose log Pr[Z <= x] for unit Laplace noise Z."""
    return log_laplace_sf(-x)


def log_laplace_interval(low: Fraction | None, high: Fraction | None) -> arb:
    """Enclose log Pr[low < Z <= high]; None is no bound; minus infinity for an empty interval."""
    if low is None:
        return arb(0) if high is None else log_laplace_cdf(high)
    if high is None:
        return log_laplace_sf(low)
    if high <= low:
        return arb.neg_inf()
    if low >= 0:  # e^-low (1 - e^-(high - low)) / 2
        return ball(-low) + (-(ball(low - high).expm1())).log() - arb(2).log()
    if high <= 0:
        return log_laplace_interval(-high, -low)
    return (-(ball(low).expm1() + ball(-high).expm1()) / 2).log()


def log_laplace_max_cdf(x: Fraction | arb, count: int) -> arb:
    """Enclose log Pr[max_i |Z_i| <= x] for `count` independent unit Laplace variables, x >= 0."""
    if x <= 0:
        return arb.neg_inf()
    return count * (-(ball(-x).expm1())).log()


@dataclass(frozen=True)
class LaplaceDistribution:
    """Independent Laplace noise of one scale about each of some centres.

    Parameters
    ----------
    centres : tuple of exact numbers
        The answers without noise.
    scale : exact number
        Scale of the noise, positive: its density is e^(-|x - centre| / scale) / (2 scale).

    Raises
    ------
    UsageError
        If the scale is not positive.
    """

    centres: tuple[Exact, ...]
    scale: Exact

    def __post_init__(self) -> None:
        if exact("scale", self.scale) <= 0:
            raise UsageError(f"scale must be positive, got {self.scale!r}")

    def log_side(self, place: int, side: Side) -> arb:
        """Enclose the logarithm of the probability that one coordinate falls into an interval."""
        centre, scale = exact("centre", self.centres[place]), exact("scale", self.scale)
        low, high = (None if end is None else (exact("end", end) - centre) / scale for end in side)
        return log_laplace_interval(low, high)

    def log_box(self, sides: Sequence[tuple[int, Side]]) -> arb:
        """Enclose the logarithm of the probability that the listed coordinates fall into their intervals."""
        logs = [self.log_side(place, side) for place, side in sides]
        return arb.neg_inf() if arb.neg_inf() in logs else sum_balls(logs)
