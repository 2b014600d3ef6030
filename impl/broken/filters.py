"""Broken privacy filters, run on streams that expose the fault."""

import math

from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters import FullyAdaptiveFilter, Offer, PrivacyFilter, SelfReportingFilter
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.filtered_stars import FilteredStars, Star, randomised_response

__all__ = [
    "advertises_the_delta_of_one_round",
    "charges_the_mean_loss",
    "checks_after_running",
    "halts_and_continues_the_wrong_way_round",
    "keeps_only_the_last_charge",
    "leaves_out_the_next_mechanism",
    "never_stops",
]

_SEEN = ("privacy_of_claim",)

_EPSILON = 2.5
_RESPONSES = (randomised_response(1.0),) * 6


class _ChecksAfterRunning(SelfReportingFilter):
    def would_exceed(self, offer: Offer) -> bool:
        return super().would_exceed(Offer(0.0, offer.delta))


class _NeverStops(SelfReportingFilter):
    def would_exceed(self, offer: Offer) -> bool:  # noqa: ARG002  # that is the fault
        return False


class _KeepsOnlyLastCharge(SelfReportingFilter):
    def spend(self, offer: Offer, loss: float) -> None:
        super().spend(offer, loss)
        self._spent = type(self._spent)(loss)


class _ChargesMeanLoss(SelfReportingFilter):
    def spend(self, offer: Offer, loss: float) -> None:
        super().spend(offer, loss * math.tanh(loss / 2))  # the mean loss of randomised response


class _DeltaOfOneRound(SelfReportingFilter):
    def spend(self, offer: Offer, loss: float) -> None:
        super().spend(Offer(offer.epsilon, 0.0), loss)


class _LeavesOutNext(FullyAdaptiveFilter):
    def would_exceed(self, offer: Offer) -> bool:  # noqa: ARG002  # that is the fault
        return super().would_exceed(Offer(0.0))


class _Inverted(FullyAdaptiveFilter):
    def would_exceed(self, offer: Offer) -> bool:
        return not super().would_exceed(offer)

    def spend(self, offer: Offer, loss: float = math.nan) -> None:  # noqa: ARG002  # the promise is charged
        self._squares += type(self._squares)(offer.epsilon) ** 2


def _responses(make: type[SelfReportingFilter]) -> FilteredStars:
    return FilteredStars(_RESPONSES, lambda: make(_EPSILON, 0.0), ApproximateDP(_EPSILON, 0.0))


def _dear_responses(make: type[FullyAdaptiveFilter]) -> FilteredStars:
    def fresh() -> PrivacyFilter:
        return make(epsilon=1.0, delta_slack=1e-3)

    return FilteredStars((randomised_response(3.0),) * 3, fresh, ApproximateDP(1.0, 1e-3))


checks_after_running = catalogue(
    __name__,
    _responses(_ChecksAfterRunning),
    mutation=Mutation("a round is admitted while the sum so far is below epsilon, without looking ahead", _SEEN),
)

never_stops = catalogue(
    __name__,
    _responses(_NeverStops),
    mutation=Mutation("every round is admitted", _SEEN),
)

keeps_only_the_last_charge = catalogue(
    __name__,
    _responses(_KeepsOnlyLastCharge),
    mutation=Mutation("a charge replaces the sum instead of being added to it", _SEEN),
)

charges_the_mean_loss = catalogue(
    __name__,
    _responses(_ChargesMeanLoss),
    mutation=Mutation("the mean of the privacy loss is charged in place of the loss that the outcome reports", _SEEN),
)

advertises_the_delta_of_one_round = catalogue(
    __name__,
    FilteredStars(
        (Star(truth=0.02, loss=6.0, offer=Offer(0.01, 0.02)),) * 40,
        lambda: _DeltaOfOneRound(4.0, 0.02),
        ApproximateDP(4.0, 0.02),
    ),
    mutation=Mutation("the delta of one round is claimed for all of them, as Thm 11 is printed", _SEEN),
)

halts_and_continues_the_wrong_way_round = catalogue(
    __name__,
    _dear_responses(_Inverted),
    mutation=Mutation("halts while the budget lasts and continues once it is spent, as Def 21 is printed", _SEEN),
)

leaves_out_the_next_mechanism = catalogue(
    __name__,
    _dear_responses(_LeavesOutNext),
    mutation=Mutation("the sums leave out the mechanism about to run, so that the first one always runs", _SEEN),
)
