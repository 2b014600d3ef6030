"""One sample of the posterior of the bias of a coin on a finite grid."""

from collections.abc import Hashable
from dataclasses import dataclass

from flint import arb

from dpassay.spec.ball import Exact, ball, exact, sum_balls

__all__ = ["PosteriorDistribution"]


@dataclass(frozen=True)
class PosteriorDistribution:
    """Pr[k] proportional to t_k^a (1 - t_k)^(n - a), a the sum of n records in [0, 1].

    Parameters
    ----------
    grid : tuple of exact numbers
        The biases, strictly between 0 and 1.
    records : tuple of exact numbers
        The data.
    """

    grid: tuple[Exact, ...]
    records: tuple[Exact, ...]

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The indices of the grid."""
        return tuple(range(len(self.grid)))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the log-probability of an index: minus the log of the sum of all odds against it."""
        if not (isinstance(outcome, int) and 0 <= outcome < len(self.grid)):
            return arb.neg_inf()
        own = self._log_likelihood(outcome)
        return -(sum_balls((self._log_likelihood(k) - own).exp() for k in range(len(self.grid)))).log()

    def _log_likelihood(self, place: int) -> arb:
        bias = exact("grid", self.grid[place])
        ones = sum(exact("records", record) for record in self.records)
        return ball(ones) * ball(bias).log() + ball(len(self.records) - ones) * ball(1 - bias).log()
