"""A filter for ex-post private mechanisms: it admits by the worst-case loss and charges the loss of the outcome."""

from fractions import Fraction

from dpassay.arguments import UsageError, require_positive, require_probability
from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters.interface import (
    ExPostOffer,
    Remaining,
    exactly,
    float_down,
    lies_between,
    refuse_if_it_exceeds,
    require_offer,
)

__all__ = ["ExPostFilter"]


class ExPostFilter:
    """Filter that admits a mechanism if its largest ex-post bound and its delta fit into the remaining budgets.

    Everything admitted is (epsilon, delta)-DP, even probabilistically. Sums are exact, and a budget may be used up to
    the last bit; nothing waits for an equality.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Lemma 5.2, with the guard on the round that is about to run.

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

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        self.epsilon = require_positive("epsilon", epsilon)
        self.delta = require_probability("delta", delta)
        self._spent = Fraction(0)
        self._delta_sum = Fraction(0)

    @property
    def remaining(self) -> Remaining:
        """The remaining budgets, rounded down: the largest offer that is admitted."""
        return Remaining(
            float_down(exactly(self.epsilon) - self._spent), float_down(exactly(self.delta) - self._delta_sum)
        )

    @property
    def claim(self) -> ApproximateDP:
        """The guarantee of all admitted mechanisms together."""
        return ApproximateDP(self.epsilon, self.delta)

    def would_exceed(self, offer: ExPostOffer) -> bool:
        """Return whether the largest ex-post bound, or the delta, exceeds the remaining budget."""
        require_offer(offer, ExPostOffer)
        too_dear = self._spent + exactly(offer.epsilon) > exactly(self.epsilon)
        return too_dear or self._delta_sum + exactly(offer.delta) > exactly(self.delta)

    def spend(self, offer: ExPostOffer, loss: float) -> None:
        """Charge the ex-post bound of the outcome, and the delta.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        UsageError
            If the bound is negative or above the largest one that was offered; nothing is charged.
        """
        refuse_if_it_exceeds(self, offer)
        if not lies_between(0, loss, offer.epsilon):
            raise UsageError(f"loss must lie in [0, {offer.epsilon!r}], the largest bound offered, got {loss!r}")
        self._spent += exactly(loss)
        self._delta_sum += exactly(offer.delta)
