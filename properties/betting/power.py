"""Power: the smallest violation that a test with a number of calls would refute on average.

The log wealth of an ideal bettor, who knows both output distributions of a pair, grows by a mean of g nats a call. The
claim is refuted when it reaches the logarithm of 1/alpha and of the shares of the wealth that are staked on other
pairs, other hypotheses and other bets. The power is the parameter of a reference mechanism (`reference`) for which
calls times g is just as large: with as many calls on its worst pair the mean of the ideal log wealth reaches the
threshold. A test that has to find the pair and to learn the event needs more calls; none needs fewer on average.

**Several pairs.** A campaign begins with a batch on every pair, and gives the pair that leads about `LEADERS_SHARE` of
the rest. Only the calls on one pair count for its evidence; the power of a test on several pairs is that of
`calls_on_one_pair`.

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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpassay.claims import Claim
from dpassay.properties.betting.game import FIRST_BATCH
from dpassay.properties.betting.scales import LARGEST
from dpassay.properties.notions.base import audited, families_of
from dpassay.properties.records import plain

__all__ = ["Power", "calls_on_one_pair", "power_of"]

LEADERS_SHARE = 0.45
"""Part of the calls after the first batches that goes to the leading pair of a campaign: 0.8 are left by the screening
of further pairs, 0.7 of these go to the leaders, and 0.83 of those to the first (see `campaign`)."""

_SHARES = 0.125  # nats: the bet's own part of the mixture over claims, and the reserve for calls that raise
_LARGEST_FACTOR = math.log(2)


@dataclass(frozen=True)
class Power:
    """The smallest violation that a test would have refuted on average.

    Parameters
    ----------
    figures : mapping of str to float
        The parameters of the claim that the violation changes, with its values; infinity if no violation would be
        refuted. Empty if no reference mechanism is known.
    weakness : float
        The smallest reference that would have been refuted over the largest that a test may miss, see the module;
        above 1 the test is weak.
    nats_per_call : float
        Evidence that an ideal bettor needs on one pair.
    calls_needed : int or None
        The calls with which the test would not be weak; None if no feasible number of calls is enough.
    reference : str or None
        The reference mechanism.
    reason : str or None
        Why no figure is stated.
    """

    figures: Mapping[str, float]
    weakness: float
    nats_per_call: float
    calls_needed: int | None
    reference: str | None = None
    reason: str | None = None

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
        return {name: plain(value) for name, value in record.items()}


def calls_on_one_pair(calls: int, pairs: int) -> float:
    """Return the number of calls of a campaign on a pair that leads from its first batch on."""
    if pairs == 1:
        return calls
    return min(calls, FIRST_BATCH) + LEADERS_SHARE * max(0, calls - pairs * FIRST_BATCH)


def _calls_on_all_pairs(calls: float, pairs: int) -> float:
    """Return the calls of a campaign that makes `calls` calls on one pair, and at least a batch on each."""
    if pairs == 1:
        return calls
    return pairs * FIRST_BATCH + max(0.0, calls - FIRST_BATCH) / LEADERS_SHARE


def power_of(claim: Claim, *, calls: int, alpha: float, log_weight: float = 0.0, pairs: int = 1) -> Power:
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
        Logarithm of the share of the wealth that is staked on the pair, at most 0.
    pairs : int
        Number of pairs among which the calls are shared.
    """
    needed = -math.log(alpha) - log_weight + _SHARES
    notion, on_one = audited(claim), calls_on_one_pair(calls, pairs)
    family = next((family for family in families_of(claim) if family.claimed >= 0), None)
    scales = [] if family is None else notion.scales(claim.in_float64(), family)
    if not scales:
        least = math.ceil(_calls_on_all_pairs(needed / _LARGEST_FACTOR, pairs))
        reason = "the bound depends on the outcome, and no reference mechanism is known"
        return Power({}, needed / _LARGEST_FACTOR / on_one, needed / on_one, least, reason=reason)
    found = [scale.smallest(on_one, needed) for scale in scales]
    figures = {name: value for s, at in zip(scales, found, strict=True) for name, value in s.stated(at).items()}
    least_calls = _calls_on_all_pairs(min(scale.calls_needed(needed) for scale in scales), pairs)
    return Power(
        figures,
        min(at / scale.allowed if at < math.inf else math.inf for scale, at in zip(scales, found, strict=True)),
        needed / on_one,
        math.ceil(least_calls) if least_calls < math.exp(LARGEST) else None,
        notion.reference,
    )
