"""Set-wise adaptive composition: parameters are registered beforehand, order and mechanisms are chosen adaptively.

A game of Cesar and Rogers (2020), Def 3.1: the analyst takes an unused parameter in each round, with any mechanism of
its class and any neighbours, both chosen from all earlier outcomes. A registered parameter is a class of ordered
pairs of output distributions: purely private, of bounded range, or one of these after a leak of probability delta.
Ratios e^epsilon are rational, so that every view has its exact probabilities.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Literal

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Domain
from dpassay.spec.interactions.transcripts import (
    Branch,
    Interaction,
    LossDistribution,
    Round,
    branches,
    loss_distribution_of_branches,
)
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.rational import Ratio, product

__all__ = [
    "Parameter",
    "RegisteredRound",
    "SetwiseGame",
    "SetwiseGames",
    "SetwiseRule",
    "best_analyst",
    "hockey_stick_at",
    "setwise_value",
]

Kind = Literal["pure", "range"]
LEAKS = ("left", "right")


@dataclass(frozen=True)
class Parameter:
    """One registered parameter.

    Parameters
    ----------
    kind : {"pure", "range"}
        epsilon-DP in both orders, or epsilon-bounded range.
    ratio : Fraction
        e^epsilon, above 1.
    delta : Fraction
        Probability with which everything may leak first.
    """

    kind: Kind
    ratio: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not (self.ratio > 1 and 0 <= self.delta < 1):
            raise UsageError(f"a parameter needs ratio > 1 and 0 <= delta < 1, got {self.ratio!r}, {self.delta!r}")

    def cdp(self) -> tuple[arb, arb]:
        """Enclose (mu, tau) of the class, without leaks (Lemma 3.2)."""
        epsilon = ball(self.ratio).log()
        if self.kind == "pure":
            return zcdp_rho_of_pure(epsilon), epsilon
        return mean_loss_of_bounded_range(epsilon), epsilon / 2

    def zcdp(self) -> tuple[arb, arb]:
        """Enclose (xi, rho) of the class, without leaks (Lemmas 2.2 and 3.2)."""
        mu, tau = self.cdp()
        return mu - tau**2 / 2, tau**2 / 2

    def response(self, share: Fraction = Fraction(1, 2)) -> tuple[FiniteDistribution, FiniteDistribution]:
        """Return an extremal pair of the class: randomised response, or losses t and t - epsilon.

        `share` in (0, 1) places e^t between 1 and e^epsilon; pure classes have one extremal pair.
        """
        if self.kind == "pure":
            return FiniteDistribution.of(self.ratio, 1), FiniteDistribution.of(1, self.ratio)
        if not 0 < share < 1:
            raise UsageError(f"share must lie in (0, 1), got {share!r}")
        top = 1 + share * (self.ratio - 1)
        high = (self.ratio - top) / (self.ratio - 1)
        low = high / top
        return FiniteDistribution({0: high, 1: 1 - high}), FiniteDistribution({0: low, 1: 1 - low})

    def admits(self, offer: Round) -> bool:
        """Return whether a mechanism is in the class: outside the leaks, its losses obey the bound."""
        rest = [o for o in offer.outcomes if o not in LEAKS]
        ratios = [offer.likelihood_ratio(o) for o in rest]
        leaked = [offer.left.probability("left"), offer.right.probability("right")]
        crossed = offer.left.probability("right") + offer.right.probability("left")
        if crossed or leaked != [self.delta, self.delta] or not all(isinstance(r, Fraction) and r for r in ratios):
            return False
        if self.kind == "range":
            return max(ratios) <= self.ratio * min(ratios)
        return max(ratios) <= self.ratio and min(ratios) * self.ratio >= 1


@dataclass(frozen=True)
class RegisteredRound(Round):
    """A mechanism that is offered under the registered parameter number `index`."""

    index: int = 0

    @classmethod
    def of(cls, index: int, parameter: Parameter, pair: tuple[FiniteDistribution, FiniteDistribution]) -> Any:
        """Offer a pair under a parameter, after the leak that the parameter allows."""
        left, right = (
            _after_leak(distribution, parameter.delta, own) for distribution, own in zip(pair, LEAKS, strict=True)
        )
        return cls(left, right, Fraction(1), index=index)


def _after_leak(distribution: FiniteDistribution, delta: Fraction, own: str) -> FiniteDistribution:
    if not delta:
        return distribution
    kept: dict[Hashable, Fraction] = {o: (1 - delta) * p for o, p in distribution.weights.items()}
    return FiniteDistribution({**kept, own: delta})


@dataclass(frozen=True)
class SetwiseRule:
    """The filter rule of the game: the state is the set of unused parameters."""

    size: int

    def start(self) -> frozenset[int]:
        """Return the set of all parameters."""
        return frozenset(range(self.size))

    def admits(self, state: frozenset[int], offer: Any) -> bool:
        """Return whether the parameter of the offer is unused."""
        return offer.index in state

    def spend(self, state: frozenset[int], offer: Any, outcome: Hashable) -> frozenset[int]:  # noqa: ARG002
        """Remove the parameter of the offer, for every outcome."""
        return state - {offer.index}


@dataclass(frozen=True)
class SetwiseGame:
    """Registered parameters and an adaptive analyst; offers under a used parameter end the game."""

    parameters: tuple[Parameter, ...]
    analyst: Interaction

    def views(self) -> Iterator[Branch]:
        """Enumerate the complete views with their probabilities for both values of the hidden bit."""
        return branches(self.analyst, SetwiseRule(len(self.parameters)))

    def losses(self) -> LossDistribution:
        """Return the distribution of the likelihood ratio of the view."""
        return loss_distribution_of_branches(self.views())

    def offers(self) -> list[Any]:
        """Return all offers of the analyst's tree, each once."""
        found, stack = [], [self.analyst]
        while stack:
            node = stack.pop()
            if node.offer not in found:
                found.append(node.offer)
            stack.extend(node.after.values())
        return found


def hockey_stick_at(distribution: LossDistribution, epsilon: arb) -> arb:
    """Enclose E[(1 - e^(epsilon - loss))_+] at a real epsilon."""
    level = epsilon.exp()
    terms = (
        ball(m) * ((1 - level / ball(r)) if r != inf else arb(1)).max(arb(0)) for r, m in distribution.masses.items()
    )
    return sum_balls(terms)


def setwise_value(offers: Sequence[Any], size: int, budget: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = `budget` of the optimal adaptive analyst with these offers.

    D({}; r) = (1 - budget/r)_+ and D(E; r) = max over offers under an unused i of sum_o P(o) D(E - {i}; r P(o)/Q(o)).
    """
    known: dict[tuple[frozenset[int], Ratio], Fraction] = {}

    def solve(unused: frozenset[int], ratio: Ratio) -> Fraction:
        if (unused, ratio) not in known:
            stopped = max(Fraction(0), 1 - budget / ratio) if isinstance(ratio, Fraction) else Fraction(1)
            known[unused, ratio] = max(
                [stopped, *(after(unused, ratio, offer) for offer in offers if offer.index in unused)]
            )
        return known[unused, ratio]

    def after(unused: frozenset[int], ratio: Ratio, offer: Any) -> Fraction:
        rest = unused - {offer.index}
        likely = ((offer.left.probability(o), o) for o in offer.outcomes)
        values = (p * solve(rest, product(ratio, offer.likelihood_ratio(o))) for p, o in likely if p)
        return sum(values, Fraction(0))

    return solve(frozenset(range(size)), Fraction(1))


def best_analyst(offers: Sequence[Any], size: int, budget: Fraction) -> Interaction | None:
    """Return an optimal analyst: the best offer after every view, None to stop.

    The tree is built outcome by outcome, so that its delta can be found by enumerating its views.
    """

    def build(unused: frozenset[int], p: Fraction, q: Fraction) -> tuple[Fraction, Interaction | None]:
        best: tuple[Fraction, Interaction | None] = (max(Fraction(0), p - budget * q), None)
        for offer in offers:
            if offer.index in unused:
                best = max(best, play(offer, unused - {offer.index}, p, q), key=lambda found: found[0])
        return best

    def play(offer: Any, rest: frozenset[int], p: Fraction, q: Fraction) -> tuple[Fraction, Interaction]:
        total, after = Fraction(0), {}
        for o in offer.outcomes:
            value, child = build(rest, p * offer.left.probability(o), q * offer.right.probability(o))
            total += value
            if child is not None:
                after[o] = child
        return total, Interaction(offer, after)

    return build(frozenset(range(size)), Fraction(1), Fraction(1))[1]


@dataclass(frozen=True)
class SetwiseGames(Domain):
    """Games with at most `largest_size` parameters, whose offers all belong to the class of their parameter.

    Parameters
    ----------
    largest_size : int
        Largest number of parameters.
    leaks : bool
        Whether parameters may have a positive delta.
    """

    largest_size: int = 3
    leaks: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a game."""
        if not (isinstance(value, SetwiseGame) and 1 <= len(value.parameters) <= self.largest_size):
            return False
        if not self.leaks and any(parameter.delta for parameter in value.parameters):
            return False
        return all(
            isinstance(offer, RegisteredRound)
            and 0 <= offer.index < len(value.parameters)
            and value.parameters[offer.index].admits(offer)
            for offer in value.offers()
        )
