"""Exact adaptive interactions through a filter: every transcript with its probability on both data sets.

An analyst offers mechanisms one after the other, each chosen from what was released before; a filter rule
admits or refuses the offer *before* it runs, and the interaction ends with the first refusal or when the
analyst stops. Privacy parameters enter as ratios ``e^epsilon``, so that sums of losses are products of
rationals and every decision is exact.

The data sets are an ordered pair (left, right); a guarantee between neighbours is one about both orders.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

from dpassay.arguments import UsageError
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta, loss_tail_exact
from dpassay.spec.domains.base import Domain
from dpassay.spec.rational import Ratio, product

__all__ = [
    "AdaptiveInteractions",
    "Analyst",
    "Branch",
    "FilterRule",
    "Interaction",
    "LossDistribution",
    "Round",
    "Transcript",
    "TwoSidedRound",
    "both_loss_distributions",
    "branches",
    "chain",
    "delta_of_branches",
    "leak_or_nothing",
    "loss_distribution",
    "loss_distribution_of_branches",
    "mirrored",
    "randomised_response",
    "repeated",
    "star_or_nothing",
    "two_sided",
]

Transcript = tuple[Hashable, ...]


@dataclass(frozen=True)
class Round:
    """A mechanism with its offer to a filter, on an ordered pair of neighbouring data sets.

    Parameters
    ----------
    left, right : FiniteDistribution
        Its output distributions.
    ratio_max : Fraction
        e^epsilon of the guarantee that is known before it runs, at least 1. The delta that goes with it is the
        exact one, `probabilistic_delta` or `approximate_delta`.
    charges : Mapping of outcome to ratio, optional
        e^(ex-post bound) of each outcome: at least 1 and at least its likelihood ratio; the least such numbers
        if not given. ``math.inf`` is allowed.

    Raises
    ------
    UsageError
        If a charge or `ratio_max` is below what is accepted.
    """

    left: FiniteDistribution
    right: FiniteDistribution
    ratio_max: Fraction
    charges: Mapping[Hashable, Ratio] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.ratio_max >= 1:
            raise UsageError(f"ratio_max must be at least 1, got {self.ratio_max!r}")
        for outcome, charge in self.charges.items():
            least = max(Fraction(1), self.likelihood_ratio(outcome))
            if not charge >= least:
                raise UsageError(f"charges must be ex-post bounds: {charge!r} for {outcome!r} is below {least!r}")

    @cached_property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The outcomes that have positive probability on either side."""
        both = dict.fromkeys((*self.left.outcomes, *self.right.outcomes))
        return tuple(o for o in both if self.left.probability(o) or self.right.probability(o))

    def likelihood_ratio(self, outcome: Hashable) -> Ratio:
        """Return P(outcome) / Q(outcome): infinite where only the left can produce it."""
        p, q = self.left.probability(outcome), self.right.probability(outcome)
        return p / q if q else (math.inf if p else Fraction(0))

    def charge(self, outcome: Hashable) -> Ratio:
        """Return e^(ex-post bound) of an outcome."""
        return self.charges.get(outcome, max(Fraction(1), self.likelihood_ratio(outcome)))

    @property
    def mirror(self) -> "Round":
        """The same mechanism on the pair in the other order, with the same a-priori parameters."""
        return replace(self, left=self.right, right=self.left, charges={})

    @cached_property
    def probabilistic_delta(self) -> Fraction:
        """The least delta with which the ordered pair is (log ratio_max, delta)-probabilistically private."""
        return loss_tail_exact(self.left, self.right, self.ratio_max)

    @cached_property
    def approximate_delta(self) -> Fraction:
        """The least delta with which both orders are (log ratio_max, delta)-DP."""
        return least_delta(self.left, self.right, self.ratio_max)


@dataclass(frozen=True)
class TwoSidedRound(Round):
    """A round whose charges and whose a-priori delta hold in both orders of the pair, as a mechanism's own do."""

    def charge(self, outcome: Hashable) -> Ratio:
        """Return e^(ex-post bound) of an outcome, on the loss and on its negative."""
        return max(super().charge(outcome), self.mirror.charge(outcome))

    @property
    def mirror(self) -> Round:
        """The round in the other order, by itself."""
        return Round(self.right, self.left, self.ratio_max)

    @cached_property
    def probabilistic_delta(self) -> Fraction:
        """The least delta with which both orders are (log ratio_max, delta)-probabilistically private."""
        return max(loss_tail_exact(self.left, self.right, self.ratio_max), self.mirror.probabilistic_delta)


class FilterRule(Protocol):
    """A privacy filter as a pure function of the released outcomes: a state, and the admitted offers.

    States are hashable values; `admits` looks only at what is known before the mechanism runs.
    """

    def start(self) -> Any:
        """Return the state before the first round."""
        ...

    def admits(self, state: Any, offer: Round) -> bool:
        """Return whether the offered mechanism may run."""
        ...

    def spend(self, state: Any, offer: Round, outcome: Hashable) -> Any:
        """Return the state after an admitted mechanism has released an outcome."""
        ...


Analyst = Callable[[Transcript], Round | None]
"""Which mechanism is offered after a transcript; None to stop."""


@dataclass(frozen=True)
class Interaction:
    """An adaptive analyst as a tree: a first offer, and a continuation for each of its outcomes.

    Parameters
    ----------
    offer : Round
        The first offer.
    after : Mapping of outcome to Interaction
        The continuation after each outcome; absent outcomes end the interaction.
    """

    offer: Round
    after: Mapping[Hashable, "Interaction"] = field(default_factory=dict)

    def __call__(self, transcript: Transcript) -> Round | None:
        """Return the offer after a transcript."""
        node: Interaction | None = self
        for outcome in transcript:
            node = node.after.get(outcome) if node is not None else None
        return node.offer if node is not None else None

    @property
    def depth(self) -> int:
        """The largest number of offers."""
        return 1 + max((child.depth for child in self.after.values()), default=0)


def chain(*offers: Round) -> Interaction:
    """Make the tree of the analyst with a fixed sequence of offers."""
    node = Interaction(offers[-1])
    for offer in reversed(offers[:-1]):
        node = Interaction(offer, dict.fromkeys(offer.outcomes, node))
    return node


def mirrored(interaction: Interaction) -> Interaction:
    """Return the same offers on the pair in the other order."""
    known: dict[int, Interaction] = {}  # a chain has one child for all of its outcomes

    def child(node: Interaction) -> Interaction:
        if id(node) not in known:
            known[id(node)] = mirrored(node)
        return known[id(node)]

    after = {outcome: child(node) for outcome, node in interaction.after.items()}
    return Interaction(interaction.offer.mirror, after)


def two_sided(interaction: Interaction) -> Interaction:
    """Return the same offers with charges and deltas that hold in both orders."""
    offer, after = interaction.offer, interaction.after.items()
    both = TwoSidedRound(offer.left, offer.right, offer.ratio_max, offer.charges)
    return Interaction(both, {outcome: two_sided(child) for outcome, child in after})


def repeated(offers: Sequence[Round]) -> Analyst:
    """Make the same analyst for a sequence of any length, including 0."""
    return lambda transcript: offers[len(transcript)] if len(transcript) < len(offers) else None


@dataclass(frozen=True)
class Branch:
    """A complete transcript: its rounds, its probabilities on both sides, and the reason for its end."""

    transcript: Transcript
    rounds: tuple[Round, ...]
    left: Fraction
    right: Fraction
    state: Any
    refused: Round | None


def branches(analyst: Analyst, rule: FilterRule) -> Iterator[Branch]:
    """Enumerate the complete transcripts that have positive probability on either side."""
    stack = [Branch((), (), Fraction(1), Fraction(1), rule.start(), None)]
    while stack:
        branch = stack.pop()
        offer = analyst(branch.transcript)
        if offer is None:
            yield branch
        elif not rule.admits(branch.state, offer):
            yield Branch(branch.transcript, branch.rounds, branch.left, branch.right, branch.state, offer)
        else:
            stack.extend(_continued(branch, offer, rule))


def _continued(branch: Branch, offer: Round, rule: FilterRule) -> Iterator[Branch]:
    for outcome in offer.outcomes:
        left = branch.left * offer.left.probability(outcome)
        right = branch.right * offer.right.probability(outcome)
        if left or right:
            state = rule.spend(branch.state, offer, outcome)
            yield Branch((*branch.transcript, outcome), (*branch.rounds, offer), left, right, state, None)


# --- distributions of the privacy loss -------------------------------------------------------------------------------


@dataclass(frozen=True)
class LossDistribution:
    """The distribution of the likelihood ratio e^loss under the left data set.

    Parameters
    ----------
    masses : Mapping of ratio to Fraction
        Probabilities, summing to 1.
    """

    masses: Mapping[Ratio, Fraction]

    def tail(self, ratio: Fraction) -> Fraction:
        """Return the probability that the ratio exceeds e^epsilon = `ratio`, strictly."""
        return sum((mass for r, mass in self.masses.items() if r > ratio), Fraction(0))

    def hockey_stick(self, ratio: Fraction) -> Fraction:
        """Return E[(1 - e^(epsilon - loss))_+], e^epsilon = `ratio`: the exact delta of the ordered pair."""
        return sum((mass * (1 - _quotient(ratio, r)) for r, mass in self.masses.items() if r > ratio), Fraction(0))


def _quotient(ratio: Fraction, likelihood: Ratio) -> Fraction:
    return ratio / likelihood if isinstance(likelihood, Fraction) else Fraction(0)


def delta_of_branches(complete: Iterable[Branch], ratio: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = `ratio`: the larger of the hockey-stick divergences of the two orders."""
    forth = back = Fraction(0)
    for branch in complete:
        forth += max(branch.left - ratio * branch.right, Fraction(0))
        back += max(branch.right - ratio * branch.left, Fraction(0))
    return max(forth, back)


def loss_distribution_of_branches(complete: Iterable[Branch]) -> LossDistribution:
    """Collect complete transcripts by their likelihood ratio."""
    return _collected((branch.left, branch.right) for branch in complete)


def both_loss_distributions(complete: Iterable[Branch]) -> tuple[LossDistribution, LossDistribution]:
    """Return the distributions of the loss in both orders of the pair, behind the same filter.

    The filter knows offers and outcomes, not the data: it decides alike in both orders.
    """
    weights = [(branch.left, branch.right) for branch in complete]
    return _collected(weights), _collected((q, p) for p, q in weights)


def _collected(weights: Iterable[tuple[Fraction, Fraction]]) -> LossDistribution:
    masses: dict[Ratio, Fraction] = {}
    for p, q in weights:
        if p:
            ratio: Ratio = p / q if q else math.inf
            masses[ratio] = masses.get(ratio, Fraction(0)) + p
    return LossDistribution(masses)


def loss_distribution(offers: Sequence[Round], rule: FilterRule) -> LossDistribution:
    """Return the distribution of the loss of a fixed sequence of offers by dynamic programming.

    Transcripts with the same filter state and the same likelihood ratio are merged, so that hundreds of rounds
    with few distinct losses cost little where the transcripts themselves are beyond counting.
    """
    ended: dict[Ratio, Fraction] = {}
    running: dict[tuple[Any, Ratio], Fraction] = {(rule.start(), Fraction(1)): Fraction(1)}
    for offer in offers:
        following: dict[tuple[Any, Ratio], Fraction] = {}
        for (state, ratio), mass in running.items():
            if not rule.admits(state, offer):
                ended[ratio] = ended.get(ratio, Fraction(0)) + mass
                continue
            for outcome in offer.outcomes:
                p = offer.left.probability(outcome)
                if p:
                    key = rule.spend(state, offer, outcome), product(ratio, offer.likelihood_ratio(outcome))
                    following[key] = following.get(key, Fraction(0)) + mass * p
        running = following
    for (_, ratio), mass in running.items():
        ended[ratio] = ended.get(ratio, Fraction(0)) + mass
    return LossDistribution(ended)


# --- mechanisms from which worst cases are made -------------------------------------------------------------


def randomised_response(ratio: Fraction) -> Round:
    """Return the bit with probability ratio / (1 + ratio), the other bit otherwise: (log ratio)-DP, attained."""
    return Round(FiniteDistribution.of(ratio, 1), FiniteDistribution.of(1, ratio), ratio)


def leak_or_nothing(delta: Fraction) -> Round:
    """Release the secret bit with probability delta, else nothing: (0, delta)-probabilistic DP."""
    left = FiniteDistribution({"left": delta, "nothing": 1 - delta})
    right = FiniteDistribution({"right": delta, "nothing": 1 - delta})
    return Round(left, right, Fraction(1), {"left": math.inf, "right": math.inf, "nothing": Fraction(1)})


def star_or_nothing(delta: Fraction, ratio: Fraction, ratio_max: Fraction = Fraction(1)) -> Round:
    """Release a star for the secret bit with probability delta, for the other with delta / ratio, else nothing.

    The finite counterpart of `leak_or_nothing`: the loss of a star is log ratio or its negative, and every star
    is charged log ratio, since its mark is the larger loss on one of the two orders.
    """
    own, other = delta, delta / ratio
    nothing = 1 - own - other
    left = FiniteDistribution({"left": own, "right": other, "nothing": nothing})
    right = FiniteDistribution({"left": other, "right": own, "nothing": nothing})
    return Round(left, right, ratio_max, {"left": ratio, "right": ratio, "nothing": Fraction(1)})


# --- the domain ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AdaptiveInteractions(Domain):
    """Trees of small rational mechanisms, chosen adaptively: leaks, ties, impossible outcomes, dead ends.

    Parameters
    ----------
    largest_depth : int
        Largest number of offers on a path.
    """

    largest_depth: int = 4

    def contains(self, value: Any) -> bool:
        """Return whether `value` is an interaction that is not too deep."""
        return isinstance(value, Interaction) and value.depth <= self.largest_depth
