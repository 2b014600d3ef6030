"""The optimal composition of a batch of pure and bounded-range mechanisms of one epsilon.

All bounded-range mechanisms of the worst batch have one common largest loss t, and the best t is one of at most
k - m + 2 numbers: where one of the partial sums of the loss has its peak, and the two ends (Cesar and Rogers 2020,
Thm 3; for bounded range only Dong, Durfee and Rogers 2020). At a given t the loss is epsilon (m - n) + t (k - m) with
n = i + 2j, whose distribution is a convolution of two binomials.
"""

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.impl.accounting.composition import BatchAccountant, delta_upper, level_margin, require_epsilon, sum_upper
from dpassay.impl.validation import require_count

__all__ = ["BoundedRangeBatch", "MixedBatch"]

Array = NDArray[np.float64]


LARGEST_COUNT = 5000
"""Work grows with the third power of the number of mechanisms: some ten seconds at the limit."""


class MixedBatch(BatchAccountant):
    """The optimal delta of a batch of `pure` epsilon-DP and `bounded_range` epsilon-bounded-range mechanisms.

    The pure mechanisms may be chosen adaptively, the bounded-range ones may not: for those, and for an order that
    the analyst chooses on the way, see `AdaptiveComposition`. Within a relative 1e-9 above the truth, while epsilon
    stays a thousandth of the sum of epsilons away from it and delta above 1e-290.

    Parameters
    ----------
    pure, bounded_range : int
        Numbers of mechanisms, at least 0, not both 0, at most 5000 together. (The paper's m and k - m.)
    mechanism_epsilon : float
        Their common epsilon, positive.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Examples
    --------
    >>> round(MixedBatch(pure=2, bounded_range=4, mechanism_epsilon=1.0).delta(2.0), 6)
    0.220699
    """

    def __init__(self, *, pure: int, bounded_range: int, mechanism_epsilon: float) -> None:
        self.pure = require_count("pure", pure, low=0)
        self.bounded_range = require_count("bounded_range", bounded_range, low=0)
        if not 1 <= self.pure + self.bounded_range <= LARGEST_COUNT:
            accepted = f"not both be 0, nor sum to more than {LARGEST_COUNT}"
            raise UsageError(f"pure and bounded_range must {accepted}, got {pure!r} and {bounded_range!r}")
        self.mechanism_epsilon = require_positive("mechanism_epsilon", mechanism_epsilon)

    @property
    def total_epsilon(self) -> float:
        """The sum of the epsilons, rounded up."""
        return sum_upper([(self.pure + self.bounded_range) * Fraction(self.mechanism_epsilon)])

    def delta(self, epsilon: float) -> float:
        """Return the optimal delta of the batch at any finite epsilon, rounded up."""
        level = require_epsilon(epsilon)
        if level >= self.total_epsilon:
            return 0.0
        level -= level_margin(level, self.total_epsilon)
        return delta_upper(max(self._delta_at(top, level) for top in self._candidates(level)))

    def _candidates(self, level: float) -> Array:
        """Return the t at which a partial sum has its peak, clipped to [0, epsilon] and without repetition."""
        peaks = np.arange(1 - self.pure, self.bounded_range + self.pure + 2) * self.mechanism_epsilon + level
        return np.unique(np.clip(peaks / (self.bounded_range + 1), 0.0, self.mechanism_epsilon))

    def _delta_at(self, top: float, level: float) -> float:
        one = np.expm1(-top) / np.expm1(-self.mechanism_epsilon) * np.exp(top - self.mechanism_epsilon)
        from scipy import stats  # takes half a second to import

        own = stats.binom.pmf(np.arange(self.bounded_range + 1), self.bounded_range, min(one, 1.0))
        cells = np.convolve(own, self._pure_cells)
        losses = self.mechanism_epsilon * (self.pure - np.arange(cells.size)) + top * self.bounded_range
        above = losses > level
        return float(np.sum(cells[above] * -np.expm1(level - losses[above])))

    @cached_property
    def _pure_cells(self) -> Array:
        """The distribution of 2j: every pure mechanism that answers wrongly costs two steps of epsilon."""
        from scipy import stats

        distribution = np.zeros(2 * self.pure + 1)
        wrong = np.exp(-self.mechanism_epsilon) / (1 + np.exp(-self.mechanism_epsilon))
        distribution[::2] = stats.binom.pmf(np.arange(self.pure + 1), self.pure, wrong)
        return distribution


class BoundedRangeBatch(MixedBatch):
    """The optimal delta of a batch of `count` epsilon-bounded-range mechanisms, such as exponential mechanisms.

    Parameters
    ----------
    count : int
        At least 1.
    mechanism_epsilon : float
        Their common epsilon, positive.
    """

    def __init__(self, count: int, mechanism_epsilon: float) -> None:
        super().__init__(pure=0, bounded_range=require_count("count", count), mechanism_epsilon=mechanism_epsilon)
