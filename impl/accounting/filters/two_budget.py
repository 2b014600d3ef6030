"""A filter with separate budgets for concentrated and for ex-post private mechanisms in one interaction."""

import math
from dataclasses import dataclass
from fractions import Fraction

from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters.concentrated import ZCDPFilter
from dpassay.impl.accounting.filters.ex_post import ExPostFilter
from dpassay.impl.accounting.filters.interface import ConcentratedOffer, ExPostOffer, Remaining, RemainingRho

__all__ = ["RemainingOfBoth", "TwoBudgetFilter"]


@dataclass(frozen=True)
class RemainingOfBoth:
    """The remaining parts of the two budgets."""

    concentrated: RemainingRho
    ex_post: Remaining


class TwoBudgetFilter:
    """Passes each offer to the filter of its kind; epsilons and deltas of the two guarantees add up.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Thm 3.

    Parameters
    ----------
    concentrated : ZCDPFilter
        For `ConcentratedOffer`.
    ex_post : ExPostFilter
        For `ExPostOffer`.
    """

    def __init__(self, concentrated: ZCDPFilter, ex_post: ExPostFilter) -> None:
        self.concentrated = concentrated
        self.ex_post = ex_post

    @property
    def remaining(self) -> RemainingOfBoth:
        """The remaining parts of both budgets."""
        return RemainingOfBoth(self.concentrated.remaining, self.ex_post.remaining)

    @property
    def claim(self) -> ApproximateDP:
        """The guarantee of all admitted mechanisms together, rounded up."""
        parts = self.concentrated.claim, self.ex_post.claim
        epsilon, delta = (sum(Fraction(getattr(p, name)) for p in parts) for name in ("epsilon", "delta"))
        return ApproximateDP(math.nextafter(float(epsilon), math.inf), min(1.0, math.nextafter(float(delta), 1.0)))

    def would_exceed(self, offer: ConcentratedOffer | ExPostOffer) -> bool:
        """Return whether the filter of the kind refuses the offer."""
        return self._of(offer).would_exceed(offer)  # type: ignore[arg-type]

    def spend(self, offer: ConcentratedOffer | ExPostOffer, loss: float = math.nan) -> None:
        """Charge the filter of the kind.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit, with what that filter has left; nothing is charged.
        """
        self._of(offer).spend(offer, loss)  # type: ignore[arg-type]

    def _of(self, offer: ConcentratedOffer | ExPostOffer) -> ZCDPFilter | ExPostFilter:
        return self.ex_post if isinstance(offer, ExPostOffer) else self.concentrated
