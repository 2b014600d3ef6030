"""Exact private calls that are charged to targets: offers with targets, and the rules that count hits.

An offer is a `Round` of :mod:`dpassay.spec.interactions.transcripts` with one or several targets; a counter
per target is part of the state of the rule, so that transcripts, exact deltas and optimal adversaries come from the
machinery for filters. Notation of Cohen and Lyu (2023): e^epsilon is the `ratio` of a call, q the quality of
its target.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.arguments import UsageError
from dpassay.spec.distributions.discrete import FiniteDistribution, mixture
from dpassay.spec.domains.base import Domain
from dpassay.spec.interactions.transcripts import Interaction, Round, delta_of_branches
from dpassay.spec.interactions.transcripts import branches as complete_branches

__all__ = [
    "ChargedInteractions",
    "ChargedRound",
    "ChargingRule",
    "ChargingState",
    "charged_delta",
    "mixed_response",
    "not_prior_quality",
    "not_prior_response",
    "two_target_response",
    "whole_range_response",
    "with_leak",
]

HIT, MISS = "hit", "miss"


@dataclass(frozen=True)
class ChargedRound(Round):
    """An offer with its targets.

    Parameters
    ----------
    targets : tuple of frozenset
        The sets of outcomes that are counted, one for each counter.
    """

    targets: tuple[frozenset[Hashable], ...] = ()


ChargingState = tuple[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class ChargingRule:
    """Admit while the least counter is below `hits` and the deltas spent, the offer's included, are within `delta`.

    One counter: Cohen and Lyu 2023, Alg 1 and Alg 6 (with the budget checked before the call runs). Several: Alg 8,
    which halts when the counter that is hit least reaches `hits`. The state is (counters, sum of deltas).

    Parameters
    ----------
    hits : int
        tau, at least 1.
    counters : int
        Number of targets of every offer, at least 1.
    delta : Fraction
        tau_delta, in [0, 1].
    """

    hits: int
    counters: int = 1
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.hits < 1 or self.counters < 1:
            raise UsageError(f"hits and counters must be at least 1, got {self.hits!r} and {self.counters!r}")
        if not 0 <= self.delta <= 1:
            raise UsageError(f"delta must lie in [0, 1], got {self.delta!r}")

    def start(self) -> ChargingState:
        """Return the state before any call."""
        return (0,) * self.counters, Fraction(0)

    def admits(self, state: ChargingState, offer: Round) -> bool:
        """Return whether the offer may run."""
        counts, spent = state
        return not self.halts(counts) and spent + offer.approximate_delta <= self.delta

    def halts(self, counts: tuple[int, ...]) -> bool:
        """Return whether the counters end the interaction."""
        return min(counts) >= self.hits

    def spend(self, state: ChargingState, offer: Round, outcome: Hashable) -> ChargingState:
        """Count the targets that were hit."""
        counts, spent = state
        return self.counted(counts, offer, outcome), spent + offer.approximate_delta

    def counted(self, counts: tuple[int, ...], offer: Round, outcome: Hashable) -> tuple[int, ...]:
        """Return the counters after an outcome."""
        targets = offer.targets if isinstance(offer, ChargedRound) else ()
        return tuple(count + (outcome in target) for count, target in zip(counts, targets, strict=True))


def charged_delta(analyst: Any, rule: Any, ratio: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = `ratio` of an interaction under a rule, in the worse of the two orders."""
    return delta_of_branches(complete_branches(analyst, rule), ratio)


# --- offers from which worst cases are made -----------------------------------------------------------------


def not_prior_quality(ratio: Fraction) -> Fraction:
    """Return 1/(e^epsilon + 1), the quality of all outcomes but one (Cohen and Lyu 2023, Lem 2.3)."""
    return 1 / (ratio + 1)


def not_prior_response(ratio: Fraction, *, mirrored: bool = False, rarity: Fraction = Fraction(1)) -> ChargedRound:
    """Return a binary call with target "hit" and the least quality that NotPrior targets have.

    The hit has probability rarity/(1 + ratio) on one side and ratio times as much on the other: the left one is the
    smaller unless `mirrored`. `rarity` = 1 is randomised response, in which every call needs the data holder.
    """
    small = rarity / (1 + ratio)
    low = FiniteDistribution({MISS: 1 - small, HIT: small})
    high = FiniteDistribution({MISS: 1 - ratio * small, HIT: ratio * small})
    left, right = (high, low) if mirrored else (low, high)
    return ChargedRound(left, right, ratio, targets=(frozenset({HIT}),))


def whole_range_response(ratio: Fraction, *, mirrored: bool = False) -> ChargedRound:
    """Return randomised response with its whole range as target: a 1-target."""
    low, high = FiniteDistribution.of(1, ratio), FiniteDistribution.of(ratio, 1)
    left, right = (low, high) if mirrored else (high, low)
    return ChargedRound(left, right, ratio, targets=(frozenset({0, 1}),))


def mixed_response(ratio: Fraction, common: Fraction, hit_share: Fraction) -> ChargedRound:
    """Return p C + (1 - p) B with p = `common`: C hits with probability `hit_share`, B is `not_prior_response`."""
    base = not_prior_response(ratio)
    shared = FiniteDistribution({MISS: 1 - hit_share, HIT: hit_share})
    left, right = (mixture(common, shared, part) for part in (base.left, base.right))
    return ChargedRound(left, right, ratio, targets=base.targets)


def two_target_response(ratio: Fraction, *, mirrored: bool = False, rarity: Fraction = Fraction(1)) -> ChargedRound:
    """Return a private test with both answers as targets: hits count the answers of each kind."""
    base = not_prior_response(ratio, mirrored=mirrored, rarity=rarity)
    return ChargedRound(base.left, base.right, ratio, targets=(frozenset({HIT}), frozenset({MISS})))


def with_leak(offer: ChargedRound, delta: Fraction) -> ChargedRound:
    """Return an (epsilon, delta)-DP call: it names the data set with probability `delta`, otherwise it is `offer`."""
    left = mixture(delta, FiniteDistribution({"left": Fraction(1)}), offer.left)
    right = mixture(delta, FiniteDistribution({"right": Fraction(1)}), offer.right)
    return ChargedRound(left, right, offer.ratio_max, targets=offer.targets)


# --- the domain ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChargedInteractions(Domain):
    """Adaptive trees of charged calls of one common ratio: NotPrior targets of least quality, mixtures, leaks.

    Parameters
    ----------
    largest_depth : int
        Largest number of calls on a path.
    counters : int
        Number of targets of every call (1 or 2).
    leaks : bool
        Whether calls may be (epsilon, delta)-DP.
    """

    largest_depth: int = 5
    counters: int = 1
    leaks: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a tree."""
        if not isinstance(value, Interaction) or value.depth > self.largest_depth:
            return False
        offers = list(_offers(value))
        return len({offer.ratio_max for offer in offers}) == 1 and all(
            isinstance(offer, ChargedRound)
            and len(offer.targets) == self.counters
            and (self.leaks or offer.approximate_delta == 0)
            for offer in offers
        )


def _offers(node: Interaction) -> list[Round]:
    return [node.offer, *(offer for child in node.after.values() for offer in _offers(child))]
