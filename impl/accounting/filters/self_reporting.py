"""A filter that charges the loss that outcomes report."""

import math
from fractions import Fraction

from dpassay.arguments import UsageError, require_positive, require_probability
from dpassay.impl.accounting.filters.interface import (
    ROUNDING,
    Offer,
    Remaining,
    exactly,
    float_down,
    float_up,
    lies_between,
    refuse_if_it_exceeds,
    require_offer,
)

__all__ = ["SelfReportingFilter"]


class SelfReportingFilter:
    """Filter that admits while the sum of the reported losses plus the next epsilon_max is below epsilon.

    Lebensold, Precup and Balle 2024, Alg 2 = Alg 4, with delta accounted for: their Thm 11 = Thm 19 claims the delta
    of a single round, although an improbable large loss makes its round the last one and may come in any round. The
    composition is (epsilon, delta)-probabilistically DP with delta = 1 - product of (1 - delta_t) over the rounds run,
    so a round whose delta would carry that past the budget is refused.

    Parameters
    ----------
    epsilon : float
        Budget, positive.
    delta : float
        Budget, in [0, 1].

    Raises
    ------
    UsageError
        If a budget is out of its domain.
    """

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon = require_positive("epsilon", epsilon)
        self.delta = require_probability("delta", delta)
        self._spent = Fraction(0)
        self._unbounded = False
        self._delta_sum = Fraction(0)
        self._log_survival = Fraction(0)
        self._certain = False  # a round of delta 1 has been run

    @property
    def remaining(self) -> Remaining:
        """The remaining budgets, rounded down."""
        epsilon = -math.inf if self._unbounded else float_down(exactly(self.epsilon) - self._spent)
        return Remaining(epsilon, max(0.0, float_down(exactly(self.delta) - exactly(self.delta_spent))))

    @property
    def delta_spent(self) -> float:
        """The delta of the composition so far, rounded up; for simple composition the sum."""
        return min(float_up(self._delta_sum), self._one_minus_survival(0.0))

    def would_exceed(self, offer: Offer) -> bool:
        """Return whether the reports plus the epsilon of the offer reach epsilon, or delta exceeds its budget."""
        require_offer(offer, Offer)
        too_dear = self._unbounded or self._spent + exactly(offer.epsilon) >= exactly(self.epsilon)
        # The sum of the deltas bounds their composition too, and is exact: one round may use the budget up.
        within = self._delta_sum + exactly(offer.delta) <= exactly(self.delta)
        return too_dear or not (within or self._one_minus_survival(offer.delta) <= self.delta)

    def spend(self, offer: Offer, loss: float) -> None:
        """Charge the reported loss, at least 0 and possibly infinite, and the delta of the offer.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        UsageError
            If `loss` is negative or not a number.
        """
        if not lies_between(0, loss, math.inf):
            raise UsageError(f"loss must be at least 0, got {loss!r}")
        refuse_if_it_exceeds(self, offer)
        if math.isinf(loss):
            self._unbounded = True
        else:
            self._spent += exactly(loss)
        self._delta_sum += exactly(offer.delta)
        if offer.delta == 1:
            self._certain = True
        else:
            self._log_survival += Fraction(math.log1p(-offer.delta))

    def _one_minus_survival(self, delta: float) -> float:
        if self._certain or delta == 1:
            return 1.0
        return -math.expm1(float(self._log_survival) + math.log1p(-delta)) * ROUNDING
