"""The discrete Gaussian: integers, with probability proportional to e^(-x^2 / (2 sigma^2)) (Canonne et al. 2020).

Two of them with integer centres at distance 1 have the privacy loss (1 - 2x) / (2 sigma^2): a lattice, on which the
worst events are half-lines.
"""

import math
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import Exact, ball, exact, sum_balls
from dpassay.spec.distributions.composed_scores import Cell

__all__ = ["DiscreteGaussian", "discrete_gaussian_cells", "discrete_gaussian_hockey_stick"]

LARGEST_SIGMA = 1000
"""Sums run over integers one by one; the work grows with sigma."""


class DiscreteGaussian:
    """Probabilities of a discrete Gaussian about 0, at the working precision of its making.

    Parameters
    ----------
    sigma : exact number
        Positive.
    reach : int
        How many sigmas the sums reach; what lies beyond is enclosed. More where e^(-reach^2/2) must be smaller.
    """

    def __init__(self, sigma: Exact, reach: int = 24) -> None:
        self.sigma = exact("sigma", sigma)
        self.last = math.ceil(reach * self.sigma) + 2
        half = 1 / (2 * self.sigma * self.sigma)
        self._weights = [ball(-half * x * x).exp() for x in range(self.last + 1)]
        # beyond the last one the weights fall faster than a geometric sequence
        self._beyond = arb(0).union(self._tail_bound())
        self.total = self._weights[0] + 2 * (sum_balls(self._weights[1:]) + self._beyond)
        above = [self._beyond]
        for weight in reversed(self._weights):
            above.append(above[-1] + weight)
        self._above = above[::-1]

    def _tail_bound(self) -> arb:
        half, last = 1 / (2 * self.sigma * self.sigma), self.last
        ratio = ball(-half * (2 * last + 3)).exp()
        return ball(-half * (last + 1) ** 2).exp() / (1 - ratio)

    def probability(self, x: int) -> arb:
        """Enclose the probability of an integer."""
        if abs(x) <= self.last:
            return self._weights[abs(x)] / self.total
        return ball(-Fraction(x * x) / (2 * self.sigma * self.sigma)).exp() / self.total

    def at_least(self, x: int) -> arb:
        """Enclose the probability of values of at least x."""
        if x <= 0:
            return 1 - self.at_least(1 - x)
        if x > self.last:
            return self._beyond / self.total
        return self._above[x] / self.total


def discrete_gaussian_hockey_stick(distribution: DiscreteGaussian, epsilon: Exact) -> arb:
    """Enclose the divergence at epsilon of the distribution about 0 over the distribution about 1.

    The loss of x is (1 - 2x)/(2 sigma^2): it exceeds epsilon for x < 1/2 - sigma^2 epsilon.
    """
    level = exact("epsilon", epsilon)
    last = math.ceil(Fraction(1, 2) - distribution.sigma**2 * level) - 1
    # Pr[X <= last] about 0, and Pr[X <= last - 1] about 0, which is Pr[X <= last] about 1
    return distribution.at_least(-last) - ball(level).exp() * distribution.at_least(1 - last)


def discrete_gaussian_cells(distribution: DiscreteGaussian, reach: int = 12) -> list[Cell]:
    """Return the integers as cells, with the loss of the one about 0 over the one about 1, up to a constant."""
    last = min(distribution.last - 1, math.ceil(reach * distribution.sigma) + 1)
    unit = float(1 / (distribution.sigma * distribution.sigma))
    return [
        Cell(distribution.probability(x), distribution.probability(x - 1), -x * unit) for x in range(-last, last + 2)
    ]
