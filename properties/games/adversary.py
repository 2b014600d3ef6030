"""The optimal adaptive adversary against a filter, by exact dynamic programming.

The adversary offers mechanisms from a menu, one after the other, each chosen from all that was released; the
filter rule admits or refuses. Its gain depends on the past through three things only: the rounds that
are left, the state of the filter, and the likelihood ratio P/Q = e^loss so far. Losses on a common lattice (ratios
that are powers of one number) keep the states few; everything is rational, so the value is exact.

The delta of the whole interaction at epsilon is the largest mean, under the left data set, of

    (1 - e^(epsilon - loss))_+,

because the hockey-stick divergence of two transcript distributions is a sum over transcripts, and each transcript's
share depends on its own loss only.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpassay.arguments import UsageError
from dpassay.spec.interactions.transcripts import FilterRule, Round, Transcript
from dpassay.spec.rational import Ratio, product

__all__ = ["Game", "Payoff", "exceeds", "hockey_stick_payoff"]

Payoff = Callable[[Ratio], Fraction]
"""Payoff of a transcript as a function of its likelihood ratio."""

Position = tuple[int, Any, Ratio]
"""Rounds left, state of the filter, likelihood ratio so far."""


def hockey_stick_payoff(budget: Fraction) -> Payoff:
    """Return the payoff (1 - e^epsilon / ratio)_+, e^epsilon = `budget`: the value is the exact delta(epsilon)."""

    def payoff(ratio: Ratio) -> Fraction:
        if not isinstance(ratio, Fraction):
            return Fraction(1)
        return 1 - budget / ratio if ratio > budget else Fraction(0)

    return payoff


def exceeds(budget: Fraction) -> Payoff:
    """Return the payoff 1 if the loss exceeds epsilon: the value is the largest Pr[loss > epsilon]."""
    return lambda ratio: Fraction(int(ratio > budget))


@dataclass
class Game:
    """A game: a menu, a filter rule, a number of rounds, and the payoff of the adversary.

    Parameters
    ----------
    menu : sequence of Round
        The possible offers of any round.
    rule : FilterRule
        The filter; a refused offer costs the adversary nothing, which may try another or stop.
    horizon : int
        Largest number of rounds.
    payoff : Payoff
        The objective.

    Examples
    --------
    >>> from dpassay.spec.interactions.filter_rules import SelfReportingRule
    >>> from dpassay.spec.interactions.transcripts import leak_or_nothing
    >>> leaks = [leak_or_nothing(Fraction(1, 10))]
    >>> Game(leaks, SelfReportingRule(Fraction(2)), 2, hockey_stick_payoff(Fraction(2))).value
    Fraction(19, 100)
    """

    menu: Sequence[Round]
    rule: FilterRule
    horizon: int
    payoff: Payoff
    _known: dict[Position, tuple[Fraction, int | None]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.menu:
            raise UsageError("menu must hold at least one mechanism, got none")
        if self.horizon < 0:
            raise UsageError(f"horizon must be at least 0, got {self.horizon!r}")

    @property
    def value(self) -> Fraction:
        """The largest expected payoff of an adaptive adversary."""
        return self._solve((self.horizon, self.rule.start(), Fraction(1)))[0]

    @property
    def positions(self) -> int:
        """Number of positions that the last solution visited."""
        return len(self._known)

    def analyst(self, transcript: Transcript) -> Round | None:
        """Return the optimal offer after a transcript, None to stop."""
        position: Position = self.horizon, self.rule.start(), Fraction(1)
        for outcome in transcript:
            move = self._solve(position)[1]
            if move is None:
                return None
            position = self._after(position, self.menu[move], outcome)
        move = self._solve(position)[1]
        return None if move is None else self.menu[move]

    def _solve(self, position: Position) -> tuple[Fraction, int | None]:
        """Return the value of a position and the best move from it, the earliest on the menu among equals."""
        found = self._known.get(position)
        if found is not None:
            return found
        rounds_left, state, ratio = position
        best: tuple[Fraction, int | None] = (self.payoff(ratio), None)
        for index, offer in enumerate(self.menu):
            if rounds_left and self.rule.admits(state, offer):
                value = self._mean_after(position, offer)
                if value > best[0]:
                    best = value, index
        self._known[position] = best
        return best

    def _mean_after(self, position: Position, offer: Round) -> Fraction:
        weighted = (
            p * self._solve(self._after(position, offer, outcome))[0]
            for outcome in offer.outcomes
            if (p := offer.left.probability(outcome))
        )
        return sum(weighted, Fraction(0))

    def _after(self, position: Position, offer: Round, outcome: Hashable) -> Position:
        rounds_left, state, ratio = position
        return rounds_left - 1, self.rule.spend(state, offer, outcome), product(ratio, offer.likelihood_ratio(outcome))
