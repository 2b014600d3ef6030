"""The filter theorems against the optimal adaptive adversary, with their tightness."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

from dpassay.properties.games.adversary import Game, exceeds, hockey_stick_payoff
from dpassay.spec.interactions.filter_rules import FullyAdaptiveRule, SelfReportingRule
from dpassay.spec.interactions.transcripts import FilterRule, Round
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["fully_adaptive_filter_is_private", "largest_path_delta", "self_reporting_filter_is_private"]


def largest_path_delta(menu: Sequence[Round], rule: FilterRule, horizon: int) -> Fraction:
    """Return the largest 1 - prod(1 - delta_t) over all paths of adaptively chosen admitted rounds.

    The delta_t are those of probabilistic DP; the corrected Thm 11 of Lebensold, Precup and Balle 2024 promises
    this much.
    """
    known: dict[tuple[int, Hashable], Fraction] = {}

    def solve(rounds_left: int, state: Any) -> Fraction:
        if (rounds_left, state) not in known:
            admitted = [offer for offer in menu if rounds_left and rule.admits(state, offer)]
            known[rounds_left, state] = max(
                (_after(offer, rounds_left, state) for offer in admitted), default=Fraction(0)
            )
        return known[rounds_left, state]

    def _after(offer: Round, rounds_left: int, state: Any) -> Fraction:
        rest = max(solve(rounds_left - 1, rule.spend(state, offer, outcome)) for outcome in offer.outcomes)
        return offer.probabilistic_delta + (1 - offer.probabilistic_delta) * rest

    return solve(horizon, rule.start())


def self_reporting_filter_is_private(
    menu: Sequence[Round], rule: SelfReportingRule, horizon: int, delta: Fraction | None = None
) -> Verdict:
    """Decide the corrected Thm 11 = Thm 19 of Lebensold, Precup and Balle 2024 in the worst case over a menu.

    Parameters
    ----------
    menu : sequence of Round
        What the adversary may offer.
    rule : SelfReportingRule
        The filter.
    horizon : int
        Number of rounds.
    delta : Fraction, optional
        What is promised, in place of the largest accumulated delta (the delta of one round is what is printed).

    Returns
    -------
    Verdict
        Whether Pr[loss > epsilon], and the delta of the whole, stay within it; with bound / truth for the first.
    """
    promised = largest_path_delta(menu, rule, horizon) if delta is None else delta
    tail = Game(menu, rule, horizon, exceeds(rule.budget)).value
    stick = Game(menu, rule, horizon, hockey_stick_payoff(rule.budget)).value
    return conjunction([
        at_most_exact(tail, promised, "worst Pr[loss > epsilon]"),
        at_most_exact(stick, promised, "worst delta").without_tightness(),
    ])  # fmt: skip


def fully_adaptive_filter_is_private(menu: Sequence[Round], rule: FullyAdaptiveRule, horizon: int) -> Verdict:
    """Decide Thm 20 of Lebensold, Precup and Balle 2024 in the worst case over a menu."""
    stick = Game(menu, rule, horizon, hockey_stick_payoff(rule.budget)).value
    return at_most_exact(stick, rule.total_delta, "worst delta")
