"""A filter at the rate of advanced composition for adaptively chosen (epsilon_t, delta_t)-DP mechanisms."""

import math
from fractions import Fraction

from dpassay.arguments import require_positive, require_probability
from dpassay.impl.accounting.filters.interface import (
    ROUNDING,
    Offer,
    Remaining,
    exactly,
    float_down,
    refuse_if_it_exceeds,
    require_offer,
)
from dpassay.impl.validation import require_open_probability

__all__ = ["FullyAdaptiveFilter"]


class FullyAdaptiveFilter:
    """Advanced composition with adaptively chosen parameters and the constants of the non-adaptive theorem.

    Admits the next mechanism while sqrt(2 log(1/delta_slack) S) + S/2 <= epsilon, S the sum of the squared epsilons
    including the next one, and the deltas sum to at most `delta_mechanisms`. Together the mechanisms admitted are
    (epsilon, delta_slack + delta_mechanisms)-DP.

    Lebensold, Precup and Balle 2024, Thm 20 (after Whitehouse, Ramdas, Rogers and Wu 2023, Thm 1), with the sums up to
    the round in question, the very first one included; Def 21, which halts where it should continue, corrected.

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
        self.epsilon = require_positive("epsilon", epsilon)
        self.delta_slack = require_open_probability("delta_slack", delta_slack)
        self.delta_mechanisms = require_probability("delta_mechanisms", delta_mechanisms)
        self._squares = Fraction(0)
        self._delta_sum = Fraction(0)

    @property
    def remaining(self) -> Remaining:
        """The largest single offer that is admitted, rounded down."""
        # With L = sqrt(2 log(1/delta')), L r + r^2/2 = epsilon at r = sqrt(L^2 + 2 epsilon) - L.
        slack = math.sqrt(-2 * math.log(self.delta_slack))
        root = 2 * self.epsilon / (math.sqrt(slack**2 + 2 * self.epsilon) + slack) / ROUNDING**4
        epsilon = math.sqrt(max(0.0, root**2 - float(self._squares)))
        return Remaining(epsilon, float_down(exactly(self.delta_mechanisms) - self._delta_sum))

    def would_exceed(self, offer: Offer) -> bool:
        """Return whether the bound including this offer exceeds epsilon, or the deltas exceed their budget."""
        require_offer(offer, Offer)
        squares = float(self._squares + exactly(offer.epsilon) ** 2)
        bound = math.sqrt(-2 * math.log(self.delta_slack) * squares) + squares / 2
        too_dear = bound * ROUNDING > self.epsilon
        return too_dear or self._delta_sum + exactly(offer.delta) > exactly(self.delta_mechanisms)

    def spend(self, offer: Offer, loss: float = math.nan) -> None:  # noqa: ARG002  # the promise is charged
        """Charge the offer; the charge does not depend on the outcome.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        """
        refuse_if_it_exceeds(self, offer)
        self._squares += exactly(offer.epsilon) ** 2
        self._delta_sum += exactly(offer.delta)
