"""Filters with a zCDP budget for approximately concentrated mechanisms and noise reduction."""

import math
from fractions import Fraction

from dpassay.arguments import require_at_least, require_probability
from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters.interface import (
    ConcentratedOffer,
    NoiseReductionOffer,
    RemainingRho,
    exactly,
    float_down,
    float_up,
    refuse_if_it_exceeds,
    require_offer,
)
from dpassay.impl.accounting.zcdp_budget import epsilon_of_rho, largest_rho

__all__ = ["UnifiedFilter", "ZCDPFilter"]


class UnifiedFilter:
    """Filter with one budget for concentrated mechanisms and Brownian noise reduction in any order.

    A concentrated mechanism is charged rho_n; a run of noise reduction is admitted if its costliest stop fits, and
    charged s^2 u / 2 at the precision u = 1/t at which it stopped. Sums are exact. Together everything admitted is
    (rho + 2 sqrt(rho log(1/delta'')), delta + delta'')-DP for every delta''. A refusal spends nothing, and a smaller
    request may follow it.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Thm 6 with the constant of its proof.

    Parameters
    ----------
    rho : float
        Budget, at least 0.
    delta : float
        Budget for the deltas of the mechanisms, in [0, 1].

    Raises
    ------
    UsageError
        If a budget is out of its domain.
    """

    def __init__(self, rho: float, delta: float = 0.0) -> None:
        self.rho = require_at_least("rho", rho, 0)
        self.delta = require_probability("delta", delta)
        self._spent = Fraction(0)
        self._delta_sum = Fraction(0)

    @property
    def remaining(self) -> RemainingRho:
        """The remaining budgets, rounded down: the largest offer that is admitted."""
        return RemainingRho(
            float_down(exactly(self.rho) - self._spent), float_down(exactly(self.delta) - self._delta_sum)
        )

    @property
    def precision_left(self) -> float:
        """The largest precision that is admitted for noise reduction of unit sensitivity."""
        return 2 * self.remaining.rho

    def guarantee(self, delta_slack: float) -> ApproximateDP:
        """Return the guarantee of all admitted mechanisms together, for a delta'' in (0, 1); rounded up."""
        epsilon = epsilon_of_rho(self.rho, delta_slack)
        return ApproximateDP(epsilon, min(1.0, float_up(exactly(self.delta) + exactly(delta_slack))))

    def would_exceed(self, offer: ConcentratedOffer | NoiseReductionOffer) -> bool:
        """Return whether the worst-case rho of the offer, or its delta, exceeds the remaining budget."""
        require_offer(offer, ConcentratedOffer, NoiseReductionOffer)
        too_dear = self._spent + offer.largest_cost > exactly(self.rho)
        return too_dear or self._delta_sum + exactly(offer.delta) > exactly(self.delta)

    def spend(self, offer: ConcentratedOffer | NoiseReductionOffer, loss: float = math.nan) -> None:
        """Charge a concentrated mechanism its rho, noise reduction the cost of the precision `loss` at its stop.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        UsageError
            If noise reduction did not stop at a positive precision of at most the one offered.
        """
        refuse_if_it_exceeds(self, offer)
        self._spent += offer.charge(loss)
        self._delta_sum += exactly(offer.delta)


class ZCDPFilter(UnifiedFilter):
    """Filter for approximately concentrated mechanisms; its budget is the largest rho that a target epsilon allows.

    Admits the next mechanism while R + 2 sqrt(R log(1/delta_slack)) <= epsilon, R the sum of the rho_n including the
    next one, and the deltas sum to at most `delta_mechanisms`. Together the mechanisms admitted are
    (epsilon, delta_slack + delta_mechanisms)-DP.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Thm 2 (of Whitehouse, Ramdas, Rogers and Wu 2023); the first mechanism
    may be refused, and the delta of the guarantee is the sum of the two.

    Parameters
    ----------
    epsilon : float
        Budget, positive.
    delta_slack : float
        The part of delta that pays for concentration, in (0, 1).
    delta_mechanisms : float
        The part that pays for the mechanisms' own deltas, in [0, 1].

    Raises
    ------
    UsageError
        If a budget is out of its domain.
    """

    def __init__(self, epsilon: float, delta_slack: float, delta_mechanisms: float = 0.0) -> None:
        super().__init__(largest_rho(epsilon, delta_slack), require_probability("delta_mechanisms", delta_mechanisms))
        self.epsilon = epsilon
        self.delta_slack = delta_slack

    @property
    def claim(self) -> ApproximateDP:
        """The guarantee of all admitted mechanisms together."""
        return ApproximateDP(self.epsilon, min(1.0, float_up(exactly(self.delta_slack) + exactly(self.delta))))
