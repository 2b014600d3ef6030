"""Power: the smallest violation that a run with a number of calls refutes in at least half of all runs.

An ideal bettor, which knows both output distributions of a pair, gains a mean of g nats a call. The power is the
parameter of a reference mechanism (`reference`) on whose worst pair g is large enough for a real run, of which this is
taken off:

- the logarithm of 1/alpha, and the shares of the wealth that are staked on other pairs, other hypotheses and bets;
- *learning*: a run has to learn what the ideal bettor knows. On n calls that costs `LEARNING` log n nats, as if it
  learnt three parameters at the usual price of (log n)/2 each (Rissanen 1984); its first `LAG` calls gain nothing;
- *sharing*: a campaign begins with a batch on every pair, and gives the pair that leads about `LEADERS_SHARE` of the
  rest. Only the calls on one pair count for its evidence (`calls_on_one_pair`).

The violation shows on all pairs that the run plays on, as that of additive noise does. The power *on a single pair* is
that of a violation which shows on the pair with the smallest weight alone. Such a pair has to be found: half of the
calls look, of which each pair has an equal share (`calls_that_look`), and an ideal bettor must gain `FINDING` nats on
that; the other half refutes. Few calls on many pairs place no bet at all on most of them: then this power is infinite.

``benchmarks/power.py`` measures how often real runs refute a violation of just the stated size. The stated power
describes the test and is no certified figure: mechanisms that are harder to learn than the references need more calls.

The reference is a Laplace mechanism for pure, approximate and probabilistic DP and bounded range, and a Gaussian
mechanism for the notions of Renyi divergence. Its parameter is stated in the terms of the claim:

- pure DP: its epsilon E; bounded range: the range 2 E of its losses;
- approximate DP: its epsilon at the claimed delta, E + 2 log(1 - delta), from the hockey-stick divergence
  1 - e^((e - E)/2); probabilistic DP: the smallest e with Pr[L > e] <= delta, that is E for delta < 1/2 and
  E + 2 log(2 (1 - delta)) for larger ones, from Pr[L > e] = 1 - e^((e - E)/2) / 2;
- both of them: the delta of randomised response with the claimed epsilon that reveals its input with probability
  delta;
- zCDP and Renyi DP: m^2/2 and alpha m^2/2 of the Gaussian mechanism with multiplier m; approximate zCDP: the same
  rho (its rho given the claimed delta and a xi of at least 0 is no larger); concentrated DP: mu = m^2/2 and tau = m;
- ex-post DP: none is stated, because no reference mechanism has the outcomes of the claim.

**Weak tests.** The commonest faults, a sensitivity that is off by two, noise of half the scale and a budget that is
spent twice, double the loss. A test is weak if it would not refute twice the claimed loss and `SLACK` = 1/2 more: an
epsilon (range) above 2 epsilon + 1/2, a multiplier above 2 m + 1/2. The addition is for claims near 0, whose double
takes calls in inverse proportion to its square to see. A claim with a delta is tested well enough if one of the two
figures is small enough; a delta is if it is at most 2 delta + 2^-6. Where no parameter is stated a test is weak if no
mechanism at all would be refuted: no factor of the wealth exceeds 2.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import MOST_CALLS
from dpassay.claims import Claim
from dpassay.properties.betting.allocation import EVERYONES
from dpassay.properties.betting.books import COMMON_SHARE, KEPT, STRUCTURAL_SHARE
from dpassay.properties.betting.bounds import OWN_SHARE
from dpassay.properties.betting.evidence import MOMENTS_SHARE
from dpassay.properties.betting.game import FIRST_BATCH
from dpassay.properties.betting.scales import LeastGain, Scale
from dpassay.properties.betting.wealth import process_shares
from dpassay.properties.learners.structural import KINDS
from dpassay.properties.notions.base import audited, families_of
from dpassay.properties.records import plain

__all__ = [
    "LAG",
    "LEADERS_SHARE",
    "LEARNING",
    "Effort",
    "Power",
    "calls_on_one_pair",
    "calls_that_look",
    "effort_of",
    "power_of",
    "shared_out",
]

Array = NDArray[np.float64]

LEADERS_SHARE = 0.45
"""Part of the calls after the first batches that goes to the leading pair of a campaign: 0.8 are left by the screening
of further pairs, 0.7 of these go to the leaders, and 0.83 of those to the first (see `campaign`)."""

FINDING = 4.0
"""Nats that an ideal bettor gains on a pair before it leads: the evidence that makes it a leader, and the learning."""

LEARNING = 1.5
"""Nats that learning costs, as a multiple of the logarithm of the calls."""

LAG = 64
"""Calls of a pair before its first bet."""

_LARGEST_FACTOR = math.log(2)
"""Nats that one call can gain at most at fair sides."""


@dataclass(frozen=True)
class Power:
    """The smallest violation that a test would have refuted in at least half of all runs.

    Parameters
    ----------
    figures : mapping of str to float
        The parameters of the claim that the violation changes, with its values; infinity if no violation would be
        refuted. Empty if no reference mechanism is known.
    weakness : float
        The smallest reference that would have been refuted over the largest that a test may miss, see the module;
        above 1 the test is weak.
    nats_per_call : float
        The mean gain of an ideal bettor on one pair that the test needs.
    calls_needed : int or None
        The calls with which the test would not be weak; None if no feasible number of calls is enough.
    reference : str or None
        The reference mechanism.
    reason : str or None
        Why no figure is stated.
    on_a_single_pair : mapping of str to float
        As `figures`, for a violation that shows on a single pair of inputs, the one with the smallest weight.
    """

    figures: Mapping[str, float]
    weakness: float
    nats_per_call: float
    calls_needed: int | None
    reference: str | None = None
    reason: str | None = None
    on_a_single_pair: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_weak(self) -> bool:
        """Return whether the test would have missed more than twice the claim."""
        return not self.weakness <= 1

    @property
    def is_blind(self) -> bool:
        """Return whether the test could have refuted nothing."""
        if not self.figures:
            return self.nats_per_call > _LARGEST_FACTOR
        return all(math.isinf(value) for value in self.figures.values())

    def record(self) -> dict[str, Any]:
        """Return the figures for machines, each under the name of its parameter."""
        others = {"weakness": self.weakness, "nats_per_call": self.nats_per_call, "calls_needed": self.calls_needed}
        record = {**self.figures, **others, "reference": self.reference, "reason": self.reason}
        single = {name: plain(value) for name, value in self.on_a_single_pair.items()}
        return {name: plain(value) for name, value in record.items()} | {"on_a_single_pair": single}


def calls_on_one_pair(calls: float, pairs: int) -> float:
    """Return the number of calls of a campaign on a pair that leads from its first batch on."""
    if pairs == 1:
        return calls
    return min(calls, FIRST_BATCH) + LEADERS_SHARE * max(0, calls - pairs * FIRST_BATCH)


def calls_that_look(calls: float, pairs: int) -> float:
    """Return the number of calls of a campaign on each pair that does not lead; rounds of few pairs make them late."""
    return min(calls / (4 * pairs), EVERYONES)


@dataclass(frozen=True)
class Effort:
    """The gain that a test needs, in nats, and the number of pairs.

    Parameters
    ----------
    threshold : float
        The logarithm of the wealth of the pair that refutes the claim.
    pairs : int
        Number of pairs.
    alone : bool
        Whether the violation shows on a single pair, which has to be found.
    """

    threshold: float
    pairs: int
    alone: bool = False

    def least_gain(self, calls: float, costs: Array) -> Array:
        """Return the mean gains that refute, nats a call of the leading pair, for bets with these costs."""
        is_hidden = self.alone and self.pairs > 1
        spent = calls / 2 if is_hidden else calls
        played = max(calls_on_one_pair(spent, self.pairs) - LAG, 0.0)
        seen = max(calls_that_look(spent, self.pairs) - LAG, 0.0) if is_hidden else math.inf
        with np.errstate(divide="ignore"):
            paid = (LEARNING + KEPT) * math.log1p(played)  # what batches keep from the bets grows as slowly
            to_refute = np.divide(self.threshold + paid + costs, played)
            return np.maximum(to_refute, np.divide(FINDING, seen))

    def at(self, calls: float) -> LeastGain:
        """Return the gains needed with this number of calls, as a function of the costs of bets."""
        return partial(self.least_gain, calls)

    def calls_needed(self, gains: Array, costs: Array) -> int | None:
        """Return the fewest calls with which one of these gains refutes; None if no feasible number does."""

        def is_enough(calls: int) -> bool:
            return bool((gains >= self.least_gain(calls, costs)).any())

        most = 1
        while not is_enough(most):
            most *= 2
            if most > MOST_CALLS:
                return None
        return bisect_left(range(most), True, key=is_enough)


def shared_out(claim: Claim, pairs: int = 1) -> float:
    """Return the nats that a bet against a claim shares with the hypotheses and bets beside it on the same pair.

    These are the mixture over claims, the structural bets, and the bets on what several pairs have in common; the
    other directions and caps where the claim has one positive delta; and the bets on Renyi moments where it bounds
    some. A claim with a delta for every epsilon is mixed over these: what its directions cost belongs to `LEARNING`.
    """
    family = next((family for family in families_of(claim) if family.claimed >= 0), None)
    deltas = np.zeros(1) if family is None else family.delta[family.claimed].ravel()
    shares = [1 - OWN_SHARE, 1 - len(KINDS) * STRUCTURAL_SHARE - COMMON_SHARE * (pairs > 1)]
    if deltas.size == 1 and deltas[0] > 0:
        shares.append(float(process_shares(deltas)[0, 0]))
    if audited(claim).moments(claim.in_float64()):
        shares.append(1 - MOMENTS_SHARE)
    return -math.fsum(map(math.log, shares))


def effort_of(claim: Claim, alpha: float, log_weight: float, pairs: int, *, alone: bool = False) -> Effort:
    """Return the gain that a test needs on a pair of some weight, with the parameters of `power_of`.

    Parameters
    ----------
    claim : Claim
        The claim that is tested.
    alpha : float
        Level of the test.
    log_weight : float
        Logarithm of the share of the wealth that is staked on the pair, at most 0.
    pairs : int
        Number of pairs among which the calls are shared.
    alone : bool
        As for `Effort`.
    """
    return Effort(-math.log(alpha) - log_weight + shared_out(claim, pairs), pairs, alone)


@lru_cache
def power_of(
    claim: Claim,
    *,
    calls: int,
    alpha: float,
    log_weight: float = 0.0,
    pairs: int = 1,
    least_log_weight: float | None = None,
) -> Power:
    """Return the power of a test.

    Parameters
    ----------
    claim : Claim
        The claim that was not refuted.
    calls : int
        At least 1.
    alpha : float
        Level of the test.
    log_weight : float
        Logarithm of the share of the wealth that is staked on the leading pair, at most 0.
    pairs : int
        Number of pairs among which the calls are shared.
    least_log_weight : float, optional
        Logarithm of the share of the pair with the smallest one; by default that of the leading pair.
    """
    notion, effort = audited(claim), effort_of(claim, alpha, log_weight, pairs)
    nats_per_call = float(effort.least_gain(calls, np.zeros(1))[0])
    family = next((family for family in families_of(claim) if family.claimed >= 0), None)
    scales = [] if family is None else notion.scales(claim.in_float64(), family)
    if not scales:
        least = effort.calls_needed(np.array([_LARGEST_FACTOR]), np.zeros(1))
        reason = "the bound depends on the outcome, and no reference mechanism is known"
        return Power({}, nats_per_call / _LARGEST_FACTOR, nats_per_call, least, reason=reason)
    found = [scale.smallest(effort.at(calls)) for scale in scales]
    needed = [effort.calls_needed(*scale.gain_allowed()) for scale in scales]
    least_weight = log_weight if least_log_weight is None else least_log_weight
    hidden = effort_of(claim, alpha, least_weight, pairs, alone=pairs > 1)
    found_alone = found if hidden == effort else [scale.smallest(hidden.at(calls)) for scale in scales]
    return Power(
        _stated(scales, found),
        min(at / scale.allowed if at < math.inf else math.inf for scale, at in zip(scales, found, strict=True)),
        nats_per_call,
        min((calls for calls in needed if calls is not None), default=None),
        notion.reference,
        on_a_single_pair=_stated(scales, found_alone),
    )


def _stated(scales: list[Scale], found: list[float]) -> dict[str, float]:
    """Return the parameters of references in the parameters of the claim."""
    return {name: value for scale, at in zip(scales, found, strict=True) for name, value in scale.stated(at).items()}
