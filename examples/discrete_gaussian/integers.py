"""The discrete Gaussian and the discrete Laplace distribution on the integers, as balls.

Infinite sums run over the integers up to a certified remainder: beyond `last` the weights of the Gaussian fall faster
than a geometric sequence, and the remainder is part of the enclosure.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb

from dpassay.statements import ball, sum_balls

__all__ = ["DiscreteGaussian", "discrete_laplace"]

REACH = 40
"""Standard deviations over which sums run; the remainder is below e^-800 of the total."""


class DiscreteGaussian:
    """The distribution on the integers with probabilities proportional to e^(-x^2 / (2 variance)).

    Parameters
    ----------
    variance : Fraction
        The parameter sigma^2, positive; the variance of the distribution is smaller.
    """

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        self.last = math.ceil(REACH * math.sqrt(variance)) + 2

    def weight(self, x: int) -> arb:
        """Enclose e^(-x^2 / (2 variance))."""
        return ball(-Fraction(x * x) / (2 * self.variance)).exp()

    def total(self) -> arb:
        """Enclose the sum of all weights."""
        return self.sum_from(-self.last)

    def sum_from(self, start: int, value: Callable[[int], arb] = lambda _: arb(1)) -> arb:
        """Enclose the sum of weight(x) value(x) over x >= start.

        Parameters
        ----------
        start : int
            First term; the terms below ``-last`` are enclosed as well.
        value : callable
            Between 0 and 1, or even powers and exponentials that the weights dominate far below `last`.
        """
        first, stop = max(start, -self.last), max(self.last, start + self.last)
        terms = (self.weight(x) * value(x) for x in range(first, stop + 1))
        below = self._remainder(value, -self.last - 1, -1) if start <= -self.last else arb(0)
        return sum_balls(terms) + self._remainder(value, stop + 1, 1) + below

    def _remainder(self, value: Callable[[int], arb], x: int, step: int) -> arb:
        """Enclose the sum from x on, where terms fall at least as fast as a geometric sequence of ratio 1/2."""
        first, second = (self.weight(y) * value(y) for y in (x, x + step))
        return arb(0).union(2 * first) if second <= first / 2 else arb("nan")

    def mean_of(self, value: Callable[[int], arb]) -> arb:
        """Enclose the expectation of value(X)."""
        return self.sum_from(-self.last, value) / self.total()

    def at_least(self, x: int) -> arb:
        """Enclose Pr[X >= x]."""
        return self.sum_from(x) / self.total()


def discrete_laplace(ratio: Fraction, outcomes: Iterable[int]) -> dict[int, Fraction]:
    """Return exact probabilities proportional to ratio^-|x|, of the whole distribution; ratio > 1."""
    return {x: (ratio - 1) / (ratio + 1) / ratio ** abs(x) for x in outcomes}
