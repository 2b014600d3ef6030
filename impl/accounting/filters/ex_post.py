"""A filter for ex-post private mechanisms: guarded by the dearest outcome, charged by the one that came out."""

from fractions import Fraction

from dpassay.claims import ApproximateDP, UsageError, require_positive, require_probability
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
    """Admits a mechanism if the largest bound of its outcomes fits into what is left of epsilon, and its delta too.

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
        """What is left of both budgets, rounded down: an offer of that much fits."""
        return Remaining(
            float_down(exactly(self.epsilon) - self._spent), float_down(exactly(self.delta) - self._delta_sum)
        )

    @property
    def claim(self) -> ApproximateDP:
        """What holds of everything that the filter ever admits."""
        return ApproximateDP(self.epsilon, self.delta)

    def would_exceed(self, offer: ExPostOffer) -> bool:
        """Whether some outcome, or the delta, is more than what is left."""
        require_offer(offer, ExPostOffer)
        too_dear = self._spent + exactly(offer.epsilon) > exactly(self.epsilon)
        return too_dear or self._delta_sum + exactly(offer.delta) > exactly(self.delta)

    def spend(self, offer: ExPostOffer, loss: float) -> None:
        """Charge the bound of the outcome that came out, and the delta.

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
