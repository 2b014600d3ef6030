"""Privacy filters: they admit adaptively chosen mechanisms within a budget, and refuse before a mechanism runs."""

from dpassay.impl.accounting.filters.concentrated import UnifiedFilter, ZCDPFilter
from dpassay.impl.accounting.filters.ex_post import ExPostFilter
from dpassay.impl.accounting.filters.fully_adaptive import FullyAdaptiveFilter
from dpassay.impl.accounting.filters.interface import (
    AnyOffer,
    BudgetExceeded,
    ConcentratedOffer,
    ExPostOffer,
    NoiseReductionOffer,
    Offer,
    OfferedMechanism,
    PrivacyFilter,
    Remaining,
    RemainingRho,
    run_filtered,
)
from dpassay.impl.accounting.filters.self_reporting import SelfReportingFilter
from dpassay.impl.accounting.filters.two_budget import RemainingOfBoth, TwoBudgetFilter

__all__ = [
    "AnyOffer",
    "BudgetExceeded",
    "ConcentratedOffer",
    "ExPostFilter",
    "ExPostOffer",
    "FullyAdaptiveFilter",
    "NoiseReductionOffer",
    "Offer",
    "OfferedMechanism",
    "PrivacyFilter",
    "Remaining",
    "RemainingOfBoth",
    "RemainingRho",
    "SelfReportingFilter",
    "TwoBudgetFilter",
    "UnifiedFilter",
    "ZCDPFilter",
    "run_filtered",
]
