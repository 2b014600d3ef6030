"""A noisy count and the mean of a noisy sum over it: sets of outcomes with product probabilities."""

from dataclasses import dataclass

from flint import arb

from dpassay.spec.ball import Exact, exact
from dpassay.spec.distributions.laplace import LaplaceDistribution, Side

__all__ = ["NoisyMeanDistribution"]


@dataclass(frozen=True)
class NoisyMeanDistribution:
    """Records in [low, high]: their count and their sum, seen from the middle, with Laplace noise for epsilon/2 each.

    Where the noisy count is at most 1 the mean is divided by 1, so that it tells the noisy sum itself.

    Parameters
    ----------
    records : tuple of exact numbers
        The data.
    epsilon, low, high : exact numbers
        Budget and range.
    """

    records: tuple[Exact, ...]
    epsilon: Exact
    low: Exact
    high: Exact

    @property
    def total(self) -> Exact:
        """The sum of the records, each relative to the middle of the range."""
        middle = (exact("low", self.low) + exact("high", self.high)) / 2
        return sum((exact("record", record) - middle for record in self.records), start=0 * middle)

    def log_few(self, most: Exact, sums: Side) -> arb:
        """Enclose log Pr[count <= most and noisy sum in an interval]; for `most` <= 1 a set of outcomes."""
        scale = 2 / exact("epsilon", self.epsilon)
        half = (exact("high", self.high) - exact("low", self.low)) / 2
        count = LaplaceDistribution((len(self.records),), scale).log_side(0, (None, most))
        return count + LaplaceDistribution((self.total,), scale * half).log_side(0, sums)

    def log_many(self, most: Exact) -> arb:
        """Enclose log Pr[count > most]."""
        return LaplaceDistribution((len(self.records),), 2 / exact("epsilon", self.epsilon)).log_side(0, (most, None))
