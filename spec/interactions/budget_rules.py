"""The filters of accuracy-first privacy as pure functions of offers and outcomes.

Rogers, Samorodnitsky, Wu and Ramdas 2023: Thm 2 (of Whitehouse et al. 2023), Lemma 5.2, Thm 3 and Thm 6. All of them
look at the offer, never at what is spent alone, so that the very first mechanism may be refused; none waits for an
exact equality of sums.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, is_at_most
from dpassay.spec.interactions.adaptive_rounds import ConcentratedRound, ConcentratedRun, ExPostRound
from dpassay.spec.interactions.transcripts import Round
from dpassay.spec.rational import Ratio, product

__all__ = [
    "AdmitEverything",
    "ConcentratedRule",
    "ExPostRule",
    "TwoBudgetRule",
    "UnifiedRule",
    "concentrated_epsilon",
    "within_concentrated_budget",
]


class AdmitEverything:
    """The rule that admits every offer, for enumeration."""

    def start(self) -> None:
        """Return the empty state."""

    def admits(self, state: None, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        """Return True."""
        return True

    def spend(self, state: None, offer: Round, outcome: Hashable) -> None:
        """Return the state unchanged."""


ConcentratedState = tuple[Fraction, Fraction]
ExPostState = tuple[Ratio, Fraction]


def concentrated_epsilon(rho: arb, slack_delta: arb) -> arb:
    """Enclose rho + 2 sqrt(rho log(1/delta'')), the epsilon of rho-zCDP at delta'' (Lemma 2.3)."""
    return rho + 2 * (-rho * slack_delta.log()).sqrt()


@lru_cache(maxsize=16384)
def within_concentrated_budget(rho: Fraction, budget: Fraction, slack_delta: Fraction) -> bool:
    """Decide rho + 2 sqrt(rho log(1/delta'')) <= log budget, by balls that separate.

    Raises
    ------
    UndecidedError
        If they do not within 1024 bits.
    """
    if rho == 0:
        return True
    return is_at_most(
        lambda: concentrated_epsilon(ball(rho), ball(slack_delta)),
        lambda: ball(budget).log(),
        f"rho = {rho} and the budget {budget}",
    )


def _require_deltas(slack_delta: Fraction, delta: Fraction) -> None:
    if not 0 < slack_delta <= 1:
        raise UsageError(f"slack_delta must lie in (0, 1], got {slack_delta!r}")
    if not 0 <= delta <= 1:
        raise UsageError(f"delta must lie in [0, 1], got {delta!r}")


@dataclass(frozen=True)
class ConcentratedRule:
    """Thm 2: admit while R + 2 sqrt(log(1/delta'') R) <= epsilon and D <= delta, the offer in both sums.

    The state is (R, D), the sums of the rho_n and of the delta_n; the guarantee is (epsilon, delta + delta'')-DP.

    Parameters
    ----------
    budget : Fraction
        e^epsilon, above 1.
    slack_delta : Fraction
        delta'', in (0, 1].
    delta : Fraction
        Budget for the sum of the delta_n.
    """

    budget: Fraction
    slack_delta: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.budget > 1:
            raise UsageError(f"budget must be e^epsilon, above 1, got {self.budget!r}")
        _require_deltas(self.slack_delta, self.delta)

    @property
    def total_delta(self) -> Fraction:
        """The delta of the guarantee."""
        return self.slack_delta + self.delta

    def start(self) -> ConcentratedState:
        """Return the state before any charge."""
        return Fraction(0), Fraction(0)

    def admits(self, state: ConcentratedState, offer: Round) -> bool:
        """Return whether the sums, including the offer, are within the budgets."""
        rho, delta = self.spend(state, offer, None)
        return delta <= self.delta and within_concentrated_budget(rho, self.budget, self.slack_delta)

    def spend(self, state: ConcentratedState, offer: Round, outcome: Hashable) -> ConcentratedState:  # noqa: ARG002
        """Add the parameters of the offer."""
        assert isinstance(offer, ConcentratedRound)
        return state[0] + offer.rho, state[1] + offer.delta


@dataclass(frozen=True)
class ExPostRule:
    """Lemma 5.2: admit if the costliest outcome of the offer fits the remaining budget; charge the actual outcome.

    The state is (e^(sum of the bounds), sum of the delta_n); the guarantee is (epsilon, delta)-DP, even
    probabilistic.

    Parameters
    ----------
    budget : Fraction
        e^epsilon, at least 1.
    delta : Fraction
        Budget for the sum of the delta_n.
    """

    budget: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.budget >= 1:
            raise UsageError(f"budget must be e^epsilon, at least 1, got {self.budget!r}")
        _require_deltas(Fraction(1), self.delta)

    def start(self) -> ExPostState:
        """Return the state before any charge."""
        return Fraction(1), Fraction(0)

    def admits(self, state: ExPostState, offer: Round) -> bool:
        """Return whether every outcome, and the delta of the offer, would stay within the budgets."""
        assert isinstance(offer, ExPostRound)
        return product(state[0], offer.largest_charge) <= self.budget and state[1] + offer.delta <= self.delta

    def spend(self, state: ExPostState, offer: Round, outcome: Hashable) -> ExPostState:
        """Add the bound of the outcome, and the delta of the offer."""
        assert isinstance(offer, ExPostRound)
        return product(state[0], offer.charge(outcome)), state[1] + offer.delta


@dataclass(frozen=True)
class TwoBudgetRule:
    """Thm 3: separate budgets for concentrated and ex-post rounds; the guarantees add up."""

    concentrated: ConcentratedRule
    ex_post: ExPostRule

    @property
    def budget(self) -> Fraction:
        """e^(epsilon + epsilon')."""
        return self.concentrated.budget * self.ex_post.budget

    @property
    def total_delta(self) -> Fraction:
        """The delta of the published guarantee, delta + delta' + delta''."""
        return self.concentrated.total_delta + self.ex_post.delta

    @property
    def composed_delta(self) -> Fraction:
        """The delta of the optimal composition of the two totals: 1 - (1 - delta - delta'')(1 - delta')."""
        return 1 - max(Fraction(0), 1 - self.concentrated.total_delta) * (1 - self.ex_post.delta)

    def start(self) -> Any:
        """Return the state before any charge."""
        return self.concentrated.start(), self.ex_post.start()

    def admits(self, state: Any, offer: Round) -> bool:
        """Return whether the budget of the kind admits the offer."""
        if isinstance(offer, ExPostRound):
            return self.ex_post.admits(state[1], offer)
        return self.concentrated.admits(state[0], offer)

    def spend(self, state: Any, offer: Round, outcome: Hashable) -> Any:
        """Charge the budget of the kind."""
        if isinstance(offer, ExPostRound):
            return state[0], self.ex_post.spend(state[1], offer, outcome)
        return self.concentrated.spend(state[0], offer, outcome), state[1]


@dataclass(frozen=True)
class UnifiedRule:
    """Thm 6: concentrated rounds and noise reduction with one budget rho; runs are charged up to their stop.

    An offer is admitted if its costliest outcome fits (eq 4) and the deltas do. The state is (spent of rho, sum of
    the delta_n); the guarantee is (rho + 2 sqrt(rho log(1/delta'')), delta + delta'')-DP for every delta''.

    Parameters
    ----------
    rho : Fraction
        Budget, at least 0.
    delta : Fraction
        Budget for the sum of the delta_n.
    """

    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.rho >= 0:
            raise UsageError(f"rho must be at least 0, got {self.rho!r}")
        _require_deltas(Fraction(1), self.delta)

    def start(self) -> ConcentratedState:
        """Return the state before any charge."""
        return Fraction(0), Fraction(0)

    def admits(self, state: ConcentratedState, offer: Round) -> bool:
        """Return whether the costliest outcome and the delta fit the remaining budget."""
        if isinstance(offer, ConcentratedRun):
            return state[0] + offer.largest_cost <= self.rho
        assert isinstance(offer, ConcentratedRound)
        return state[0] + offer.rho <= self.rho and state[1] + offer.delta <= self.delta

    def spend(self, state: ConcentratedState, offer: Round, outcome: Hashable) -> ConcentratedState:
        """Charge a concentrated round its parameters, a run the steps taken."""
        if isinstance(offer, ConcentratedRun):
            return state[0] + offer.costs[outcome], state[1]
        assert isinstance(offer, ConcentratedRound)
        return state[0] + offer.rho, state[1] + offer.delta
